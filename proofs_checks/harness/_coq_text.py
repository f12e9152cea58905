"""The Coq text of a certificate by squares: statement, and a proof that only fills in terms. Standard library only."""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from proofs_checks.harness.checkers._polynomials import Field
from proofs_checks.harness.checkers._subject import conjuncts, hypotheses_and_goal, subject_of
from proofs_checks.harness.checkers.sos import conditions_of, goals_of
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree, is_relation, number, variables

__all__ = ["PREAMBLE", "Unsupported", "theorem"]

PREAMBLE = """\
Require Import ZArith Reals Lra.
Open Scope R_scope.

Lemma written (n : Z) : (0 <=? n)%Z = true -> 0 <= IZR n.
Proof. intro H. apply IZR_le. apply Zle_bool_imp_le. exact H. Qed.
Lemma written_positive (n : Z) : (0 <? n)%Z = true -> 0 < IZR n.
Proof. intro H. apply IZR_lt. apply Z.ltb_lt. exact H. Qed.
Lemma zero_times (p e : R) : e = 0 -> p * e = 0.
Proof. intro H. rewrite H. ring. Qed.
Lemma zero_plus (a b : R) : a = 0 -> b = 0 -> a + b = 0.
Proof. lra. Qed.
Lemma divided (m g s z : R) : 0 < m -> 0 <= s -> z = 0 -> m * g = s + z -> 0 <= g.
Proof. intros. apply (Rmult_le_reg_l m); lra. Qed.
Lemma divided_strictly (m g s z : R) : 0 < m -> 0 < s -> z = 0 -> m * g = s + z -> 0 < g.
Proof. intros. apply (Rmult_lt_reg_l m); lra. Qed.
"""
MAX_POWER = 200
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "eq": "=", "ne": "<>"}
_JOINS = {"and": "/\\", "or": "\\/", "implies": "->"}


class Unsupported(ValueError):
    """The certificate may be right; this export has no words for it."""


@dataclass(frozen=True)
class _Fact:
    """A condition of the certificate: `name` proves 0 <= text, 0 < text or text = 0."""

    text: str
    kind: str
    name: str


@dataclass
class _Sum:
    """Terms with their coefficients (the text that follows it) and the proofs that need the coefficient's proof."""

    terms: list[tuple[Fraction, str, str]] = field(default_factory=list)  # proof: that the text after c is >= 0
    sure: tuple[Fraction, str, str] | None = None  # a term that is positive, with the proof of > 0


def theorem(certificate: Mapping[str, Any]) -> tuple[str, str]:
    """The statement as a proposition, and tactics that prove it."""
    hypotheses, conclusion = hypotheses_and_goal(subject_of(certificate)["statement"])
    used = sorted({name for tree in [*hypotheses, conclusion] for name in variables(tree)})
    names = {name: f"v_{name}" if _PLAIN.fullmatch(name) else f"u{i}" for i, name in enumerate(used)}
    premises = [_proposition(h, names) for h in hypotheses]
    goal = _proposition(conclusion, names)
    binder = f"forall {' '.join(names.values())} : R, " if names else ""
    proof = [f"intros {' '.join([*names.values(), *(f'H{i}' for i in range(len(premises)))])}."
             ] if names or premises else []
    facts = [fact for i, h in enumerate(hypotheses) if (fact := _fact(h, f"H{i}", names))]
    for fact in facts:
        sign = {"ge": f"0 <= {fact.text}", "gt": f"0 < {fact.text}", "eq": f"{fact.text} = 0"}[fact.kind]
        proof.append(f"assert ({fact.name} : {sign}) by lra.")
    parts = list(certificate.get("parts", [certificate]))
    if len(parts) != len(goals_of(conclusion)):
        raise CertificateError(f"{len(parts)} proofs for {len(goals_of(conclusion))} goals")
    pieces = conjuncts(conclusion)
    for number_of_piece, piece in enumerate(pieces):
        if number_of_piece < len(pieces) - 1:
            proof.append("split.")
        proof += _piece(piece, parts, hypotheses, facts, names)
    return binder + " -> ".join([*premises, goal]), "\n".join(proof)


