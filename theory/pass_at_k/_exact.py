"""Exact objects that the claims speak about: prompts with rational numbers, and what follows from them."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any, NamedTuple

from theory.claim import Paper

__all__ = ["PAPER", "Prompt", "agreements", "dot", "kernels", "rho", "sign_changes", "split"]

PAPER = Paper(slug="pass_at_k", arxiv="2602.21189", read="opening", topics=("reinforcement learning", "evaluation"),
              title="Why Pass@k Optimization Can Degrade Pass@1: Prompt Interference in LLM Post-training",
              url="https://arxiv.org/abs/2602.21189")


class Prompt(NamedTuple):
    """A prompt x: its probability q, its success rate p(x) and grad p(x), as exact numbers."""

    mass: Any
    success: Any
    gradient: tuple[Any, ...]


def dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    """<u, v>."""
    return sum(a * b for a, b in zip(u, v, strict=True))


def agreements(prompts: Sequence[Prompt]) -> list[Any]:
    """a(x) = <grad p(x), grad J_1> for each prompt, J_1 = E[p]."""
    first = [sum(x.mass * g for x, g in zip(prompts, column, strict=True))
             for column in zip(*(x.gradient for x in prompts), strict=True)]
    return [dot(x.gradient, first) for x in prompts]


def kernels(prompts: Sequence[Prompt]) -> list[Any]:
    """kappa(x, x') for each pair of different prompts."""
    return [dot(x.gradient, y.gradient) for i, x in enumerate(prompts) for y in prompts[:i]]


def split(prompts: Sequence[Prompt]) -> tuple[list[tuple[Any, Any, Any]], list[tuple[Any, Any, Any]]]:
    """(mass, success, |agreement|) of the prompts that disagree with grad J_1 (H), and of the rest (E)."""
    rows = [(x.mass, x.success, a) for x, a in zip(prompts, agreements(prompts), strict=True)]
    return [(q, p, -a) for q, p, a in rows if a < 0], [(q, p, a) for q, p, a in rows if a >= 0]


def sign_changes(values: Iterable[Any]) -> int:
    """How often consecutive non-zero values differ in sign."""
    signs = [v > 0 for v in values if v != 0]
    return sum(a != b for a, b in pairwise(signs))


def rho(n: int, c: int, k: int) -> Fraction:
    """1 - C(n-c, k) / C(n, k), as the wide-spread code computes it: 1 wherever n - c < k, also for n < k."""
    return Fraction(1) if n - c < k else 1 - Fraction(comb(n - c, k), comb(n, k))
