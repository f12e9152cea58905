"""Claims of a user's own file on the command line: judged, reproduced by the line that is printed, never kept in a cache."""
from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proofs_checks.harness import registry
from proofs_checks.harness.cli import main

ROOT = Path(__file__).resolve().parents[1]

CLAIM = '''
from proofs_checks.engines import exhaustive
from proofs_checks.harness.judge import evidence
from theory.claim import Claim, Paper, Source, Standing

PAPER = Paper(slug="mine", title="Mine", arxiv=None, topics=(), read="abstract")
square = Claim(id="mine.square", paper=PAPER, statement=r"x^2 \\ge x", source=Source.PUBLIC, standing=Standing.HOLDS,
               form=lambda x: x * x, mutants={"cube": lambda x: x ** 3, "half": lambda x: x * x // 2})

@evidence(square)
def square_checks(power):
    yield exhaustive.forall([(i,) for i in range(-5, 6)], lambda x: power(x) >= x)
'''
WEAK = CLAIM.replace('"half": lambda x: x * x // 2', '"half": lambda x: x * x + 0')
SECOND = '\nother = Claim(id="mine.other", paper=PAPER, statement="1", source=Source.PUBLIC, standing=Standing.HOLDS,\n' \
         '              form=lambda x: x, mutants={"one": lambda x: 1, "two": lambda x: 2})\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of a user's own; what is loaded from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    mine = {n for n, m in sys.modules.items() if str(getattr(m, "__file__", None) or "").startswith(str(tmp_path))}
    for i, found in list(registry._REGISTERED.items()):
        if found.procedure.__code__.co_filename.startswith(str(tmp_path)):  # also of a file whose import failed further down
            del registry._REGISTERED[i]
    for name in mine:
        del sys.modules[name]


def check(*args: object) -> Result:
    done = CliRunner().invoke(main, ["check", *map(str, args)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_a_file_stands_for_its_claims(here: Path):
    (here / "own_green.py").write_text(CLAIM)
    done = check("own_green.py")
    assert done.exit_code == 0 and "mine.square  green" in done.stdout and "\n1 of 1 claims green\n" in done.stdout
    assert (here / "build" / "partial.json").is_file() and not (here / "build" / "report.json").exists()
    assert "mine.square  green" in check("mine.square", "--module", "own_green.py").stdout
    assert "mine.square  green" in check("--module", here / "own_green.py").stdout
    assert "mine.square  green" in check(here / "own_green.py", "--jobs", 2).stdout


@pytest.mark.parametrize("command", [["-m", "proofs_checks.harness.cli", "check", "own claim.py"],
                                     ["-m", "pytest", "-p", "proofs_checks.harness.plugin", "own claim.py"]])
def test_the_line_that_a_failure_prints_shows_the_failure_again(here: Path, command: list[str]):
    """As typed: through the shell's own splitting, from the same folder, in a fresh process."""
    (here / "own claim.py").write_text(WEAK)

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=here, check=False,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})

    first = run(*command)
    lines = {line.strip() for line in first.stdout.splitlines() if line.startswith("  again")}
    assert first.returncode == 1 and len(lines) == 1, first.stdout + first.stderr
    words = shlex.split(lines.pop().removeprefix("again"))
    assert words[:3] == ["refutable", "check", "mine.square"] and "half" in words
    again = run("-m", "proofs_checks.harness.cli", *words[1:])
    assert again.returncode == 1 and "SURVIVED: nothing refutes it" in again.stdout, again.stderr
    assert again.stdout.count("expected to") == 1


def test_one_claim_of_a_file_can_be_named(here: Path):
    (here / "own_two.py").write_text(CLAIM + SECOND + "@evidence(other)\ndef other_checks(f):\n"
                                     "    yield exhaustive.forall([(3,), (4,)], lambda x: f(x) == x)\n")
    assert "\n2 of 2 claims green\n" in check("own_two.py").stdout
    assert "\n1 of 1 claims green; partial run\n" in check("own_two.py", "mine.other").stdout
    assert "1 of 1 claims green" in check("mine.square", "--module", "own_two.py").stdout
    assert "pass_at_k.gradient_weight  green" in check("own_two.py", "pass_at_k.gradient_weight").stdout


