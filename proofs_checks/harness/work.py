"""Judging many claims: what there is to do, and doing it here, in processes or on a Dask cluster.

A task is a claim id and its result plain data, so that any executor can carry both; random streams are keyed, so the
result does not depend on which one does."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from proofs_checks.harness.cache import Cache
from proofs_checks.harness.evidence import Rung
from proofs_checks.harness.judge import Trial
from proofs_checks.harness.registry import import_slug, registered, slugs, theory_claims, unsupported
from proofs_checks.harness.report import claim_entry, facts, problems, variant_record

__all__ = ["Options", "dask_client", "failures", "in_pool", "judged", "on_dask", "plan", "process_pool"]


@dataclass(frozen=True)
class Options:
    """How to judge: one variant or all, checks of a rung and above, the folder of the cache or none."""

    variant: str | None = None
    at_least: str = "NUMERIC"
    cache: str | None = None


def plan(names: Sequence[str], *, variant: str | None = None) -> tuple[list[str], list[dict[str, Any]]]:
    """Ids of the claims to judge, and entries of those that are only listed: without evidence, or not judgeable.

    With names, only the evidence of these papers is imported. LookupError, naming it, for a name that is neither a slug
    nor a claim, or a variant that no named claim has."""
    lacking = unsupported({name.split(".")[0] for name in names} or None)
    claims = {**theory_claims(), **registered()}
    known = {i.split(".")[0] for i in claims} | set(slugs())
    for name in names:
        if name not in known and name not in claims:
            slug = name.split(".")[0]
            near = sorted(i for i in claims if i.split(".")[0] == slug)
            there = f"claims of {slug}: {', '.join(near)}" if near else f"papers: {', '.join(sorted(known))}"
            raise LookupError(f"no paper and no claim is called {name!r}; {there}")
    chosen = {i: c for i, c in claims.items() if not names or i in names or i.split(".")[0] in names}
    tasks = [i for i, c in chosen.items() if c.standing.judgeable and i not in lacking]
    if variant is not None:
        tasks = [i for i in tasks if variant in claims[i].variants()]
        if not tasks:
            known_variants = sorted({v for c in chosen.values() for v in c.variants()})
            raise LookupError(f"no claim among {', '.join(chosen)} has a variant {variant!r}; "
                              f"variants: {', '.join(known_variants)}")
        return sorted(tasks), []
    return sorted(tasks), [claim_entry(facts(c), []) for i, c in chosen.items() if i not in tasks]


def judged(options: Options, claim_id: str) -> dict[str, Any]:
    """The entry of one claim. Runs in any process."""
    import_slug(claim_id.split(".")[0])
    claim = registered()[claim_id]
    cache = Cache.of(claim_id, options.cache) if options.cache is not None else None
    trial = Trial(claim, at_least=Rung[options.at_least], cache=cache)
    chosen = [options.variant] if options.variant is not None else list(claim.variants())
    return claim_entry(facts(claim), [variant_record(trial, v) for v in chosen])


def failures(report: dict[str, Any]) -> list[str]:
    """What is wrong in a partial run: anything but what was left out."""
    left_out = ("not judged: ",)
    kept = []
    for entry in report["claims"]:
        said = [p for r in entry["variants"].values() for p in r["problems"]]
        if any(not p.startswith(left_out) for p in said) or (entry["judgeable"] and not entry["variants"]):
            kept.append(entry)
    return problems({**report, "claims": [{**e, "green": False} for e in kept]})


@contextmanager
def process_pool(jobs: int) -> Iterator[Any]:
    """Fresh processes (spawned: jax and forked memory do not go together)."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield pool


def in_pool(pool: Any, options: Options, tasks: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Entries in the order in which they are finished."""
    from concurrent.futures import as_completed

    yield from (future.result() for future in as_completed([pool.submit(judged, options, task) for task in tasks]))


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """A client of a running scheduler."""
    from distributed import Client

    with Client(address) as client:
        yield client


def on_dask(client: Any, options: Options, tasks: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Entries in the order in which the cluster finishes them."""
    from distributed import as_completed

    futures = [client.submit(judged, options, task, pure=False) for task in tasks]
    yield from (future.result() for future in as_completed(futures))
