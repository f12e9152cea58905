"""All actual causes in Halpern's sense, and the check of one candidate."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from causal import _bdd, _definition, _diagram, _rows, _sat, witness_maps
from causal._aside import Aside
from causal._instance import Effect, Instance, endogenous, read_effect
from causal._listing import Event, Listing
from causal._reduce import reduce
from causal.errors import CausalError
from causal.family import CauseFamily, Explanation
from causal.model import CausalModel

__all__ = ["CauseVerdict", "actual_causes", "is_cause"]

DEFINITIONS = ("modified", "updated", "original")
ENGINES = ("auto", "sat", "zdd", "rows", "witness_map", "definition")
ZDD_NODES = 8_000_000
# (diagram nodes, then calls of the SAT solver), in turn: the loop slows down with the number of causes, the diagram
# does not, and neither can tell beforehand
AUTO_STAGES = ((1_000, 4_000), (_bdd.STATIC_NODES, 20_000))
LAST_NODES = 1_000_000
ANYTIME_SIZES = 3  # with a time limit, causes up to this size come first, so that something is known to be complete


def actual_causes(model: CausalModel, context: Mapping[str, Any], effect: Effect, *, definition: str = "modified",
                  engine: str = "auto", exclude: Iterable[str] = (), candidates: Iterable[str] | None = None,
                  max_size: int | None = None, limit: int | None = None, time_limit: float | None = None
                  ) -> CauseFamily:
    """Every actual cause of `effect` in `context`, exactly.

    definition   modified (Halpern 2015), updated (2005) or original (2001); the last two by brute force only
    engine       auto, sat, zdd (diagram), rows (small, two-valued), witness_map, definition (brute force by the letter)
    exclude, candidates   names that may not, and names that alone may, be in a cause
    max_size, limit, time_limit (seconds)   stop early; `.complete` and `.complete_up_to` say what is known

    EventNotTrue if the effect does not hold; UnknownVariable, DomainError, CausalError naming the argument.

    >>> rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    >>> [sorted(c.variables) for c in actual_causes(rock, {"ST": 1, "BT": 1}, {"BS": 1}, exclude=["BS"])]
    [['SH'], ['ST']]
    """
    _check_arguments(definition, engine, max_size, limit, time_limit)
    if definition != "modified" and engine not in ("auto", "definition"):
        raise CausalError(f"engine={engine!r} decides the modified definition only; for definition={definition!r} use "
                          "'definition' or 'auto'")
    deadline = None if time_limit is None else time.monotonic() + time_limit
    instance = Instance(model, context, effect)
    instance.demand_true()
    if definition != "modified":
        engine = "definition"
    allowed = instance.allowed(exclude, candidates)
    question = Question(instance, allowed, definition, max_size, limit, deadline)
    return _ENGINE[engine](question)


class Question(NamedTuple):
    """What an engine is asked."""

    instance: Instance
    allowed: frozenset[int]
    definition: str
    max_size: int | None
    limit: int | None
    deadline: float | None

    def look(self) -> None:
        """OutOfTime past the deadline."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise _sat.OutOfTime

    def listing(self, stream: Iterable[Event]) -> Listing:
        """A store over `stream`; drained at once under a time limit, so that the clock is the caller's."""
        listing = Listing(stream, len(self.allowed), limit=self.limit, max_size=self.max_size)
        return listing if self.deadline is None else listing.drain()

    def family(self, store: Any, engine: str, explain: Callable[[frozenset[str]], Explanation] | None = None
               ) -> CauseFamily:
        """The answer, with witnesses from `explain` or from the solver."""
        return CauseFamily(self.instance.names, store, explain or solver_explanations(self.instance),
                           engine=engine, certify=self.certify)

    def certify(self, family: CauseFamily) -> Mapping[str, Any]:
        """The certificate of a complete family; the proof is made here and now."""
        from causal import certificates  # which imports this module

        if self.definition != "modified":
            raise CausalError(f"certificates are for the modified definition, not for {self.definition!r}")
        return certificates.certify(family, self.instance, self.allowed)