def test_a_claim_without_evidence_is_named_and_red(here: Path):
    (here / "own_unjudged.py").write_text(CLAIM + SECOND)
    done = check("own_unjudged.py")
    assert done.exit_code == 1 and "not green: mine.other: no evidence is registered" in done.stderr
    assert "mine.square  green" in done.stdout and "mine.other   RED" in done.stdout


def test_claims_in_a_list_without_evidence_are_named_and_red(here: Path):
    (here / "own_list.py").write_text(CLAIM + SECOND + "more = [other]\ndel other\n")
    done = check("own_list.py")
    assert done.exit_code == 1 and "not green: mine.other: no evidence is registered" in done.stderr


def test_files_share_no_claims_and_bring_evidence_for_each_other(here: Path):
    claims, brought = CLAIM.split("@evidence")
    (here / "own_first.py").write_text(claims)
    (here / "own_brings.py").write_text("from own_first import evidence, exhaustive, square\n@evidence" + brought)
    (here / "own_again.py").write_text(claims)
    assert "1 of 1 claims green" in check("own_first.py", "own_brings.py").stdout
    for names in (("own_again.py", "own_brings.py"), ("own_brings.py", "own_again.py")):
        done = check(*names)
        assert done.exit_code == 2 and "'mine.square', and so does another file" in done.stderr


def test_a_process_that_dies_is_one_line_with_what_was_left(here: Path):
    """As for want of memory; the claim and its file are named, and nothing is green."""
    (here / "own_dies.py").write_text("import os\n" + CLAIM.replace("lambda x: x ** 3", "lambda x: os._exit(0)"))
    done = check("own_dies.py", "--jobs", 2)
    assert done.exit_code == 1 and done.stderr.splitlines()[-1].endswith("not judged: mine.square")
    assert not (here / "build" / "partial.json").exists()


def test_claims_that_are_only_imported_are_not_asked_for(here: Path):
    (here / "own_lib.py").write_text(CLAIM + SECOND)
    (here / "own_user.py").write_text(CLAIM.replace("mine.square", "mine.third") + "\nfrom own_lib import other\n"
                                      "from theory.pass_at_k import gradient_weight\n")
    done = check("own_user.py")
    assert done.exit_code == 0 and "1 of 1 claims green" in done.stdout and "mine.other" not in done.output


@pytest.mark.parametrize(("name", "text", "said"), [
    ("own_absent.py", None, "there is no file own_absent.py"),
    ("own_broken.py", "x = 1\ny = x / 0\n", "own_broken.py cannot be imported: ZeroDivisionError: division by zero (line 2"),
    ("own_exit.py", "import sys\nsys.exit(3)\n", "own_exit.py cannot be imported: SystemExit: 3"),
    ("own_unusual.py", "raise GeneratorExit\n", "own_unusual.py cannot be imported: GeneratorExit"),
    ("own.dotted.py", CLAIM, "own.dotted.py cannot be imported: a module's name has no dot; rename the file"),
    ("own_nothing.py", "x = 1\n", "own_nothing.py makes no claim and brings no evidence for one"),
    ("json.py", CLAIM, "the name json is taken by"),
    ("own_slug.py", CLAIM.replace('id="mine.', 'id="yours.'), "slug of its paper, 'mine' (line 7 of own_slug.py)"),
    ("own_once.py", CLAIM.replace("@evidence(square)", "@evidence(3)"), "needs a Claim, got 3 (line 10 of own_once.py)"),
    ("own_typo.py", "x = (\n", "own_typo.py cannot be imported: SyntaxError: '(' was never closed (own_typo.py, line 1)"),
    ("own_builtin.py", CLAIM.split("@evidence")[0].replace("mine", "pass_at_k"), "the slug 'pass_at_k' is that of a paper of"),
    ("own_evident.py", CLAIM.replace("mine", "pass_at_k"), "the slug 'pass_at_k' is that of a paper of"),
    ("own_same.py", CLAIM + SECOND.replace("mine.other", "mine.square"), "makes two claims called 'mine.square'"),
    ("own_few.py", CLAIM.replace('"cube": lambda x: x ** 3, ', ""), "at least 2 false variants (line 7 of own_few.py)")])
