"""`refutable parents`: tables in, verdicts out."""
from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from proofs_checks.harness.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["parents", *map(str, arguments)])


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    cause, other = rng.normal(size=(2, 400))
    kind = rng.choice(["u", "v"], size=400)
    y = cause + cause**2 / 2 + 2 * (kind == "u") + rng.exponential(size=400) / 2
    return pd.DataFrame({"cause": cause, "other": other, "kind": kind, "Y": y})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_gets_a_verdict_a_table_and_a_plot(tmp_path, frame, suffix):
    file = tmp_path / f"data.{suffix}"
    frame.to_csv(file, index=False) if suffix == "csv" else frame.to_parquet(file)
    done = run(file, "--target", "Y", "--plot", tmp_path / "p.svg")
    assert done.exit_code == 0, done.output
    assert "Parents of Y: {cause, kind}" in done.output and "note: column 'kind' is taken as a category" in done.output
    assert any(line.startswith("*") and "{cause, kind}" in line for line in done.output.splitlines())
    assert (tmp_path / "p.svg").stat().st_size > 1000
    assert run(file, "--target", "Y").output.splitlines()[:8] == done.output.splitlines()[:8]


@pytest.mark.parametrize("between", [";", "\t"])
def test_fields_may_be_parted_as_in_the_other_tables(tmp_path, frame, between):
    file, plain = tmp_path / "data.csv", tmp_path / "plain.csv"
    frame.to_csv(file, index=False, sep=between)
    frame.to_csv(plain, index=False)
    assert run(file, "--target", "Y").output == run(plain, "--target", "Y").output


def test_two_processes_give_the_same_answer(tmp_path, frame):
    file = tmp_path / "data.csv"
    y = frame["Y"]
    noise = np.random.default_rng(1).exponential(size=(2, len(y)))  # children: sets that are tested and rejected
    frame[["cause", "other", "Y"]].assign(c=y**2 + noise[0], d=np.tanh(y) + noise[1]).to_csv(file, index=False)
    one = run(file, "--target", "Y").output
    assert run(file, "--target", "Y", "--jobs", 2).output == one and one.count("its residual depends on it") > 1


def test_a_cluster_gives_the_same_answer(tmp_path, frame):
    distributed = pytest.importorskip("distributed")
    file = tmp_path / "data.csv"
    frame[["cause", "other", "Y"]].to_csv(file, index=False)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster:
        done = run(file, "--target", "Y", "--dask", cluster.scheduler_address)
    assert done.exit_code == 0, done.output
    assert done.output == run(file, "--target", "Y").output


@pytest.mark.parametrize(("change", "target", "said"), [
    (lambda f: f, "Z", "has no column 'Z'"), (lambda f: f, "kind", "target 'kind' holds text"),
    (lambda f: f.assign(name=[f"n{i}" for i in range(len(f))]), "Y", "column 'name' holds text with 400"),
    (lambda f: f.assign(cause=f.cause.where(f.index != 3)), "Y", "column 'cause' holds nan"),
    (lambda f: f[:10], "Y", "n=10 rows"), (lambda f: f.assign(Y=1.0), "Y", "is constant")])
def test_tables_that_cannot_be_used_are_refused_in_one_line(tmp_path, frame, change, target, said):
    file = tmp_path / "data.csv"
    change(frame).to_csv(file, index=False)
    done = run(file, "--target", target)
    assert done.exit_code == 2 and said in done.output and len(done.output.strip().splitlines()) == 1


def test_a_table_of_the_target_alone_and_a_plot_of_no_known_kind(tmp_path, frame):
    path = tmp_path / "table.csv"
    frame[["Y"]].to_csv(path, index=False)
    for options, said in (([], "no column besides the target 'Y'"), (["--plot", str(tmp_path / "a.xyz")], "must end in .svg"),
                          (["--plot", str(tmp_path / "no" / "a.svg")], "no folder")):
        done = CliRunner().invoke(main, ["parents", str(path), "--target", "Y", *options])
        assert done.exit_code == 2 and said in done.output, done.output


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    for path, said in ((tmp_path / "none.csv", "none.csv: no such file"), (tmp_path, "is a folder")):
        done = run(path, "--target", "Y")
        assert done.exit_code == 2 and said in done.output


