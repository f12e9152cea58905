"""The HTML report: what it must say, what it must never do, and that it is well-formed whatever the claims contain."""
from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
import toy
from click.testing import CliRunner

from proofs_checks.engines import exhaustive
from proofs_checks.harness import papers, report
from proofs_checks.harness.cli import main
from proofs_checks.harness.evidence import Rung
from proofs_checks.harness.failures import decided_on
from proofs_checks.harness.html import render
from proofs_checks.harness.html._math import mathml
from proofs_checks.harness.html._svg import inline_svg
from proofs_checks.harness.html._words import small, witness
from proofs_checks.harness.judge import Trial, evidence
from theory.claim import Claim, Conditions, Paper, Source, Standing, without

HOSTILE = "<script>alert('x')</script> & \"quoted\" \\undefined"
VOID = {"meta", "br", "wbr", "hr", "img"}


class Strict(HTMLParser):
    """Refuses unbalanced tags; remembers ids, links, text and every element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs), f"<{tag}> repeats an attribute"
        self.elements.append((tag, found))
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found["href"] or ""] if tag == "a" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """All the words, white space evened out."""
        return " ".join(" ".join(self.words).split())


def entry(claim: Claim[Any], **options: Any) -> dict[str, Any]:
    trial = Trial(claim, **options)
    order = claim.variants() if claim.standing.judgeable and trial.procedure is not None else {}
    return report.claim_entry(report.facts(claim), [report.variant_record(trial, v) for v in order])


def written(folder: Path, entries: Iterable[dict[str, Any]], *, complete: bool = True) -> Path:
    return report.write_report(report.build(entries, complete=complete), folder)


def page(folder: Path, entries: Iterable[dict[str, Any]], **options: Any) -> Strict:
    origin = written(folder, entries, **options)
    done = CliRunner().invoke(main, ["report", "--from", str(origin)])
    assert done.exit_code == 0, done.output
    return Strict(origin.with_suffix(".html").read_text(encoding="utf-8"))


class Falls(NamedTuple):
    """The weight, and where it falls with the success rate."""

    weight: Any
    given: Any


@pytest.fixture
def sound() -> Claim[Any]:
    form = Falls(toy.weight, Conditions(a_sample=lambda p, k: k >= 1, several=lambda p, k: k >= 2))
    found = toy.claim("sound", hypotheses={"several": r"k \ge 2"}, wording="", note="See `slope`.", form=form, mutants={
        "exponent_k": form._replace(weight=lambda p, k: k * (1 - p) ** k),
        "factor_dropped": form._replace(weight=lambda p, k: (1 - p) ** (k - 1)),
        "without_several": without(form, "several")})

    @evidence(found)
    def checks(form: Any):
        def falls(p: Fraction, k: int) -> bool:
            return form.weight(p, k) == toy.slope(p, k) > toy.slope(p + Fraction(1, 10), k)

        yield exhaustive.forall(toy.grid, falls, given=form.given)

    return found


@pytest.fixture
def refuted() -> Claim[Any]:
    found = toy.claim("refuted", standing=Standing.REFUTED_AS_STATED, as_stated=lambda p, k: k * p ** (k - 1),
                      wording="The weight grows with the success rate.")

    @evidence(found)
    def checks(weight: Any):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    return found


@pytest.fixture
def red() -> Claim[Any]:
    found = toy.claim("red_page", mutants={"exponent_k": lambda p, k: k * (1 - p) ** k, "true_after_all": toy.weight})

    @evidence(found)
    def checks(weight: Any):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    return found


@pytest.fixture
def unreachable() -> Claim[Any]:
    return Claim(id="toy.data", paper=toy.PAPER, statement=r"\text{on patients}", source=Source.ABSTRACT,
                 standing=Standing.OUT_OF_REACH, note="The data are not public.")


def test_a_claim_is_shown_with_its_matrix_scope_hash_and_command(tmp_path: Path, sound: Claim[Any]):
    data = entry(sound)
    shown = page(tmp_path, [data])
    assert {"toy", "toy.sound"} <= set(shown.ids) and "#toy.sound" in shown.links and "#toy" in shown.links
    for words in ("1 of 1 claims green", "3 of 3 false variants refuted", "the claim hold ✓ holds",
                  "exponent_k weight = lambda p, k: k * (1 - p) ** k fail ✗ refuted",
                  "several: needed, the statement fails without it; what stays: given = "
                  "Conditions(a_sample=lambda p, k: k >= 1)",
                  "reconstructed for this project; not the authors' theorem",
                  f"refutable check toy.sound --module {data['variants']['claim']['module']} --fresh", "25 cases",
                  "Only the abstract was read.", "No figure yet.", "See slope ."):
        assert words in shown.text, words
    assert data["variants"]["claim"]["hash"] in shown.text
    row = data["variants"]["exponent_k"]["evidence"][0]
    assert row["names"] == ["p", "k"] and witness(row["witness"], row["names"]) in shown.text
    assert "Findings" not in shown.text and "Not green" not in shown.text and "jax canary passed" in shown.text


def test_a_rung_is_not_shown_without_its_scope(tmp_path: Path, sound: Claim[Any]):
    data = entry(sound)
    assert data["universal"] is False and data["scope"].startswith("25 cases, ")
    line = next(text for text in report.table(report.build([data], complete=False)) if text.startswith("toy.sound"))
    assert "EXHAUSTIVE" in line and line.endswith(data["scope"])
    assert page(tmp_path, [data]).text.count(data["scope"]) >= 3  # the list of claims, the claim, what was examined
    assert decided_on({**data, "universal": True}).startswith("whole domain: 25 cases")
    assert len(decided_on(data, 20)) == 20 and decided_on({**data, "rung": None}) == ""


def test_certificates_are_linked_and_exist(tmp_path: Path, sound: Claim[Any]):
    shown = page(tmp_path, [entry(sound)])
    found = [link for link in shown.links if link.endswith(".json")]
    assert found and all((tmp_path / link).is_file() for link in found)
    elsewhere = tmp_path / "pages" / "report.html"
    done = CliRunner().invoke(main, ["report", "--from", str(tmp_path / "report.json"), "--out", str(elsewhere)])
    assert done.exit_code == 0
    moved = [link for link in Strict(elsewhere.read_text(encoding="utf-8")).links if link.endswith(".json")]
    assert len(moved) == len(found) and all((elsewhere.parent / link).is_file() for link in moved)


def test_findings_and_red_claims_come_first(tmp_path: Path, sound: Claim[Any], refuted: Claim[Any], red: Claim[Any]):
    shown = page(tmp_path, [entry(sound), entry(refuted), entry(red)])
    text = shown.text
    assert text.index("Not green") < text.index("Findings") < text.index("All claims")
    news = text[text.index("Findings"):text.index("All claims")]
    assert "The weight grows with the success rate." in news and "our reading is refuted" in news
    assert "false as worded" not in text and "Counterexample p = " in news
    assert "sound" not in news and "toy.red_page" in text[text.index("Not green"):text.index("Findings")]
    assert "true_after_all: SURVIVED" in text and "our reading lambda p, k: k * p ** (k - 1) fail ✗ refuted" in text
    assert "2 of 3 claims green" in text


def test_a_statement_that_is_not_the_papers_is_not_said_to_hold_as_worded(tmp_path: Path, sound: Claim[Any]):
    assert "holds as worded" not in page(tmp_path, [entry(sound)]).text
    ours = {**entry(sound), "source": "ABSTRACT"}
    assert "holds as worded" in page(tmp_path, [ours]).text


def test_a_wording_that_is_the_papers_is_said_to_be_false_and_a_reading_of_ours_is_not(tmp_path: Path, refuted: Claim[Any]):
    theirs = page(tmp_path, [{**entry(refuted), "source": "ABSTRACT"}]).text
    assert "false as worded" in theirs and "as the paper words it" in theirs and "our reading is refuted" not in theirs
    assert papers.finding(refuted) == "our reading refuted"
    assert papers.finding(toy.claim("theirs", source=Source.ABSTRACT, standing=Standing.REFUTED_AS_STATED,
                                    as_stated=toy.weight)) == "refuted as stated"


def test_a_claim_that_is_not_green_has_no_standing(tmp_path: Path, sound: Claim[Any]):
    red = {**entry(sound), "green": False, "partial": False}
    assert "Standing holds" in page(tmp_path, [entry(sound)]).text
    text = page(tmp_path, [red]).text
    assert "Standing open while the claim is not green" in text and "Standing holds" not in text


def test_what_cannot_be_judged_is_listed(tmp_path: Path, sound: Claim[Any], unreachable: Claim[Any]):
    text = page(tmp_path, [entry(sound), entry(unreachable)]).text
    assert "listed, not judged" in text and "cannot be judged with what is public" in text and "1 of 1 claims green" in text
    assert "Not green" not in text and "refutable check toy.data" not in text


def test_a_partial_run_says_so_and_does_not_overwrite_the_report(tmp_path: Path, sound: Claim[Any]):
    page(tmp_path, [entry(sound)])
    before = (tmp_path / "report.html").read_bytes()
    found = toy.claim("weak_page", mutants=dict(sound.mutants))

    @evidence(found)
    def checks(weight: Any):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    shown = page(tmp_path, [entry(found, at_least=Rung.SYMBOLIC)], complete=False)
    assert "Partial run" in shown.text and "partly judged" in shown.text and "left out" in shown.text
    assert (tmp_path / "report.html").read_bytes() == before and (tmp_path / "partial.html").is_file()


def test_nothing_runs_and_nothing_is_loaded(tmp_path: Path, refuted: Claim[Any]):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "toy.svg").write_text(FIGURE)
    shown = page(tmp_path, [entry(refuted)])
    for tag, attributes in shown.elements:
        assert tag not in ("script", "iframe", "link", "object", "embed", "img", "base", "form")
        assert not any(name.startswith("on") or name in ("src", "srcset", "srcdoc", "formaction") for name in attributes)
        assert "url(" not in (attributes.get("style") or "")
        if tag == "use":
            assert (attributes.get("href") or "#").startswith("#")
    assert all(link.startswith(("#", "https://", "certificates/")) for link in shown.links)
    css = (tmp_path / "report.html").read_text(encoding="utf-8").split("<style>")[1].split("</style>")[0]
    assert "@import" not in css and "url(" not in css and "prefers-color-scheme:dark" in css and "@media print" in css
    assert re.search(r"[^ ]\.tag\{[^}]*nowrap", css) is None and re.search(r"main\{[^}]*overflow-wrap:break-word", css)


def test_hostile_text_is_shown_as_text(tmp_path: Path, refuted: Claim[Any]):
    data = {**entry(refuted), "title": HOSTILE, "note": HOSTILE, "wording": HOSTILE, "statement": rf"\text{{{HOSTILE}}}",
            "url": "javascript:alert(1)", "arxiv": '"><script>', "topics": [HOSTILE],
            "hypotheses": {HOSTILE: r"\href{javascript:alert(1)}{x}"}}
    data["variants"]["claim"]["evidence"][0] |= {"scope": HOSTILE, "summary": HOSTILE, "engine": HOSTILE}
    data["variants"]["as_stated"]["evidence"][0] |= {"witness": {HOSTILE: [HOSTILE]}}
    data["variants"]["exponent_k"] |= {"problems": [HOSTILE], "ok": False}
    data["green"] = False
    shown = page(tmp_path, [data])
    assert "script" not in {tag for tag, _ in shown.elements} and shown.text.count("<script>alert('x')</script>") > 8
    assert not any(link.lower().startswith("javascript") for link in shown.links)


def test_the_page_stays_small_with_many_figures(tmp_path: Path, sound: Claim[Any]):
    data = entry(sound)
    (tmp_path / "figures").mkdir()
    entries = []
    for i in range(12):
        slug = f"paper{i}"
        entries.append({**data, "id": f"{slug}.sound", "paper": slug, "title": f"Paper {i}"})
        dots = "".join(f'<path id="a{j}" d="M 1.23456 {j}.98765 L 3 4"/>' for j in range(16_000))
        (tmp_path / "figures" / f"{slug}.svg").write_text(FIGURE.replace("</svg>", dots + "</svg>"))
    shown = page(tmp_path, entries)
    assert (tmp_path / "report.html").stat().st_size < 5_000_000
    inlined = sum(tag == "figure" for tag, _ in shown.elements)
    linked = [link for link in shown.links if link.endswith(".svg")]
    assert inlined >= 2 and inlined + len(linked) == 12 and all((tmp_path / link).is_file() for link in linked)


FIGURE = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" height="36pt"
 viewBox="0 0 72 36">
<metadata>made by</metadata><defs><style type="text/css">*{stroke-linejoin: round}</style>
<clipPath id="c"><rect width="9" height="9"/></clipPath></defs>
<g id="g" clip-path="url(#c)" onclick="alert(1)" style="fill: url(http://evil.example/x)"><path id="m" d="M 1.23456 2.5 L 3 4"/>
<use xlink:href="#m" x="5"/><use xlink:href="http://evil.example/x.svg#m"/><image xlink:href="data:image/png;base64,AAAA"/>
<image xlink:href="http://evil.example/x.png"/><script>alert(1)</script><foreignObject><p>no</p></foreignObject>
<text x="1">a &lt; b</text></g></svg>"""


