"""Evidence on actual causes: every algorithm against the letter of the definition, on all models of up to 3 variables."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import Any

from hypothesis import strategies as st

from proofs_checks import _actual_causes as small
from proofs_checks._actual_causes import Small, all_up_to_three, literal, random_small
from proofs_checks._actual_causes_figure import figure, figure_data
from proofs_checks.engines import exhaustive, falsify
from proofs_checks.harness.judge import evidence
from theory import actual_causes as thy

__all__ = ["figure", "figure_data"]

SCOPE = "every binary model of up to 3 variables, every falsifiable event"


def _against_the_definition(algorithm: Callable[[Small], Any], every: int = 1) -> Any:
    def agrees(m: Small) -> bool:
        return bool(algorithm(m) == frozenset(literal(m)))

    cases = all_up_to_three() if every == 1 else all_up_to_three()[::every]
    yield exhaustive.forall(cases, agrees, scope=SCOPE if every == 1 else f"one in {every} of {SCOPE}")
    yield falsify.forall(random_small(), agrees, examples=150, scope="2 or 3 values, up to 5 variables")


@evidence(thy.minimal_broken_sets, form=small.broken_sets, mutants={
    "m1_no_contingency": small.without_contingency, "m2_contingency_anywhere": small.contingency_anywhere,
    "m3_not_minimal": small.not_minimal, "m4_changed_for_broken": small.changed_sets, "m5_but_for": small.but_for,
    "m6_fewest_only": small.fewest, "m7_broken_only": small.broken_only})
def minimal_broken_sets(algorithm):
    yield from _against_the_definition(algorithm)


@evidence(thy.half_encoding, form=small.encoded, mutants={
    "converse_added": partial(small.encoded, converse=True), "equation_left_out": partial(small.encoded, equations=False)})
def half_encoding(algorithm):
    yield from _against_the_definition(algorithm)


@evidence(thy.backward_map, form=small.by_map, mutants={
    "earliest_first": partial(small.by_map, pick=min), "parents_not_consistent": partial(small.by_map, consistent=False)})
def backward_map(algorithm):
    yield from _against_the_definition(algorithm, every=7)  # the map is slow


def _smallest(m: Small) -> dict[frozenset[int], int]:
    """The engine's contingencies, each replayed by a simulation of its own."""
    from causal import actual_causes

    model, effect = small.model_of(m)
    found = {}
    for cause in actual_causes(model, {}, effect, engine="sat"):
        held = {int(n[1:]): v for n, v in cause.contingency.items()}
        forced = held | {int(n[1:]): v for n, v in cause.witness.items()}
        v: list[int] = []
        for i in range(len(m.sizes)):
            v.append(forced[i] if i in forced else small.output(m, i, v))
        if tuple(v) not in m.event:
            found[frozenset(int(n[1:]) for n in cause.variables)] = len(held)
    return found


def _formula(m: Small) -> dict[frozenset[int], int]:
    """T2 as it stands."""
    causes = small.broken_sets(m)
    found: dict[frozenset[int], int] = {}
    for _, b, c in small.failures(m):
        if c in causes:
            found[c] = min(found.get(c, len(b - c)), len(b - c))
    return found


def _largest(m: Small) -> dict[frozenset[int], int]:
    causes = small.broken_sets(m)
    found: dict[frozenset[int], int] = {}
    for _, b, c in small.failures(m):
        if c in causes:
            found[c] = max(found.get(c, 0), len(b - c))
    return found


@evidence(thy.smallest_contingency, form=_formula, mutants={
    "largest": _largest, "none_needed": lambda m: dict.fromkeys(small.broken_sets(m), 0),
    "actual_values_counted": lambda m: {c: len(m.sizes) - len(c) for c in small.broken_sets(m)}})
def smallest_contingency(formula):
    def agrees(m: Small) -> bool:
        return formula(m) == literal(m)

    def as_the_engine(m: Small) -> bool:
        return formula(m) == _smallest(m)

    yield exhaustive.forall(all_up_to_three, agrees, scope=SCOPE)
    yield falsify.forall(random_small(), as_the_engine, examples=150, scope="witnesses replayed by simulation")


def _engines(m: Small) -> dict[str, Any]:
    return {name: small.engine(m, name) for name in ("sat", "zdd", "witness_map", "auto")}


def _mangled(change: Callable[[Small, Any], Any]) -> Callable[[Small], dict[str, Any]]:
    return lambda m: {name: change(m, found) for name, found in _engines(m).items()}


@evidence(thy.engines_agree, form=_engines, mutants={
    "stops_one_early": _mangled(lambda m, found: frozenset(sorted(found, key=sorted)[:-1])),
    "element_added": _mangled(lambda m, found: frozenset(c | {0} for c in found)),
    "element_dropped": _mangled(lambda m, found: frozenset(frozenset(sorted(c)[1:]) or c for c in found)),
    "contingency_forgotten": _mangled(lambda m, found: frozenset(c for c in found if not literal(m)[c]))})
