"""The paper, and the one definition that every claim about it shares."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theory.claim import Paper

PAPER = Paper(
    slug="window_information",
    title="Cell-free DNA classification from sparse genomic windows (our words: only the abstract is known)",
    arxiv=None, topics=("statistics", "information theory", "genomics"), read="abstract")


def participation(w: Sequence[Any]) -> Any:
    """c = (sum w)^2 / sum w^2, exact on Fractions and on symbols; signs allowed, sum w^2 not zero."""
    return sum(w) ** 2 / sum(x * x for x in w)
