"""Actual causes in Halpern's sense: what enumerates all of them, and what is counted by formula.

For your own data
  or_tree_causes(depth)                       how many causes a binary OR-tree has
  voter_responsibility(yes, threshold)        responsibility of a yes-voter
  `causal.actual_causes`, `refutable causes`  the algorithms, on models

Notation  M = acyclic structural model;  a = actual values;  phi = effect, true at a;  F_V = equation of V.
          For an assignment v: B(v) = {V: v_V != F_V(v)} (broken), C(v) = {V in B(v): v_V != a_V}.
Source    the abstract of "Tracing Actual Causes" says that a backward map of witnesses enumerates all actual causes of
          models of up to 15 variables. Its text was not readable: every theorem here is a reconstruction. The definitions
          are public: Halpern 2015 (arXiv 1505.00162), Halpern and Pearl (cs/0011012), Chockler and Halpern (cs/0312038)."""
from __future__ import annotations

from fractions import Fraction

from theory.claim import Claim, Paper, Source, Standing

__all__ = ["PAPER", "or_tree_causes", "voter_responsibility"]

PAPER = Paper(slug="actual_causes", title="Tracing actual causes: enumerating Halpernian actual causation", arxiv=None,
              topics=("causality", "algorithms"), read="abstract")


def _algorithm(fact: str, statement: str, note: str = "", source: Source = Source.RECONSTRUCTION) -> Claim[object]:
    """A claim on an algorithm of another room: form and mutants are given at its evidence."""
    return Claim(id=f"actual_causes.{fact}", paper=PAPER, statement=statement, source=source, standing=Standing.HOLDS,
                 note=note)


minimal_broken_sets = _algorithm(
    "minimal_broken_sets",
    r"\forall M, \varphi \text{ true at } a:\ \{\text{causes of } \varphi\} = \min_{\subseteq}\{C(v) : v \models \neg\varphi\}",
    "The theorem under every engine (T1); the modified definition of 2015.")

smallest_contingency = _algorithm(
    "smallest_contingency",
    r"\forall \text{ causes } X:\ \min|W| = \min\{|B(v) \setminus C(v)| : C(v) = X,\ v \models \neg\varphi\}",
    "A cause comes with a witness that one simulation replays (T2).")

half_encoding = _algorithm(
    "half_encoding",
    r"\{\text{causes}\} = \min_{\subseteq}\{x : \exists v \models \neg\varphi\ "
    r"\forall V:\ v_V \ne a_V \Rightarrow x_V \lor v_V = F_V(v)\}",
    "One direction of each equation is enough, and only that one is right: its freedom is the contingency set (T3).")

engines_agree = _algorithm(
    "engines_agree",
    r"\forall M, \varphi:\ \text{each engine lists exactly the sets that satisfy AC1--AC3}",
    "Soundness and completeness of what `causal.actual_causes` returns, engine by engine.", Source.ABSTRACT)

upward_closed = _algorithm(
    "upward_closed",
    r"\forall X \subseteq Y:\ \mathrm{AC2}(X) \Rightarrow \mathrm{AC2}(Y)",
    "What lets a decision diagram count the causes (T4). It fails for the definition of 2001.")

exclusion = _algorithm(
    "exclusion",
    r"\forall E:\ \{\text{causes among } V \setminus E\} = \{X \text{ cause} : X \cap E = \emptyset\}",
    "Filtering and forbidding are the same (T5).")

cut_sets = _algorithm(
    "cut_sets",
    r"F \text{ monotone, basic events } 1,\ \varphi = (TOP = 1):\ "
    r"\{\text{causes without gates}\} = \{\text{minimal path sets of the dual, i.e. minimal sets whose repair prevents } TOP\}",
    "Actual causes generalise cut and path sets of fault trees to any state and any gate (T6).")

backward_map = _algorithm(
    "backward_map",
    r"\text{expanding the topologically latest element, the backward map of witnesses reaches every cause "
    r"and no other minimal set}",
    "Reconstruction of the map in the abstract (T7). Expanded in another order it is wrong.")

definitions_differ = _algorithm(
    "definitions_differ",
    r"D = (A \land B) \lor C,\ A = C = 1,\ B = 0:\ "
    r"\{A\} \text{ causes } D = 1 \text{ by the definition of 2001, not by those of 2005, 2015}",
    "'Halpernian' does not fix a definition; the checks here name the modified one.")

responsibility = _algorithm(
    "responsibility",
    r"dr(V) = 1 / \min\{|X| + |W| : V \in X \text{ cause},\ W \text{ contingency}\}",
    "The modified convention; the one of 2004 differs on rock throwing (1 instead of 1/2).")

blame = _algorithm(
    "blame",
    r"n \text{ marksmen, one live bullet, uniform: } db = 1/n",
    "Each situation is first intervened upon: blame is for setting X = x.", Source.PUBLIC)


def or_tree_causes(depth: int) -> int:
    """How many causes TOP = 1 has in a complete binary OR-tree with every leaf 1: c_0 = 1, c_d = 1 + c_{d-1}^2.

    >>> [or_tree_causes(d) for d in range(4)]
    [1, 2, 5, 26]
    """
    if depth < 0:
        raise ValueError(f"depth={depth} must be at least 0")
    causes = 1
    for _ in range(depth):
        causes = 1 + causes * causes
    return causes


def voter_responsibility(yes: int, threshold: int) -> Fraction:
    """The responsibility of a yes-voter for the passing of a motion with `yes` votes, `threshold` needed.

    >>> voter_responsibility(6, 6), voter_responsibility(11, 6)
    (Fraction(1, 1), Fraction(1, 6))
    """
    if not 1 <= threshold <= yes:
        raise ValueError(f"threshold={threshold} must lie between 1 and yes={yes}")
    return Fraction(1, yes - threshold + 1)


tree_count = Claim(
    id="actual_causes.tree_count", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{a complete binary OR-tree of depth } d \text{ with all leaves } 1 \text{ has } c_d \text{ causes: } "
              r"c_0 = 1,\ c_d = 1 + c_{d-1}^2",
    form=or_tree_causes,
    mutants={"gate_left_out": lambda d: 1,
             "sum_for_product": lambda d: 2 ** (d + 1) - 1,
             "one_too_many": lambda d: or_tree_causes(d) + (d > 3)})

votes = Claim(
    id="actual_causes.votes", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\forall\ 1 \le t \le y:\ dr(\text{a yes-voter}) = 1 / (y - t + 1)",
    form=voter_responsibility,
    mutants={"one_less": lambda y, t: Fraction(1, max(1, y - t)),
             "shared_by_all": lambda y, t: Fraction(1, y),
             "all_or_nothing": lambda y, t: Fraction(int(y == t))})
