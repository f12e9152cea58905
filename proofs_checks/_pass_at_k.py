"""Exact objects for the evidence on pass@k: truncated power series, softmax policies, grids of prompts."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, lcm
from typing import Any, NamedTuple

from hypothesis import strategies as st

from theory.pass_at_k import Prompt, dot

ONE = Fraction(1)


class Series:
    """a + b e + c e^2 / 2 modulo e^3: a value with its first two derivatives, in exact arithmetic."""

    def __init__(self, value: Any, first: Any = 0, second: Any = 0) -> None:
        self.value, self.first, self.second = value, first, second

    def __add__(self, other: Any) -> Series:
        o = _series(other)
        return Series(self.value + o.value, self.first + o.first, self.second + o.second)

    def __mul__(self, other: Any) -> Series:
        o = _series(other)
        return Series(self.value * o.value, self.value * o.first + self.first * o.value,
                      self.value * o.second + 2 * self.first * o.first + self.second * o.value)

    def __neg__(self) -> Series:
        return Series(-self.value, -self.first, -self.second)

    def __sub__(self, other: Any) -> Series:
        return self + -_series(other)

    def __rsub__(self, other: Any) -> Series:
        return _series(other) - self

    def __pow__(self, power: int) -> Series:
        found = Series(ONE)
        for _ in range(power):  # repeated products, so that no formula for the derivative of a power is used
            found = found * self
        return found

    def __truediv__(self, other: Any) -> Series:
        o = _series(other)
        inverse = 1 / o.value
        first = -o.first * inverse ** 2
        return self * Series(inverse, first, 2 * o.first ** 2 * inverse ** 3 - o.second * inverse ** 2)

    __radd__, __rmul__ = __add__, __mul__


def _series(value: Any) -> Series:
    return value if isinstance(value, Series) else Series(value)


def derivative(f: Callable[[Any], Any], at: Any) -> Any:
    """f'(at): by sympy where `at` is a symbol, by a truncated power series where it is a number."""
    if hasattr(at, "free_symbols"):
        from sympy import diff

        return diff(f(at), at)
    found = f(Series(at, 1))
    return found.first if isinstance(found, Series) else 0


class Action(NamedTuple):
    """An answer of a softmax policy: its weight at theta = 0, its reward, its logit u.theta + v theta^2 / 2.

    `tilt` is u (one number a parameter), `bend` is v (along the one direction that is looked at)."""

    weight: int
    reward: int
    tilt: tuple[int, ...]
    bend: int = 0


Policy = tuple[Action, ...]


def probabilities(policy: Policy, direction: int = 0) -> list[Series]:
    """pi(y) with two derivatives along one coordinate of theta, at theta = 0."""
    raised = [Series(Fraction(a.weight), Fraction(a.weight * a.tilt[direction]),
                     Fraction(a.weight * (a.tilt[direction] ** 2 + a.bend))) for a in policy]
    total = sum(raised, Series(Fraction(0)))
    return [r / total for r in raised]


def success(policy: Policy, direction: int = 0) -> Series:
    """p with two derivatives along one coordinate of theta."""
    found = zip(policy, probabilities(policy, direction), strict=True)
    return sum((pi for a, pi in found if a.reward), Series(Fraction(0)))


def rows(policy: Policy) -> tuple[tuple[Fraction, int, tuple[Fraction, ...]], ...]:
    """(pi, reward, score) of each action; the score is the gradient of log pi."""
    along = [probabilities(policy, i) for i in range(len(policy[0].tilt))]
    return tuple((along[0][j].value, a.reward, tuple(d[j].first / d[j].value for d in along))
                 for j, a in enumerate(policy))


def score_bounds(policy: Policy) -> tuple[Fraction, Fraction]:
    """G = max |s| and L_s = max |ds/dtheta|, along coordinate 0."""
    found = probabilities(policy)
    slopes = [pi.first / pi.value for pi in found]
    bends = [pi.second / pi.value - (pi.first / pi.value) ** 2 for pi in found]  # (log pi)''
    return max(map(abs, slopes)), max(map(abs, bends))


def policies(dimension: int = 1) -> Iterator[Policy]:
    """Two- and three-action policies with small integers, some right and some wrong answers."""
    tilts = [(1, 0), (-1, 2), (0, -3), (2, 1)] if dimension == 2 else [(1,), (-2,), (0,), (3,)]
    for weights in ((1, 1), (1, 3), (5, 1)):
        for u, v in combinations(tilts, 2):
            for bends in ((0, 0), (4, -4), (-3, 1)):
                yield tuple(Action(*x) for x in zip(weights, (1, 0), (u, v), bends, strict=True))
    for three, rewards in product(((1, 1, 1), (1, 2, 5)), ((1, 0, 0), (0, 1, 1))):
        yield tuple(Action(*x) for x in zip(three, rewards, tilts[1:], (2, 0, -6), strict=True))


def inner(prompts: Sequence[Prompt], k: int) -> Any:
    """<grad J_k, grad J_1> from the two gradients."""
    first = mean_gradient(prompts, lambda p: 1)
    return dot(mean_gradient(prompts, lambda p: k * (1 - p) ** (k - 1)), first)


