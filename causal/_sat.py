"""Minimal cause sets by a SAT solver: solve, shrink, block; or size by size under a cardinality bound."""
from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator

from causal._cnf import Encoding
from causal._duos import Tables, small_causes, tables
from causal._fronts import Fronts
from causal._instance import Instance
from causal._plan import HINDERS
from causal._reduce import Paths, Reduced, reduce

SOLVER = "g4"
CONFLICTS_PER_LOOK = 2000  # how often the clock is looked at
MANY = 1_000  # variables from which causes of one or two are looked for on lanes


class OutOfTime(Exception):
    """The time limit passed inside the solver."""


class Search:
    """A solver loaded with an encoding; `deadline` is a value of `time.monotonic`, or None. With one, `stop` is asked too."""

    def __init__(self, encoding: Encoding, deadline: float | None = None, stop: Callable[[], bool] | None = None) -> None:
        from pysat.solvers import Solver

        self.encoding, self.deadline, self.stop = encoding, deadline, stop
        self.solver = Solver(name=SOLVER, bootstrap_with=encoding.clauses)
        self.solver.set_phases(encoding.phases())
        self.known: set[frozenset[int]] = set()  # causes that were blocked
        actual = encoding.instance.actual
        self._away = [(at, code, abs(lit) - 1, lit > 0) for at, codes in encoding.events.items()
                      for code, lit in enumerate(codes) if code != actual[at]]

    def solve(self, assumptions: list[int] | None = None) -> bool:
        """Whether the clauses hold under `assumptions`. OutOfTime past the deadline."""
        if self.deadline is None:
            return bool(self.solver.solve(assumptions=assumptions or []))
        while True:
            self.look()
            self.solver.conf_budget(CONFLICTS_PER_LOOK)
            answer = self.solver.solve_limited(assumptions=assumptions or [])
            if answer is not None:
                return bool(answer)

    def look(self) -> None:
        """OutOfTime past the deadline, or where `stop` says so."""
        if self.deadline is not None and (time.monotonic() > self.deadline or (self.stop is not None and self.stop())):
            raise OutOfTime

    def chosen(self) -> frozenset[int]:
        """The positions whose x is true in the last model."""
        model = self.solver.get_model()
        return frozenset(at for at, lit in self.encoding.x.items() if model[lit - 1] > 0)

    def shrink(self, found: frozenset[int]) -> frozenset[int]:
        """An inclusion-minimal subset of `found` that still satisfies AC2: each element left is needed (UNSAT)."""
        x = self.encoding.x
        outside = [-lit for at, lit in x.items() if at not in found]
        kept: list[int] = []
        rest = sorted(found)
        while rest:
            at = rest.pop(0)
            if self.solve([*outside, -x[at]]):
                smaller = self.chosen()
                outside += [-x[i] for i in [at, *rest] if i not in smaller]
                rest = [i for i in rest if i in smaller]
            else:
                kept.append(at)
        return frozenset(kept)

    def block(self, cause: frozenset[int]) -> None:
        """Exclude every superset of `cause` from now on."""
        self.solver.add_clause([-self.encoding.x[at] for at in sorted(cause)])
        self.known.add(cause)

    def take(self, sets: Iterable[frozenset[int]]) -> Iterator[tuple[int, frozenset[int]]]:
        """Block and give those of `sets` that are not known and contain no known cause."""
        for cause in sets:
            parts = (frozenset(p) for k in range(1, len(cause) + 1) for p in itertools.combinations(cause, k))
            if not any(p in self.known for p in parts):
                self.block(cause)
                yield len(cause), cause

    def changed(self) -> dict[int, int]:
        """{position: code} of the variables that are not at their actual values in the last model."""
        model = self.solver.get_model()
        return {at: code for at, code, place, sign in self._away if (model[place] > 0) is sign}

    def close(self) -> None:
        """Free the solver."""
        self.solver.delete()


def stream(instance: Instance, allowed: frozenset[int], *, by_size_up_to: int, deadline: float | None,
           reduced: Reduced | None = None, stop: Callable[[], bool] | None = None
           ) -> Iterator[tuple[int, frozenset[int] | None]]:
    """Causes as (size, cause), with (s, None) when every size up to s is finished and (-1, None) when all are.

    First those that one path shows, then sizes up to `by_size_up_to` in order, then the rest in the order of the
    solver. Raises OutOfTime, also, if there is a deadline, once `stop` is true."""
    paths = reduced.paths if reduced else Paths(instance)
    yield from ((1, frozenset({at})) for at in sorted(paths.singles() & allowed))
    left, frozen = allowed - paths.singles(), frozenset[int]()
    many = by_size_up_to >= 2 and len(left) >= MANY
    lanes = tables(instance) if many else None
    if reduced is None and not (lanes and by_size_up_to == 2):  # lanes do not need it
        reduced = reduce(instance, allowed, paths)
    if reduced is not None:
        instance, left = reduced.instance, reduced.allowed
        frozen = frozenset(at for at, sign in reduced.uses.items() if sign == HINDERS)
    search = Search(Encoding(instance, left, frozen=frozen), deadline, stop)
    try:
        if lanes:
            yield from _by_lanes(search, lanes, left)
        yield from _by_size(search, 3 if lanes else 1, by_size_up_to, paths)
        while search.solve():
            cause = search.shrink(search.chosen())
            search.block(cause)
            yield len(cause), cause
        yield -1, None
    finally:
        search.close()


