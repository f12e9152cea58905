"""Certificates under attack: unknown fields, changed entries, false statements in place of true ones, borrowed terms."""
from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp

from proofs_checks.engines import sequential, symbolic
from proofs_checks.engines.portfolio import prove
from proofs_checks.engines.portfolio._integers import problem_of
from proofs_checks.engines.portfolio._search import Search
from proofs_checks.engines.smt._decide import decide
from proofs_checks.harness.certificate import claim_hash, seal, to_json
from proofs_checks.harness.checkers._schemas import instance
from proofs_checks.harness.checkers._smtlib import assemble
from proofs_checks.harness.evidence import Check
from proofs_checks.harness.language import read_problem
from proofs_checks.harness.language.text import words
from proofs_checks.harness.recheck import CertificateError, recheck

CASES = (
    ("sos", "x**2 + y**2 >= 2*x*y", ()), ("sos", "And(x**2 >= 0, x**2 + 1 > x)", ()),
    ("sos", "Implies(x > 0 & y > 0, x/y + y/x >= 2)", ()), ("sos", "sqrt(x) <= (1 + x)/2", (("x", (0, 4)),)),
    ("interval", "exp(x**3) < 3", (("x", (0, 1)),)), ("interval", "cosh(x) >= 1 + x**2/2", ()),
    ("implication", "Abs(exp(x) - 1 - x) <= x**2", (("x", (-1, 1)),)),
    ("implication", "x*log(x/y) + y - x >= 0", (("x", (1, 2)), ("y", (1, 2)))),
    ("implication", "(1 + x)**n >= 1 + n*x", (("x", (-1, "oo")), ("n", (0, "oo", "integer")))),
    ("implication", "2**n > n", (("n", (0, 3, "integer")),)),
    ("lemma", "Implies(exp(x) > y & y > 1 & x < 1/2, x > 0)", ()),
    ("witness", "x**2 > x", (("x", (0, 1)),)))
HEADER = {"schema", "kind", "claim_hash", "claim", "variant", "statement", "subjects", "subject"}


@cache
def certificate(statement: str, domain: tuple[Any, ...], lemma: bool = False) -> str:
    if lemma:
        problem = read_problem(statement, domain)
        body = decide(problem.subject, timeout_ms=5000).body or {}
        found: Any = seal(body, statement=problem.text(), subjects=[problem.subject])
    else:
        found = prove(statement, dict(domain)).certificate
    assert recheck(found)
    return json.dumps(found)


