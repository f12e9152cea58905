"""The betting engine can fail, says so when it cannot decide, and its error probability is what it says."""
from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from proofs_checks.engines import _betting, sequential
from proofs_checks.engines._betting import STAKES, WEIGHTS, log_wealth
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.checkers import histogram
from proofs_checks.harness.evidence import Check, Context, Rung, Vacuous, Verdict
from proofs_checks.harness.recheck import CertificateError, recheck

ROOT = Path(__file__).resolve().parents[1]


def flips(key: int, n: int, p: float = 0.3) -> np.ndarray:
    return (np.random.default_rng(key).random(n) < p).astype(float)


def ramp(key: int, n: int) -> np.ndarray:
    return np.random.default_rng(key).beta(2, 6, n)


def brute_first(samples: list[Fraction], null: Fraction, alpha: Fraction) -> int | None:
    """The first crossing in exact arithmetic, straight from the definition."""
    wealth = list(WEIGHTS)
    for i, y in enumerate(samples, 1):
        wealth = [w * (1 + s / null * (y - null)) for w, s in zip(wealth, STAKES, strict=True)]
        if sum(wealth) >= 1 / alpha:
            return i
    return None


# ---- wealth

def test_bets_are_fixed_before_the_data_and_written_twice():
    assert sum(WEIGHTS) == 1 and all(w > 0 for w in WEIGHTS) and all(0 < s <= 1 for s in STAKES)
    assert [(str(s), str(w)) for s, w in zip(STAKES, WEIGHTS, strict=True)] == histogram.BETS


@pytest.mark.parametrize("null", [Fraction(1, 3), Fraction(19, 20), Fraction(1, 50)])
def test_expected_wealth_at_the_null_is_one(null):
    n = 9
    total = sum(math.comb(n, k) * null**k * (1 - null) ** (n - k) * sum(
        w * (1 - s + s / null) ** k * (1 - s) ** (n - k) for s, w in zip(STAKES, WEIGHTS, strict=True))
        for k in range(n + 1))
    assert total == 1  # exact: a martingale
    floats = sum(math.comb(n, k) * float(null) ** k * float(1 - null) ** (n - k) * math.exp(
        log_wealth(np.array([0.0, 1.0])[[n > k, k > 0]], np.array([n - k, k])[[n > k, k > 0]], float(null)))
        for k in range(n + 1))
    assert floats == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("null", [0.5, 0.9, 0.1])
def test_probability_of_ever_rejecting_a_true_null_exactly(null):
    """The law of the count of ones, killed on rejection: no sampling error, a look after each of 200 flips."""
    alpha, law, rejected = 0.05, np.array([1.0]), 0.0
    for n in range(1, 201):
        law = np.append(law * (1 - null), 0) + np.append(0, law * null)
        wealth = [log_wealth(np.array([0.0, 1.0]), np.array([n - k, k]), null) if 0 < k < n else 0.0
                  for k in range(n)]
        wealth += [log_wealth(np.array([1.0]), np.array([n]), null)]
        crossed = (np.array(wealth) >= math.log(1 / alpha)) & (law > 0)
        rejected, law = rejected + law[crossed].sum(), np.where(crossed, 0, law)
    assert 0.001 < rejected <= alpha


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_first_rejection_is_the_first_crossing(seed, alternative):
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 9, 60)
    samples = [Fraction(int(v), 8) for v in steps]
    null, alpha = Fraction(3, 8), Fraction(1, 4)
    mirrored = samples if alternative == "greater" else [1 - y for y in samples]
    wanted = brute_first(mirrored, null if alternative == "greater" else 1 - null, alpha)
    found = sequential.first_rejection(steps / 8, 0.375, alpha=0.25, alternative=alternative)
    assert found == wanted
    scaled = sequential.first_rejection(steps - 3.0, 0.0, alpha=0.25, alternative=alternative, lower=-3, upper=5)
    assert scaled == wanted


