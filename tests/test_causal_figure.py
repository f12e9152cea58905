"""The figure of actual causes: its five parts, and the beam search it compares with."""
from __future__ import annotations

from causal import actual_causes
from causal.random_models import random_case
from proofs_checks._actual_causes_figure import ENGINES, beam_search, figure, figure_data


def test_the_five_parts_are_drawn() -> None:
    data = figure_data()
    assert [[n for n, _ in rows] for rows in data["times"].values()] == [list(at) for at in ENGINES.values()]
    assert all(seconds > 0 for rows in data["times"].values() for _, seconds in rows)
    assert all(0 <= share <= 1 for shares in data["recall"].values() for share in shares)
    assert min(shares[0] for shares in data["recall"].values()) < 1  # a narrow beam misses causes
    titles = [axes.get_title() for axes in figure(data).axes]
    assert {title.split(")")[0] for title in titles} == {"(i", "(ii", "(iii", "(iv", "(v"}


def test_a_beam_that_drops_nothing_finds_every_cause() -> None:
    for family in ("tt", "thr", "ones"):
        for seed in range(3):
            case = random_case(family, 6, seed)
            right = {c.variables for c in actual_causes(*case)}
            assert beam_search(case, 10**6) == right
            assert any(beam_search(random_case(family, 9, s), 1) != {
                c.variables for c in actual_causes(*random_case(family, 9, s))} for s in range(6))
