"""Which evidence belongs to which claim."""
from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

from proofs_checks.harness.evidence import Check
from proofs_checks.harness.syntax import ROOMS
from theory.claim import Claim

__all__ = ["Registered", "claims_in", "evidence", "find", "import_slug", "origin", "refuse_slug", "registered", "registry",
           "slugs", "supported", "theory_claims", "unsupported"]

Procedure = Callable[[Any], Iterator[Check]]
NOT_SLUGS = ("engines", "harness")
MARK = "__claim__"  # attribute of a procedure: the claim that it is evidence for


@dataclass(frozen=True)
class Registered:
    """A claim with every variant, and the procedure that is run unchanged on each of them."""

    claim: Claim[Any]
    original: Claim[Any]
    procedure: FunctionType
    loaded: Any = None  # the spec of the module, another one at each execution of the file


_REGISTERED: dict[str, Registered] = {}


def evidence(claim: Claim[Any], *, form: Any = None, mutants: Mapping[str, Any] | None = None,
             also_true: Mapping[str, Any] | None = None, as_stated: Any = None) -> Callable[[Procedure], Procedure]:
    """Register a generator of checks as the evidence for `claim`.

    The generator takes one variant of the claim's form and yields `Check`s. `form`, `mutants`, `also_true` and
    `as_stated` add to those of a claim whose form lives in another room. ValueError if something is given twice, if the
    variants break the rules of `Claim`, if the procedure is not a generator function, if the claim has evidence in another
    place already, or if a user's claim takes the slug of a paper of ours."""
    if not isinstance(claim, Claim):
        raise ValueError(f"evidence needs a Claim, got {claim!r}")
    merged = merge(claim, form=form, mutants=mutants or {}, also_true=also_true or {}, as_stated=as_stated)

    def register(procedure: Procedure) -> Procedure:
        if not (isinstance(procedure, FunctionType) and inspect.isgeneratorfunction(procedure)):
            raise ValueError(f"{claim.id}: evidence must be a generator function, got {procedure!r}")
        before = _REGISTERED.get(claim.id)
        loaded = getattr(sys.modules.get(procedure.__module__), "__spec__", None)
        if before is not None and _clash(before, claim, procedure, loaded):
            raise ValueError(f"{claim.id} has evidence in two places, {_place(before.procedure)} and {_place(procedure)}; "
                             "every claim needs an id of its own, and one procedure, which may yield many checks")
        refuse_slug(claim, procedure.__module__)
        _REGISTERED[claim.id] = Registered(merged, claim, procedure, loaded)
        setattr(procedure, MARK, merged)
        return procedure

    return register


def refuse_slug(claim: Claim[Any], module: str) -> None:
    """ValueError if a claim of a user's module belongs to a paper of ours, whose evidence would be taken for it."""
    if (slug := claim.id.split(".")[0]) in slugs() and module.split(".")[0] not in ROOMS:
        raise ValueError(f"{claim.id}: the slug {slug!r} is that of a paper of refutable's own; give your paper another one")


def merge(claim: Claim[Any], *, form: Any, mutants: Mapping[str, Any], also_true: Mapping[str, Any], as_stated: Any
          ) -> Claim[Any]:
    """`claim` with the variants given at `@evidence`."""
    for name, own, added in (("form", claim.form, form), ("as_stated", claim.as_stated, as_stated)):
        if own is not None and added is not None:
            raise ValueError(f"{claim.id}: {name} is given in the claim and again at @evidence")
    for name, own, added in (("mutants", claim.mutants, mutants), ("also_true", claim.also_true, also_true)):
        if twice := sorted(set(own) & set(added)):
            raise ValueError(f"{claim.id}: {name} gives {twice[0]!r} in the claim and again at @evidence")
    if claim.form is None and form is None:
        raise ValueError(f"{claim.id}: form is missing; give it in the claim or at @evidence")
    return replace(claim, form=claim.form if form is None else form, mutants={**claim.mutants, **mutants},
                   also_true={**claim.also_true, **also_true},
                   as_stated=claim.as_stated if as_stated is None else as_stated)


