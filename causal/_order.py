"""Another order of the variables of a region: those that are looked at together come close together.

The heuristic FORCE of Aloul, Markov and Sakallah (2003): a variable moves to the mean place of the groups that it is in, a
group being a variable with its parents; of all orders met the one of least total span is taken."""
from __future__ import annotations

from causal._plan import Region

ROUNDS = 300


def by_force(region: Region, parents: dict[int, list[int]]) -> tuple[int, ...]:
    """The variables of `region.order`, reordered."""
    inside = frozenset(region.order)
    users = [at for at in region.order if at not in region.heads]
    groups = [[at, *(p for p in parents.get(at, ()) if p in inside)] for at in users]
    groups.append([p for p in parents[-1 if region.head is None else region.head] if p in inside])
    groups = [g for g in groups if len(g) > 1]
    within: dict[int, list[int]] = {at: [] for at in region.order}
    for number, group in enumerate(groups):
        for at in group:
            within[at].append(number)
    order = best = list(region.order)
    least = _span(order, groups)
    for _ in range(ROUNDS):
        place = {at: i for i, at in enumerate(order)}
        means = [sum(place[at] for at in g) / len(g) for g in groups]
        wanted = {at: sum(means[g] for g in of) / len(of) if of else float(place[at]) for at, of in within.items()}
        moved = sorted(order, key=wanted.__getitem__)
        if moved == order:
            break
        order, span = moved, _span(moved, groups)
        if span < least:
            best, least = order, span
    return tuple(best)


def _span(order: list[int], groups: list[list[int]]) -> int:
    """How far the groups reach, all together."""
    place = {at: i for i, at in enumerate(order)}
    return sum(max(places) - min(places) for places in ([place[at] for at in g] for g in groups))
