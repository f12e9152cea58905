"""Certificates by squares as texts for Coq, and what `coqc` says of them where it is installed: rung KERNEL.

The text states the certified statement itself, over the real numbers, and proves it: the identity

    multiplier * (left - right)  =  sum of c l^2 (product of hypotheses)  +  sum of p e

by `field`, every c l^2 by `pow2_ge_0` and `Rmult_le_pos`, every e = 0 from its hypothesis. The certificate gives the
numbers, never text: names are made up here. Standard library only."""
from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofs_checks.harness._coq_text import PREAMBLE, Unsupported, theorem
from proofs_checks.harness.recheck import CertificateError

__all__ = ["AXIOMS", "KernelResult", "Unsupported", "check", "export"]

SECONDS = 60
AXIOMS = ("ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec",
          "FunctionalExtensionality.functional_extensionality_dep")  # of Coq's real numbers
_NAME = "refutable_statement"
_WHERE = re.compile(r'File "[^"]*", line (\d+), characters')
_AXIOM = re.compile(r"^([A-Za-z_][\w.']*)\s*:|^([A-Za-z_][\w.']*)$", re.MULTILINE)


@dataclass(frozen=True)
class KernelResult:
    """What the kernel said: "accepted", "rejected" or "skipped" (nothing was decided); why; what the proof rests on."""

    status: str
    reason: str
    axioms: tuple[str, ...] = ()


def export(certificate: Mapping[str, Any]) -> str:
    """The certificate (kind "sos") as a self-contained Coq file.

    `Unsupported`, a ValueError, names what cannot be exported: functions, roots, division by more than a number, lemma
    instances, a multiplier that may vanish. `CertificateError` where the certificate is malformed. A wrong certificate
    gives a text that Coq rejects, as nothing is checked here."""
    if not isinstance(certificate, Mapping) or certificate.get("kind") != "sos":
        raise Unsupported("only certificates of kind 'sos' are exported")
    try:
        statement, proof = theorem(certificate)
    except (Unsupported, CertificateError):
        raise
    except RecursionError:
        raise Unsupported("a statement nested that deeply") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateError(f"malformed: {type(error).__name__}: {error}") from error
    return f"{PREAMBLE}\nTheorem {_NAME} : {statement}.\nProof.\n{proof}\nQed.\n\nPrint Assumptions {_NAME}.\n"


def check(certificate: Mapping[str, Any], *, coqc: str | None = None, seconds: float = SECONDS) -> KernelResult:
    """Have Coq's kernel check the certificate. `coqc` is the program; None looks for it on the path.

    Skipped, never rejected: no program, one without its library of real numbers, one that takes longer than `seconds`,
    and what `export` does not support. Accepted only if the proof rests on no axiom besides `AXIOMS`."""
    try:
        text = export(certificate)
    except Unsupported as error:
        return KernelResult("skipped", f"not supported: {error}")
    except CertificateError as error:
        return KernelResult("rejected", error.reason)
    program = shutil.which(coqc or "coqc")
    if program is None:
        return KernelResult("skipped", "coqc not found")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "statement.v").write_text(text, encoding="ascii")
        try:
            done = subprocess.run([program, "-q", "statement.v"], cwd=folder, capture_output=True, text=True,
                                  errors="replace", timeout=seconds, stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            return KernelResult("skipped", f"coqc did not finish within {seconds} s")
        except OSError as error:
            return KernelResult("skipped", f"coqc cannot be run: {error}")
    return _verdict(done.returncode, done.stdout, done.stderr)


def _verdict(code: int, said: str, errors: str) -> KernelResult:
    if code:
        where = _WHERE.search(errors)
        line = " ".join((errors.partition("Error:")[2] or errors).split())[:200]
        if where is None or int(where[1]) <= PREAMBLE.count("\n"):  # not about the certificate
            return KernelResult("skipped", f"coqc does not work here: {line}")
        if line.startswith(("Stack overflow", "Out of memory")):
            return KernelResult("skipped", f"too large for coqc: {line}")
        return KernelResult("rejected", f"coqc, line {where[1]}: {line}")
    if "Closed under the global context" in said:
        return KernelResult("accepted", "no axioms")
    _, found, listed = said.partition("Axioms:\n")
    axioms = tuple(sorted({first or alone for first, alone in _AXIOM.findall(listed)}))
    if not found or not axioms:
        return KernelResult("skipped", "coqc does not list what the proof rests on")
    if strange := [axiom for axiom in axioms if axiom not in AXIOMS]:
        return KernelResult("rejected", f"the proof rests on {', '.join(strange)}", axioms)
    return KernelResult("accepted", f"{len(axioms)} axioms of the real numbers", axioms)