def _check_arguments(definition: str, engine: str, max_size: int | None, limit: int | None,
                     time_limit: float | None) -> None:
    for name, value, known in (("definition", definition, DEFINITIONS), ("engine", engine, ENGINES)):
        if value not in known:
            raise CausalError(f"{name}={value!r} must be one of {', '.join(known)}")
    for name, number in (("max_size", max_size), ("limit", limit)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise CausalError(f"{name}={number!r} must be a whole number of at least 1, or None")
    if time_limit is not None and not time_limit > 0:
        raise CausalError(f"time_limit={time_limit!r} must be a positive number of seconds, or None")


def solver_explanations(instance: Instance) -> Callable[[frozenset[str]], Explanation]:
    """A function from a cause to (witness, smallest contingency), by one solver made on first use."""
    made: list[_sat.Witnesses] = []

    def explain(names: frozenset[str]) -> Explanation:
        if not made:
            made.append(_sat.Witnesses(instance))
        found = made[0].find(frozenset(instance.position[n] for n in names))
        assert found is not None, "a cause satisfies AC2"
        return decode(instance, found[0]), decode(instance, found[1])

    return explain


def decode(instance: Instance, codes: Mapping[int, int]) -> dict[str, Any]:
    """{name: value} from {position: code}."""
    return {instance.names[at]: instance.value(at, code) for at, code in sorted(codes.items())}


def _by_sat(q: Question) -> CauseFamily:
    first = q.max_size or (ANYTIME_SIZES if q.deadline is not None else 0)
    stream = _sat.stream(q.instance, q.allowed, by_size_up_to=first, deadline=q.deadline)
    return q.family(q.listing(stream), "sat")


def _by_diagram(q: Question, budget: int = ZDD_NODES) -> CauseFamily:
    reduced = reduce(q.instance, q.allowed)
    work = _diagram.Work.of(reduced)
    try:
        diagram = work.diagram(min(budget, _bdd.STATIC_NODES), q.deadline)
        if diagram is None and budget > _bdd.STATIC_NODES:
            with Aside(_diagram.Work.diagram, work, budget, again=True) as aside:
                diagram = aside.answer(q.deadline)
    except _sat.OutOfTime:
        return q.family(q.listing((1, frozenset({at})) for at in reduced.singles), "zdd")
    if diagram is None:
        raise CausalError(f"engine 'zdd' declines: the diagram needs more than {budget} nodes; use 'auto' or 'sat'")
    return q.family(_limited(q, diagram), "zdd")


def _by_rows(q: Question) -> CauseFamily:
    if not _rows.fits(q.instance):
        raise CausalError(f"engine 'rows' declines: it takes at most {_rows.MOST} variables under the effect, of two values "
                          "each; use 'auto'")
    return q.family(q.listing(_rows.stream(q.instance, q.allowed)), "rows")


def _limited(q: Question, diagram: _diagram.Diagram) -> Any:
    """The diagram, or what the limits leave of it."""
    if q.max_size is None and q.limit is None:
        return diagram

    def stream() -> Iterator[Event]:
        taken = 0
        for cause in diagram.up_to(q.max_size):
            q.look()
            taken += 1
            yield len(cause), cause
        if q.max_size is not None:
            yield q.max_size, None
        if taken == diagram.count:
            yield -1, None
        else:
            yield len(q.allowed), next(c for c in diagram if q.max_size is not None and len(c) > q.max_size)

    return q.listing(stream())


def _automatic(q: Question) -> CauseFamily:
    """Small models row by row, others by diagrams and SAT in turn with growing budgets; at last side by side, if there is
    a clock, else one after the other, so that the answer does not depend on the machine. Budgets count nodes and causes.

    SAT at once where only the first or the small causes are wanted."""
    if _rows.fits(q.instance):
        return _by_rows(q)
    if q.limit is not None or (q.max_size is not None and q.max_size <= ANYTIME_SIZES):
        return _by_sat(q)
    first = q.max_size or (ANYTIME_SIZES if q.deadline is not None else 0)
    reduced = reduce(q.instance, q.allowed)
    work = _diagram.Work.of(reduced)
    beside: list[Aside] = []
    stream = _sat.stream(q.instance, q.allowed, by_size_up_to=first, deadline=q.deadline, reduced=reduced,
                         stop=lambda: any(aside.succeeded for aside in beside))
    listed = Listing(stream, len(q.allowed), limit=q.limit, max_size=q.max_size)
    try:
        for nodes, calls in AUTO_STAGES:
            if (diagram := work.diagram(nodes, q.deadline)) is not None:
                return q.family(_limited(q, diagram), "zdd")
            listed.reach(first if q.deadline is not None else 0)  # so that something is complete when time runs out
            if _ends_within(listed, calls):
                return q.family(listed, "sat")
        with Aside(_diagram.Work.diagram, work, LAST_NODES, again=True) as aside:
            if q.deadline is not None:
                beside.append(aside)
                if listed.complete_up_to >= (q.max_size or len(q.allowed)):  # all that is asked for, before the diagram
                    return q.family(listed, "sat")
            if (diagram := aside.answer(q.deadline)) is not None:
                return q.family(_limited(q, diagram), "zdd")
    except _sat.OutOfTime:
        pass
    return q.family(listed if q.deadline is None else listed.drain(), "sat")


def _ends_within(listed: Listing, calls: int) -> bool:
    """Whether listing takes at most `calls` calls of the solver: one for each cause, and for each of its elements."""
    for cause in listed:
        calls -= 1 + len(cause)
        if calls < 0:
            return False
    return True


def _by_witness_map(q: Question) -> CauseFamily:
    explained: dict[frozenset[str], Explanation] = {}

    def stream() -> Iterator[Event]:
        instance = q.instance
        for cause, (changed, held) in witness_maps.causes(instance, q.allowed, q.deadline).items():
            explained[frozenset(instance.names[i] for i in cause)] = decode(instance, changed), decode(instance, held)
            yield from ((size, None) for size in [len(cause) - 1])
            yield len(cause), cause
        yield -1, None

    return q.family(q.listing(stream()), "witness_map", explained.__getitem__)


def _by_definition(q: Question) -> CauseFamily:
    instance = q.instance
    sim = _definition.Simulator(instance.model, instance.context, instance.expression, q.look)
    place = {n: i for i, n in enumerate(sim.names)}
    explained: dict[frozenset[str], Explanation] = {}

    def values(codes: Mapping[int, int]) -> dict[str, Any]:
        return {sim.names[at]: sim.domains[at][code] for at, code in sorted(codes.items())}

    def stream() -> Iterator[Event]:
        pool = [place[instance.names[i]] for i in q.allowed]
        for size, cause, found in _definition.causes(sim, pool, q.definition):
            q.look()
            if cause is None or found is None:
                yield size, None
                continue
            names = frozenset(sim.names[i] for i in cause)
            explained[names] = values(found[0]), values(found[1])
            yield size, frozenset(instance.position[n] for n in names)
        yield -1, None

    return q.family(q.listing(stream()), "definition", explained.__getitem__)


_ENGINE: dict[str, Callable[[Question], CauseFamily]] = {
    "auto": _automatic, "sat": _by_sat, "zdd": _by_diagram, "rows": _by_rows, "witness_map": _by_witness_map,
    "definition": _by_definition}


class CauseVerdict(NamedTuple):
    """Whether a candidate is an actual cause (modified definition), clause by clause.

    ac1           the effect holds in the context
    ac2           some setting of the candidate, with others held at their actual values, makes the effect fail
    ac3           no proper subset satisfies AC1 and AC2
    witness       {variable: value} of such a setting, None unless ac2
    smaller       a proper subset that still satisfies AC2, itself minimal; None if there is none
    contingency   {variable: actual value held} with the witness, smallest"""

    ac1: bool
    ac2: bool
    ac3: bool
    witness: dict[str, Any] | None
    smaller: frozenset[str] | None
    contingency: dict[str, Any] | None = None

    @property
    def is_cause(self) -> bool:
        """All three."""
        return self.ac1 and self.ac2 and self.ac3

    def __bool__(self) -> bool:
        """The same: a verdict is true if the candidate is a cause."""
        return self.is_cause


def is_cause(model: CausalModel, context: Mapping[str, Any], candidate: Iterable[str], effect: Effect
             ) -> CauseVerdict:
    """Whether the actual values of `candidate` (a set of names) are an actual cause of `effect`.

    >>> fire = CausalModel.from_expressions({"L": None, "MD": None, "FF": "L | MD"})
    >>> verdict = is_cause(fire, {"L": 1, "MD": 1}, {"L"}, {"FF": 1})
    >>> verdict.ac1, verdict.ac2, is_cause(fire, {"L": 1, "MD": 1}, {"L", "MD"}, {"FF": 1}).is_cause
    (True, False, True)
    """
    names = frozenset(endogenous(model, "candidate", candidate))
    instance = Instance(model, context, effect)
    finder = _sat.Witnesses(instance)
    chosen = frozenset(instance.position[n] for n in names if n in instance.position)
    found = finder.find(chosen)
    if not instance.true_here:
        return CauseVerdict(False, found is not None, True, None, None)
    if found is None:
        return CauseVerdict(True, False, True, None, None)
    witness = {n: instance.values[n] for n in sorted(names)} | decode(instance, found[0])
    minimal = _shrink(finder, chosen)
    smaller = frozenset(instance.names[i] for i in minimal) if len(minimal) < len(names) else None
    return CauseVerdict(True, True, smaller is None, witness, smaller, decode(instance, found[1]))


def _shrink(finder: _sat.Witnesses, chosen: frozenset[int]) -> frozenset[int]:
    """A minimal subset of `chosen` that satisfies AC2, by dropping one element after another."""
    for at in sorted(chosen):
        if finder.find(chosen - {at}) is not None:
            chosen = chosen - {at}
    return chosen


__all__ += ["read_effect"]