def engines_agree(engines):
    def agrees(m: Small) -> bool:
        return all(found == frozenset(literal(m)) for found in engines(m).values())

    yield exhaustive.forall(lambda: all_up_to_three()[::29], agrees, scope="every 29th of " + SCOPE)
    yield falsify.forall(random_small(most=6, values=4), agrees, examples=150, scope="2 to 4 values, up to 6 variables")


def _ac2(name: str) -> Callable[[Any, tuple[int, ...]], object]:
    from causal._definition import AC2

    return AC2[name]


@lru_cache(maxsize=1)
def _two_and_a_part_of_three() -> tuple[tuple[Small], ...]:
    return (*((m,) for n in (1, 2) for m in small.every_binary(n)), *((m,) for m in list(small.every_binary(3))[::5]))


@evidence(thy.upward_closed, form=_ac2("modified"), mutants={
    "original_2001": _ac2("original"), "flips_everywhere": small.flipping_everywhere})
def upward_closed(ac2):
    def closed(m: Small) -> bool:
        return small.closed_upwards(m, ac2)

    yield exhaustive.forall(_two_and_a_part_of_three, closed, scope="binary, up to 2 variables, and every 5th of those with 3")
    yield falsify.forall(random_small(most=4), closed, examples=60)


@evidence(thy.exclusion, form=lambda found, e: frozenset(c for c in found if not c & e), mutants={
    "contracted": lambda found, e: small.minimal(c - e for c in found if c - e),
    "only_inside": lambda found, e: frozenset(c for c in found if not c <= e)})
def exclusion(filtered):
    def agrees(m: Small, excluded: frozenset[int]) -> bool:
        from causal import actual_causes

        model, effect = small.model_of(m)
        found = actual_causes(model, {}, effect, exclude=[f"V{i}" for i in excluded if i < len(m.sizes)])
        return filtered(frozenset(literal(m)), excluded) == {frozenset(int(n[1:]) for n in c.variables) for c in found}

    yield exhaustive.forall(lambda: [(m, frozenset(e)) for (m,) in all_up_to_three()[::61] for e in small.subsets(3)], agrees,
                            scope="every 61st of " + SCOPE + ", every set of up to 3 variables")
    pairs = st.tuples(random_small(values=2).map(lambda case: case[0]), st.frozensets(st.integers(0, 4), min_size=1))
    yield falsify.forall(pairs, agrees, examples=150)


def _paths(gates: tuple[tuple[int, ...], ...], basic: int, *, cut: bool = True) -> frozenset[frozenset[int]]:
    """Minimal sets of basic events without which (cut) or with which alone (not cut) the top event fails or happens."""
    def top(up: set[int]) -> bool:
        value = {i: i in up for i in range(basic)}
        for at, (op, *kids) in enumerate(gates, basic):
            value[at] = (all if op else any)(value[k] for k in kids)
        return value[basic + len(gates) - 1]

    everything = set(range(basic))
    return small.minimal(frozenset(s) for s in small.subsets(basic)
                         if (not top(everything - set(s)) if cut else top(set(s))))


def _trees() -> list[tuple[tuple[tuple[int, ...], ...], int]]:
    """Every tree of two gates over two to four basic events: (op, children), op 1 is AND."""
    found: list[tuple[tuple[tuple[int, ...], ...], int]] = []
    for basic in (2, 3, 4):
        for op1, op2 in product((0, 1), repeat=2):
            for first in small.subsets(basic):
                if len(first) >= 2:
                    rest = [i for i in range(basic) if i not in first]
                    found += [(((op1, *first), (op2, basic, *more)), basic) for more in (rest, [0, *rest]) if more]
    return found


@evidence(thy.cut_sets, form=_paths, mutants={
    "with_which_alone": partial(_paths, cut=False),
    "single_events": lambda gates, basic: frozenset(c for c in _paths(gates, basic) if len(c) == 1)})
def cut_sets(sets):
    def agrees(gates: tuple[tuple[int, ...], ...], basic: int) -> bool:
        from causal import CausalModel, actual_causes

        rules: dict[str, str | None] = {f"E{i}": None for i in range(basic)}
        for at, (op, *kids) in enumerate(gates, basic):
            rules[f"E{at}"] = (" & " if op else " | ").join(f"E{k}" for k in kids)
        family = actual_causes(CausalModel.from_expressions(rules), {f"E{i}": 1 for i in range(basic)},
                               {f"E{basic + len(gates) - 1}": 1}, candidates=[f"E{i}" for i in range(basic)])
        return bool(sets(gates, basic) == {frozenset(int(n[1:]) for n in c.variables) for c in family})

    yield exhaustive.forall(_trees, agrees, scope="two gates over 2 to 4 basic events")


