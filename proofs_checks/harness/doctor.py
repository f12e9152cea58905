"""Whether this installation can be trusted: where the rooms come from, versions, and the jax canary.

The canary runs programs whose exact results are known; jax 0.10.2 computes the first of them wrongly on a CPU, without
a word (jax issue 39103). It crashes on others, and so does 0.11 (39257, 40412): those run in a process of their own
(`tests/test_doctor.py`), and these releases are excluded by name as well."""
from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np

__all__ = ["ROOMS", "canary", "diagnosis", "excluded", "miscompiled"]

ROOMS = ("theory", "simulations", "causal", "proofs_checks")
EXCLUDED = re.compile(r"0\.10\.2|0\.11\..*")
ROTATION = np.array([[2, -1, 0], [1, 1, 3], [0, -2, 1]])
ROWS = 40_001  # the wrong rows begin where a block of 128 KiB ends: 16384 float64, 32768 float32
ANGLES = (50, 200)  # lengths from which arctan was seen to go wrong (jax issue 39352)


@functools.lru_cache(maxsize=1)
def canary() -> dict[str, Any]:
    """{"passed": bool, "jax": version, "backend": name, "reason": why not, empty if passed}."""
    try:
        import jaxlib

        from simulations._jax import jax

        reasons = [*excluded({"jax": jax.__version__, "jaxlib": jaxlib.__version__}), *miscompiled()]
        return {"passed": not reasons, "jax": jax.__version__, "backend": jax.default_backend(),
                "reason": "; ".join(reasons)}
    except Exception as error:  # a jax that cannot be imported or run is as bad as one that errs
        return {"passed": False, "jax": "?", "backend": "?", "reason": f"{type(error).__name__}: {error}"}


def excluded(versions: dict[str, str]) -> list[str]:
    """Releases that are known to compute wrongly or to crash, one line each."""
    return [f"{name} {version} is excluded: it miscompiles or crashes on a CPU (jax issues 39103, 39257, 40412)"
            for name, version in versions.items() if EXCLUDED.fullmatch(version)]


def miscompiled() -> list[str]:
    """What this jax computes wrongly, one line a program; empty on a sound one.

    Small integers only, so that every float on the way is exact and the comparison needs no tolerance; arctan, which
    cannot be exact, is compared to 1e-5."""
    from simulations._jax import jax, jnp

    rows = np.arange(ROWS)
    x = np.stack([(7 * j + 1) * rows % 101 - 50 for j in range(3)], axis=1)  # rows coordinates
    want = np.square(x @ ROTATION.T).sum(axis=1)
    found = []
    for dtype in (jnp.float64, jnp.float32):
        matrix = jnp.asarray(ROTATION, dtype)
        length = jax.jit(jax.vmap(lambda row, m=matrix: jnp.sum(jnp.square(jnp.matmul(m, row, precision="highest")))))
        if wrong := int(np.sum(np.asarray(length(jnp.asarray(x, dtype))) != want)):
            found.append(f"{wrong} of {ROWS} squared lengths of rotated {dtype.__name__} vectors are wrong")
    for n in ANGLES:
        angles = np.linspace(-3.0, 3.0, n)
        if wrong := int(np.sum(np.abs(np.asarray(jnp.arctan(jnp.asarray(angles))) - np.arctan(angles)) > 1e-5)):
            found.append(f"{wrong} of {n} arctangents are wrong")
    return found


def diagnosis() -> tuple[list[str], bool]:
    """Lines for `refutable doctor`, and whether all is well: the canary passed and the rooms belong together."""
    from proofs_checks.harness.report import versions

    found, places = canary(), {room: _folder(room) for room in ROOMS}
    lines = [f"{room}: {place or 'not found'}" for room, place in places.items()]
    lines.append(f"jax: {found['jax']} on {found['backend']}")
    lines.append("versions: " + ", ".join(f"{name} {version}" for name, version in versions().items()))
    mixed = strangers(places.values())
    lines += [f"warning: {w}" for w in [*mixed, *_elsewhere(places["proofs_checks"]), *_shared()]]
    lines.append("canary: passed" if found["passed"] else f"canary: failed ({found['reason']})")
    return lines, found["passed"] and not mixed


def strangers(places: Iterable[Path | None]) -> list[str]:
    """A line if the rooms do not lie in one folder: an old wheel beside a checkout, say."""
    roots = sorted({"nowhere" if p is None else str(p.parent) for p in places})
    return [f"the rooms come from different folders: {', '.join(roots)}"] if len(roots) > 1 else []


def _folder(room: str) -> Path | None:
    """The folder from which a room would be imported."""
    spec = importlib.util.find_spec(room)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _elsewhere(place: Path | None) -> list[str]:
    """A line if the installed distribution is not the code that runs."""
    try:
        distribution = metadata.distribution("refutable")
    except metadata.PackageNotFoundError:
        return []
    home = Path(str(distribution.locate_file("")))
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        home = Path(unquote(urlparse(origin["url"]).path))
    if place is None or home.resolve() == place.parent.resolve():
        return []
    return [f"refutable {distribution.version} is installed in {home}, but the code that runs lies in {place.parent}"]


def _shared() -> list[str]:
    """A line a room that several distributions installed: the last one overwrote the others."""
    owners = metadata.packages_distributions()
    return [f"{room} was installed by several distributions: {', '.join(sorted(set(owners[room])))}"
            for room in ROOMS if len(set(owners.get(room, []))) > 1]