def _piece(piece: Tree, parts: list[Any], hypotheses: list[Tree], facts: list[_Fact], names: Mapping[str, str]) -> list[str]:
    """Tactics for one conjunct; takes its proofs from the front of `parts`."""
    if piece[0] in ("or", "not", "implies", "true"):
        raise Unsupported(f"a conclusion of the form {piece[0]!r}")
    if piece[0] == "eq":
        both = [_part(parts.pop(0), [head, *piece[1:]], hypotheses, facts, names) for head in ("ge", "le")]
        return ["{ apply Rge_antisym.", "{", *both[0], "}", "{ apply Rle_ge.", *both[1], "} }"]
    if piece[0] == "ne":
        equation = ["eq", *piece[1:]]
        fact = _fact(equation, "E", names)
        assert fact is not None
        return ["{ intro E.", f"assert ({fact.name} : {fact.text} = 0) by lra.",
                *_part(parts.pop(0), ["false"], [*hypotheses, equation], [*facts, fact], names), "}"]
    return ["{", *_part(parts.pop(0), piece, hypotheses, facts, names), "}"]


def _part(part: Mapping[str, Any], goal: Tree, hypotheses: list[Tree], facts: list[_Fact], names: Mapping[str, str]
          ) -> list[str]:
    """Tactics that prove a relation, or "false", by the identity of a part of the certificate."""
    if part.get("instances"):
        raise Unsupported("lemma instances")
    listed = list(part["variables"])
    if atoms := [name for name in listed if name not in names]:
        raise Unsupported(f"the expression {str(atoms[0])[:60]}")
    signs = Field(listed)
    conditions_of(signs, hypotheses, [])  # learns which variables are positive
    reader = _Reader([names[name] for name in listed], signs.positive, facts)
    left = reader.blocks(part["multiplier"]) if "multiplier" in part else _Sum(sure=(Fraction(1), "1", "Rlt_0_1"))
    if left.sure is None:
        raise Unsupported("a multiplier without a term that is positive everywhere")
    right = reader.blocks(part["blocks"])
    zero = [(reader.polynomial(term["terms"]), reader.fact(term["index"], "eq")) for term in part.get("equalities", [])]
    common = lcm(*(c.denominator for total in (left, right) for c, _, _ in _terms(total)))
    strict = goal[0] in ("gt", "lt")
    if strict and right.sure is None:
        raise CertificateError("the statement is strict and the certificate proves only >=")
    lines = [f"assert (P{i} : 0 < {reader.names[i]}) by lra." for i in sorted(reader.needed)]
    gap, end = _gap(goal, part.get("contradiction", []), reader, names)
    m, m_proof = _written(left, common, True)
    s, s_proof = _written(right, common, strict)
    z = " + ".join(f"{common} * ({p}) * {fact.text}" for p, fact in zero) or "0"
    z_proof = "eq_refl"
    for i, (_, fact) in enumerate(zero):
        one = f"(zero_times _ _ {fact.name})"
        z_proof = f"(zero_plus _ _ {z_proof} {one})" if i else one
    lemma = "divided_strictly" if strict else "divided"
    return [*lines, f"assert (M : 0 < {m}) by exact {m_proof}.",
            f"assert (S : 0 {'<' if strict else '<='} {s}) by exact {s_proof}.",
            f"assert (Z : {z} = 0) by exact {z_proof}.",
            f"assert (I : ({m}) * {gap} = ({s}) + ({z})) by field.",
            f"pose proof ({lemma} _ _ _ _ M S Z I) as G.", *end]


def _gap(goal: Tree, contradiction: list[Any], reader: _Reader, names: Mapping[str, str]) -> tuple[str, list[str]]:
    """What the identity is about, and the step from its sign to the goal."""
    if goal[0] == "false":
        product, proof = "1", "Rlt_0_1"
        for fact in (reader.fact(index, "gt") for index in contradiction):
            product, proof = f"{product} * {fact.text}", f"(Rmult_lt_0_compat _ _ {proof} {fact.name})"
        return f"(- ({product}))", [f"assert (P : 0 < {product}) by exact {proof}.", "lra."]
    a, b = (_term(side, names) for side in goal[1:])
    return (f"({a} - {b})" if goal[0] in ("ge", "gt") else f"({b} - {a})"), ["lra."]


