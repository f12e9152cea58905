"""What is asserted about parents of a target; variants are functions, predicted answers, or records of them."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Paper, Source, Standing, without
from theory.parent_identification._exact import anm_condition

__all__ = ["PAPER", "density_condition", "exceptional_laws", "fourth_order", "gaussian_chain", "gaussian_child",
           "hidden_confounder", "instrument", "log_gamma", "null_set", "pair_enough", "principle", "schwartz_zippel",
           "superset_ties", "third_order"]

PAPER = Paper(slug="parent_identification", title="Identifying and estimating the parents of a target (IndRM)", arxiv=None,
              topics=("causal discovery", "additive noise", "identifiability"), read="abstract")

principle: Claim[Any] = Claim(
    id="parent_identification.principle", paper=PAPER, source=Source.ABSTRACT, standing=Standing.HOLDS,
    statement=r"\arg\min_{S:\ R_S \perp X_S} (\mathrm{Var} R_S, |S|) = \{\mathrm{PA}(Y)\},\quad R_S = Y - E[Y \mid X_S]",
    hypotheses={
        "independent_noise": r"N \perp X_{\mathrm{ND}}\text{, the vector of observed non-descendants}",
        "minimality": r"f(X_{\mathrm{PA}}) \text{ a.s. a function of } X_T,\ T \subseteq \mathrm{ND}"
                      r" \Rightarrow \mathrm{PA} \subseteq T",
        "no_backward": r"\text{no admissible } S \text{ with a descendant has }"
                       r" (\mathrm{Var} R_S, |S|) \le (\mathrm{Var} N, |\mathrm{PA}|)"},
    note="Form and variants are given at the evidence, since the algorithm is causal.population_parents. The first hypothesis"
         " is stronger than noise independent of the parents, which is not enough; the third is weaker than asking that no"
         " set with a descendant be admissible.")


class Ties(NamedTuple):
    """Sets S with `reach(S, parents, descendants)` are admissible, with residual variance `variance(law of N)`."""

    reach: Callable[..., bool]
    variance: Callable[[Mapping[Any, Any]], Any]


def moment(law: Mapping[Any, Any], k: int) -> Fraction:
    """E N^k."""
    return sum((Fraction(p) * Fraction(v) ** k for v, p in law.items()), Fraction(0))


def variance_of(law: Mapping[Any, Any]) -> Fraction:
    """Var N."""
    return moment(law, 2) - moment(law, 1) ** 2


TIES = Ties(lambda s, parents, descendants: parents <= s and not s & descendants, variance_of)
superset_ties = Claim(
    id="parent_identification.superset_ties", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\mathrm{PA} \subseteq S \subseteq \mathrm{ND} \Rightarrow R_S \perp X_S,\ \mathrm{Var} R_S = \mathrm{Var} N",
    form=TIES,
    mutants={"descendants_too": TIES._replace(reach=lambda s, parents, descendants: parents <= s),
             "some_parent": TIES._replace(reach=lambda s, parents, descendants: (not parents or bool(parents & s))
                                          and not s & descendants),
             "any_pair": TIES._replace(reach=lambda s, parents, descendants: (parents <= s or len(s) == 2)
                                       and not s & descendants),
             "second_moment": TIES._replace(variance=lambda law: moment(law, 2)),
             "standard_deviation_squared_twice": TIES._replace(variance=lambda law: variance_of(law) ** 2)},
    note="This is why ties go to the smallest set.")

density_condition = Claim(
    id="parent_identification.density_condition", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\pi = \nu(y - f(x)) + \xi(x) \Rightarrow D = \pi_{yyx}\pi_{yy} - \pi_{yx}\pi_{yyy} = 0,\quad"
              r" D = \pi_{yy}^2\, \partial_y(\pi_{yx}/\pi_{yy})",
    form=anm_condition,
    mutants={"plus": lambda p_yyx, p_yy, p_yx, p_yyy: p_yyx * p_yy + p_yx * p_yyy,
             "third_for_second": lambda p_yyx, p_yy, p_yx, p_yyy: p_yyx * p_yy - p_yx * p_yy,
             "exchanged": lambda p_yyx, p_yy, p_yx, p_yyy: p_yyx * p_yx - p_yy * p_yyy,
             "doubled": lambda p_yyx, p_yy, p_yx, p_yyy: p_yyx * p_yy - 2 * p_yx * p_yyy},
    note="Two variables are Hoyer et al. (2008). One point with D != 0 refutes the set for every f at once; a moment of one"
         " residual does not.")


class Edge(NamedTuple):
    """Y's child is edge(b, Y) + M; the residual of Y on parent and child has variance `variance(b)`."""

    edge: Callable[[Any, Any], Any]
    variance: Callable[[Any], Any]