def test_a_file_that_cannot_be_judged_is_wrong_use_in_one_line(here: Path, name: str, text: str | None, said: str):
    if text is not None:
        (here / name).write_text(text)
    done = check(name)
    assert done.exit_code == 2 and said in done.stderr.splitlines()[-1] and not (here / "build").exists()


SQUARE = CLAIM[CLAIM.index("square = "):]


@pytest.mark.parametrize("again", [
    SQUARE,  # copied, and nothing renamed
    SQUARE.replace("square", "cube").replace("mine.cube", "mine.square"),  # all but the id
    SQUARE[:SQUARE.index("@evidence")].replace("square = ", "cube = "),  # without evidence
    "for claim in (square, square):\n    @evidence(claim)\n    def both(power):\n"
    "        yield exhaustive.forall([(2,)], lambda x: power(x) == 4)\n"])
def test_a_claim_cannot_hide_behind_another_of_the_same_id(here: Path, again: str):
    (here / "twice.py").write_text(CLAIM.replace("lambda x: x * x,", "lambda x: -x,") + again)  # the first one is false
    done = check("twice.py")
    assert done.exit_code == 2 and "every claim needs an id of its own" in done.stderr, done.output


def test_two_files_cannot_make_claims_of_the_same_id(here: Path):
    (here / "one.py").write_text(CLAIM)
    (here / "two.py").write_text(CLAIM)
    done = check("one.py", "two.py")
    assert done.exit_code == 2 and "mine.square has evidence in two places, one.py line 10 and two.py line 10" in done.stderr


def test_a_name_without_its_ending_is_helped(here: Path):
    (here / "own_helped.py").write_text(CLAIM)
    assert "name its file: own_helped.py" in check("own_helped").stderr
    assert "--module FILE" in check("mine.square").stderr


def test_results_of_a_users_claims_are_not_kept(here: Path):
    """What the file reads and imports is not known; here, a number in a text file decides."""
    (here / "number.txt").write_text("0")
    (here / "own_reads.py").write_text(CLAIM.replace("power(x) >= x)", "power(x) >= x + read())") +
                                       "\nimport pathlib, time\ndef read():\n    time.sleep(0.01)\n"
                                       "    return int(pathlib.Path('number.txt').read_text())\n")
    assert check("own_reads.py").exit_code == 0
    assert check("own_reads.py").exit_code == 0
    assert not list((here / "build" / "cache").glob("*")) if (here / "build" / "cache").exists() else True
    (here / "number.txt").write_text("9")
    assert check("own_reads.py").exit_code == 1


def recheck(*args: object) -> Result:
    return CliRunner().invoke(main, ["recheck", *map(str, args)])


def forget() -> None:
    """As in a fresh process: nothing of the user's is loaded."""
    del registry._REGISTERED["mine.square"]
    for name in [n for n in sys.modules if n.startswith("own_")]:
        del sys.modules[name]


