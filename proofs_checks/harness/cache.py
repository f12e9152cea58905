"""Results of earlier runs, kept by content: an entry is found only if nothing that could change it has changed, and
used only if it is intact and its certificate is accepted again.

The key covers the check (claim, variant, position, subject, error probability, budget), the source of every module of
ours that the evidence can reach, our data files, the versions of the libraries, and the settings of jax in the
environment. A broken entry is as good as none.

What can be decided again cheaply is: a kept HOLDS above NUMERIC needs a certificate that names this very check, which is
checked again unless it is a replay, and witnesses of refutations are evaluated again. The rest is trusted: that cases were
gone through, that a stream was drawn, that a slow witness was evaluated. So who may write into the folder may write
results: it is a scratch folder of one's own (`build/cache`), not something to be handed on. `--fresh` reads none of it;
pytest, and with it `make test` and the continuous integration, has no cache at all."""
from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofs_checks.harness.certificate import claim_hash
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.recheck import CertificateError, recheck
from proofs_checks.harness.report_io import write_json

__all__ = ["Cache"]

ROOMS = ("theory", "simulations", "causal", "proofs_checks")
ROOT = Path(__file__).resolve().parents[2]
ALWAYS = "proofs_checks.harness.judge"  # its imports reach the harness
QUICK = 0.02  # seconds; deciding again costs no more than reading


class Cache:
    """The results of one claim's checks in a folder."""

    def __init__(self, folder: Path, sources: str) -> None:
        self.folder, self.sources = folder, sources

    @classmethod
    def of(cls, claim_id: str, folder: str) -> Cache:
        """The cache for the claims of one slug."""
        return cls(Path(folder), sources(f"proofs_checks.{claim_id.split('.')[0]}"))

    def decide(self, check: Check, context: Context, subject: Any) -> Evidence:
        """The kept result of a check, or a new one, which is then kept."""
        key = _hash([self.sources, context.stream, context.alpha, context.budget, subject, dict(context.label)])
        path = self.folder / f"{key[:32]}.json"
        kept = self._load(path, key)
        if kept is not None and _proved(kept, check, context):
            return kept
        found = check.run(context)
        if found.verdict in (Verdict.HOLDS, Verdict.REFUTED) and found.seconds > QUICK:
            self._keep(path, key, found)
        return found

    def survives(self, check: Check, witness: Any, subject: Any, variant: str) -> bool:
        """`check.at(witness)` of a check on `variant`, kept where it took its time: a statistical witness is a stream to be
        drawn again."""
        start = time.perf_counter()
        try:
            key = _hash([self.sources, "at", variant, check.engine, subject, encode(witness)])
        except TypeError:  # a witness that JSON cannot carry
            return bool(check.at(witness))
        path = self.folder / f"{key[:32]}.json"
        kept = self._read(path, key, "survives")
        if isinstance(kept, bool):
            return kept
        found = bool(check.at(witness))
        if isinstance(witness, Mapping) or time.perf_counter() - start > QUICK:  # a stream may be quick in this process only
            self._write(path, key, "survives", found)
        return found

    def _read(self, path: Path, key: str, name: str) -> Any:
        """What an entry says, or None if there is none, or a broken one, or one for another key."""
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            intact = entry["key"] == key and entry["sha256"] == _hash([key, entry[name]])
            return entry[name] if intact else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, path: Path, key: str, name: str, body: Any) -> None:
        write_json(path, {"key": key, "sha256": _hash([key, body]), name: body})

    def _load(self, path: Path, key: str) -> Evidence | None:
        try:
            body = self._read(path, key, "evidence")
            if body is None:
                return None
            certificate = body["certificate"]
            if certificate is not None and certificate.get("kind") != "replay":
                recheck(certificate)
            return Evidence(**{**body, "rung": Rung[body["rung"]], "verdict": Verdict[body["verdict"]],
                               "witness": decode(body["witness"]), "trusted_base": tuple(body["trusted_base"])})
        except (ValueError, KeyError, TypeError, AttributeError, CertificateError):
            return None

    def _keep(self, path: Path, key: str, found: Evidence) -> None:
        try:
            body = {**vars(replace(found)), "rung": found.rung.name, "verdict": found.verdict.name,
                    "witness": encode(found.witness), "trusted_base": list(found.trusted_base)}
            body = json.loads(json.dumps(body))
        except TypeError:  # a witness that JSON cannot carry is found again
            return
        self._write(path, key, "evidence", body)


def _proved(kept: Evidence, check: Check, context: Context) -> bool:
    """Whether a kept HOLDS comes with a certificate that names this check: no result is taken on its word alone."""
    if kept.verdict is not Verdict.HOLDS or kept.rung is Rung.NUMERIC or not context.label.get("claim"):
        return True
    found, label = kept.certificate, context.label
    if not isinstance(found, Mapping):
        return False
    own = claim_hash(label["claim"], label["variant"], label["statement"], label["subjects"])
    return found.get("claim_hash") == own and found.get("engine") == check.engine \
        and found.get("stream", context.stream) == context.stream and found.get("verdict", "HOLDS") == "HOLDS"