def test_first_rejection_across_blocks_and_never():
    ones = np.ones(20_000)
    n = sequential.first_rejection(ones, 0.999, alpha=1e-6)
    assert n is not None and n > _betting._BLOCK
    assert log_wealth(np.array([1.0]), np.array([n]), 0.999) >= math.log(1e6) > log_wealth(
        np.array([1.0]), np.array([n - 1]), 0.999)
    assert sequential.first_rejection(ones, 0.999, alpha=1e-6, alternative="less") is None
    assert sequential.first_rejection(np.array([]), 0.5, alpha=0.1) is None


@pytest.mark.parametrize(("observed", "null", "kl", "runs"), [
    (0.99, 0.95, 0.99 * math.log(0.99 / 0.95) + 0.01 * math.log(0.01 / 0.05), 60),
    (1.0, 0.99, math.log(1 / 0.99), 1), (0.6, 0.5, 0.6 * math.log(1.2) + 0.4 * math.log(0.8), 60)])
def test_few_observations_suffice(observed, null, kl, runs):
    least = math.log(1e6) / kl
    found = [sequential.first_rejection(flips(i, int(4 * least), observed), null, alpha=1e-6) for i in range(runs)]
    assert np.median([f if f is not None else math.inf for f in found]) <= 1.35 * least


@pytest.mark.parametrize(("changed", "named"), [
    ({"samples": [0.5, math.nan]}, "samples"), ({"samples": [0.5, 1.1]}, "samples"), ({"samples": [[0.5]]}, "samples"),
    ({"alpha": 0.0}, "alpha"), ({"alpha": 1.0}, "alpha"), ({"null_mean": 0.0}, "null_mean"),
    ({"null_mean": 1.0}, "null_mean"), ({"null_mean": math.nan}, "null_mean"), ({"alternative": "both"}, "alternative"),
    ({"lower": 1.0}, "lower"), ({"alpha": "0.1"}, "alpha=.0.1. must be a real number"),
    ({"null_mean": None}, "null_mean=None")])
def test_first_rejection_names_what_is_wrong(changed, named):
    arguments = {"samples": [0.5, 0.6], "null_mean": 0.5, "alpha": 0.1, **changed}
    with pytest.raises(ValueError, match=named):
        sequential.first_rejection(arguments.pop("samples"), arguments.pop("null_mean"), **arguments)


# ---- decisions

@pytest.mark.parametrize(("sample", "target", "verdict"), [
    (flips, 0.3, Verdict.HOLDS), (flips, Fraction(3, 10), Verdict.HOLDS), (flips, lambda: 0.3, Verdict.HOLDS),
    (flips, 0.38, Verdict.REFUTED), (flips, 0.22, Verdict.REFUTED), (flips, 1.5, Verdict.REFUTED),
    (flips, -1, Verdict.REFUTED), (ramp, 0.25, Verdict.HOLDS), (ramp, 0.33, Verdict.REFUTED),
    (partial(flips, p=1.0), 1, Verdict.HOLDS), (partial(flips, p=0.0), 0.0, Verdict.HOLDS),
    (partial(flips, p=1.0), 0.0, Verdict.REFUTED)])
def test_verdicts(sample, target, verdict):
    check = sequential.mean_within(sample, target, tol=0.04)
    found = check.run(Context(stream="test"))
    assert (found.rung, found.verdict, found.universal) == (Rung.STATISTICAL, verdict, False)
    assert found.scope.split()[-1].isdigit() and "alpha=1e-06" in found.scope and "tol=0.04" in found.scope
    assert recheck(json.loads(json.dumps(found.certificate))) and check.binds(found.certificate)
    if verdict is Verdict.REFUTED:
        assert {"stream", "chunks", "alpha"} <= set(json.loads(json.dumps(found.witness)))
        assert check.at(found.witness) is False
    else:
        assert found.witness is None


def test_number_kinds_of_a_target():
    import sympy

    for target in (np.float32(0.25), np.array(0.25), sympy.Rational(1, 4), sympy.Float("0.25"), Fraction(1, 4)):
        assert sequential.mean_within(flips, target, tol=0.04).resolved_subject()["target"] == 0.25