def test_a_figure_keeps_its_shapes_and_loses_everything_else():
    text = inline_svg(FIGURE, "f-toy", 'Figure: "<x>"')
    assert text is not None
    root = ElementTree.fromstring(text)
    assert root.get("aria-label") == 'Figure: "<x>"' and "stroke-linejoin: round" in (root.get("style") or "")
    assert {e.tag for e in root.iter()} == {"svg", "defs", "clipPath", "rect", "g", "path", "use", "image", "text"}
    group = next(e for e in root.iter("g"))
    assert group.attrib == {"id": "f-toy-g", "clip-path": "url(#f-toy-c)"}
    assert [e.get("href") for e in root.iter("use")] == ["#f-toy-m", None]
    assert [e.get("href") for e in root.iter("image")] == ["data:image/png;base64,AAAA", None]
    assert next(root.iter("path")).get("d") == "M 1.23 2.5 L 3 4" and next(root.iter("text")).text == "a < b"


def test_two_figures_do_not_share_ids(tmp_path: Path, sound: Claim[Any]):
    data = entry(sound)
    (tmp_path / "figures").mkdir()
    for name in ("one", "two", "two.checks"):
        (tmp_path / "figures" / f"{name}.svg").write_text(FIGURE)
    shown = page(tmp_path, [{**data, "paper": "one", "id": "one.sound"}, {**data, "paper": "two", "id": "two.sound"}])
    assert sum(tag == "svg" for tag, _ in shown.elements) == 3 and len(shown.ids) == len(set(shown.ids))