def mean_gradient(prompts: Sequence[Prompt], weigh: Callable[[Any], Any]) -> list[Any]:
    """E[weigh(p) grad p]."""
    scales = [x.mass * weigh(x.success) for x in prompts]
    return [sum(s * x.gradient[i] for s, x in zip(scales, prompts, strict=True))
            for i in range(len(prompts[0].gradient))]


def conflicts(prompts: Sequence[Prompt], largest: int) -> list[int]:
    """Sign (-1, 0, 1) of <grad J_k, grad J_1> for k = 1, ..., largest, in whole numbers."""
    first = mean_gradient(prompts, lambda p: 1)
    pulls = [x.mass * dot(x.gradient, first) for x in prompts]
    scale, base = lcm(*(Fraction(v).denominator for v in pulls)), lcm(*(x.success.denominator for x in prompts))
    terms = [int(v * scale) for v in pulls]
    failures = [int((1 - x.success) * base) for x in prompts]  # 1-p, times a common denominator
    signs = []
    for _ in range(largest):
        total = sum(terms)
        signs.append((total > 0) - (total < 0))
        terms = [t * f for t, f in zip(terms, failures, strict=True)]
    return signs


def pairs() -> Iterator[tuple[Prompt, ...]]:
    """Two prompts with gradients in the plane; p in quarters, so that some thresholds are whole numbers."""
    plane = [(1, 0), (-1, 0), (-2, 0), (-1, 1), (2, -1), (-4, 1)]
    quarters = [Fraction(n, 4) for n in range(1, 4)]
    for mass, (p, q), g, h in product((Fraction(1, 2), Fraction(1, 4)), combinations(quarters, 2), plane, plane):
        yield Prompt(mass, p, g), Prompt(1 - mass, q, h)
        yield Prompt(mass, q, g), Prompt(1 - mass, p, h)


def triples(lines: tuple[int, ...] = (1, -2, -4, 6)) -> Iterator[tuple[Prompt, ...]]:
    """Three prompts with gradients on a line, in every order of success; two or three of them may be equally hard."""
    sixteenths = [Fraction(n, 16) for n in (1, 4, 14)]
    for p, g in product(product(sixteenths, repeat=3), product(lines, repeat=3)):
        yield tuple(Prompt(Fraction(q, 8), s, (v,)) for q, s, v in zip((1, 2, 5), p, g, strict=True))


def fractions(low: int, high: int, parts: int) -> st.SearchStrategy[Fraction]:
    """low/parts, ..., high/parts."""
    return st.integers(low, high).map(lambda n: Fraction(n, parts))


_RATES = [Fraction(n, 40) for n in (4, 0, 1, 2, 8, 12, 16, 20, 26, 32, 36, 39)]


def drawn_prompts(count: int | None = None, dimension: int = 1) -> st.SearchStrategy[tuple[Prompt, ...]]:
    """`count` prompts, or two to four, with rational numbers; masses sum to 1.

    The digits of one integer are read off, which is ten times as fast as drawing each number."""

    def decode(code: int) -> tuple[Prompt, ...]:
        def digit(base: int) -> int:
            nonlocal code
            code, rest = divmod(code, base)
            return rest

        m = count or 2 + digit(3)
        shares = [1 + digit(6) for _ in range(m)]
        return tuple(Prompt(Fraction(share, sum(shares)), _RATES[digit(len(_RATES))],
                            tuple((-2) ** digit(6) for _ in range(dimension))) for share in shares)

    return st.integers(0, (6 * len(_RATES) * 6 ** dimension) ** 4 * 3).map(decode)


@st.composite
def drawn_policies(draw: st.DrawFn) -> Policy:
    """Two to four actions; at least one right and one wrong answer."""
    small = st.integers(-4, 4)
    found = [Action(draw(st.integers(1, 9)), i % 2, (draw(small),), draw(small)) for i in range(draw(st.integers(2, 4)))]
    return tuple(found)


def expected_update(policy: Policy, n: int, weights: Callable[[Sequence[int]], Sequence[Fraction]]) -> Fraction:
    """E[sum_i weights_i s(y_i)] over all groups of n independent answers, one by one."""
    table, total = rows(policy), Fraction(0)
    for group in product(table, repeat=n):
        chance = ONE
        for pi, _, _ in group:
            chance *= pi
        given = weights([reward for _, reward, _ in group])
        total += chance * sum((w * s[0] for w, (_, _, s) in zip(given, group, strict=True)), Fraction(0))
    return total


def group_weights(rewards: Sequence[int], k: int) -> list[Fraction]:
    """The weights of arXiv 2505.15201 in one group, from their definition by subsets of k - 1 other samples."""
    n, c = len(rewards), sum(rewards)
    rescued = 1 - Fraction(comb(n - 1 - c, k - 1), comb(n - 1, k - 1)) if c < n else ONE
    return [Fraction(k, n) * (1 if r else rescued) for r in rewards]