def test_edge_of_the_tolerance_is_undecided_at_the_cap():
    found = sequential.mean_within(flips, 0.34, tol=0.04, cap=20_000).run(Context(stream="edge"))
    assert found.verdict is Verdict.UNDECIDED and found.witness is None and found.certificate is None
    assert "no decision after 20000 observations" in found.summary and "interval" in found.summary
    assert "estimate 0." in found.summary and found.scope.endswith("n = 20000")


def test_cap_and_budget_count_observations():
    check = sequential.mean_within(flips, 0.3, tol=0.04, cap=700)
    assert check.run().scope.endswith("n = 700")
    assert check.run(Context(budget=123)).scope.endswith("n = 123")
    assert check.run(Context(budget=10_000)).verdict is Verdict.HOLDS  # a later extension is valid


@pytest.mark.parametrize(("returned", "words"), [
    (lambda key, n: np.full(n, np.nan), "outside"), (lambda key, n: np.full(n, 1.01), "outside"),
    (lambda key, n: np.full(n, -0.01), "outside"), (lambda key, n: np.zeros(n + 1), "shape"),
    (lambda key, n: 1 / 0, "ZeroDivisionError")])
def test_bad_observations_are_errors_never_refutations(returned, words):
    found = sequential.mean_within(returned, 0.9, tol=0.04).run()
    assert found.verdict is Verdict.ERROR and words in found.summary


@pytest.mark.parametrize(("changed", "named"), [
    ({"tol": 0}, "tol"), ({"tol": -0.1}, "tol"), ({"tol": math.nan}, "tol"), ({"lower": 1.0}, "lower"),
    ({"lower": 2.0}, "lower"), ({"upper": math.inf}, "upper"), ({"chunk": 0}, "chunk"), ({"cap": 0}, "cap"),
    ({"chunk": 2.5}, "chunk"), ({"target": math.nan}, "target"), ({"target": "0.3"}, "target"),
    ({"target": None}, "target")])
def test_bad_arguments_are_named(changed, named):
    arguments = {"target": 0.3, "tol": 0.04, **changed}
    with pytest.raises(ValueError, match=named):
        sequential.mean_within(flips, arguments.pop("target"), **arguments)


def test_a_tolerance_that_allows_everything_is_vacuous():
    with pytest.raises(Vacuous, match="tol"):
        sequential.mean_within(flips, 0.5, tol=0.6).run()
    assert sequential.mean_within(flips, 0.2, tol=0.25).run().verdict is Verdict.HOLDS  # reaches one bound only


def test_bad_target_of_a_callable_is_an_error():
    found = sequential.mean_within(flips, lambda: math.nan, tol=0.04).run()
    assert found.verdict is Verdict.ERROR and "target" in found.summary


def test_looking_after_each_chunk_costs_no_more_than_alpha():
    """300 streams at alpha = 0.05, the mean at an end of the band: REFUTED is wrong there, HOLDS just beyond it."""
    alpha, runs = 0.05, 300
    check = sequential.mean_within(flips, 0.4, tol=0.1, chunk=40, cap=1_200)
    said = [check.run(Context(stream=f"peeking/{i}", alpha=alpha)).verdict for i in range(runs)]
    bound = _most(runs, alpha / 2)  # a one-sided null each
    assert said.count(Verdict.REFUTED) <= bound and said.count(Verdict.HOLDS) <= bound
    assert said.count(Verdict.UNDECIDED) >= runs - 2 * bound


def _most(runs: int, p: float) -> int:
    """The least c with P(Binomial(runs, p) > c) <= 1e-6, for the largest p that the engine may have."""
    tail, c = 1.0, -1
    while tail > 1e-6:
        c += 1
        tail -= math.comb(runs, c) * p**c * (1 - p) ** (runs - c)
    return c


# ---- streams

