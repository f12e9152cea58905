"""What `causal.actual_causes` can do, measured in one run: `python benchmarks/actual_causes.py [PART...] [--seeds N]`.

Parts: agreement, fifteen, hundred, three_hundred, coherent, tree, large, listing, multivalued, peers. Times are CPU seconds
of single runs on whatever machine this is; where a limit is set, of the clock on the wall. Compare ratios within a run.
Models come from `causal.random_models`, parents anywhere among the predecessors."""
from __future__ import annotations

import argparse
import itertools
import math
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # in place of this folder: its names are not modules

from causal import CausalModel, actual_causes  # noqa: E402  # after the path
from causal.random_models import FAMILIES, Case, random_case  # noqa: E402

LITERAL = 256  # states up to which the letter of the definition is asked as well
STRETCH = 3  # wall seconds allowed for a CPU second: the machine is shared
REPEATED = 10  # runs of what takes less than a millisecond, after a first one
CERTIFIED = 3  # causes up to this size are asked for where the whole family is out of reach


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The answer and the CPU seconds of this process, which other load does not change much."""
    start = time.process_time()
    answer = work()
    return answer, time.process_time() - start


def median(values: list[float]) -> float:
    """The middle one; the lower of two."""
    return sorted(values)[(len(values) - 1) // 2]


def show(*cells: object) -> None:
    sys.stdout.write("  ".join(str(c) for c in cells) + "\n")
    sys.stdout.flush()


def short(number: int) -> str:
    text = str(number)
    return text if len(text) < 13 else f"{text[0]}.{text[1:3]}e{len(text) - 1}"


def compound(draw: random.Random, case: Case) -> Any:
    """An event over up to three variables that holds."""
    actual = case.model.evaluate(case.context)
    names = draw.sample(case.model.variables, min(draw.randint(1, 3), len(case.model.variables)))
    if draw.random() < 0.3:
        return {n: actual[n] for n in names}
    true = [f"{n} == {actual[n]}" for n in names]
    other = [f"{n} == {draw.choice(case.model.domains[n])}" for n in names]
    pieces = [draw.choice((f"({a} | {b})", f"~({b} & ~({a}))", f"({a} & ({b} | {a}))"))
              for a, b in zip(true, other, strict=True)]
    return draw.choice((" & ", " | ")).join(pieces)


def agreement(seeds: int) -> None:
    """Every engine on all 16,314 small binary cases and on random models of 2 to 4 values; differences counted."""
    from proofs_checks._actual_causes import all_up_to_three, literal, model_of

    engines = ("sat", "zdd", "witness_map", "auto")
    wrong = dict.fromkeys(engines, 0)
    cases = all_up_to_three()
    for (m,) in cases:
        model, effect = model_of(m)
        truth = {frozenset(f"V{i}" for i in c) for c in literal(m)}
        for name in engines:
            wrong[name] += {c.variables for c in actual_causes(model, {}, effect, engine=name)} != truth
    show("agreement", f"{len(cases)} small binary cases", "differences from the definition:", wrong)
    number, literally, causes = 1000 * seeds, 0, 0
    differences = dict.fromkeys(itertools.combinations((*engines, "definition"), 2), 0)
    for seed in range(number):
        case, effect = random_question(seed)
        states = math.prod(len(case.model.domains[n]) for n in case.model.variables)
        asked = (*engines, "definition") if states <= LITERAL else engines
        found = {name: {c.variables for c in actual_causes(case.model, case.context, effect, engine=name)} for name in asked}
        literally += states <= LITERAL
        causes += len(found["sat"])
        for one, two in itertools.combinations(asked, 2):
            differences[one, two] += found[one] != found[two]
    show("agreement", f"{number} random models of 2 to 4 values, compound effects, {causes} causes in all; the definition on",
         f"{literally} of them; differences by pair:", {f"{a}/{b}": n for (a, b), n in differences.items()})


def random_question(seed: int) -> tuple[Case, Any]:
    """A model of 2 to 9 variables of 2 to 4 values, and an effect."""
    draw = random.Random(seed)
    values = draw.choice((2, 2, 3, 4))
    family = "tt" if values > 2 else draw.choice(FAMILIES)
    case = random_case(family, draw.randint(2, 9 if values == 2 else 6), seed, values=values)
    return case, compound(draw, case)


def fifteen(seeds: int) -> None:
    """15 variables: the witness map, once, against the automatic engine, whose time is the mean of several runs."""
    for family in FAMILIES:
        slow, fast = [], []
        for seed in range(seeds):
            case = random_case(family, 15, seed)
            found = list(actual_causes(*case))
            seconds = timed(lambda case=case: [list(actual_causes(*case)) for _ in range(REPEATED)])[1] / REPEATED
            again, slower = timed(lambda case=case: list(actual_causes(*case, engine="witness_map", time_limit=120)))
            assert {c.variables for c in found} == {c.variables for c in again}
            fast.append(seconds)
            slow.append(slower)
        ratios = [s / f for s, f in zip(slow, fast, strict=True)]
        show("n=15", f"{family:9}", f"auto {1e3 * median(fast):.1f} ms", f"map {median(slow):.3f} s",
             f"ratio median {median(ratios):.0f}x, least {min(ratios):.0f}x, most {max(ratios):.0f}x")


def complete(title: str, families: tuple[str, ...], nodes: int, seeds: int, limit: float) -> None:
    """Complete families within `limit` seconds of the clock, else complete up to a size."""
    for family in families:
        times, counts, partial, late = [], [], 0, 0.0
        for seed in range(seeds):
            case = random_case(family, nodes, seed)
            start = time.monotonic()
            found = actual_causes(*case, time_limit=limit)
            seconds = time.monotonic() - start
            late = max(late, seconds - limit)
            if found.complete and seconds <= limit:
                times.append(seconds)
                counts.append(found.count)
            else:
                partial += found.complete_up_to >= CERTIFIED
        shown = f"median {median(times):.2f} s, worst {max(times):.2f} s" if times else "none"
        show(title, f"{family:9}", f"complete {len(times)}/{seeds}", shown,
             f"others complete up to size {CERTIFIED}: {partial}/{seeds - len(times)}",
             f"causes {short(min(counts, default=0))} to {short(max(counts, default=0))}", f"{late:.2f} s late at most")


def tree(seeds: int) -> None:
    """Complete binary OR-trees."""
    for depth in (10, 11, 12):
        rules = {f"N{i}": f"N{2 * i} | N{2 * i + 1}" if i < 2**depth else None for i in range(1, 2 ** (depth + 1))}
        model = CausalModel.from_expressions(rules)
        context = dict.fromkeys(model.inputs, 1)
        found, seconds = timed(lambda c=context, m=model: actual_causes(m, c, {"N1": 1}).count)
        causes = 1
        for _ in range(depth):
            causes = 1 + causes * causes
        show("tree", f"{2 ** (depth + 1) - 1} nodes", f"{short(found)} causes in {seconds:.2f} s", f"exact: {found == causes}")


def large(seeds: int) -> None:
    """5,000 nodes: the first cause, and all of at most two variables."""
    for family in FAMILIES:
        firsts, seconds_two, done = [], [], 0
        for seed in range(seeds):
            case = random_case(family, 5000, seed, window=200)
            firsts.append(timed(lambda case=case: next(iter(actual_causes(*case, limit=1))))[1])
            two, seconds = timed(lambda case=case: actual_causes(*case, max_size=2, time_limit=20 * STRETCH))
            done += two.complete_up_to >= 2
            seconds_two.append(seconds)
        show("n=5000", f"{family:9}", f"first median {median(firsts):.2f} s, worst {max(firsts):.2f} s",
             f"size <= 2: complete {done}/{seeds}, median {median(seconds_two):.2f} s, worst {max(seconds_two):.2f} s")


def listing(seeds: int) -> None:
    """18,564 causes listed one by one: 18 votes of which 6 decide too many."""
    names = [f"V{i}" for i in range(18)]
    model = CausalModel.from_expressions({**dict.fromkeys(names), "T": f"atleast(13, {', '.join(names)})"})
    case = model, dict.fromkeys(names, 1), {"T": 1}
    found, seconds = timed(lambda: [c.variables for c in actual_causes(*case)])
    show("listing", f"{len(found)} causes in {seconds:.2f} s", f"{len(set(found))} different")


def multivalued(seeds: int) -> None:
    """More values."""
    for values, nodes in ((3, 30), (3, 100), (5, 30)):
        times = [timed(lambda s=s, v=values, n=nodes: actual_causes(*random_case("tt", n, s, values=v)).count)[1]
                 for s in range(seeds)]
        show("values", f"domain {values}, n={nodes}", f"median {median(times):.3f} s, worst {max(times):.3f} s")


def peers(seeds: int) -> None:
    """The peers that can be imported, on the same models: causes missed, sets that are none, times."""
    from benchmarks._causes_peers import installed

    found = installed()
    if not found:
        show("peers", "neither actualcauses nor causal_explainer can be imported: nothing compared")
    for name, peer in found.items():
        exact = name == "causal_explainer"
        for family in FAMILIES:
            nodes = 8 if exact else 15
            missed = false = total = 0
            ours, theirs = [], []
            for seed in range(seeds):
                case = random_case(family, nodes, seed)
                target = () if exact else case.model.variables[-1:]  # which the other leaves out
                right, fast = timed(lambda c=case, t=target: {x.variables for x in actual_causes(*c, exclude=t)})
                answer, slow = timed(lambda c=case, p=peer: p(c))
                missed, false, total = missed + len(right - answer), false + len(answer - right), total + len(right)
                ours.append(fast)
                theirs.append(slow)
            show("peers", name, f"{family:9}", f"n={nodes}", f"missed {missed} of {total}, false {false};",
                 f"median {1e3 * median(theirs):.1f} ms against {1e3 * median(ours):.2f} ms")


PARTS: dict[str, Callable[[int], None]] = {
    "agreement": agreement, "fifteen": fifteen,
    "hundred": lambda s: complete("n=100", FAMILIES, 100, s, 60), "three_hundred": lambda s: complete(
        "n=300", ("tt", "andornot", "thr", "xor"), 300, s, 12),
    "coherent": lambda s: complete("n=200", ("ones",), 200, s, 60), "tree": tree, "large": large, "listing": listing,
    "multivalued": multivalued, "peers": peers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for name in arguments.parts or PARTS:
        if name not in PARTS:
            parser.error(f"unknown part {name!r}; parts: {', '.join(PARTS)}")
        PARTS[name](arguments.seeds)
    here, other = (resource.getrusage(who).ru_maxrss / 2**20 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    show("peak memory", f"{here:.2f} GiB, of a process beside it {other:.2f} GiB")


if __name__ == "__main__":
    main()
