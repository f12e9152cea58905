"""The peers of `actual_causes.py`, given the same models. Each is optional; nothing of theirs is copied."""
from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from causal.random_models import Case

Causes = set[frozenset[str]]


def _solve(case: Case, forced: dict[str, Any]) -> list[int]:
    """0/1 values in the model's order, by our own evaluation: the peers see a black box."""
    values = case.model.evaluate(case.context, forced)
    return [int(values[n]) for n in case.model.variables]


def actualcauses(**options: Any) -> Callable[[Case], Causes]:
    """Beam search of `actualcauses`; the target is the last variable and never in a cause."""
    from actualcauses import SCM, SystemModel  # type: ignore[import-not-found]

    def causes(case: Case) -> Causes:
        names = case.model.variables
        wanted = int(case.effect[names[-1]])

        class Model(SystemModel):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__(phi=lambda s: int(s[-1] == wanted), psi=sum)

            def __call__(self, u: Any, e: Any) -> list[int]:
                self.n_calls += 1
                return _solve(case, dict(e))

        scm = SCM(V=names, U=("u",), D=(0, 1), u=(0,), model=Model())
        scm.find_causes(**options)
        return {frozenset(c) for c in scm.causes}

    return causes


def causal_explainer(case: Case) -> Causes:
    """Exact search of `causal_explainer` (kevinmcareavey/actual-causality) over every set of variables."""
    from causal_explainer.halpern_pearl import causes as peer  # type: ignore[import-not-found]

    model = case.model
    network, roots = peer.CausalNetwork(), {}
    for name in model.variables:
        parents = model.mechanisms[name].parents
        if name in model.inputs:
            roots[f"U_{name}"] = case.context[name]
            network.add_dependency(name, [f"U_{name}"], lambda values, n=name: values[f"U_{n}"])
        else:
            network.add_dependency(name, list(parents), lambda values, n=name: model.compute(n, values))
    setting = peer.CausalSetting(network, roots, {u: {0, 1} for u in roots}, {n: {0, 1} for n in model.variables})
    ((name, value),) = case.effect.items()
    found = peer.search_candidate_causes(peer.PrimitiveEvent(name, value), setting, peer.is_actual_cause)
    return {frozenset(c) for c in found}


def installed() -> dict[str, Callable[[Case], Causes]]:
    """What can be imported here, by name and setting."""
    found: dict[str, Callable[[Case], Causes]] = {}
    if find_spec("actualcauses"):
        found["actualcauses, defaults"] = actualcauses()
        found["actualcauses, beam 200, all steps"] = actualcauses(beam_size=200, max_steps=-1)
    if find_spec("causal_explainer"):
        found["causal_explainer"] = causal_explainer
    return found