def test_same_stream_same_bits_whatever_was_run_before():
    def run(order):
        checks = {t: sequential.mean_within(flips, t, tol=0.04) for t in order}
        found = {t: c.run(Context(stream=f"s/{t}")) for t, c in checks.items()}
        return {t: (e.verdict, e.scope, e.summary, e.witness, e.certificate) for t, e in found.items()}

    assert run([0.3, 0.38, 0.22]) == run([0.22, 0.3, 0.38])


def test_bits_of_a_stream_depend_on_neither_cap_nor_budget():
    asked = []

    def recorded(key, n):
        asked.append((key, n))
        return flips(key, n)

    whole = sequential.mean_within(recorded, 0.3, tol=0.01, cap=2_000).run(Context(stream="s"))
    keys = list(asked)
    asked.clear()
    part = sequential.mean_within(recorded, 0.3, tol=0.01, cap=1_250).run(Context(stream="s", budget=1_250))
    assert asked == keys[:3] and whole.verdict is part.verdict is Verdict.UNDECIDED
    assert len(set(keys)) == 4 and all(n == 500 and 0 <= key < 2**63 for key, n in keys)
    assert sequential.chunk_key("s", 0) != sequential.chunk_key("t", 0)


def test_keys_are_keys_of_jax():
    from simulations._jax import jax

    keys = [sequential.chunk_key("claim/variant/0", i) for i in range(50)]
    data = {tuple(np.asarray(jax.random.key_data(jax.random.key(k))).tolist()) for k in keys}
    assert len(data) == 50 and max(keys) > 2**61  # both halves of the key are used


def test_a_refutation_in_a_chunk_cut_short_is_re_evaluated_on_the_same_observations():
    check = sequential.mean_within(flips, 0.9, tol=0.04, chunk=500)
    found = check.run(Context(stream="cut", budget=60))
    assert found.verdict is Verdict.REFUTED and found.scope.endswith("n = 60")
    assert check.at(found.witness) is False and recheck(found.certificate)


@pytest.mark.parametrize("false", [
    sequential.mean_within(flips, 0.38, tol=0.04), sequential.mean_within(partial(flips, p=0.2), 0.3, tol=0.04)])
def test_the_claim_survives_the_witness_of_its_mutant(false: Check):
    claim = sequential.mean_within(flips, 0.3, tol=0.04)
    found = false.run(Context(stream="claim/mutant/0"))
    assert found.verdict is Verdict.REFUTED and false.at(found.witness) is False
    assert claim.at(found.witness) is True


def test_subjects():
    def subject(sample=flips, target=0.3, **more):
        return sequential.mean_within(sample, target, **{"tol": 0.04, **more}).resolved_subject()

    assert subject() == subject(target=Fraction(0.3)) == subject(target=lambda: 0.3)
    assert subject(chunk=7, cap=9) == subject()  # how long one looks is not part of the statement
    others = [subject(target=0.31), subject(tol=0.05), subject(upper=2.0), subject(sample=partial(flips, p=0.4))]
    assert all(s != subject() for s in others)
    assert (subject()["engine"], subject()["target"], subject()["tol"]) == ("sequential.mean_within", 0.3, 0.04)
    json.dumps(subject())


# ---- certificates

@pytest.fixture(scope="module", params=["HOLDS", "REFUTED"])
def certificate(request):
    target = {"HOLDS": 0.25, "REFUTED": 0.33}[request.param]
    found = sequential.mean_within(ramp, target, tol=0.04).run(Context(stream="certified"))
    assert found.verdict.name == request.param
    return json.loads(json.dumps(found.certificate))


def _added(counts, by):
    return [[i, c + (by if j == 0 else 0)] for j, (i, c) in enumerate(counts)]