CHILD = Edge(lambda b, y: b * y, lambda b: 1 / (1 + b**2))
gaussian_child = Claim(
    id="parent_identification.gaussian_child", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall f:\ Y = f(X_1) + N,\ X_2 = bY + M,\ N, M \sim \mathcal N(0, 1) \Rightarrow \{X_1, X_2\}"
              r" \text{ admissible, variance } 1/(1+b^2)",
    form=CHILD,
    mutants={"quadratic_edge": CHILD._replace(edge=lambda b, y: b * y**2),
             "cubic_edge": CHILD._replace(edge=lambda b, y: b * y + y**3),
             "variance_of_noise": CHILD._replace(variance=lambda b: 1 + 0 * b),
             "b_not_squared": CHILD._replace(variance=lambda b: 1 / (1 + b))},
    note="A curved f does not help: IndRM returns the child as well. The child's edge must be curved, or a noise not Gaussian.")

gaussian_chain = Claim(
    id="parent_identification.gaussian_chain", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"Y = aX_1 + N,\ X_2 = bY + M \text{ Gaussian}:\ \mathrm{Var}(Y \mid X_1, X_2)"
              r" = \frac{s_N s_M}{b^2 s_N + s_M}",
    form=lambda b, s_n, s_m: s_n * s_m / (b**2 * s_n + s_m),
    mutants={"child_ignored": lambda b, s_n, s_m: s_n + 0 * b * s_m,
             "variances_exchanged": lambda b, s_n, s_m: s_n * s_m / (s_n + b**2 * s_m),
             "b_not_squared": lambda b, s_n, s_m: s_n * s_m / (b * s_n + s_m)},
    note="Every set is admissible there, so the principle returns the Markov blanket.")

log_gamma = Claim(
    id="parent_identification.log_gamma", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"Y = \log G_2,\ X = -cY + \log G_1,\ G_i \sim \Gamma(k_i):\ D = c(c-1)\, e^{x + y + cy}",
    form=lambda c, u, v: c * (c - 1) * u * v,
    mutants={"c_squared": lambda c, u, v: c**2 * u * v, "c_plus_1": lambda c, u, v: c * (c + 1) * u * v,
             "no_factor_c": lambda c, u, v: (c - 1) * u * v, "c_1_excepted": lambda c, u, v: c * u * v},
    note="u = exp(y), v = exp(x + c y). Exactly c = 1 has a backward additive noise model (Lukacs 1955): Y + log(1 + e^X) ="
         " log(G_1 + G_2) is independent of X, so that IndRM with general functions returns the child of a target without"
         " parents, although the model is linear and LiNGAM identifies it.")


class Third(NamedTuple):
    """cum(R, R, X_2) and cum(R, X_2, X_2) as functions of b, variances and third cumulants of N and M."""

    rrx: Callable[..., Any]
    rxx: Callable[..., Any]


THIRD = Third(lambda b, sn, sm, kn, km: b * (b * km * sn**2 + kn * sm**2) / (b**2 * sn + sm) ** 2,
              lambda b, sn, sm, kn, km: b * (b * kn * sm - km * sn) / (b**2 * sn + sm))
third_order = Claim(
    id="parent_identification.third_order", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"Y = aX_1 + N,\ X_2 = bY + cX_1 + M:\ \mathrm{cum}(R,R,X_2) = \frac{b(b\,k_M s_N^2 + k_N s_M^2)}{D^2},\quad"
              r" \mathrm{cum}(R,X_2,X_2) = \frac{b(b\,k_N s_M - k_M s_N)}{D},\quad D = b^2 s_N + s_M",
    form=THIRD,
    mutants={"sign_of_k_m": THIRD._replace(rrx=lambda b, sn, sm, kn, km: b * (kn * sm**2 - b * km * sn**2)
                                           / (b**2 * sn + sm) ** 2),
             "d_not_squared": THIRD._replace(rrx=lambda b, sn, sm, kn, km: b * (b * km * sn**2 + kn * sm**2)
                                             / (b**2 * sn + sm)),
             "sum_for_difference": THIRD._replace(rxx=lambda b, sn, sm, kn, km: b * (b * kn * sm + km * sn)
                                                  / (b**2 * sn + sm))},
    note="R is the least-squares residual of Y on X_1 and X_2; it is independent of them only if every cumulant vanishes.")


class Fourth(NamedTuple):
    """cum(R,X,X,X), cum(R,R,X,X), cum(R,R,R,X) with X = X_2, from fourth cumulants."""

    rxxx: Callable[..., Any]
    rrxx: Callable[..., Any]
    rrrx: Callable[..., Any]


FOURTH = Fourth(lambda b, sn, sm, kn, km: b * (b**2 * kn * sm - km * sn) / (b**2 * sn + sm),
                lambda b, sn, sm, kn, km: b**2 * (km * sn**2 + kn * sm**2) / (b**2 * sn + sm) ** 2,
                lambda b, sn, sm, kn, km: -b * (b**2 * km * sn**3 - kn * sm**3) / (b**2 * sn + sm) ** 3)
