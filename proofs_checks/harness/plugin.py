"""The pytest plugin: one item a claim and variant, found in `proofs_checks/` and in every module that pytest collects,
whatever its name; the table and `build/report.json` at the end of a complete run.

Where claims are fixtures of tests, a `pytest_pycollect_makeitem` in their conftest.py keeps them private. Loaded in every
pytest run of its environment, so it imports nothing heavy before it finds evidence."""
from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["ClaimItem", "UnjudgedItem"]

MARK = "__claim__"  # set by `@evidence`; the same name as in harness.registry, which is not imported here
PROPERTY = "refutable"
ROOM = Path(__file__).resolve().parents[1]
_STATE = pytest.StashKey[dict[str, Any]]()


class ClaimFailure(Exception):
    """A variant that was not judged as it should be; its text is the whole report."""


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Collect the modules of `proofs_checks` that hold evidence, and with --lf any that failed, where nobody else did."""
    found = yield
    if not found and file_path.suffix == ".py" and (_holds_evidence(file_path) or file_path in _failed(parent.config)):
        return [pytest.Module.from_parent(parent, path=file_path)]
    return found


def _holds_evidence(path: Path) -> bool:
    try:
        parts = path.resolve().relative_to(ROOM).parts
    except ValueError:
        return False
    return parts[0] not in ("engines", "harness", "__init__.py") and not parts[-1].startswith("_")


def _failed(config: pytest.Config) -> set[Path]:
    """Files of the items that failed last time, if the run is about these: a user's file need not be named again."""
    if not config.getoption("lf", False) or getattr(config, "cache", None) is None:
        return set()
    return {config.rootpath / str(name).split("::")[0] for name in config.cache.get("cache/lastfailed", {})}


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> Any:
    """Items for a function that `@evidence` marked, in the module that defines it, and for a claim that no function of
    the run is evidence for."""
    listed = obj.values() if isinstance(obj, dict) else obj if isinstance(obj, list | tuple | set | frozenset) else (obj,)
    if any(type(value).__name__ == "Claim" and type(value).__module__ == "theory.claim" for value in listed):
        return _of_claims(collector, name)
    claim = getattr(obj, MARK, None) if callable(obj) else None
    if claim is None or getattr(obj, "__module__", None) != collector.obj.__name__ or not hasattr(claim, "variants"):
        return None
    return _items(collector, claim, obj)


def _items(collector: Any, claim: Any, function: Any) -> list[Any]:
    """One item a variant."""
    fact = claim.id.split(".", 1)[1]
    return [ClaimItem.from_parent(collector, name=f"{fact}[{v}]", nodeid=f"{collector.nodeid}::{fact}[{v}]", claim=claim,
                                  variant=v, function=function) for v in claim.variants()]


def _of_claims(collector: Any, name: str) -> Any:
    """Items for the claims that a name of the module stands for: one that fails, where there is no evidence (see
    `pytest_collection_modifyitems`); where a function that no name of the module stands for is evidence, its own."""
    from proofs_checks.harness.modules import own_claims
    from proofs_checks.harness.registry import find, supported

    items = []
    for claim in own_claims(collector.obj).get(name, ()):
        if not claim.standing.judgeable:
            continue
        found = find(claim) if supported(claim) else None
        if found is None:
            fact = claim.id.split(".", 1)[1]
            items.append(UnjudgedItem.from_parent(collector, name=f"{fact}[unjudged]", claim=claim, called=name,
                                                  nodeid=f"{collector.nodeid}::{fact}[unjudged]"))
        elif found.procedure.__module__ == collector.obj.__name__ and all(
                value is not found.procedure for value in vars(collector.obj).values()):
            items += _items(collector, found.claim, found.procedure)
    return items or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Once every module is loaded: drop the items of claims that have evidence after all."""
    if any(isinstance(item, UnjudgedItem) for item in items):
        from proofs_checks.harness.registry import supported

        items[:] = [i for i in items if not isinstance(i, UnjudgedItem) or not supported(i.claim)]


class UnjudgedItem(pytest.Item):
    """A claim that nobody judges."""

    def __init__(self, *, claim: Any, called: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim, self.called = claim, called
        self.extra_keyword_matches.add(claim.id)

    def runtest(self) -> None:
        """Fail, with the one thing to do."""
        from proofs_checks.harness import report

        self.user_properties.append((PROPERTY, json.dumps({"facts": report.facts(self.claim), "record": None})))
        raise ClaimFailure(f"no evidence is registered\n{self.claim.id} is claimed and nothing checks it\n"
                           f"  needed   a generator of checks decorated with @evidence({self.called})")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The text, without a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, ClaimFailure) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The module of the claim."""
        return self.path, None, f"{self.claim.id} [unjudged]"