TAMPERED = {
    "count added": lambda c: {"counts": _added(c["counts"], 1)},
    "count added, total too": lambda c: {"counts": _added(c["counts"], 1), "observations": c["observations"] + 1},
    "observation moved": lambda c: {"counts": [*c["counts"][:-1], [c["counts"][-1][0] + 40, c["counts"][-1][1]]]},
    "negative count": lambda c: {"counts": [[0, -5], *_added(c["counts"], 5)]},
    "float count": lambda c: {"counts": [[i, float(n)] for i, n in c["counts"]]},
    "repeated cell": lambda c: {"counts": [*c["counts"], c["counts"][-1]]},
    "outside the grid": lambda c: {"counts": [*c["counts"][:-1], [5000, c["counts"][-1][1]]]},
    "empty": lambda c: {"counts": [], "observations": 0},
    "verdict flipped": lambda c: {"verdict": "HOLDS" if c["verdict"] == "REFUTED" else "REFUTED"},
    "verdict unknown": lambda c: {"verdict": "PROVED"},
    "alpha below what was shown": lambda c: {"alpha": 1e-30},
    "alpha out of range": lambda c: {"alpha": 2.0},
    "target": lambda c: {"target": "1/2"},
    "tol": lambda c: {"tol": "1/10"},
    "bounds": lambda c: {"upper": "2"},
    "one bet, chosen afterwards": lambda c: {"bets": [["1/4", "1"]]},
    "weights above 1": lambda c: {"bets": [[s, "1"] for s, _ in c["bets"]]},
    "log-wealth": lambda c: {"rejected": dict.fromkeys(c["rejected"], 99.0)},
    "null left out": lambda c: {"rejected": {}},
    "chunks": lambda c: {"chunks": c["chunks"] + 1},
    "grid": lambda c: {"cells": c["cells"] * 2},
    "other subject": lambda c: {"subjects": []},
}


def test_certificate_is_accepted(certificate):
    assert recheck(certificate)
    assert len(json.dumps(certificate)) < 12_000


@pytest.mark.parametrize("how", TAMPERED)
def test_tampered_certificates_are_rejected(certificate, how):
    with pytest.raises(CertificateError):
        recheck({**certificate, **TAMPERED[how](certificate)})


def test_a_certificate_under_the_header_of_another_statement_is_rejected(certificate):
    """The header's hash is right, the histogram too, but the header speaks of another target."""
    body = {k: v for k, v in certificate.items() if k not in ("claim_hash", "subjects")}
    own = certificate["subjects"][0]
    assert recheck(seal(body, subjects=[{"engine": "symbolic"}, own]))
    for subjects in ([{**own, "target": own["target"] + 0.01}], [{**own, "engine": "other"}], ["text"], []):
        with pytest.raises(CertificateError, match="subject"):
            recheck(seal(body, subjects=subjects))


def test_a_certificate_of_another_stream_does_not_bind(certificate):
    target = float(Fraction(certificate["target"]))
    check = sequential.mean_within(ramp, target, tol=0.04)
    assert check.binds(certificate)
    assert not check.binds({**certificate, "stream": "another"})
    assert not sequential.mean_within(flips, target, tol=0.04).binds(certificate)
    assert not sequential.mean_within(ramp, target, tol=0.03).binds(certificate)
    assert not sequential.mean_within(ramp, target + 0.01, tol=0.04).binds(certificate)


def test_rechecking_needs_the_standard_library_only(certificate, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate))
    code = (f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom proofs_checks.harness.recheck import recheck\n"
            f"print(recheck({str(path)!r}), 'numpy' in sys.modules)")
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_rounding_is_outward_and_a_fine_tolerance_gets_a_fine_grid():
    narrow = sequential.mean_within(lambda key, n: 0.4 + 0.002 * np.random.default_rng(key).random(n), 0.401, tol=0.001)
    found = narrow.run(Context(stream="fine"))
    assert found.verdict is Verdict.HOLDS and found.certificate["cells"] == 16384 and recheck(found.certificate)
    values, x = np.array([0.3, 0.7001, 0.9999]), np.array([40, 60, 900])
    for null in (0.3, 0.6, 0.9):
        assert log_wealth(np.floor(values * 1024) / 1024, x, null) < log_wealth(values, x, null)