fourth_order = Claim(
    id="parent_identification.fourth_order", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\mathrm{cum}(R,X,X,X) = \tfrac{b(b^2 k_N s_M - k_M s_N)}{D},\ \mathrm{cum}(R,R,X,X)"
              r" = \tfrac{b^2(k_M s_N^2 + k_N s_M^2)}{D^2},"
              r"\ \mathrm{cum}(R,R,R,X) = -\tfrac{b(b^2 k_M s_N^3 - k_N s_M^3)}{D^3}",
    form=FOURTH,
    mutants={"b_not_squared": FOURTH._replace(rxxx=lambda b, sn, sm, kn, km: b * (b * kn * sm - km * sn) / (b**2 * sn + sm)),
             "difference": FOURTH._replace(rrxx=lambda b, sn, sm, kn, km: b**2 * (km * sn**2 - kn * sm**2)
                                           / (b**2 * sn + sm) ** 2),
             "sign_lost": FOURTH._replace(rrrx=lambda b, sn, sm, kn, km: b * (b**2 * km * sn**3 - kn * sm**3)
                                          / (b**2 * sn + sm) ** 3)})

pair_enough = Claim(
    id="parent_identification.pair_enough", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"b \ne 0:\ \mathrm{cum}(R,R,X,X) = \mathrm{cum}(R,X,X,X) = 0 \Rightarrow k_N = k_M = 0",
    form=((2, 2), (1, 3)),
    mutants={"pair_31_13": ((3, 1), (1, 3)), "only_22": ((2, 2),), "only_13": ((1, 3),)},
    also_true={"pair_22_31": ((2, 2), (3, 1))},
    note="Fourth cumulants; (i, j) is cum(R i times, X_2 j times). The pair (3,1), (1,3) also vanishes on b^2 s_N = s_M with"
         " k_N s_M^2 = k_M s_N^2.")


class Facts(NamedTuple):
    """About the numerator of cum(R, R, X_2) as a polynomial in the coefficients, with a hidden confounder."""

    at_one: int
    terms: int
    degree: int
    fourth: int


FACTS = Facts(36, 14, 8, 26)
hidden_confounder = Claim(
    id="parent_identification.hidden_confounder", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"X_1 = U + lL,\ Y = aX_1 + N,\ X_2 = bY + cX_1 + mL + M:\ \det\nolimits^2 \mathrm{cum}(R,R,X_2)"
              r" \text{ has 14 terms, degree 8, value 36 at } 1,\ \mathrm{Exp}(1);"
              r"\ \det\nolimits^2 \mathrm{cum}(R,R,X_2,X_2) = 26 \text{ at } 1,\ k_4 = 1",
    form=FACTS,
    mutants={"vanishes": FACTS._replace(at_one=0), "degree_7": FACTS._replace(degree=7), "terms_13": FACTS._replace(terms=13),
             "blind_in_the_fourth_order": FACTS._replace(fourth=0), "fourth_without_l": FACTS._replace(fourth=17)},
    note="Degree in a, b, c, l, m; 13 if the common variance and third cumulant are counted as variables. It is not 0 at one"
         " rational point, so that it vanishes on a null set only: the child is excluded for almost every"
         " coefficient. Symmetric noises have no third cumulants; the fourth order sees them.")


class Family(NamedTuple):
    """Where `given(pieces)`, the function's zeros have measure 0, or there are none if `empty`.

    A piece ((lo, hi), (c, r, k)) is c (theta - r)^k on lo < theta < hi; neighbours that touch include their end."""

    given: Callable[..., bool]
    empty: bool


def connected(pieces: Any) -> bool:
    """The parameter space is one interval."""
    return all(a[0][1] == b[0][0] for a, b in pairwise(pieces))


def analytic(pieces: Any) -> bool:
    """Pieces that touch carry one polynomial."""
    return all(a[1] == b[1] for a, b in pairwise(pieces) if a[0][1] == b[0][0])


def witnessed(pieces: Any) -> bool:
    """The function is not 0 somewhere."""
    return any(factor for _, (factor, _, _) in pieces)