@pytest.mark.parametrize("text", ["", "not xml", "<html></html>", "<svg>", "<svg/>"])
def test_what_is_not_a_figure_is_refused(text: str):
    assert inline_svg(text, "f", "x") is None


@pytest.mark.parametrize("latex", [r"\frac", "", r"\left( x \right", r"\undefinedmacro{x}", r"\href{javascript:x}{y}"])
def test_latex_that_cannot_be_converted_is_shown_as_it_is(tmp_path: Path, sound: Claim[Any], latex: str):
    assert mathml(latex) is None or "javascript" not in (mathml(latex) or "")
    shown = page(tmp_path, [{**entry(sound), "statement": latex or " "}])
    assert latex in shown.text or mathml(latex) is not None


def test_formulas_become_mathml_with_words_kept_whole():
    text = mathml(r"\forall k \ge 1:\ \mathrm{share}_S < \sqrt{k/c},\quad |x| := \text{a <b> c}")
    assert text is not None
    pieces = [ElementTree.fromstring(piece) for piece in text.split("<wbr>")]
    words = "".join("".join(piece.itertext()) for piece in pieces)
    assert "∀k≥1:" in words and "a\u00a0<b>\u00a0c" in words
    assert "share" in [e.text for piece in pieces for e in piece.iter("mi")]
    assert ":=" in words and len(pieces) >= 4  # lines may break at relations, commas and wide spaces