def nodes(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, tree
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in children:
        yield from nodes(child, (*path, key))


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def put(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    copied = copy.deepcopy(tree)
    at(copied, path[:-1])[path[-1]] = value
    return copied


def accepted(found: dict[str, Any]) -> bool:
    try:
        return recheck(found)
    except CertificateError:
        return False


@pytest.mark.parametrize(("kind", "statement", "domain"), CASES)
def test_a_field_that_nobody_reads_is_refused(kind: str, statement: str, domain: tuple[Any, ...]) -> None:
    found = json.loads(certificate(statement, domain, kind == "lemma"))
    assert found["kind"] in (kind, "lemma")  # engines race: under load z3 may come first
    places = [path for path, node in nodes(found) if isinstance(node, dict) and not {"subject", "subjects"} & set(path)]
    assert places
    for path in places:
        with pytest.raises(CertificateError, match="unknown field"):
            recheck(put(found, (*path, "remark"), "checked"))


@pytest.mark.parametrize(("kind", "statement", "domain"), [case for case in CASES if case[0] in ("sos", "lemma", "interval")])
def test_a_changed_entry_is_refused(kind: str, statement: str, domain: tuple[Any, ...]) -> None:
    found = json.loads(certificate(statement, domain, kind == "lemma"))
    changed = 0
    for path, node in nodes({k: v for k, v in found.items() if k not in HEADER}):
        if isinstance(node, str) and path[0] in ("blocks", "parts", "boxes", "domain", "smtlib"):
            try:
                value = str(Fraction(node) + Fraction(1, 97))
            except ValueError:
                value = f"{node} "
            changed += 1
            assert not accepted(put(found, path, value)), path
    assert changed or not found.get("blocks")


def false_versions(subject: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Statements that differ in one entry and fail at a small point."""
    flips = {"ge": "gt", "gt": "lt", "le": "lt", "lt": "gt", "eq": "ne", "add": "mul", "exp": "sinh"}
    for path, node in nodes(subject["statement"]):
        if isinstance(node, str) and path:
            values = [flips[node]] if node in flips else []
            if node.lstrip("-").replace("/", "").isdigit():
                values = [str(Fraction(node) + 1), str(Fraction(node) - 1), str(-Fraction(node))]
            for value in values:
                other = {**subject, "statement": put(subject["statement"], path, value)}
                try:
                    if Search(problem_of(other)).small() is not None:
                        yield path, other
                except (ValueError, ArithmeticError):
                    continue


def swapped(tree: Any, old: Any, new: Any) -> Any:
    if tree == old:
        return copy.deepcopy(new)
    if isinstance(tree, list):
        return [swapped(part, old, new) for part in tree]
    return {k: swapped(v, old, new) for k, v in tree.items()} if isinstance(tree, dict) else tree


@pytest.mark.parametrize(("kind", "statement", "domain"), [case for case in CASES if case[0] != "witness"])
def test_no_false_statement_gets_a_certificate_of_a_true_one(kind: str, statement: str, domain: tuple[Any, ...]) -> None:
    """Also where the body is edited to go with the statement: every subtree around the change is exchanged throughout."""
    found = json.loads(certificate(statement, domain, kind == "lemma"))
    attacks = 0
    for path, other in false_versions(found["subject"]):
        for size in range(len(path) + 1):
            old, new = at(found["subject"]["statement"], path[:size]), at(other["statement"], path[:size])
            edited = swapped(found, old, new) if size else copy.deepcopy(found)
            edited |= {"subject": other, "subjects": [other], "statement": words(other)}
            edited["claim_hash"] = claim_hash("", "", edited["statement"], [other])
            attacks += 1
            assert not accepted(edited), words(other)
    assert attacks


def attempt(statement: str, body: dict[str, Any]) -> dict[str, Any]:
    problem = read_problem(statement)
    return seal({**body, "subject": problem.subject}, statement=problem.text(), subjects=[problem.subject])


def test_a_root_that_the_statement_does_not_have_proves_no_sign() -> None:
    """r = sqrt(x), hence x = r^2 >= 0: but x may be negative, and then there is no such r."""
    root = json.dumps(["pow", ["var", "x"], "1/2"])
    body = {"kind": "sos", "variables": ["x", root], "blocks": [{"basis": [[0, 1]], "gram": [["1"]]}],
            "equalities": [{"index": 1, "terms": [[[0, 0], "-1"]]}]}
    with pytest.raises(CertificateError, match="the statement does not have"):
        recheck(attempt("x >= 0", body))


def test_an_instance_that_divides_by_x_does_not_prove_that_x_is_not_zero() -> None:
    items = [["exp_tangent", ["mul", "-1", ["pow", ["var", "x"], "-1"]]]]
    text = assemble(read_problem("x != 0").subject, [instance(item) for item in items])
    with pytest.raises(CertificateError, match="the statement does not"):
        recheck(attempt("x != 0", {"kind": "lemma", "instances": items, "smtlib": text}))
    inverse = ["pow", ["var", "x"], "-1"]
    names = ["x", json.dumps(["log", ["exp", inverse]]), json.dumps(["exp", inverse])]
    body = {"kind": "sos", "variables": names, "instances": [["log_exp", inverse]], "blocks": [], "equalities": [
        {"index": 0, "terms": [[[0, 1, 0], "-1"]]}, {"index": 1, "terms": [[[0, 0, 0], "1"]]}]}
    with pytest.raises(CertificateError, match="the statement does not"):
        recheck(attempt("Implies(Eq(x, 0), False)", body))


def test_an_instance_with_a_tangent_needs_the_cosine_in_the_statement() -> None:
    items = [["exp_tangent", ["tan", ["var", "x"]]]]
    text = assemble(read_problem("cos(x) != 0").subject, [instance(item) for item in items])
    with pytest.raises(CertificateError, match="the statement does not"):
        recheck(attempt("cos(x) != 0", {"kind": "lemma", "instances": items, "smtlib": text}))


def test_ways_of_an_implication_exclude_each_other() -> None:
    found = json.loads(certificate("2**n > n", (("n", (0, 3, "integer")),)))
    with pytest.raises(CertificateError, match="exclude each other"):
        recheck({**found, "induction": "n"})
    with pytest.raises(CertificateError, match="values of n"):
        recheck(put(found, ("over", "to"), 2))


@pytest.mark.parametrize("check", [
    symbolic.equal(lambda v: (v + 1) ** 2, lambda v: v**2 + 2 * v + 1, sp.Symbol("v")),
    sequential.mean_within(lambda key, n: np.random.default_rng(key).random(n), 0.5, tol=0.1)])
def test_identities_and_histograms_refuse_unknown_fields(check: Check) -> None:
    found = check.run()
    assert isinstance(found.certificate, dict)
    subject = check.subject() if callable(check.subject) else check.subject
    sealed = seal(found.certificate, subjects=[to_json(subject)])
    assert recheck(sealed)
    with pytest.raises(CertificateError, match="unknown field 'remark'"):
        recheck({**sealed, "remark": "checked"})
