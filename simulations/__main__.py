"""Draw the figures of simulators: `python -m simulations SLUG... --out DIR` writes DIR/SLUG.svg.

The same figure gives the same bytes: no date in the file, and ids from a fixed salt."""
from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import io
import os
import pkgutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["drawable", "draws", "main", "save", "slugs"]


def slugs() -> list[str]:
    """Names of the modules of this package that have a figure."""
    import simulations

    names = [m.name for m in pkgutil.iter_modules(simulations.__path__) if not m.name.startswith("_")]
    return sorted(name for name in names if draws(f"simulations.{name}"))


def draws(module: str) -> bool:
    """Whether a module defines or imports a `figure`; it is read, not imported, unless it is loaded already."""
    if module in sys.modules:
        return hasattr(sys.modules[module], "figure")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return False
    body = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
    imported = {a.asname or a.name for node in body if isinstance(node, ast.ImportFrom) for a in node.names}
    return "figure" in imported | {node.name for node in body if isinstance(node, ast.FunctionDef)}


def drawable(names: Sequence[str]) -> dict[str, ModuleType]:
    """The named modules, or all of them, by name. LookupError for a name that has no figure."""
    known = slugs()
    if unknown := sorted(set(names) - set(known)):
        raise LookupError(f"no simulator with a figure is called {unknown[0]!r}; there are: {', '.join(known)}")
    return {name: importlib.import_module(f"simulations.{name}") for name in names or known}


def save(figure: Any, path: Path) -> None:
    """Write a matplotlib figure as SVG, by atomic rename, the same bytes each time; colour maps become pixels in it."""
    import matplotlib
    from matplotlib.collections import QuadMesh

    for mesh in figure.findobj(QuadMesh):  # as vectors, one map outweighs all other figures together
        mesh.set_rasterized(True)
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "refutable", "svg.fonttype": "path"}):
        figure.savefig(text, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text.getvalue())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, or 2 with a line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m simulations", description="Draw the figures of simulators.")
    parser.add_argument("slugs", nargs="*", metavar="SLUG", help="which ones; all without")
    parser.add_argument("--out", type=Path, default=Path("build/figures"), metavar="DIR", help="default: %(default)s")
    given = parser.parse_args(arguments)
    try:
        modules = drawable(given.slugs)
    except LookupError as error:
        sys.stderr.write(f"{parser.prog}: {error.args[0]}\n")
        return 2
    for i, (name, module) in enumerate(modules.items(), 1):
        path = given.out / f"{name}.svg"
        save(module.figure(), path)
        sys.stdout.write(f"[{i}/{len(modules)}] {path}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