def test_every_statement_of_theory_converts():
    from proofs_checks.harness.registry import theory_claims

    formulas = {f"{i} {n}": t for i, c in theory_claims().items() for n, t in (("", c.statement), *c.hypotheses.items())}
    assert formulas and not [name for name, text in formulas.items() if mathml(text) is None]


def test_witnesses_read_as_numbers():
    assert witness({"k": 2, "p": "1/2"}) == "k = 2, p = 1/2" == witness([2, "1/2"], ["k", "p"])
    assert witness([["1/1", "-3/1"], "2/5", True, None, {"a": ["0/1"]}]) == "((1, -3), 2/5, true, none, {a: (0)})"
    drawn = {"stream": "a/b/0", "observations": 400, "chunk": 2, "alpha": 1e-6}
    assert witness(drawn) == "400 observations, error probability 10⁻⁶"
    assert witness("7/10") == "7/10" and small(3.8e-5) == "3.8·10⁻⁵" and small(1e-3) == "10⁻³" and small(0) == "0"


def test_a_missing_report_names_the_command_that_makes_it(tmp_path: Path):
    done = CliRunner().invoke(main, ["report", "--from", str(tmp_path / "report.json")])
    assert done.exit_code == 2 and "refutable check" in done.output


@pytest.mark.parametrize(("text", "said"), [
    ("", ""), ("{", ""), ("[]", "it has no schema"), ("{}", "it has no schema"),
    ('{"schema": "other"}', "it has schema 'other'"),
    ('{"schema": "refutable/report/1"}', "the field 'claims' is missing")])
