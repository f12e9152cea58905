"""Judging many claims: what there is to do, and doing it here, in processes or on a Dask cluster.

A task is a claim id and its result plain data, so that any executor can carry both; random streams are keyed, so the
result does not depend on which one does."""
from __future__ import annotations

import signal
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofs_checks.harness.cache import Cache
from proofs_checks.harness.evidence import Rung
from proofs_checks.harness.judge import Trial
from proofs_checks.harness.modules import claims_of, is_file_name, load
from proofs_checks.harness.registry import import_slug, origin, registered, slugs, supported, theory_claims, unsupported
from proofs_checks.harness.report import claim_entry, facts, only_partial, problems, variant_record

__all__ = ["Options", "Unreachable", "dask_client", "failures", "in_pool", "judged", "knock", "on_dask", "plan",
           "process_pool", "ran_nothing"]

KNOCK = 4.0  # seconds until an address that says nothing at all counts as dead


@dataclass(frozen=True)
class Options:
    """How to judge: one variant or all, checks of a rung and above, the folder of the cache or none, a user's files."""

    variant: str | None = None
    at_least: str = "NUMERIC"
    cache: str | None = None
    modules: tuple[str, ...] = ()


def plan(names: Sequence[str], *, variant: str | None = None, modules: Sequence[str] = ()
         ) -> tuple[list[str], list[dict[str, Any]]]:
    """Ids of the claims to judge, and entries of those that are only listed: without evidence, or not judgeable.

    A name is a slug, the id of a claim, or a user's file, which stands for all its claims unless some are named;
    `modules` are files whose claims can be named. With names, only the evidence of these papers is imported.
    LookupError, naming it, for a name that is none of these, a file that cannot be imported or claims nothing, or a
    variant that no named claim has."""
    files: dict[str, dict[str, Any]] = {name: {} for name in (*names, *modules) if is_file_name(name)}
    ids = [name for name in names if not is_file_name(name)]
    slugs_wanted = {name.split(".")[0] for name in ids}
    lacking = unsupported(slugs_wanted) if ids else [] if files else unsupported()
    own: dict[str, Any] = {}
    for path, module in {path: load(path) for path in files}.items():  # one may bring evidence for the claims of another
        files[path] = claims_of([module])
        if not files[path]:
            raise LookupError(f"{path} makes no claim and brings no evidence for one")
        if twice := [i for i, c in files[path].items() if own.setdefault(i, c) is not c]:
            raise LookupError(f"{path} makes a claim called {twice[0]!r}, and so does another file; rename one")
    lacking += [i for i, c in own.items() if not supported(c)]
    claims = {**(theory_claims() if ids or not files else {}), **registered(), **own}
    _known(ids, claims)
    wanted = {*ids, *(i for path, found in files.items() if (path in names or not names) and not set(ids) & set(found)
                      for i in found)}
    chosen = {i: c for i, c in claims.items() if not wanted or i in wanted or i.split(".")[0] in ids}
    return _tasks(chosen, lacking, variant)


def _known(names: Sequence[str], claims: dict[str, Any]) -> None:
    known = {i.split(".")[0] for i in claims} | set(slugs())
    for name in names:
        if name not in known and name not in claims:
            slug = name.split(".")[0]
            near = sorted(i for i in claims if i.split(".")[0] == slug)
            there = f"claims of {slug}: {', '.join(near)}" if near else f"papers: {', '.join(sorted(known))}"
            hint = f"; for a claim of your own, name its file: {name}.py" if Path(f"{name}.py").is_file() else \
                "; a claim of your own needs its file: --module FILE"
            raise LookupError(f"no paper and no claim is called {name!r}; {there}{hint}")


