"""No claim goes unjudged in silence, and a report over its error budget is not green."""
from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import toy

from proofs_checks.engines import exhaustive
from proofs_checks.harness import modules, registry, report, report_io, work
from proofs_checks.harness.judge import Trial, evidence, judge
from theory.claim import Claim, Source, Standing


@pytest.fixture
def planted(monkeypatch):
    """A judgeable claim of theory without evidence, and one that is out of reach."""
    extra = {"toy.unjudged": toy.claim("unjudged"), "toy.far_away": Claim(
        id="toy.far_away", paper=toy.PAPER, statement="x", source=Source.ABSTRACT, standing=Standing.OUT_OF_REACH)}
    for module in (registry, work):
        monkeypatch.setattr(module, "theory_claims", lambda: extra)
    monkeypatch.setattr(registry, "slugs", list)
    monkeypatch.setattr(work, "unsupported", registry.unsupported)


def test_a_claim_without_evidence_is_named(planted):
    assert registry.unsupported() == ["toy.unjudged"]
    with pytest.raises(LookupError, match=r"claims without evidence: toy\.unjudged"):
        registry.registry()


def test_a_run_lists_it_red_and_what_is_out_of_reach_without_colour(planted):
    tasks, listed = work.plan(["toy"])
    entries = {e["id"]: e for e in listed}
    assert "toy.unjudged" not in tasks and set(entries) == {"toy.unjudged", "toy.far_away"}
    whole = report.build(listed, complete=False)
    assert report.problems(whole) == ["toy.unjudged: no evidence is registered"] == work.failures(whole)
    assert [line.split()[1] for line in report.table(whole)[2:4]] == ["listed", "RED"]
    assert [line.split()[-2] for line in report.table(whole)[2:4]] == ["OUT_OF_REACH", "-"]  # red: nothing stands


@pytest.mark.parametrize(("names", "variant", "said"), [
    (["nonsense"], None, "no paper and no claim is called 'nonsense'"),
    (["toy.unjudged"], "nothing", "has a variant 'nothing'")])
def test_unknown_names_are_refused(planted, names, variant, said):
    with pytest.raises(LookupError, match=said):
        work.plan(names, variant=variant)


def entry(name: str, **changes):
    claim = toy.claim(name, **changes)

    @evidence(claim)
    def scan(weight):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    trial = Trial(claim)
    return report.claim_entry(report.facts(claim), [report.variant_record(trial, v) for v in claim.variants()])


def test_a_report_over_the_error_budget_is_not_green():
    green = entry("budget")
    assert green["green"] and report.problems(report.build([green], complete=False)) == []
    spent = report.build([{**green, "decisions": 2000}], complete=False)
    assert spent["alpha"]["spent"] == pytest.approx(2e-3)
    assert report.problems(spent) == ["the suite spends error 2.0e-03, more than 1e-03"]


def test_a_failed_canary_is_not_green(monkeypatch):
    monkeypatch.setattr("proofs_checks.harness.doctor.canary", lambda: {"passed": False, "reason": "wrong sums"})
    assert report.problems(report.build([entry("canary")], complete=True)) == ["jax canary failed: wrong sums"]


def test_a_report_says_why_a_claim_is_red():
    red = entry("red_entry", form=lambda p, k: k)
    assert not red["green"] and red["verdict"] == "REFUTED" and red["rung"] is None
    said = report.problems(report.build([red], complete=False))
    assert said[0].startswith("toy.red_entry: claim: exhaustive EXHAUSTIVE says REFUTED")


def test_a_claim_judged_in_part_is_not_green():
    claim = toy.claim("part")

    @evidence(claim)
    def scan(weight):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    one = report.claim_entry(report.facts(claim), [report.variant_record(Trial(claim), "exponent_k")])
    assert one["partial"] and not one["green"] and judge(claim).green