class _Reader:
    """Blocks of a part as texts with proofs."""

    def __init__(self, names: list[str], positive: set[int], facts: list[_Fact]) -> None:
        self.names, self.positive, self.facts = names, positive, facts
        self.needed: set[int] = set()

    def fact(self, index: Any, *kinds: str) -> _Fact:
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(self.facts):
            raise CertificateError(f"there is no condition {index!r}")
        if self.facts[index].kind not in kinds:
            raise CertificateError(f"condition {index} is used as something else than it is")
        return self.facts[index]

    def monomial(self, exponents: Any) -> str:
        if len(exponents) != len(self.names) or any(type(k) is not int or not 0 <= k <= MAX_POWER for k in exponents):
            raise CertificateError("a basis row is not a list of exponents, one a variable")
        return " * ".join(f"{name} ^ {k}" for name, k in zip(self.names, exponents, strict=True) if k) or "1"

    def polynomial(self, terms: Any) -> str:
        return " + ".join(f"{_number(number(c))} * ({self.monomial([int(k) for k in m])})" for m, c in terms) or "0"

    def blocks(self, blocks: list[Mapping[str, Any]]) -> _Sum:
        total = _Sum()
        for block in blocks:
            self._block(block, total)
        return total

    def _block(self, block: Mapping[str, Any], total: _Sum) -> None:
        basis = [list(row) for row in block["basis"]]
        factors = [self.fact(index, "ge", "gt") for index in block.get("factors", [])]
        solid = [i for i, m in enumerate(basis) if all(not k or j in self.positive for j, k in enumerate(m))]
        last = solid[0] if solid and all(f.kind == "gt" for f in factors) else None
        squares = _squares([[number(x) for x in row] for row in block["gram"]], len(basis), last)
        for c, form in squares:
            alone = len(form) == 1 and form[0][0] == last and c > 0 and total.sure is None
            text = " + ".join(f"{_number(Fraction(k))} * ({self.monomial(basis[i])})" for i, k in form)
            text = f"({self.monomial(basis[last])}) ^ 2" if alone and last is not None else f"({text}) ^ 2"
            proof = self._square_positive(basis[last]) if alone and last is not None else "(pow2_ge_0 _)"
            for fact in factors:
                text = f"{text} * {fact.text}"
                if alone:
                    proof = f"(Rmult_lt_0_compat _ _ {proof} {fact.name})"
                else:
                    weak = fact.name if fact.kind == "ge" else f"(Rlt_le _ _ {fact.name})"
                    proof = f"(Rmult_le_pos _ _ {proof} {weak})"
            if alone:
                total.sure = (c, text, proof)
            else:
                total.terms.append((c, text, proof))

    def _square_positive(self, exponents: list[int]) -> str:
        proof = ""
        for i, k in enumerate(exponents):
            if k:
                self.needed.add(i)
                one = f"(pow_lt _ {k} P{i})"
                proof = f"(Rmult_lt_0_compat _ _ {proof} {one})" if proof else one
        return f"(pow_lt _ 2 {proof or 'Rlt_0_1'})"