def _by_lanes(search: Search, of: Tables, allowed: frozenset[int]) -> Iterator[tuple[int, frozenset[int] | None]]:
    """Every cause of one or two of `allowed`."""

    def ask(some: frozenset[int]) -> Iterable[int] | None:
        found = search.solve([-lit for at, lit in search.encoding.x.items() if at not in some])
        return search.changed() if found else None

    for size, sets in small_causes(of, allowed, ask, search.look):
        for cause in sets:
            search.block(cause)
            yield size, cause
        yield size, None


def _by_size(search: Search, first: int, last: int, paths: Paths) -> Iterator[tuple[int, frozenset[int] | None]]:
    """Every cause of size `first` to `last`, smallest first: with all smaller causes blocked, a model of the least size
    is minimal, so that nothing needs to be shrunk. Pairs on two paths come before the solver is asked for the others."""
    literals = list(search.encoding.x.values())
    last = min(last, len(literals))
    if last < first:
        return
    from pysat.card import ITotalizer

    with ITotalizer(lits=literals, ubound=last, top_id=search.encoding.top) as counter:
        for clause in counter.cnf.clauses:
            search.solver.add_clause(clause)
        for size in range(first, last + 1):
            bound = [-counter.rhs[size]] if size < len(literals) else []
            fronts = Fronts(paths, frozenset(at for at in search.encoding.x if frozenset({at}) not in search.known))
            if size == 2:
                yield from search.take(fronts.pairs())
            while search.solve(bound):
                cause, changed = search.chosen(), search.changed()
                yield from search.take(itertools.chain([cause], fronts.like(cause, changed)))
            yield size, None


class Witnesses:
    """Smallest contingencies for given causes: one solver, reused (T2)."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.encoding = Encoding(instance, frozenset(range(len(instance.names))), contingency=True)
        self._search: Search | None = None

    def find(self, chosen: frozenset[int], setting: dict[int, int] | None = None
             ) -> tuple[dict[int, int], dict[int, int]] | None:
        """(x', W) in codes with the smallest W for which [X <- x', W <- actual] makes the effect fail, or None.

        x' is the actual code where nothing else is needed; `setting` prescribes it."""
        search = self._search = self._search or Search(self.encoding)
        fixed = [-lit for at, lit in self.encoding.x.items() if at not in chosen]
        known = {at: code for at, code in (setting or {}).items() if self.encoding.knows(at)}
        fixed += [self.encoding.event(at, code) for at, code in known.items()]
        # a variable of X that keeps its actual value is set by X, not by W
        counted = {at: lit for at, lit in self.encoding.w.items() if at not in chosen}
        if not search.solve(fixed):
            return None
        best = self._read(search)
        best = self._improve(search, fixed, counted, best)
        codes = {at: best.get(at, self.instance.actual[at]) for at in chosen}
        return codes, {at: self.instance.actual[at] for at in self._held(best, counted)}

    def any_part(self, setting: dict[int, int]) -> bool:
        """Whether a proper part of `setting`, with others held at their actual values, makes the effect fail."""
        search = self._search = self._search or Search(self.encoding)
        switch = max(self.encoding.top, search.solver.nof_vars()) + 1
        x = self.encoding.x
        for at, code in setting.items():
            if at in x:
                search.solver.add_clause([-switch, -x[at], self.encoding.event(at, code)])
        outside = [switch, *(-lit for at, lit in x.items() if at not in setting)]
        return any(search.solve([*outside, -x[at]] if at in x else outside) for at in setting)

    def _read(self, search: Search) -> dict[int, int]:
        return self.encoding.decode({lit for lit in search.solver.get_model() if lit})

    def _held(self, codes: dict[int, int], counted: dict[int, int]) -> list[int]:
        """Which of `counted` stand at their actual value against their equation."""
        full = [codes.get(at, self.instance.actual[at]) for at in range(len(self.instance.names))]
        return [at for at in counted if full[at] == self.instance.actual[at]
                and not self.instance.circuit.evaluate(self.instance.rule(at, full[at]), full)]

    def _improve(self, search: Search, fixed: list[int], counted: dict[int, int], best: dict[int, int]
                 ) -> dict[int, int]:
        from pysat.card import ITotalizer

        held = len(self._held(best, counted))
        if not held:
            return best
        if search.solve(fixed + [-lit for lit in counted.values()]):
            return self._read(search)
        selector_top = max(self.encoding.top, search.solver.nof_vars())
        with ITotalizer(lits=list(counted.values()), ubound=held, top_id=selector_top) as counter:
            for clause in counter.cnf.clauses:
                search.solver.add_clause(clause)
            while held > 1 and search.solve([*fixed, -counter.rhs[held - 1]]):
                best = self._read(search)
                held = len(self._held(best, counted))
        return best
