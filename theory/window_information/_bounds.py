"""The bound, its certificates, the sharp form at finite m and its inverse. Letters: `theory.window_information`."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.window_information._paper import PAPER, participation

Exact = Callable[..., Any]
NONNEGATIVE = r"w_i \ge 0 \text{ for all } i"


# The share is defined where sum w != 0; k is free.
nonnegative = Conditions(defined=lambda w, k: sum(w) != 0, nonnegative=lambda w, k: all(x >= 0 for x in w))


class Bound(NamedTuple):
    """share^2 <= square(k, count(w)) for every S and every (w, k) that satisfies `given`."""

    square: Exact
    count: Exact
    given: Exact


_bound = Bound(lambda k, c: k / c, participation, nonnegative)

ipr_bound = Claim(
    id="window_information.ipr_bound", paper=PAPER, source=Source.ABSTRACT, standing=Standing.HOLDS,
    statement=r"\forall w,\ \forall |S| = k:\ \frac{\sum_S w_i}{\sum w_i} \le \sqrt{k/c},\quad"
              r" c = \frac{(\sum w_i)^2}{\sum w_i^2}",
    hypotheses={"nonnegative": NONNEGATIVE},
    form=_bound,
    mutants={"k_over_c": _bound._replace(square=lambda k, c: (k / c) ** 2),
             "constant_0.99": _bound._replace(square=lambda k, c: Fraction(99, 100) * k / c),
             "one_window_less": _bound._replace(square=lambda k, c: (k - 1) / c),
             "support_size": _bound._replace(count=lambda w: sum(x != 0 for x in w))},
    also_true={"without_nonnegative": without(_bound, "nonnegative"),
               "signs_allowed": _bound._replace(given=lambda w, k: sum(w) > 0)},
    note="The abstract's bound in our reading: information is Fisher information of independent windows, c its inverse"
         " participation ratio. Cauchy-Schwarz on S proves it, for windows chosen before the data are seen."
         " Other readings: matching_count, d_prime_share, independence.")

pair_squares = Claim(
    id="window_information.pair_squares", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\forall n \ge 1:\ \sum_{i<j\le n} (w_i - w_j)^2 = n \sum w_i^2 - \big(\sum w_i\big)^2",
    form=lambda n, squares, total: n * squares - total**2,
    mutants={"n_minus_1": lambda n, squares, total: (n - 1) * squares - total**2,
             "pairs_twice": lambda n, squares, total: 2 * (n * squares - total**2),
             "offset": lambda n, squares, total: n * squares - total**2 + 1,
             "total_halved": lambda n, squares, total: n * squares - total**2 / 2},
    note="Lagrange's identity. Base n = 1 and step n -> n + 1 are separate checks; together they are the induction.")

ipr_certificate = Claim(
    id="window_information.ipr_certificate", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"k \sum w_i^2 - \big(\sum_S w_i\big)^2 = \sum_{i<j \in S} (w_i - w_j)^2 + k \sum_{i \notin S} w_i^2",
    form=lambda k, pairs, outside: pairs + k * outside,
    mutants={"outside_once": lambda k, pairs, outside: pairs + outside,
             "outside_dropped": lambda k, pairs, outside: pairs,
             "pairs_averaged": lambda k, pairs, outside: pairs / k + k * outside},
    note="Why the bound holds, and when with equality: w constant on S and 0 elsewhere, hence only at k = c. pairs is"
         " the sum of squared differences inside S, outside the sum of squares elsewhere. All m and k by pair_squares.")

sharp_certificate = Claim(
    id="window_information.sharp_certificate", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"k(m-k)\big(m \sum w_i^2 - t^2\big) - (m s - k t)^2 ="
              r" m\Big[(m-k) \sum_{i<j \in S} (w_i-w_j)^2 + k \sum_{i<j \notin S} (w_i-w_j)^2\Big],\ s = \sum_S w_i",
    form=lambda m, k, inside, outside: m * ((m - k) * inside + k * outside),
    mutants={"factor_m_dropped": lambda m, k, inside, outside: (m - k) * inside + k * outside,
             "weights_exchanged": lambda m, k, inside, outside: m * (k * inside + (m - k) * outside),
             "inside_only": lambda m, k, inside, outside: m * (m - k) * inside},
    note="Why the sharp bound holds, and when with equality: w constant on S and constant off S. inside and outside are"
         " sums of squared differences. In general m and k by pair_squares.")


class Sharp(NamedTuple):
    """m share - centre(k, m) <= sqrt(radicand(k, c, m)), and share <= 1 once k >= c; for (w, k) as in `given`."""

    centre: Exact
    radicand: Exact
    given: Exact


_sharp = Sharp(lambda k, m: k, lambda k, c, m: k * (m - k) * (m / c - 1), nonnegative)

sharp_bound = Claim(
    id="window_information.sharp_bound", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall w,\ \forall |S| = k:\ \frac{\sum_S w_i}{\sum w_i} \le"
              r" \frac{k + \sqrt{k(m-k)(m/c - 1)}}{m} \text{ for } k \le c, \text{ and } \le 1 \text{ for } k \ge c",
    hypotheses={"nonnegative": NONNEGATIVE},
    form=_sharp,
    mutants={"without_nonnegative": without(_sharp, "nonnegative"),
             "centre_dropped": _sharp._replace(centre=lambda k, m: 0 * k),
             "radicand_0.99": _sharp._replace(radicand=lambda k, c, m: Fraction(99, 100) * k * (m - k) * (m / c - 1)),
             "k_squared": _sharp._replace(radicand=lambda k, c, m: k * k * (m / c - 1)),
             "mean_only": _sharp._replace(radicand=lambda k, c, m: 0 * c)},
    also_true={"cauchy_schwarz": _sharp._replace(centre=lambda k, m: 0 * k, radicand=lambda k, c, m: m * m * k / c)},
    note="Best possible at each finite m (sharp_is_attained). It tends to sqrt(k/c) as m grows and is k/m for flat w,"
         " where sqrt(k/c) is sqrt(k/m). Nonnegativity is needed for the cap at 1 only.")


class Extremes(NamedTuple):
    """What two-valued w attain: m share = k + sqrt(radicand(k, c, m))."""

    radicand: Exact


sharp_is_attained = Claim(
    id="window_information.sharp_is_attained", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"w = a \text{ on } S,\ b \text{ off } S,\ a \ge b \ge 0:\quad \frac{\sum_S w_i}{\sum w_i}"
              r" = \frac{k + \sqrt{k(m-k)(m/c - 1)}}{m}",
    form=Extremes(lambda k, c, m: k * (m - k) * (m / c - 1)),
    mutants={"cauchy_schwarz": Extremes(lambda k, c, m: (m * m * k / c) - k * k),
             "radicand_0.99": Extremes(lambda k, c, m: Fraction(99, 100) * k * (m - k) * (m / c - 1)),
             "no_minus_1": Extremes(lambda k, c, m: k * (m - k) * m / c)},
    note="b/a from 0 to 1 moves c continuously from k to m, so that every k <= c <= m is attained; sqrt(k/c) itself is"
         " attained at c = k only, and is the supremum over m for c > k.")


class FewestWindows(NamedTuple):
    """K(f, c, m) = (c/2) (centre(f, l) + sign sqrt(radicand(f, l))), l = m/c - 1."""

    centre: Exact
    radicand: Exact
    sign: int


_fewest = FewestWindows(lambda f, l: 2 * f + l, lambda f, l: l * l + 4 * f * l * (1 - f), -1)

minimal_windows = Claim(
    id="window_information.minimal_windows", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall w \ge 0: \text{ any } S \text{ of share } f \text{ has } |S| \ge K(f, c, m) ="
              r" \tfrac c2\big(2f + l - \sqrt{l^2 + 4 f l (1-f)}\big),\ l = m/c - 1;"
              r" \text{ two-valued } w \text{ attain it}",
    form=_fewest,
    mutants={"plus_root": _fewest._replace(sign=+1),
             "large_m": FewestWindows(lambda f, l: 2 * f * f, lambda f, l: 0 * l, -1),
             "no_1_minus_f": _fewest._replace(radicand=lambda f, l: l * l + 4 * f * l),
             "share_of_c": FewestWindows(lambda f, l: 2 * f, lambda f, l: 0 * l, -1)},
    note="The inverse of sharp_bound. As m grows K falls to f^2 c (mutant large_m: still necessary, not attained).")


class Counts(NamedTuple):
    """lower(m) <= c(w) <= upper(m) for every (w, k) that satisfies `given`."""

    lower: Exact
    upper: Exact
    given: Exact


_counts = Counts(lambda m: 1, lambda m: m, nonnegative)

count_range = Claim(
    id="window_information.count_range", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"1 \le c(w) \le m", hypotheses={"nonnegative": NONNEGATIVE},
    form=_counts,
    mutants={"without_nonnegative": without(_counts, "nonnegative"),
             "at_least_2": _counts._replace(lower=lambda m: min(2, m)),
             "below_m": _counts._replace(upper=lambda m: m - Fraction(1, 2))},
    note="With cancelling signs c falls below 1 and stops being a count.")

guaranteed_share = Claim(
    id="window_information.guaranteed_share", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall w \ge 0:\ \max_{|S|=k} \frac{\sum_S w_i}{\sum w_i} \ge \max(k/m,\ 1/c)",
    form=lambda k, c, m: max(k / m, 1 / c),
    mutants={"k_over_c": lambda k, c, m: min(1, k / c),
             "half_k_over_c": lambda k, c, m: min(1, k / (2 * c)),
             "twice": lambda k, c, m: max(k / m, min(1, 2 / c))},
    also_true={"random_windows_only": lambda k, c, m: k / m, "one_window_only": lambda k, c, m: 1 / c},
    note="What the best k windows hold at the least: little. c windows may hold any small fraction (windows_suffice).")
