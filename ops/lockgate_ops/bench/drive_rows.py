"""Drives: from commit to a drive's first line, and a scripted run against bare DBOS workflows.

Runs in a process of its own (`python -m lockgate_ops.bench.drive_rows URL SECONDS`), since DBOS is
one per process, and prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import psycopg
import uvloop
from dbos import DBOS

from lockgate import Runtime
from lockgate.ending import EndStep
from lockgate.worker import QUEUE, Worker, WorkerSettings
from lockgate_ops.demo_agents import demo_agents

SCRIPT = "script:" + json.dumps(
    [{"calls": [{"tool": "add", "args": {"a": step, "b": 1}}]} for step in range(4)]
    + [{"say": "The sum has been made four times."}]
)
IN_FLIGHT = 8


@DBOS.step()
async def _plain_step(number: int) -> int:
    return number + 1


@DBOS.workflow(name="bench_plain")
async def _plain(number: int) -> int:
    """Five plain steps: what a bare DBOS workflow does for five model calls."""
    for _ in range(5):
        number = await _plain_step(number)
    return number


@DBOS.workflow(name="bench_both")
async def _both(number: int) -> int:
    """Five plain steps and five transactional ones: DBOS alone, for what a run guarantees."""
    assert _datasource is not None
    for _ in range(5):
        number = await _plain_step(number)
        await _datasource.run_tx_step_async(
            {"name": "row", "isolation_level": "READ COMMITTED"}, _insert_row, number
        )
    return number


async def _insert_row(number: int) -> int:
    import sqlalchemy as sa

    assert _datasource is not None
    await _datasource.sql_session().execute(
        sa.text("insert into lockgate_bench.rows values (:number)"), {"number": number}
    )
    return number


_datasource: Any = None


@asynccontextmanager
async def _working(url: str) -> AsyncIterator[Runtime]:
    global _datasource
    runtime = await Runtime(demo_agents()).open(url)
    worker = Worker(runtime, WorkerSettings(lease_ms=10_000))
    await worker.start()
    assert isinstance(worker._end, EndStep)
    _datasource = worker._end._datasource
    try:
        yield runtime
    finally:
        await worker.stop()
        await runtime.close()


async def _together(count: int, one: Callable[[], Awaitable[object]]) -> float:
    """Do a thing so often, eight at a time; returns seconds a piece."""
    slots = asyncio.Semaphore(IN_FLIGHT)

    async def slotted() -> None:
        async with slots:
            await one()

    before = time.perf_counter()
    await asyncio.gather(*(slotted() for _ in range(count)))
    return (time.perf_counter() - before) / count


async def _measure(url: str, count: int) -> dict[str, float]:
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("create schema if not exists lockgate_bench")
        conn.execute("create table if not exists lockgate_bench.rows (number integer)")

    async with _working(url) as runtime:

        async def scripted() -> None:
            handle = await runtime.start(f"s-{uuid4()}", "scripted", SCRIPT)
            result = await handle.result()
            assert result.status == "completed", result

        async def enqueued(workflow: Callable[[int], Coroutine[Any, Any, int]]) -> None:
            # The same queue, and the same kick: only what is done differs.
            handle: Any = await DBOS.enqueue_workflow_async(QUEUE, workflow, 1)
            runtime.hurry()
            await handle.get_result(polling_interval_sec=0.01)

        await _together(8, scripted)
        await _together(8, lambda: enqueued(_plain))
        commits, wal = _counters(url)
        figures = {"scripted_s": await _together(count, scripted)}
        commits_after, wal_after = _counters(url)
        figures["commits"] = (commits_after - commits) / count
        figures["wal"] = (wal_after - wal) / count
        figures["plain_s"] = await _together(count, lambda: enqueued(_plain))
        figures["both_s"] = await _together(count, lambda: enqueued(_both))
        await _paced_starts(runtime, count)
        figures |= _dispatch(url, "p-%")
    return figures


async def _paced_starts(runtime: Runtime, count: int) -> None:
    """Start one run after the other, so that what is measured is dispatch and no queueing."""
    for _ in range(count):
        handle = await runtime.start(f"p-{uuid4()}", "scripted", 'script:[{"say":"Hi."}]')
        await handle.result()
        await asyncio.sleep(0.005)


def _dispatch(url: str, sessions: str) -> dict[str, float]:
    """From the start's own clock reading to the claim's, both by the database's clock."""
    with psycopg.connect(url) as conn:
        row = conn.execute(
            "select percentile_cont(0.5) within group (order by d), "
            "percentile_cont(0.99) within group (order by d) from ("
            "select 1000 * extract(epoch from claimed_at - started_at)::float8 as d "
            "from lockgate_store.runs where session_id like %s and claimed_at is not null) r",
            (sessions,),
        ).fetchone()
    assert row is not None
    return {"dispatch_p50_ms": row[0], "dispatch_p99_ms": row[1]}


def _counters(url: str) -> tuple[int, int]:
    with psycopg.connect(url) as conn:
        row = conn.execute(
            "select pg_stat_get_db_xact_commit(d.oid), pg_current_wal_insert_lsn() - '0/0' "
            "from pg_database d where d.datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


if __name__ == "__main__":
    print(json.dumps(uvloop.run(_measure(sys.argv[1], int(sys.argv[2])))))  # noqa: T201