class ClaimItem(pytest.Item):
    """One variant of one claim before the judge."""

    def __init__(self, *, claim: Any, variant: str, function: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim, self.variant, self.function = claim, variant, function
        self.extra_keyword_matches.add(claim.id)

    def runtest(self) -> None:
        """Judge the variant; the record travels to the controller as JSON text."""
        from proofs_checks.harness import failures, report
        from proofs_checks.harness.judge import Trial

        trials = _state(self.config)["trials"]
        trial = trials.get(self.claim.id)
        if trial is None:
            trial = trials[self.claim.id] = Trial(self.claim)
        record, known = report.variant_record(trial, self.variant), report.facts(trial.claim)
        self.user_properties.append((PROPERTY, json.dumps({"facts": known, "record": record}, default=report.to_json)))
        if not record["ok"]:
            raise ClaimFailure("\n".join(failures.block(known, record)))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The report of the variant, without a traceback; anything else as pytest shows it."""
        if isinstance(excinfo.value, ClaimFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the evidence stands."""
        return self.path, self.function.__code__.co_firstlineno - 1, f"{self.claim.id} [{self.variant}]"


def _state(config: pytest.Config) -> dict[str, Any]:
    if _STATE not in config.stash:
        config.stash[_STATE] = {"trials": {}, "found": []}
    return config.stash[_STATE]


class _Collector:
    """Gathers what the items report, on the controller."""

    def __init__(self, config: pytest.Config) -> None:
        self.found: list[dict[str, Any]] = _state(config)["found"]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the records of finished items."""
        if report.when == "call":
            self.found += [json.loads(text) for name, text in report.user_properties if name == PROPERTY]


def pytest_configure(config: pytest.Config) -> None:
    """Gather reports on the controller only."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Collector(config), "proofs_checks.harness.collector")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember the session, whose exit status the report may change."""
    _state(session.config)["session"] = session


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the table; write report.json if every claim was judged, partial.json otherwise.

    A complete report that is not green makes the run fail, even where no item could: a claim without evidence has none."""
    found = _state(config)["found"]
    if not found:
        return
    from proofs_checks.harness import report
    from proofs_checks.harness.registry import slugs

    entries, complete = _entries(found)
    whole = report.build(entries, complete=complete)
    out = Path(config.invocation_params.dir) / "build"
    try:
        written = f"written: {report.write_report(whole, out)}"
    except OSError as error:  # a checkout that is read-only is judged all the same
        written = f"no report: {error.filename or out}: {error.strerror}"
    terminalreporter.section("claims")
    ours = any(e["paper"] in slugs() for e in entries)  # of a user's own claims, those there are were collected
    for line in report.table(whole, filtered=not complete and (ours or any(e["partial"] for e in entries))):
        terminalreporter.write_line(line)
    terminalreporter.write_line(written)
    for line in report.problems(whole if complete else {**whole, "claims": []}):  # items say what is wrong with one claim
        terminalreporter.write_line(f"not green: {line}")
        _state(config)["session"].exitstatus = _state(config)["session"].exitstatus or pytest.ExitCode.TESTS_FAILED


def _entries(found: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """Entries of the claims that were judged, and whether these are all claims with all their variants."""
    from proofs_checks.harness import report
    from proofs_checks.harness.registry import slugs

    known = {f["facts"]["id"]: f["facts"] for f in found}
    rows: dict[str, list[dict[str, Any]]] = {i: [] for i in known}
    for f in found:
        rows[f["facts"]["id"]] += [f["record"]] if f["record"] is not None else []
    entries = [report.claim_entry(known[i], rows[i]) for i in known]
    ours = {i for i, facts in known.items() if facts["paper"] in slugs()}
    if any({r["variant"] for r in rows[i]} != set(known[i]["order"]) for i in ours) or not ours:
        return entries, False
    missing = _claims_left(ours)
    return entries + missing[0], missing[1]


def _claims_left(judged: set[str]) -> tuple[list[dict[str, Any]], bool]:
    """Entries of the claims that cannot be judged, and whether every other claim was."""
    from proofs_checks.harness import report
    from proofs_checks.harness.registry import registered, theory_claims, unsupported

    lacking = unsupported()  # imports every slug
    claims = {**theory_claims(), **registered()}
    listed = [report.claim_entry(report.facts(c), []) for i, c in claims.items() if not c.standing.judgeable or i in lacking]
    left = [i for i, c in claims.items() if c.standing.judgeable and i not in judged and i not in lacking]
    return listed, not left
