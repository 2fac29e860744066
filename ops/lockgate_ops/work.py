"""The composition root of a worker process: it drives runs and answers no requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from lockgate import Runtime
from lockgate_ops.application import load_application
from lockgate_ops.exits import announce
from lockgate_ops.logs import configure_logs
from lockgate_ops.process import Leaving, run
from lockgate_ops.readiness import Ready, require_ready
from lockgate_ops.settings import Settings

if TYPE_CHECKING:
    from lockgate.worker import Worker


def work(settings: Settings) -> int:
    """Drive runs until told to leave; returns the exit code.

    Prints `ready` and the worker's id, as it stands in the ledger's owner_id, once it takes runs.
    Errors  Refused
    """
    configure_logs(settings.log_level)
    url = settings.required_url()
    application = load_application(settings.agents)

    async def main(leaving: Leaving) -> None:
        ready = await require_ready(url)
        async with opened(application.runtime, url, settings, ready) as runtime:
            worker = await started_worker(runtime, settings, ready)
            announce(f"ready {worker.worker_id}")
            await leaving.wait()
            await worker.stop()

    return run(main, drain_s=settings.drain_s)


@asynccontextmanager
async def opened(
    runtime: Runtime, url: str, settings: Settings, ready: Ready
) -> AsyncIterator[Runtime]:
    """Open a runtime for as long as the block lasts; a direct URL is taken where it is one."""
    direct_url = settings.direct_url or (url if ready.is_direct else None)
    await runtime.open(url, direct_url=direct_url, pool_size=settings.pool_size)
    try:
        yield runtime
    finally:
        await runtime.close()


async def started_worker(runtime: Runtime, settings: Settings, ready: Ready) -> Worker:
    """Start this process's worker; who starts it stops it."""
    # DBOS takes over a second to import; whoever has no worker need not wait for it.
    from lockgate.worker import Worker, WorkerSettings

    worker = Worker(
        runtime,
        WorkerSettings(
            concurrency=settings.concurrency,
            lease_ms=settings.lease_ms,
            drain_s=settings.drain_s,
            dbos_schema=ready.dbos_schema,
        ),
    )
    await worker.start()
    return worker