def _clash(before: Registered, claim: Claim[Any], other: FunctionType, loaded: Any) -> bool:
    """Two procedures for one id, of two files, or at the top of one: the first would never be heard of again. Elsewhere (a
    shell, a notebook, a file that is run again, inside a function) the last one counts."""
    files = [p.__code__.co_filename for p in (before.procedure, other)]
    if (other is before.procedure and claim is before.original) or not all(map(os.path.isfile, files)):
        return False
    top = not any("<locals>" in p.__qualname__ for p in (before.procedure, other))
    return files[0] != files[1] or (top and loaded is not None and loaded is before.loaded)


def _place(procedure: FunctionType) -> str:
    code = procedure.__code__
    return f"{os.path.relpath(code.co_filename)} line {code.co_firstlineno}"


def find(claim: Claim[Any]) -> Registered | None:
    """The evidence for `claim`, importing `proofs_checks.<slug>` (and no other slug) if it is not there yet.

    A claim that differs from the registered one (`dataclasses.replace`) is judged as given, by the same procedure."""
    if claim.id not in _REGISTERED:
        import_slug(claim.id.split(".")[0])
    found = _REGISTERED.get(claim.id)
    if found is None or claim is found.claim or claim is found.original:
        return found
    if claim.form is None:  # its variants live at @evidence
        claim = replace(found.claim, **{k: v for k, v in vars(claim).items()
                                        if k not in ("form", "mutants", "also_true", "as_stated")})
    return Registered(claim, claim, found.procedure)


def origin(claim: Claim[Any]) -> str | None:
    """The name of the module in which the evidence for a claim stands; None without evidence."""
    found = _REGISTERED.get(claim.id)
    return None if found is None else found.procedure.__module__


def import_slug(slug: str) -> ModuleType | None:
    """`proofs_checks.<slug>` if there is one."""
    if slug in NOT_SLUGS or slug not in slugs():
        return None
    try:
        return importlib.import_module(f"proofs_checks.{slug}")
    except SystemExit as error:  # it would end the judge, with the exit code of its choice
        raise ImportError(f"proofs_checks.{slug} calls sys.exit when it is imported") from error


def slugs() -> list[str]:
    """Names of the modules of `proofs_checks` that hold evidence."""
    import proofs_checks

    return sorted(m.name for m in pkgutil.iter_modules(proofs_checks.__path__)
                  if m.name not in NOT_SLUGS and not m.name.startswith("_"))


def theory_claims() -> dict[str, Claim[Any]]:
    """Every claim of every module of `theory`. ValueError if two claims share an id."""
    import theory

    found: dict[str, Claim[Any]] = {}
    for info in pkgutil.walk_packages(theory.__path__, "theory."):
        for value in vars(importlib.import_module(info.name)).values():
            for claim in claims_in(value):
                if found.setdefault(claim.id, claim) is not claim:
                    raise ValueError(f"two claims of theory are called {claim.id!r}")
    return found


def claims_in(value: Any) -> list[Claim[Any]]:
    """The claim that a value is, or those that it lists."""
    listed = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | set | frozenset) else ()
    return [value] if isinstance(value, Claim) else [claim for claim in listed if isinstance(claim, Claim)]


def supported(claim: Claim[Any]) -> bool:
    """Whether evidence was registered for this very claim, not for another one of the same id."""
    return find(claim) is not None and any(claim is c for c in (_REGISTERED[claim.id].claim, _REGISTERED[claim.id].original))


def unsupported(only: Collection[str] | None = None) -> list[str]:
    """Ids of judgeable claims of `theory` for which no evidence is registered, after importing every slug, or those
    of `only`."""
    wanted = slugs() if only is None else [slug for slug in slugs() if slug in only]
    for slug in wanted:
        import_slug(slug)
    return sorted(i for i, c in theory_claims().items() if c.standing.judgeable and i not in _REGISTERED
                  and (only is None or i.split(".")[0] in only))


def registry() -> dict[str, Claim[Any]]:
    """Every claim with evidence, by id, with the variants given at `@evidence`.

    LookupError, naming them, if a judgeable claim of `theory` has no evidence."""
    if missing := unsupported():
        raise LookupError(f"claims without evidence: {', '.join(missing)}")
    return registered()


def registered() -> dict[str, Claim[Any]]:
    """What is registered so far, by id."""
    return {i: _REGISTERED[i].claim for i in sorted(_REGISTERED)}