def _tasks(chosen: dict[str, Any], lacking: Sequence[str], variant: str | None) -> tuple[list[str], list[dict[str, Any]]]:
    tasks = [i for i, c in chosen.items() if c.standing.judgeable and i not in lacking]
    if variant is not None:
        tasks = [i for i in tasks if variant in chosen[i].variants()]
        if not tasks:
            known_variants = sorted({v for c in chosen.values() for v in c.variants()})
            raise LookupError(f"no claim among {', '.join(chosen)} has a variant {variant!r}; "
                              f"variants: {', '.join(known_variants)}")
        return sorted(tasks), []
    return sorted(tasks), [claim_entry(facts(c), []) for i, c in chosen.items() if i not in tasks]


def judged(options: Options, claim_id: str) -> dict[str, Any]:
    """The entry of one claim. Runs in any process.

    Results of a user's claim are not kept: what its file reads and imports is not known, so none could be trusted."""
    for path in options.modules:
        load(path)
    if claim_id not in registered():
        import_slug(claim_id.split(".")[0])
    claim = registered()[claim_id]
    cache = None
    if options.cache is not None and (origin(claim) or "").startswith("proofs_checks."):
        cache = Cache.of(claim_id, options.cache)
    trial = Trial(claim, at_least=Rung[options.at_least], cache=cache)
    chosen = [options.variant] if options.variant is not None else list(claim.variants())
    return claim_entry(facts(claim), [variant_record(trial, v) for v in chosen])


def failures(report: dict[str, Any]) -> list[str]:
    """What is wrong in a partial run: anything but what was left out."""
    kept = [e for e in report["claims"] if e["judgeable"] and not e["green"] and not only_partial(e)]
    return problems({**report, "claims": kept})


def ran_nothing(entries: Sequence[dict[str, Any]]) -> str | None:
    """The strongest rung that was on offer, if every check of every claim was left out."""
    rows = [r for e in entries for r in e["variants"].values()]
    if not rows or any(e is not None for r in rows for e in r["evidence"]):
        return None
    offered = {Rung[name] for r in rows for name in r["rungs"]}
    return max(offered).name if offered else None


@contextmanager
def process_pool(jobs: int) -> Iterator[Any]:
    """Fresh processes (spawned: jax and forked memory do not go together). An exception, Ctrl-C above all, ends them:
    left to itself, the pool would first do everything that was handed to it."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    others = set(active_children())
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=signal.signal,
                             initargs=(signal.SIGINT, signal.SIG_DFL)) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - others:
                child.terminate()
            raise


def in_pool(pool: Any, options: Options, tasks: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Entries in the order in which they are finished."""
    from concurrent.futures import as_completed

    yield from (future.result() for future in as_completed([pool.submit(judged, options, task) for task in tasks]))


class Unreachable(ValueError):
    """There is no Dask scheduler to be had at an address; the message is one plain line."""


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """A client of a running scheduler. `Unreachable` if nothing listens there, or no scheduler answers."""
    knock(address)
    from distributed import Client

    try:
        client = Client(address)
    except Exception as error:  # no such protocol, a timeout, or whatever another server's answer makes of the client
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        raise Unreachable(f"--dask {address}: no Dask scheduler answers ({reason})") from None
    with client:
        yield client


def knock(address: str) -> None:
    """`Unreachable` unless a TCP connection to the address can be made within a few seconds.

    The network answers for a scheduler that listens, however slow it is itself: load cannot make it look dead."""
    protocol, _, rest = address.rpartition("://")
    host, _, port = rest.rpartition(":")
    if protocol not in ("", "tcp", "tls"):
        return
    if not host or not port.isdigit():
        raise Unreachable(f"--dask {address}: is not an address; write HOST:PORT, such as tcp://127.0.0.1:8786")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK).close()
    except (OSError, OverflowError) as error:
        raise Unreachable(f"--dask {address}: nothing listens there ({error})") from None


def on_dask(client: Any, options: Options, tasks: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Entries in the order in which the cluster finishes them."""
    from distributed import as_completed

    futures = [client.submit(judged, options, task, pure=False) for task in tasks]
    yield from (future.result() for future in as_completed(futures))