def _squares(gram: list[list[Fraction]], size: int, last: int | None) -> list[tuple[Fraction, list[tuple[int, int]]]]:
    """gram as sum of c l l^T with integer l, by elimination, row `last` at the end; signs of c are Coq's business."""
    if len(gram) != size or any(len(row) != size for row in gram):
        raise CertificateError("a gram matrix does not fit its basis")
    if any(gram[i][j] != gram[j][i] for i in range(size) for j in range(i)):
        raise CertificateError("a gram matrix is not symmetric")
    order = [i for i in range(size) if i != last] + ([last] if last is not None else [])
    a = [[gram[i][j] for j in order] for i in order]
    found = []
    for k in range(size):
        pivot, row = a[k][k], a[k][k:]
        if not pivot:
            if any(row):
                raise CertificateError("a gram matrix is not positive semidefinite")
            continue
        below = lcm(*(x.denominator for x in row))
        top = gcd(*(int(x * below) for x in row))
        form = [(order[k + i], int(x * below) // top) for i, x in enumerate(row) if x]
        found.append((Fraction(top, below) ** 2 / pivot, form))
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                a[i][j] -= a[k][i] * a[k][j] / pivot
    return found


def _terms(total: _Sum) -> list[tuple[Fraction, str, str]]:
    return [*([total.sure] if total.sure else []), *total.terms]


def _written(total: _Sum, common: int, strict: bool) -> tuple[str, str]:
    """common * total with whole coefficients, and the proof that it is >= 0 (or > 0)."""
    texts, proof = [], ""
    for i, (c, text, inner) in enumerate(_terms(total)):
        whole = int(c * common)
        sure = total.sure is not None and i == 0
        if sure:
            inner = f"(Rmult_lt_0_compat _ _ (written_positive ({whole})%Z eq_refl) {inner})"
            inner = inner if strict else f"(Rlt_le _ _ {inner})"
        else:
            inner = f"(Rmult_le_pos _ _ (written ({whole})%Z eq_refl) {inner})"
        texts.append(f"{_number(Fraction(whole))} * ({text})")
        lemma = "Rplus_lt_le_0_compat" if strict else "Rplus_le_le_0_compat"
        proof = f"({lemma} _ _ {proof} {inner})" if proof else inner
    return " + ".join(texts) or "0", proof or "(Rle_refl 0)"


def _fact(hypothesis: Tree, given: str, names: Mapping[str, str]) -> _Fact | None:
    """What a hypothesis says as a condition; the others (or, ne, ...) are no conditions and are not numbered."""
    head = hypothesis[0]
    if head not in ("ge", "gt", "le", "lt", "eq"):
        return None
    a, b = (_term(side, names) for side in hypothesis[1:])
    text = f"({b} - {a})" if head in ("le", "lt") else f"({a} - {b})"
    return _Fact(text, {"le": "ge", "lt": "gt"}.get(head, head), f"C{given}")


def _proposition(tree: Tree, names: Mapping[str, str]) -> str:
    head, *rest = tree
    if head in _SIGNS:
        if is_relation(rest[0]):
            raise Unsupported("an equivalence")
        return f"({_term(rest[0], names)} {_SIGNS[head]} {_term(rest[1], names)})"
    if head in ("true", "false"):
        return head.capitalize()
    if head == "not":
        return f"(~ {_proposition(rest[0], names)})"
    if head not in ("and", "or", "implies"):
        raise Unsupported(f"the relation {str(head)[:40]!r}")
    text = _proposition(rest[-1], names)
    for part in reversed(rest[:-1]):
        text = f"({_proposition(part, names)} {_JOINS[head]} {text})"
    return text


def _term(tree: Tree, names: Mapping[str, str]) -> str:
    if not isinstance(tree, list):
        return _number(number(tree))
    head, *rest = tree
    if head == "var":
        return names[rest[0]]
    if head in ("add", "mul"):
        sign = " + " if head == "add" else " * "
        return f"({sign.join(_term(part, names) for part in rest)})" if rest else str(int(head == "mul"))
    if head == "pow" and isinstance(rest[1], str) and number(rest[1]).denominator == 1:
        power = int(number(rest[1]))
        if 0 <= power <= MAX_POWER:
            return f"({_term(rest[0], names)} ^ {power})"
        if not isinstance(rest[0], list) and number(rest[0]) and power >= -MAX_POWER:
            return _number(number(rest[0]) ** power)
        raise Unsupported("division by more than a number" if power < 0 else f"the power {power}")
    raise Unsupported("a root" if head == "pow" else f"the function {str(head)[:40]}")


def _number(x: Fraction) -> str:
    return f"({x.numerator})" if x.denominator == 1 else f"(({x.numerator}) / {x.denominator})"