@evidence(thy.tree_count)
def tree_count(count):
    def counted(depth: int) -> bool:
        from causal import CausalModel, actual_causes

        rules = {f"N{i}": f"N{2 * i} | N{2 * i + 1}" if i < 2**depth else None for i in range(1, 2 ** (depth + 1))}
        model = CausalModel.from_expressions(rules)
        family = actual_causes(model, dict.fromkeys(model.inputs, 1), {"N1": 1})
        listed = len(set(family)) if depth < 4 else family.count
        return listed == family.count == count(depth)

    yield exhaustive.forall([(d,) for d in range(8)], counted, scope="listed as well up to depth 3")


@evidence(thy.votes)
def votes(formula):
    def graded(yes: int, threshold: int) -> bool:
        import causal

        names = [f"V{i}" for i in range(yes)]
        rule = f"atleast({threshold}, {', '.join(names)})"
        model = causal.CausalModel.from_expressions({**dict.fromkeys(names), "WIN": rule})
        found = causal.responsibility(model, dict.fromkeys(names, 1), "V0", {"WIN": 1}, convention="modified")
        return bool(found == formula(yes, threshold))

    yield exhaustive.forall([(y, t) for y in range(1, 8) for t in range(1, y + 1)], graded)


def _definitions(names: tuple[str, str, str]) -> Callable[[str], Any]:
    """The cause family by year, each decided by the definition of that name."""
    return lambda year: dict(zip(("2001", "2005", "2015"), names, strict=True))[year]


@evidence(thy.definitions_differ, form=_definitions(("original", "updated", "modified")), mutants={
    "b_clauses_swapped": _definitions(("updated", "original", "modified")),
    "modified_for_all": _definitions(("modified", "modified", "modified"))})
def definitions_differ(definition):
    def as_said(year: str) -> bool:
        from causal import CausalModel, actual_causes

        model = CausalModel.from_expressions({"A": None, "B": None, "C": None, "D": "A & B | C"})
        family = actual_causes(model, {"A": 1, "B": 0, "C": 1}, {"D": 1}, definition=definition(year))
        return ({"A"} in family) == (year == "2001") and {"C"} in family

    yield exhaustive.forall([("2001",), ("2005",), ("2015",)], as_said)


def _graded(m: Small) -> list[Fraction]:
    import causal

    model, effect = small.model_of(m)
    return [causal.responsibility(model, {}, n, effect, convention="modified") for n in model.variables]


def _not_minimal(m: Small) -> list[Fraction]:
    """The smallest |X| + |W| over all failing v with the variable in C(v): AC3 skipped."""
    sizes: list[list[int]] = [[len(b) for _, b, c in small.failures(m) if i in c] for i in range(len(m.sizes))]
    return [Fraction(1, min(s)) if s else Fraction(0) for s in sizes]


def _of_2004(m: Small) -> list[Fraction]:
    import causal

    model, effect = small.model_of(m)
    return [causal.responsibility(model, {}, n, effect, convention="chockler_halpern") for n in model.variables]


@evidence(thy.responsibility, form=_graded, mutants={
    "minimality_skipped": _not_minimal, "of_2004": _of_2004})
def responsibility(grade):
    def agrees(m: Small) -> bool:
        sizes = [[len(c) + w for c, w in literal(m).items() if i in c] for i in range(len(m.sizes))]
        return bool(grade(m) == [Fraction(1, min(s)) if s else Fraction(0) for s in sizes])

    yield exhaustive.forall(lambda: all_up_to_three()[::37], agrees, scope="every 37th of " + SCOPE)
    yield falsify.forall(random_small(most=4), agrees, examples=60)


def _blame(shooters: int) -> Fraction:
    import causal

    return causal.blame(_situations(shooters), {"S0": 1}, {"D": 1}, convention="modified")


def _situations(shooters: int) -> list[tuple[Any, dict[str, int], Fraction]]:
    from causal import CausalModel

    rules: dict[str, str | None] = {**{f"S{i}": None for i in range(shooters)},
                                    "D": " | ".join(f"S{i} & L{i}" for i in range(shooters))}
    model = CausalModel.from_expressions(rules)
    return [(model, {**{f"S{i}": int(i > 0) for i in range(shooters)}, **{f"L{i}": int(i == live) for i in range(shooters)}},
             Fraction(1, shooters)) for live in range(shooters)]


def _without_intervention(shooters: int) -> Fraction:
    import causal

    total = Fraction(0)
    for model, context, weight in _situations(shooters):
        try:
            total += weight * causal.responsibility(model, context, "S0", {"D": 1}, convention="modified")
        except causal.EventNotTrue:
            continue
    return total


@evidence(thy.blame, form=_blame, mutants={
    "intervention_dropped": _without_intervention, "not_averaged": lambda n: Fraction(n) * _blame(n) if n > 1 else Fraction(0)})
def blame(expected):
    def one_live_bullet(shooters: int) -> bool:
        return bool(expected(shooters) == Fraction(1, shooters))

    yield exhaustive.forall([(n,) for n in range(1, 11)], one_live_bullet, scope="number of marksmen")
