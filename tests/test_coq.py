"""Certificates by squares for Coq: the text always, the kernel's answer where coqc is installed, 'skipped' elsewhere."""
from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proofs_checks.engines import exhaustive, kernel, sos
from proofs_checks.harness import coq
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.cli import main
from proofs_checks.harness.evidence import Rung, Verdict
from proofs_checks.harness.language import read_problem
from proofs_checks.harness.recheck import recheck

Certificate = dict[str, Any]
INSTALLED = shutil.which("coqc") is not None


def certified(statement: str) -> Certificate:
    problem = read_problem(statement)
    body = sos.certify(problem.subject)
    assert body is not None
    return seal(body, statement=problem.text(), subjects=[problem.subject])


def relabelled(certificate: Certificate, statement: str) -> Certificate:
    """The same proof, said to be one of another statement."""
    problem = read_problem(statement)
    body = {k: v for k, v in certificate.items() if k not in ("claim_hash", "subjects", "statement")}
    return seal({**body, "subject": problem.subject}, statement=problem.text(), subjects=[problem.subject])


def kernel_says(certificate: Certificate, expected: str) -> None:
    """The kernel's answer where there is a kernel; where there is none, that it was skipped and why."""
    found = coq.check(certificate)
    assert found.status == (expected if INSTALLED else "skipped"), found
    assert INSTALLED or found.reason == "coqc not found"
    assert set(found.axioms) <= set(coq.AXIOMS)


PAIR = "x**2 + y**2 >= 2*x*y"
SUPPORTED = {
    PAIR: "forall v_x v_y : R, (((v_x ^ 2) + (v_y ^ 2)) >= ((2) * v_x * v_y))",
    "x**2 + x + 1 > 0": "forall v_x : R, (((v_x ^ 2) + v_x + (1)) > (0))",
    "Eq((x + y)**2, x**2 + 2*x*y + y**2)": "forall v_x v_y : R, ",
    "Implies(Eq(x + y, 1), x**2 + y**2 >= 1/2)": "((v_x + v_y) = (1)) -> (((v_x ^ 2) + (v_y ^ 2)) >= ((1) / 2))",
    "Implies(x >= 0 & y >= 0 & z >= 0, x**3 + y**3 + z**3 >= 3*x*y*z)": "(v_x >= (0)) -> (v_y >= (0)) -> (v_z >= (0)) -> ",
    "Implies(x > 1 & y > 2, x*y > 2)": "(v_x > (1)) -> (v_y > (2)) -> ((v_x * v_y) > (2))",
    "Implies(x**2 + y**2 < 1 & x*y > 1, False)": " -> False",
    "x**4*y**2 + x**2*y**4 - 3*x**2*y**2 + 1 >= 0": "forall v_x v_y : R, ",  # with a multiplier
}


@pytest.mark.parametrize("statement", SUPPORTED)
def test_the_text_states_the_certified_statement_and_the_kernel_accepts_its_proof(statement: str) -> None:
    certificate = certified(statement)
    text = coq.export(certificate)
    assert text.count("Theorem") == 1
    assert SUPPORTED[statement] in text.partition("Theorem")[2].partition("Proof.")[0]
    assert text.rstrip().endswith("Print Assumptions refutable_statement.")
    assert not {"Admitted", "Axiom", "admit", "Parameter", "Abort"} & set(text.replace(".", " ").split())
    kernel_says(certificate, "accepted")


def raised(c: Certificate) -> Certificate:
    gram = c["blocks"][0]["gram"]  # stays positive semidefinite: the identity fails
    gram[0][0] = str(Fraction(gram[0][0]) + 1)
    return c


def lowered(c: Certificate) -> Certificate:
    gram = c["blocks"][0]["gram"]  # negative, and the statement with it: the identity is true, the sign is not
    c["blocks"][0]["gram"] = [[str(-Fraction(x)) for x in row] for row in gram]
    return relabelled(c, "2*x*y >= x**2 + y**2")


def multiplier_negative(c: Certificate) -> Certificate:
    c["multiplier"] = [{"basis": [[0, 0]], "gram": [["-1"]]}]
    return relabelled(c, "2*x*y >= x**2 + y**2")


def sharper(c: Certificate) -> Certificate:
    return relabelled(c, "x**2 + y**2 >= 2.001*x*y")


@pytest.mark.parametrize("tampered", [raised, lowered, multiplier_negative, sharper])
def test_the_kernel_rejects_a_tampered_certificate(tampered: Callable[[Certificate], Certificate]) -> None:
    honest = certified(PAIR)
    bad = tampered(copy.deepcopy(honest))
    with pytest.raises(ValueError, match=r"identity|positive"):
        recheck(bad)  # the kernel is a second opinion, on the export that the first did not filter
    if tampered is multiplier_negative:
        with pytest.raises(coq.Unsupported, match="multiplier"):
            coq.export(bad)
    else:
        assert coq.export(bad) != coq.export(honest)
        kernel_says(bad, "rejected")


@pytest.mark.parametrize(("statement", "what"), [("Abs(x) >= x", "abs"), ("Implies(x + y > 5, x > 2 | y > 3)", "or"),
                                                 ("Implies(x > 0, x + 1/x >= 2)", "division"),
                                                 ("Implies(x >= 0, x + 1 >= 2*sqrt(x))", "root")])