@pytest.mark.parametrize(("text", "said"), [
    ("a,Y\n", "has a header and no rows"), ("a,Y\n1,2\n1,?\n3,4\n", "target 'Y' holds '?' in row 2 below the header"),
    ("a,Y\n1,2\noops,3\n3,4\n", "column 'a' holds 'oops' in row 2 below the header"),
    ("a,a,Y\n1,2,3\n", "stands in the header twice"), ("a,b,Y\n1,2,3\n1,2,3,4\n", "line 3 has 4 fields, the header has 3"),
    ("a,b,Y\n1,2,3,4\n1,2,3,4\n", "line 2 has 4 fields"), ("a,b,Y\n\n1,2\n", "line 3 has 2 fields"), ("", "is empty")])
def test_lines_that_do_not_fit_the_header_are_named(tmp_path, text, said):
    file = tmp_path / "data.csv"
    file.write_text(text)
    done = run(file, "--target", "Y")
    assert done.exit_code == 2 and said in done.output and len(done.output.strip().splitlines()) == 1


def test_weights_are_a_column_and_no_candidate(tmp_path, frame):
    from causal import IndRM

    file = tmp_path / "data.csv"
    weights = np.linspace(0.2, 3, len(frame))
    frame[["cause", "other", "Y"]].assign(w=weights).to_csv(file, index=False)
    done = run(file, "--target", "Y", "--weights", "w", "--n-boot", 19)
    model = IndRM(n_boot=19).fit(frame[["cause", "other", "Y"]], target="Y", sample_weight=weights)
    assert done.exit_code == 0 and done.output.startswith(model.summary())
    assert f"of {model._table.scale**2:.4g} (" in done.output and " of 2 columns ranked" in done.output
    for name, said in (("q", "has no column 'q'"), ("Y", "is the target itself")):
        assert said in run(file, "--target", "Y", "--weights", name).output


def test_an_empty_answer_says_why(tmp_path, frame):
    file = tmp_path / "data.csv"
    frame.assign(Y=np.random.default_rng(3).exponential(size=len(frame)))[["cause", "other", "Y"]].to_csv(file, index=False)
    assert "no set of columns predicts the target clearly better" in run(file, "--target", "Y").output
    none = run(file, "--target", "Y", "--max-size", 0).output
    assert "no other set was tried" in none and "1 set of 2 columns ranked, 0 tested" in none


def test_a_thousand_columns(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 1000))
    table = pd.DataFrame(x, columns=[f"c{j}" for j in range(1000)])
    table["Y"] = 2 * x[:, 400] + rng.exponential(size=300)
    table.to_parquet(tmp_path / "wide.parquet")
    done = run(tmp_path / "wide.parquet", "--target", "Y", "--max-size", 2)
    assert done.exit_code == 0 and "{c400}" in done.output.splitlines()[0]


def test_a_column_without_a_name_and_a_target_of_two_values_are_said(tmp_path, frame):
    file = tmp_path / "data.csv"
    frame.assign(Y=(frame["Y"] > 0).astype(float))[["cause", "Y"]].to_csv(file)  # with its index
    said = run(file, "--target", "Y", "--n-boot", 19).output
    assert "column 'Unnamed: 0' has no name of its own" in said and "target 'Y' has two values" in said


def test_the_summary_says_what_was_left_out_and_why_a_better_set_lost():
    from causal import IndRM

    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 12))
    y = np.sin(2 * x[:, 0]) + 0.5 * rng.exponential(size=400)
    model = IndRM(n_boot=19).fit({**dict(enumerate(x.T)), "child": y**2 + 0.3 * rng.normal(size=400)}, y)
    text = model.summary()
    why = ("its residual depends on", "looks like an effect", "no clear parent")
    better = [r for r in model.sensitivity() if r.variance < model.variance_]
    assert "; 5 columns screened out." in text and better
    assert sum(text.count(reason) for reason in why) == len(better)