def test_the_report_and_its_certificates_are_written_whole(tmp_path, monkeypatch):
    whole = report.build([entry("written")], complete=False)
    path = report.write_report(whole, tmp_path)
    data = json.loads(path.read_text())
    assert path.name == "partial.json" and data["schema"] == report.SCHEMA
    assert set(data) >= {"schema", "alpha", "versions", "canary", "idle", "contradictions", "complete", "claims"}
    claim = data["claims"][0]
    assert set(claim) >= {"id", "paper", "statement", "source", "standing", "rung", "verdict", "green", "mutants", "seconds",
                          "certificate"}
    assert claim["mutants"] == {"killed": 2, "total": 2} and (tmp_path / claim["certificate"]).is_file()
    before = path.read_text()
    monkeypatch.setattr(report_io.os, "replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        report_io.write_text(path, "half")
    assert path.read_text() == before and not list(tmp_path.glob(".partial*"))


def test_no_two_test_modules_register_a_claim_of_the_same_name():
    """The later registration would win, so that a verdict would depend on the order in which modules run."""
    users: dict[str, set[str]] = {}
    for path in Path(__file__).parent.glob("test_*.py"):
        for name in re.findall(r'(?:toy\.claim|\bentry)\("(\w+)"', path.read_text(encoding="utf-8")):
            users.setdefault(name, set()).add(path.name)
    assert len(users) > 50 and not {name: files for name, files in users.items() if len(files) > 1}


def procedures(folder: Path, name: str, count: int) -> list[Any]:
    """Generator functions of one file, each further down than the one before."""
    path = folder / f"{name}.py"
    path.write_text("".join(f"def checks_{i}(form):\n    yield form\n" for i in range(count)))
    space: dict[str, Any] = {"__name__": name}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return [space[f"checks_{i}"] for i in range(count)]


def test_a_second_procedure_does_not_replace_the_first(tmp_path: Path):
    """Both of one file that is imported for the first time, and of two files."""
    (tmp_path / "own_two_places.py").write_text(
        "import toy\nfrom proofs_checks.harness.judge import evidence\nmade = toy.claim('two_places')\n"
        "@evidence(made)\ndef one(form):\n    yield form\n@evidence(made)\ndef two(form):\n    yield form\n")
    with pytest.raises(LookupError, match=r"evidence in two places, .*own_two_places.py line 4 and .*own_two_places.py line 7"):
        modules.load(str(tmp_path / "own_two_places.py"))
    here, elsewhere = procedures(tmp_path, "own_here", 1)[0], procedures(tmp_path, "own_elsewhere", 1)[0]
    evidence(made := toy.claim("two_files"))(here)
    with pytest.raises(ValueError, match=r"two_files has evidence in two places, .*own_here.py line 1 and .*own_elsewhere.py"):
        evidence(made)(elsewhere)
    assert registry._REGISTERED["toy.two_files"].procedure is here


def test_a_file_that_is_run_again_brings_its_evidence_again(tmp_path: Path):
    made = toy.claim("run_again")
    evidence(made)(procedures(tmp_path, "own_again", 1)[0])
    evidence(made)(procedures(tmp_path, "own_again", 2)[1])
    shell: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed(form):\n    yield form\n", shell)
    evidence(made)(shell["typed"])
    assert registry._REGISTERED["toy.run_again"].procedure is shell["typed"]


def test_evidence_is_a_generator_function_and_nothing_around_one():
    with pytest.raises(ValueError, match="must be a generator function"):
        evidence(toy.claim("partial"))(functools.partial(lambda form, n: (yield form), n=3))
    assert "toy.partial" not in registry._REGISTERED


def test_texts_of_cases_and_scopes_are_written_whatever_they_hold(tmp_path: Path):
    """Halves of characters in a witness, and what a terminal obeys in a scope and an exception."""
    made = toy.claim("characters", form=lambda n, s: n, mutants={"next": lambda n, s: n + 1, "zero": lambda n, s: 0})

    @evidence(made)
    def checks(form):
        yield exhaustive.forall([(n, "\ud800") for n in range(1, 4)], lambda n, s: form(n, s) == n or int("\x1b[2K"),
                                scope="all\x1b[2K")

    trial = Trial(made)
    entry = report.claim_entry(report.facts(made), [report.variant_record(trial, v) for v in made.variants()])
    path = report.write_report(report.build([entry], complete=False), tmp_path)
    read = json.loads(path.read_text(encoding="utf-8"))["claims"][0]["variants"]
    assert read["claim"]["evidence"][0]["scope"].endswith("all\\x1b[2K")
    assert "\x1b" not in "".join(read["next"]["problems"]) and read["next"]["evidence"][0]["verdict"] == "ERROR"