def test_certificates_of_a_users_claim_name_the_file_that_is_needed(here: Path):
    text = CLAIM.replace("import exhaustive", "import exhaustive, symbolic").replace(
        "    yield exhaustive", "    from sympy import Symbol\n    yield symbolic.equal(power, lambda x: x ** 2, Symbol('x'))\n"
                               "    yield exhaustive")
    (here / "own_certified.py").write_text(text)
    assert check("own_certified.py").exit_code == 0
    forget()
    done = recheck("build/certificates")
    assert done.exit_code == 2 and "0 accepted, 0 rejected, 6 not checked" in done.stdout
    assert done.stderr == ("not checked: 6 certificates of mine.square: own_certified.py is not loaded; "
                           "add --module own_certified.py\n")
    alone = recheck("build/certificates", "--standalone")
    assert alone.exit_code == 2 and "3 accepted, 0 rejected, 3 not checked" in alone.stdout
    assert "own_certified" not in sys.modules  # what a certificate names is never loaded unasked
    found = recheck("build/certificates", "--module", "own_certified.py")
    assert found.exit_code == 0 and "6 accepted, 0 rejected" in found.stdout
    assert "mine.square  holds: SYMBOLIC identity, EXHAUSTIVE replay; 2 variants refuted" in found.stdout


def edited(path: str, **changes: object) -> None:
    """A certificate with changed fields and the hash that belongs to them."""
    from proofs_checks.harness.certificate import claim_hash

    found = {**json.loads(Path(path).read_text()), **changes}
    found["claim_hash"] = claim_hash(*(found[name] for name in ("claim", "variant", "statement", "subjects")))
    Path(path).write_text(json.dumps(found))


@pytest.mark.parametrize("changes", [{"claim": "pass_at_k.square"}, {"module": ""}, {"module": 3}, {"witness": 5}])
def test_what_is_wrong_whatever_is_loaded_is_rejected_not_left_unchecked(here: Path, changes: dict[str, object]):
    (here / "own_hinted.py").write_text(CLAIM)
    check("own_hinted.py")
    forget()
    path = "build/certificates/mine.square.claim.0.json"
    edited(path, **changes)
    done = recheck(path, *(["--module", "own_hinted.py"] if "witness" in changes else []))
    assert done.exit_code == 1 and done.stderr.startswith("rejected: ") and "0 accepted, 1 rejected\n" in done.stdout


def test_a_claim_that_has_gone_from_its_file_is_rejected(here: Path):
    (here / "own_renamed.py").write_text(CLAIM)
    check("own_renamed.py")
    forget()
    (here / "own_renamed.py").write_text(CLAIM.replace("mine.square", "mine.renamed"))
    done = recheck("build/certificates", "--module", "own_renamed.py")
    assert done.exit_code == 1 and "0 accepted, 3 rejected" in done.stdout and "no claim 'mine.square'" in done.stderr


def test_certificates_of_several_files_in_processes(here: Path):
    """`--module` is given once for each file; what is rejected and what is not loaded is told apart."""
    for name in ("one", "two", "three"):
        (here / f"own_{name}.py").write_text(CLAIM.replace("mine.square", f"mine.{name}"))
        check(f"own_{name}.py")
    Path("build/certificates/mine.one.half.0.json").write_text("{")
    program = [sys.executable, "-m", "proofs_checks.harness.cli", "recheck", "build/certificates", "--jobs", "2"]
    done = subprocess.run([*program, "--module", "own_one.py", "--module", "own_two.py"], capture_output=True, text=True,
                          cwd=here, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 1 and "5 accepted, 1 rejected, 3 not checked" in done.stdout, done.stderr
    assert "add --module own_three.py" in done.stderr


def test_a_module_that_cannot_be_loaded_is_wrong_use_of_recheck(here: Path):
    (here / "own_green2.py").write_text(CLAIM)
    check("own_green2.py")
    done = recheck("build/certificates", "--module", "absent.py")
    assert done.exit_code == 2 and "there is no file absent.py" in done.stderr


def test_certificates_of_the_products_claims_name_no_file(here: Path):
    check("pass_at_k.gradient_weight")
    texts = [path.read_text() for path in (here / "build" / "certificates").iterdir()]
    assert texts and not any('"module"' in text for text in texts)
