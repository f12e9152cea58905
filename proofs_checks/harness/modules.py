"""Claims of a user's own file: loading it, and finding what it claims, with and without evidence."""
from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from proofs_checks.harness.evidence import describe_error
from proofs_checks.harness.registry import claims_in, origin, refuse_slug, registered, supported
from theory.claim import Claim

__all__ = ["claims_of", "file_of", "is_file_name", "load", "own_claims"]

ROOM = Path(__file__).resolve().parents[1]


def is_file_name(name: str) -> bool:
    """Whether a word on the command line names a file: slugs and ids of claims have no slash and do not end in .py."""
    return name.endswith(".py") or os.sep in name or "/" in name


def load(path: str) -> ModuleType:
    """The module of a file, imported under the name that pytest gives it. LookupError, in one line, if it cannot be."""
    file = Path(path).resolve()
    if not file.is_file():
        raise LookupError(f"{path} is a folder; name a file in it" if file.is_dir() else f"there is no file {path}")
    if "." in file.stem:
        raise LookupError(f"{path} cannot be imported: a module's name has no dot; rename the file")
    parts, top = [file.stem], file.parent
    while (top / "__init__.py").is_file():
        parts, top = [top.name, *parts], top.parent
    name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
    if str(top) not in sys.path:
        sys.path.insert(0, str(top))
    try:
        found = importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the file does when it is run
        raise LookupError(f"{path} cannot be imported: {' '.join(describe_error(error).split())}") from error
    if found.__file__ is None or Path(found.__file__).resolve() != file:
        raise LookupError(f"{path} cannot be imported: the name {name} is taken by {found.__file__}; rename the file")
    return found


def claims_of(modules: Sequence[ModuleType]) -> dict[str, Claim[Any]]:
    """Claims that the modules make or bring evidence for, by id. Those without any evidence are among them.

    LookupError if two claims share an id, since only one of them could be judged, or one takes the slug of a paper of
    ours."""
    names = {m.__name__ for m in modules}
    found = {i: c for i, c in registered().items() if origin(c) in names}
    for module in modules:
        for claim in (c for claims in own_claims(module).values() for c in claims):
            try:
                refuse_slug(claim, module.__name__)
            except ValueError as error:
                raise LookupError(f"{module.__file__}: {error}") from None
            own = registered()[claim.id] if supported(claim) else claim
            if found.setdefault(claim.id, own) is not own:
                raise LookupError(f"{module.__file__} makes two claims called {claim.id!r}; every claim needs an id of its own")
    return found


def own_claims(module: ModuleType) -> dict[str, list[Claim[Any]]]:
    """Claims that a module makes, by the name that it gives to one or to a list of them; what it only imports is
    another's."""
    bound = {name: claims for name, value in vars(module).items() if (claims := claims_in(value))}
    if not bound or module.__file__ is None:
        return {}
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    brought: set[str] = set()
    for node in (n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)):
        for alias in node.names:
            brought.update(vars(sys.modules.get(node.module or "", object)) if alias.name == "*" else
                           [alias.asname or alias.name])
    own: dict[str, list[Claim[Any]]] = {}
    seen = [claim for name in brought for claim in bound.get(name, ())]
    for name, claims in bound.items():
        own[name] = [claim for claim in claims if all(claim is not earlier for earlier in seen)]
        seen += own[name]
    return {name: claims for name, claims in own.items() if claims}


def file_of(claim: Claim[Any]) -> str | None:
    """The user's file in which the evidence for a claim stands, as one would type it here; None for a claim of the
    product, and for one typed into a shell."""
    file = getattr(sys.modules.get(origin(claim) or ""), "__file__", None)
    if file is None or (path := Path(file).resolve()).is_relative_to(ROOM):
        return None
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