def _hash(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def encode(value: Any) -> Any:
    """A witness in JSON, with its types. TypeError for what has no place there."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if type(value) is tuple or type(value) is list:
        return {type(value).__name__: [encode(v) for v in value]}
    if isinstance(value, frozenset):
        return {"frozenset": sorted((encode(v) for v in value), key=json.dumps)}
    if isinstance(value, dict):
        return {"dict": [[encode(k), encode(v)] for k, v in value.items()]}
    kind = type(value)
    if isinstance(value, tuple) and hasattr(value, "_fields") and _named(kind.__module__, kind.__qualname__) is kind:
        return {"record": [kind.__module__, kind.__qualname__, [encode(v) for v in value]]}
    raise TypeError(f"{type(value).__name__} cannot be kept")


def decode(value: Any) -> Any:
    """What `encode` was given."""
    if not isinstance(value, dict):
        return value
    (kind, inner), = value.items()
    if kind == "fraction":
        return Fraction(inner)
    if kind == "dict":
        return {decode(k): decode(v) for k, v in inner}
    if kind == "record":
        module, name, values = inner
        if (found := _named(module, name)) is None:
            raise ValueError(f"{module}.{name} is no record of the rooms")
        return found(*map(decode, values))
    return {"tuple": tuple, "list": list, "frozenset": frozenset}[kind](map(decode, inner))


def _named(module: str, name: str) -> Any:
    """The named tuple of this name in a loaded module of the rooms, or None: an entry makes nothing else."""
    found = getattr(sys.modules.get(module), name, None) if module.split(".")[0] in ROOMS else None
    return found if isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields") else None


@functools.lru_cache(maxsize=128)
def sources(module: str) -> str:
    """A hash of every file of ours that `module` or the judge can import, of our data files, of the libraries and of the
    environment's settings for jax."""
    from proofs_checks.harness.report import versions

    seen: dict[str, str] = {}
    for name in (module, ALWAYS):
        _reach(name, seen)
    data = {str(p.relative_to(ROOT)): hashlib.sha256(p.read_bytes()).hexdigest()
            for room in ROOMS for p in sorted((ROOT / room).rglob("*"))
            if p.is_file() and p.suffix not in (".py", ".pyc") and "__pycache__" not in p.parts}
    settings = {k: v for k, v in os.environ.items() if k.startswith(("JAX_", "XLA_")) and k != "JAX_COMPILATION_CACHE_DIR"}
    return _hash([sorted(seen.items()), data, versions(), settings])


def _reach(module: str, seen: dict[str, str]) -> None:
    path = _file(module)
    if path is None or module in seen:
        return
    text = path.read_bytes()
    seen[module] = hashlib.sha256(text).hexdigest()
    if "." in module:
        _reach(module.rpartition(".")[0], seen)  # importing a module runs its packages first
    for named in _imported(text, module if path.name == "__init__.py" else module.rpartition(".")[0]):
        for name in _listed(named):
            _reach(name, seen)


@functools.lru_cache(maxsize=2048)
def _imported(text: bytes, package: str) -> tuple[str, ...]:
    """`_imports` of a module of ours with this text, once for all the slugs that reach it."""
    return tuple(dict.fromkeys(name for name in _imports(ast.parse(text), package) if name.split(".")[0] in ROOMS))


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """The modules that a module of `package` names in its imports, and in calls of `import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            outer = package.split(".")[:len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*outer, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{a.name}" for a in node.names)
        elif isinstance(node, ast.Call) and node.args and _imports_by_name(node.func):
            yield from _asked_for(node.args[0])


def _imports_by_name(function: ast.expr) -> bool:
    """Whether a call may be one of `import_module`, whatever it is reached through."""
    return any("import_module" in (getattr(n, "id", ""), getattr(n, "attr", "")) for n in ast.walk(function))


def _asked_for(argument: ast.expr) -> Iterator[str]:
    """What `import_module` may be asked for: one name, or "package.*" for an f-string that begins with a package. (A whole
    room is not meant: there the name is a slug, and every slug has its own key.)"""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        yield argument.value
    if (isinstance(argument, ast.JoinedStr) and isinstance(first := argument.values[0], ast.Constant)
            and "." in (package := str(first.value).rstrip("."))):
        yield f"{package}.*"


def _listed(name: str) -> list[str]:
    """The name itself; for "package.*" every module that lies in the package now."""
    if not name.endswith(".*"):
        return [name]
    folder = ROOT.joinpath(*name.split(".")[:-1])
    return [f"{name[:-2]}.{p.stem}" for p in sorted(folder.glob("*.py")) if p.name != "__init__.py"]


def _file(module: str) -> Path | None:
    if module.split(".")[0] not in ROOMS:
        return None
    base = ROOT.joinpath(*module.split("."))
    return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)  # as Python prefers
