"""Certificates of a family of causes, and a checker that trusts none of the engines.

Kind "causes", in the project's form: `statement` and `subjects` say what is shown (a model, a context, an effect, the
names allowed in a cause), `claim_hash` labels them, and `refutable recheck` reads the file. By `method`:

"drup": the causes with their witnesses, and a proof that nothing is missing. The checker replays each witness by
simulation, checks that no cause contains another, translates the question into clauses itself (equations in full, by
truth tables and gates, not the engines' half encoding), adds "no listed cause is contained", and verifies the DRUP
proof of contradiction line by line by unit propagation. Minimality follows: a smaller set would be a missing cause.

"cross_count": for families too large to list. The count, and sampled causes with witnesses; the checker counts
again on a diagram of another variable order and checks that every sample is a cause. It shares code with the engine."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from causal._instance import Instance
from causal.actual import actual_causes, is_cause
from causal.errors import CausalError
from causal.expressions import bind, parse_expression, to_text
from causal.family import CauseFamily
from causal.files._native import from_data, to_data
from causal.model import CausalModel, Formula, Input, holds, iterate_rows

__all__ = ["CausalCertificateError", "certify", "check_certificate"]

LISTED = 3_000  # families up to this size get a proof, larger ones a cross-count
SAMPLES = 20
SCHEMA = "refutable/certificate/1"
KIND = "causes"
SUBJECT = {"model", "context", "effect", "allowed"}
FIELDS = {"schema", "kind", "claim", "variant", "statement", "subjects", "claim_hash", "method", "causes"}
BODY = {"drup": {"proof"}, "cross_count": {"count"}}
DECIMAL = 13_000  # bits up to which a count is written in decimal; Python reads no longer numbers by default


class CausalCertificateError(CausalError):
    """The certificate does not show what it says."""


def certify(family: CauseFamily, instance: Instance, allowed: frozenset[int]) -> dict[str, Any]:
    """The certificate of a complete family under the modified definition. CausalError for any other."""
    if not family.complete:
        raise CausalError("the family is not complete, so that there is nothing to certify; drop the limits")

    def bare(name: str) -> bool:
        return set(instance.model.domains[name]) == {0, 1}

    subject: dict[str, Any] = {
        "model": to_data(instance.model), "context": instance.context,
        "effect": to_text(instance.expression, bare), "allowed": sorted(instance.names[i] for i in allowed)}
    if family.count > LISTED:
        causes = family.sample(SAMPLES, seed=0)
        return _sealed(subject, {"method": "cross_count", "count": _number(family.count),
                                 "causes": [_entry(c) for c in causes]})
    listed = [_entry(c) for c in sorted(family, key=lambda c: sorted(c.variables))]
    written = from_data(subject["model"])  # as the checker will read it, so that the variables get the same numbers
    clauses = Translation(written, instance.context, subject["effect"], set(subject["allowed"])).with_blocked(
        [set(e["witness"]) for e in listed])
    return _sealed(subject, {"method": "drup", "causes": listed, "proof": _refutation(clauses)})


def _number(count: int) -> str:
    return str(count) if count.bit_length() < DECIMAL else hex(count)


def _statement(subject: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """What is shown, in words."""
    number = body["count"] if body["method"] == "cross_count" else f"the {len(body['causes'])} listed"
    return (f"the actual causes (modified definition) of {subject['effect']} in this model and context, "
            f"among {len(subject['allowed'])} allowed variables, are exactly {number}")


def _hash(statement: str, subjects: Sequence[Any]) -> str:
    """The label that `refutable recheck` computes: of an empty claim and variant, the statement and the subjects."""
    text = json.dumps(["", "", statement, list(subjects)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _sealed(subject: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    statement = _statement(subject, body)
    try:
        label = _hash(statement, [subject])
    except TypeError as error:
        raise CausalError(f"a certificate is JSON, which does not have the model's values: {error}") from None
    return {"schema": SCHEMA, "kind": KIND, "claim": "", "variant": "", "statement": statement, "subjects": [subject],
            "claim_hash": label, **body}


def _entry(cause: Any) -> dict[str, Any]:
    return {"witness": cause.witness, "contingency": cause.contingency}


def _refutation(clauses: list[list[int]]) -> list[list[int]]:
    from pysat.solvers import Solver

    with Solver(name="g4", bootstrap_with=clauses, with_proof=True) as solver:
        if solver.solve():
            raise CausalError("the family is not complete: the solver finds another cause")
        lines = solver.get_proof() or []
    kept = [[int(word) for word in line.split()[:-1]] for line in lines if not line.startswith("d")]
    return kept if kept and not kept[-1] else [*kept, []]


class Translation:
    """Clauses of "some setting of allowed variables makes the effect fail", written apart from the engines.

    For each variable V: one-hot values v(V, q); e(V, q) "the equation gives q"; and for every q:
    v(V, q) and not e(V, q) imply x(V) if q is not the actual value. Equations are encoded both ways."""

    def __init__(self, model: CausalModel, context: Mapping[str, Any], effect: str, allowed: Set[str]) -> None:
        self.clauses: list[list[int]] = []
        self.top = 0
        self.model, self.context = model, model.check_context(context)
        actual = model.evaluate(self.context)
        self.x = {n: self._new() for n in model.variables}
        self.value = {(n, q): self._new() for n in model.variables for q in model.domains[n]}
        for n in model.variables:
            literals = [self.value[n, q] for q in model.domains[n]]
            self.clauses.append(literals)
            self.clauses += [[-a, -b] for i, a in enumerate(literals) for b in literals[:i]]
            if n not in allowed:
                self.clauses.append([-self.x[n]])
        for n in model.variables:
            for q in model.domains[n]:
                if q != actual[n]:
                    self.clauses.append([-self.value[n, q], self.x[n], self._equation(n, q)])
        self.clauses.append([-self._formula(bind(parse_expression(effect), model.domains, "effect"))])

    def _new(self) -> int:
        self.top += 1
        return self.top

    def with_blocked(self, causes: list[set[str]]) -> list[list[int]]:
        """The clauses with every listed cause excluded."""
        return self.clauses + [[-self.x[n] for n in sorted(cause)] for cause in causes]

    def _equation(self, name: str, wanted: Any) -> int:
        rule, model = self.model.mechanisms[name], self.model
        if isinstance(rule, Input):
            return self._constant(self.context[name] == wanted)
        if isinstance(rule, Formula):
            if wanted not in (0, 1):
                return self._constant(False)
            return self._formula(rule.expression) * (1 if wanted == 1 else -1)
        head = self._new()
        for row, value in zip(iterate_rows(name, rule.parents, model.domains), rule.values, strict=True):
            clause = []
            for parent, q in zip(rule.parents, row, strict=True):
                if parent in self.context and parent in model.exogenous:
                    if self.context[parent] != q:
                        break
                else:
                    clause.append(-self.value[parent, q])
            else:
                self.clauses.append([*clause, head if value == wanted else -head])
        return head

    def _constant(self, value: bool) -> int:
        head = self._new()
        self.clauses.append([head if value else -head])
        return head

    def _formula(self, node: Any) -> int:
        """A literal equivalent to the expression."""
        kind = type(node).__name__
        if kind == "Const":
            return self._constant(node.value)
        if kind == "Atom":
            if (node.name, node.value) in self.value:
                return self.value[node.name, node.value]
            return self._constant(self.context[node.name] == node.value)
        kids = [self._formula(c) for c in node.children]
        if node.op == "not":
            return -kids[0]
        if node.op in ("and", "or"):
            sign = 1 if node.op == "and" else -1
            head = self._new()
            self.clauses += [[-sign * head, sign * k] for k in kids]
            self.clauses.append([sign * head, *(-sign * k for k in kids)])
            return head
        if node.op == "xor":
            result = self._constant(False)
            for k in kids:
                head = self._new()
                self.clauses += [[-head, result, k], [-head, -result, -k], [head, -result, k], [head, result, -k]]
                result = head
            return result
        if not 0 < node.threshold <= len(kids):
            return self._constant(node.threshold <= 0)
        row = [self._constant(True)] + [self._constant(False)] * node.threshold  # row[j]: at least j of the kids so far
        for k in kids:
            row = [row[0], *(self._choice(k, row[j - 1], row[j]) for j in range(1, node.threshold + 1))]
        return row[node.threshold]

    def _choice(self, condition: int, yes: int, no: int) -> int:
        head = self._new()
        self.clauses += [[-condition, -yes, head], [-condition, yes, -head], [condition, -no, head], [condition, no, -head]]
        return head


def check_certificate(certificate: Mapping[str, Any]) -> bool:
    """True if the certificate holds; CausalCertificateError with the reason otherwise."""
    try:
        return _check(certificate)
    except CausalCertificateError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError) as error:
        raise CausalCertificateError(f"malformed: {type(error).__name__}: {error}") from error


def _check(certificate: Mapping[str, Any]) -> bool:
    _check_header(certificate)
    (subject,) = certificate["subjects"]
    model, context, text = from_data(subject["model"]), subject["context"], subject["effect"]
    allowed = frozenset(subject["allowed"])
    if len(allowed) != len(subject["allowed"]):
        raise CausalCertificateError("a name is allowed twice")
    if unknown := sorted(n for n in allowed if n not in model.mechanisms):
        raise CausalCertificateError(f"{unknown[0]!r} is allowed in a cause and is no endogenous variable of the model")
    effect = bind(parse_expression(text), model.domains, "effect")
    actual = model.evaluate(context)
    if not holds(effect, actual):
        raise CausalCertificateError("the effect does not hold in the context")
    causes = [_checked_entry(model, context, effect, actual, allowed, entry) for entry in certificate["causes"]]
    if certificate["method"] == "cross_count":
        return _check_count(certificate, model, context, effect, allowed, causes)
    for i, a in enumerate(causes):
        if any(a <= b for j, b in enumerate(causes) if i != j):
            raise CausalCertificateError(f"{sorted(a)} is listed and contained in another cause, or twice")
    clauses = Translation(model, context, text, allowed).with_blocked([set(c) for c in causes])
    _check_drup(clauses, [[int(lit) for lit in line] for line in certificate["proof"]])
    return True


def _check_header(certificate: Mapping[str, Any]) -> None:
    """The statement and its label must belong to what is checked."""
    if certificate["method"] not in BODY:
        raise CausalCertificateError(f"unknown method {certificate['method']!r}; known: {', '.join(BODY)}")
    if unknown := sorted(certificate.keys() - FIELDS - BODY[certificate["method"]]):
        raise CausalCertificateError(f"unknown field {unknown[0]!r}")
    for name, known in (("schema", SCHEMA), ("kind", KIND), ("claim", ""), ("variant", "")):
        if certificate[name] != known:
            raise CausalCertificateError(f"{name} is {certificate[name]!r}, this program reads {known!r}")
    subjects = certificate["subjects"]
    if not isinstance(subjects, list) or len(subjects) != 1 or set(subjects[0]) != SUBJECT:
        raise CausalCertificateError(f"subjects must be one object with {', '.join(sorted(SUBJECT))}")
    statement = _statement(subjects[0], certificate)
    if certificate["statement"] != statement:
        raise CausalCertificateError(f"the statement is not what is shown, which is: {statement}")
    if certificate["claim_hash"] != _hash(statement, subjects):
        raise CausalCertificateError("claim_hash does not belong to this statement")


def _checked_entry(model: CausalModel, context: Mapping[str, Any], effect: Any, actual: Mapping[str, Any],
                   allowed: Set[str], entry: Mapping[str, Any]) -> frozenset[str]:
    witness, held = dict(entry["witness"]), dict(entry["contingency"])
    if not witness or set(witness) & set(held) or not set(witness) <= allowed:
        raise CausalCertificateError(f"{witness} with {held} is no cause and contingency among the allowed names")
    if any(actual[n] != v for n, v in held.items()):
        raise CausalCertificateError(f"the contingency {held} is not at its actual values")
    if holds(effect, model.evaluate(context, {**witness, **held})):
        raise CausalCertificateError(f"the effect still holds under {witness} with {held} held")
    return frozenset(witness)


def _check_count(certificate: Mapping[str, Any], model: CausalModel, context: Mapping[str, Any], effect: Any,
                 allowed: Set[str], causes: list[frozenset[str]]) -> bool:
    names = list(model.mechanisms)[::-1]
    turned = CausalModel({n: model.mechanisms[n] for n in names}, model.domains, model.exogenous)
    again = actual_causes(turned, context, effect, candidates=allowed, engine="zdd")
    if again.count != int(str(certificate["count"]), 0):
        raise CausalCertificateError(f"counted {_number(again.count)} causes, the certificate says {certificate['count']}")
    for cause in causes:
        if not is_cause(model, context, cause, effect).is_cause:
            raise CausalCertificateError(f"{sorted(cause)} is no cause")
    return True


def _check_drup(clauses: list[list[int]], proof: list[list[int]]) -> None:
    """Every line follows from the clauses before it by unit propagation, and the last is the empty clause."""
    checker = _Propagation(clauses)
    for line in proof:
        if 0 in line:  # 0 ends a line of a proof; as a literal it would be its own negation
            raise CausalCertificateError(f"the proof line {line[:8]} has the literal 0")
        if not checker.implies(line):
            raise CausalCertificateError(f"the proof line {line[:8]} does not follow by unit propagation")
        if not line:
            return
        checker.add(line)
    raise CausalCertificateError("the proof does not end in a contradiction")


class _Propagation:
    """Unit propagation with two watched literals."""

    def __init__(self, clauses: list[list[int]]) -> None:
        self.watches: dict[int, list[list[int]]] = {}
        self.true: set[int] = set()  # literals that follow with no assumption
        self.contradiction = False
        for clause in clauses:
            self.add(clause)

    def add(self, clause: list[int]) -> None:
        """A clause more; its units are propagated for good."""
        clause = list(dict.fromkeys(clause))
        if any(lit in self.true for lit in clause):
            return
        clause.sort(key=lambda lit: -lit in self.true)  # literals that may still hold first
        open_ = [lit for lit in clause if -lit not in self.true]
        if len(open_) >= 2:
            for lit in clause[:2]:
                self.watches.setdefault(lit, []).append(clause)
        elif not open_ or not self._propagate([open_[0]], self.true):
            self.contradiction = True

    def implies(self, clause: list[int]) -> bool:
        """Whether assuming every literal of `clause` false leads to a conflict."""
        if self.contradiction or any(lit in self.true for lit in clause):
            return True
        return not self._propagate([-lit for lit in clause], set(self.true))

    def _propagate(self, queue: list[int], true: set[int]) -> bool:
        """Extend `true` by what follows; False at a conflict."""
        waiting = list(queue)
        while waiting:
            lit = waiting.pop()
            if -lit in true:
                return False
            if lit in true:
                continue
            true.add(lit)
            watching = self.watches.get(-lit, [])
            kept = []
            for at, clause in enumerate(watching):
                if clause[0] == -lit:
                    clause[0], clause[1] = clause[1], clause[0]
                if clause[0] in true:
                    kept.append(clause)
                    continue
                for i in range(2, len(clause)):
                    if -clause[i] not in true:
                        clause[1], clause[i] = clause[i], clause[1]
                        self.watches.setdefault(clause[1], []).append(clause)
                        break
                else:
                    kept.append(clause)
                    if -clause[0] in true:
                        self.watches[-lit] = kept + watching[at + 1:]
                        return False
                    waiting.append(clause[0])
            self.watches[-lit] = kept
        return True