def test_what_is_not_a_report_is_refused_in_one_line(tmp_path: Path, text: str, said: str):
    (tmp_path / "report.json").write_text(text)
    done = CliRunner().invoke(main, ["report", "--from", str(tmp_path / "report.json")])
    assert done.exit_code == 2 and f"is not a report: {said}" in done.output and not (tmp_path / "report.html").exists()


def test_the_page_depends_on_the_report_alone(tmp_path: Path, sound: Claim[Any]):
    origin = written(tmp_path, [entry(sound)])
    data = json.loads(origin.read_text())
    first, second = (render(data, folder=tmp_path, page=tmp_path / "report.html") for _ in range(2))
    assert first == second and not re.search(r"\b20\d\d-\d\d-\d\d\b", first)


def test_other_papers_stay_apart(tmp_path: Path, sound: Claim[Any]):
    other = Paper(slug="other", title="Other", arxiv="2602.00001", topics=("a", "b"), read="full text", url="https://x.example")
    data = {**entry(sound), "id": "other.sound", "paper": other.slug, "title": other.title, "arxiv": other.arxiv,
            "read": other.read, "topics": list(other.topics), "url": other.url}
    shown = page(tmp_path, [entry(sound), data])
    assert {"toy", "other"} <= set(shown.ids) and sum(a.get("class") == "paper" for _, a in shown.elements) == 2
    assert "https://arxiv.org/abs/2602.00001" in shown.links and "The full text was read." in shown.text


def test_the_picture_of_the_readme_names_where_variants_fail(refuted: Claim[Any]):
    from proofs_checks.harness.picture import kill_matrix

    text = kill_matrix(entry(refuted))
    rows = entry(refuted)["variants"]["as_stated"]["evidence"]
    assert rows[0]["names"] == ["p", "k"] and f"at p = {rows[0]['witness'][0].removesuffix('/1')}, k = " in text
    assert "not green" not in text and ElementTree.fromstring(text).tag.endswith("svg")
