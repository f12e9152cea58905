"""What of a question must be looked at, and how it falls apart: polarity, then modules at dominators.

Flipping means leaving the actual value. A two-valued variable whose flip can only hinder the effect from failing stays
at its actual value (freeze it: that is what contingencies are for), so that it and what lies under it alone drop out.
One whose flip can only help is flipped whenever it can be. The rest, and every variable of more values, is "mixed".

A two-valued variable M is the head of a module if every path to the effect from what lies under it passes M: that
matters only through "M can be flipped", so that its causes are found once and put in place of M."""
from __future__ import annotations

from dataclasses import dataclass

from causal._circuit import TRUE
from causal._instance import Instance

HELPS, HINDERS, BOTH = 1, -1, 0
MAX_TABLE = 8  # variables up to which the direction of an influence is decided by the truth table


@dataclass(frozen=True, slots=True)
class Region:
    """A module or the effect itself: `head` is a position, or None for the effect.

    order   its own variables and the heads of its submodules, as met by depth first search from the head
    heads   those of `order` that are heads of submodules"""

    head: int | None
    order: tuple[int, ...]
    heads: frozenset[int]


@dataclass(frozen=True, slots=True)
class Plan:
    """`uses[i]` is how flipping variable i acts on what it matters for; variables not in it do not matter.

    `regions` come submodules first, the effect last."""

    uses: dict[int, int]
    regions: tuple[Region, ...]


def make_plan(instance: Instance, uses: dict[int, int], parents: dict[int, list[int]]) -> Plan:
    """The plan of a question with the given polarities."""
    return Plan(uses, _regions(instance, parents))


def polarity(instance: Instance) -> tuple[dict[int, int], dict[int, list[int]]]:
    """(how flipping each variable acts, for each user the variables it looks at that may be flipped)."""
    uses: dict[int, int] = {}
    parents: dict[int, list[int]] = {-1: []}

    def use(user: int, node: int) -> None:
        for at, sign in influence(instance, node).items():
            if sign == HINDERS and at not in uses:
                uses[at] = HINDERS
            elif at not in uses:
                uses[at] = sign if instance.sizes[at] == 2 else BOTH
            elif uses[at] != sign:
                uses[at] = BOTH
            parents[user].append(at)

    use(-1, instance.failure)
    for at in reversed(range(len(instance.names))):
        if uses.get(at, HINDERS) == HINDERS:
            continue
        parents[at] = []
        for code in instance.alternatives(at):
            use(at, instance.rule(at, code))
    live = {at for at, sign in uses.items() if sign != HINDERS}
    kept = {user: list(dict.fromkeys(p for p in of if p in live)) for user, of in parents.items()}
    return uses, kept


def influence(instance: Instance, node: int) -> dict[int, int]:
    """{variable: how leaving its actual value acts on the truth of `node`}."""
    if node <= TRUE:
        return {}
    if instance.circuit.nodes[node][0] in ("and", "or", "atom", "not", "atleast"):
        found = _by_syntax(instance, node)
        if BOTH not in found.values():
            return found
    support = sorted(instance.circuit.support(node))
    if len(support) > MAX_TABLE or any(instance.sizes[s] > 2 for s in support):
        return _by_syntax(instance, node)
    return _by_table(instance, node, support)


def _by_syntax(instance: Instance, node: int) -> dict[int, int]:
    circuit = instance.circuit
    found: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    stack = [(node, HELPS)]

    def meet(at: int, sign: int) -> None:
        found[at] = sign if found.get(at, sign) == sign else BOTH

    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        at, sign = item
        entry = circuit.nodes[at]
        match entry[0]:
            case "atom":
                meet(entry[1], sign if entry[2] != instance.actual[entry[1]] else -sign)
            case "not":
                stack.append((entry[1], -sign))
            case "and" | "or" | "atleast":
                stack += [(k, sign) for k in entry[-1]]
            case "xor" | "case":
                stack += [(k, s) for k in entry[-1] for s in ((sign,) if entry[0] == "case" else (sign, -sign))]
                if entry[0] == "case":
                    meet(entry[1], BOTH)
    return found


def _by_table(instance: Instance, node: int, support: list[int]) -> dict[int, int]:
    """Exact directions from the truth table over at most 2^MAX_TABLE rows; a variable without influence is left out."""
    run = instance.circuit.evaluator([node])
    count = len(support)
    actual = [instance.actual[s] for s in support]
    truth = [run({s: (row >> i & 1) ^ a for i, (s, a) in enumerate(zip(support, actual, strict=True))})[0]
             for row in range(2**count)]  # bit i of the row: support[i] is flipped
    found = {}
    for i, at in enumerate(support):
        up = down = False
        for row in range(2**count):
            if not row >> i & 1:
                before, after = truth[row], truth[row | 1 << i]
                up |= after and not before
                down |= before and not after
        if up or down:
            found[at] = BOTH if up and down else HELPS if up else HINDERS
    return found


def _regions(instance: Instance, parents: dict[int, list[int]]) -> tuple[Region, ...]:
    heads = {at for at in _modules(parents) if instance.sizes[at] == 2}
    regions = [Region(at, *_walk(parents, parents[at], heads)) for at in sorted(heads)]
    regions.append(Region(None, *_walk(parents, parents[-1], heads)))
    return tuple(regions)


def _modules(parents: dict[int, list[int]]) -> list[int]:
    """The variables that dominate everything under them, and have something under them.

    A variable does if no variable under it has an immediate dominator further from itself, nearer to the effect."""
    above, depth = _dominators(parents)
    nearest: dict[int, int] = {}  # the least depth of an immediate dominator of anything under a variable
    heads = []
    for at in sorted(above):
        under = parents.get(at, [])
        nearest[at] = min((min(depth[above[p]], nearest[p]) for p in under), default=len(depth))
        if under and nearest[at] >= depth[at]:
            heads.append(at)
    return heads


def _dominators(parents: dict[int, list[int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Immediate dominators on the paths from the effect (-1) backwards, and depths in their tree."""
    users: dict[int, list[int]] = {}
    for user, of in parents.items():
        for at in of:
            users.setdefault(at, []).append(user)
    above: dict[int, int] = {}
    depth = {-1: 0}
    for at in sorted(users, reverse=True):
        meet: int | None = None
        for user in users[at]:
            if meet is None:
                meet = user
            while meet != user:
                if depth[meet] >= depth[user]:
                    meet = above[meet]
                else:
                    user = above[user]
        assert meet is not None
        above[at] = meet
        depth[at] = depth[meet] + 1
    return above, depth


def _walk(parents: dict[int, list[int]], start: list[int], heads: set[int]) -> tuple[tuple[int, ...], frozenset[int]]:
    order: dict[int, None] = {}
    stack = [iter(start)]
    while stack:
        for at in stack[-1]:
            if at not in order:
                order[at] = None
                if at not in heads:
                    stack.append(iter(parents.get(at, ())))
                break
        else:
            stack.pop()
    return tuple(order), frozenset(order) & heads