def test_what_has_no_export_is_skipped_by_name(statement: str, what: str) -> None:
    certificate = certified(statement)
    with pytest.raises(ValueError, match=what):
        coq.export(certificate)
    found = coq.check(certificate)
    assert found.status == "skipped"
    assert found.reason.startswith("not supported: ")


def test_names_are_made_safe_and_nothing_of_a_name_reaches_the_text() -> None:
    subject = {"statement": ["ge", ["pow", ["var", "Qed.Axiom"], "2"], ["mul", "-1", ["pow", ["var", "exists"], "2"]]],
               "integers": []}
    body = sos.certify(subject)
    assert body is not None
    certificate = seal(body, subjects=[subject])
    text = coq.export(certificate)
    assert "Qed.Axiom" not in text
    assert "forall u0 v_exists : R" in text
    kernel_says(certificate, "accepted")


@pytest.mark.parametrize("damage", [{"blocks": [{"basis": [[1, 0]], "gram": [["1. Admitted"]]}]}, {"blocks": None},
                                    {"blocks": [{"basis": [["0", 1]], "gram": [["1"]]}]}, {"variables": 3}])
def test_malformed_content_is_rejected_and_never_written(damage: dict[str, Any]) -> None:
    found = coq.check({**certified(PAIR), **damage})
    assert found.status == "rejected"


def test_other_kinds_and_missing_programs_are_skipped(tmp_path: Path) -> None:
    assert coq.check({"kind": "ladder"}).status == "skipped"
    assert coq.check(certified(PAIR), coqc=str(tmp_path / "none")).reason == "coqc not found"


@pytest.mark.parametrize(("said", "status"), [
    ("echo 'Axioms:'; echo 'Top.trust_me : False'", "rejected"),
    ("echo 'Axioms:'; echo 'ClassicalDedekindReals.sig_forall_dec'; echo '  : forall P'", "accepted"),
    ("echo 'Closed under the global context'", "accepted"),
    ("true", "skipped"),
    ("""echo 'File "./statement.v", line 1, characters 0-3:' >&2; echo 'Error: no Reals' >&2; exit 1""", "skipped"),
    ("""echo 'File "./statement.v", line 25, characters 0-3:' >&2; echo 'Error: no' >&2; exit 1""", "rejected"),
    ("exit 127", "skipped"), ("exec sleep 20", "skipped")])
def test_every_answer_of_the_program_is_read_for_what_it_is(tmp_path: Path, said: str, status: str) -> None:
    program = tmp_path / "coqc"
    program.write_text(f"#!/bin/sh\n{said}\n")
    program.chmod(0o755)
    assert coq.check(certified(PAIR), coqc=str(program), seconds=1 if "sleep" in said else 60).status == status


def test_the_command_says_what_the_kernel_said_and_fails_only_on_a_rejection(tmp_path: Path,
                                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    for name, statement in (("pair", PAIR), ("abs", "Abs(x) >= x")):
        (tmp_path / f"{name}.json").write_text(json.dumps(certified(statement)))
    found = CliRunner().invoke(main, ["recheck", "--coq", str(tmp_path)])
    assert found.exit_code == 0, found.output
    wanted = "KERNEL: accepted: " if INSTALLED else "KERNEL: skipped (coqc not found): "
    assert f"{wanted}{tmp_path / 'pair.json'}" in found.output
    assert "KERNEL: skipped (not supported: the function abs): " in found.output
    assert "KERNEL" not in CliRunner().invoke(main, ["recheck", str(tmp_path)]).output
    monkeypatch.setattr(coq, "check", lambda certificate: coq.KernelResult("rejected", "no proof"))
    refused = CliRunner().invoke(main, ["recheck", "--coq", str(tmp_path / "pair.json")])
    assert refused.exit_code == 1
    assert "KERNEL: rejected (no proof)" in refused.output


def test_the_rung_is_the_kernels_only_where_the_kernel_accepted() -> None:
    plain = sos.nonnegative(lambda x, y: x * x - x * y + y * y, 2, universal=True)
    upgraded, without = kernel.accepts(plain), kernel.accepts(plain, coqc="no-such-program")
    proof, lesser = upgraded.run(), without.run()
    assert (proof.verdict, proof.universal, proof.rung) == (Verdict.HOLDS, True, Rung.KERNEL if INSTALLED else Rung.CERTIFIED)
    assert (lesser.verdict, lesser.universal, lesser.rung) == (Verdict.HOLDS, True, Rung.CERTIFIED)
    assert "coqc not found" in lesser.summary
    assert isinstance(proof.certificate, dict)
    assert recheck(proof.certificate)
    assert upgraded.binds is not None
    assert upgraded.binds(proof.certificate)
    false = kernel.accepts(sos.nonnegative(lambda x, y: x * x - 3 * x * y + y * y, 2)).run()
    assert (false.verdict, false.rung) == (Verdict.REFUTED, Rung.CERTIFIED)
    with pytest.raises(ValueError, match="exhaustive"):
        kernel.accepts(exhaustive.forall([(1,)], lambda x: x > 0))


def test_a_kernel_that_contradicts_the_checker_is_an_error_and_no_kill(tmp_path: Path) -> None:
    program = tmp_path / "coqc"
    program.write_text("#!/bin/sh\necho 'File \"./statement.v\", line 99, characters 0-3:' >&2\necho Error: no >&2\nexit 1\n")
    program.chmod(0o755)
    found = kernel.accepts(sos.nonnegative(lambda x: x * x + 1, 1), coqc=str(program)).run()
    assert found.verdict is Verdict.ERROR