NULL = Family(Conditions(connected=connected, analytic=analytic, witness=witnessed), False)
null_set = Claim(
    id="parent_identification.null_set", paper=PAPER, source=Source.ABSTRACT, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"\Theta \text{ open, connected};\ \Delta \text{ real-analytic};\ \Delta(\theta_0) \ne 0 \Rightarrow"
              r" \lambda\{\theta : \Delta(\theta) = 0\} = 0",
    hypotheses={"connected": r"\Theta \text{ is connected}", "analytic": r"\Delta \text{ is real-analytic on } \Theta",
                "witness": r"\exists \theta_0:\ \Delta(\theta_0) \ne 0"},
    form=NULL,
    mutants={"without_connected": without(NULL, "connected"),
             "without_analytic": without(NULL, "analytic"),
             "without_witness": without(NULL, "witness"),
             "empty": NULL._replace(empty=True)},
    as_stated=without(NULL, "connected"),
    wording="In a finite-dimensional analytic model class, one identifiable model makes the exceptional parameters a null set.",
    note="Judged on piecewise polynomials of one parameter. A witness speaks for its own graph and its own connected piece of"
         " parameters; being smooth is not enough. Null is not empty (c = 1 above), and near-violations have positive measure.")

schwartz_zippel = Claim(
    id="parent_identification.schwartz_zippel", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"p \ne 0 \text{ of total degree } d:\ |\{x \in \{1..m\}^2 : p(x) = 0\}| \le d\, m",
    form=lambda degree, m: degree * m,
    mutants={"one_root_fewer": lambda degree, m: (degree - 1) * m, "no_degree": lambda degree, m: m,
             "degree_without_m": lambda degree, m: degree},
    note="So a polynomial of degree 8 that is not 0 vanishes at a random point of {1..10^6}^p with probability at most"
         " 8e-6.")

EXPECTED: dict[str, tuple[Fraction, frozenset[frozenset[str]]]] = {
    "instrument": (Fraction(3, 2), frozenset({frozenset({"Z"})})),
    "sum_column": (Fraction(1, 4), frozenset({frozenset({"X3"})})),
    "copy": (Fraction(1, 4), frozenset({frozenset({"X1"}), frozenset({"X2"})})),
    "noise_free_child": (Fraction(0), frozenset({frozenset({"X2"})})),
    "seen_confounder": (Fraction(1, 4), frozenset({frozenset({"X", "Z"})})),
    "xor_child": (Fraction(1, 4), frozenset({frozenset()}))}


def changed(name: str, variance: Fraction, *sets: frozenset[str]) -> dict[str, tuple[Fraction, frozenset[frozenset[str]]]]:
    """The expected answers with one of them replaced."""
    return {**EXPECTED, name: (variance, frozenset(sets))}


exceptional_laws = Claim(
    id="parent_identification.exceptional_laws", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{the principle on laws of fair coins: instrument } \{Z\};\ X_3 = X_1 + X_2: \{X_3\};\ \text{copy: two"
              r" answers; noise-free child: the child; } Y = X + H + E,\ Z = H: \{X, Z\};\ Y \oplus H: \{\}",
    form=EXPECTED,
    mutants={"instrument_gives_the_parent": changed("instrument", Fraction(5, 12), frozenset({"X"})),
             "sum_column_gives_parents": changed("sum_column", Fraction(1, 4), frozenset({"X1", "X2"})),
             "copy_is_unique": changed("copy", Fraction(1, 4), frozenset({"X1"})),
             "noise_free_child_gives_parent": changed("noise_free_child", Fraction(1, 4), frozenset({"X1"})),
             "seen_confounder_gives_parent": changed("seen_confounder", Fraction(1, 2), frozenset({"X"})),
             "xor_child_is_returned": changed("xor_child", Fraction(1, 4), frozenset({"X"}))},
    note="Each breaks a hypothesis of the principle except the last, where an admissible set with a descendant does no harm."
         " Violations are not detectable in general.")

instrument = Claim(
    id="parent_identification.instrument", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"Z, H, M, N \sim \mathrm{Exp}(1),\ X = Z+H+M,\ Y = X+H+N:\ \mathrm{Var} R_S = 7, 6, \tfrac53, \tfrac32"
              r" \text{ for } \{\}, \{Z\}, \{X\}, \{X,Z\};\ \mathrm{cum}(R,R,Z) = 0 \text{ on the second};"
              r" \ \mathrm{cum}(R,R,X) = \tfrac43, 1 \text{ on the last two}",
    form={(): (7, 0), ("Z",): (6, 0), ("X",): (Fraction(5, 3), Fraction(4, 3)), ("X", "Z"): (Fraction(3, 2), 1)},
    mutants={"h_not_counted_twice": {(): (7, 0), ("Z",): (3, 0), ("X",): (Fraction(5, 3), Fraction(4, 3)),
                                     ("X", "Z"): (Fraction(3, 2), 1)},
             "x_admissible": {(): (7, 0), ("Z",): (6, 0), ("X",): (Fraction(5, 3), 0), ("X", "Z"): (Fraction(3, 2), 1)},
             "both_admissible": {(): (7, 0), ("Z",): (6, 0), ("X",): (Fraction(5, 3), Fraction(4, 3)),
                                 ("X", "Z"): (Fraction(3, 2), 0)}},
    note="So {Z} alone is admissible and not empty, and is returned, although Z is no parent: a hidden variable enters Y.")
