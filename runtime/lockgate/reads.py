"""What a runtime reads, over the database it has opened: sessions, streams, and how runs stand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Self, TypeVar
from uuid import UUID

from lockgate.agents import UsageReadContext
from lockgate.answer import session_not_found
from lockgate.database import POOL_SIZE, Database
from lockgate.errors import EntryRefused
from lockgate.handle import RunResult
from lockgate.hooks import Identity
from lockgate.host import Host
from lockgate.labels import RUN_STATUSES, SESSION_STATUSES, STREAM_STATUSES, known
from lockgate.outcomes import SnapshotResult, StatusResult
from lockgate.requests import TRUSTED, Actor
from lockgate.rules import recovery, runs, sessions, usage
from lockgate.streams import END_ALONE, Reader, StreamEvent, Watcher, woken
from lockgate.usage import SessionUsage, store_from
from lockgate.worker_outcomes import RecoveryMetricsResult

Answer = TypeVar("Answer", StatusResult, SnapshotResult)

SETTLED_EVERY_S = 1.0  # a superseded run's stream goes on, so its end wakes nobody


class Reads:
    """The reading half of a runtime, and the pool under both halves."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._database: Database | None = None
        self._reader: Reader | None = None

    async def open(
        self, database_url: str, *, direct_url: str | None = None, pool_size: int = POOL_SIZE
    ) -> Self:
        """Open the pool to a database in which Lockgate is installed."""
        self._database = Database(database_url, direct_url=direct_url, pool_size=pool_size)
        await self._database.open()
        self._reader = Reader(self._database, Watcher(self._database))
        return self

    async def close(self) -> None:
        """Close the pool."""
        if self._reader is not None:
            await self._reader.watcher.close()
        if self._database is not None:
            await self._database.close()
        self._database = self._reader = None

    @property
    def database(self) -> Database:
        """The open database. Errors  RuntimeError before open()."""
        if self._database is None:
            raise RuntimeError("open the runtime first: await runtime.open(database_url)")
        return self._database

    @property
    def watcher(self) -> Watcher:
        """The one watcher of this process."""
        return self._open_reader().watcher

    async def status(self, session_id: str, *, actor: Actor = TRUSTED) -> StatusResult | None:
        """Read where a session stands; None where there is none."""
        answer = await self.database.read(
            sessions.status,
            session_id=session_id,
            dispatch_limit_ms=self.host.dispatch_limit_ms,
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
        )
        return None if answer.session_id is None else _understood(answer)

    async def snapshot(self, session_id: str, *, actor: Actor = TRUSTED) -> SnapshotResult | None:
        """Read a session's history and the cursor that follows it; None where there is none."""
        answer = await self.database.call(
            sessions.snapshot,
            session_id=session_id,
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
        )
        return None if answer.session_id is None else _understood(answer)

    async def usage(self, session_id: str, *, actor: Actor = TRUSTED) -> Mapping[str, Any] | None:
        """Sum up what a session's runs have used; None where there is no session.

        Errors  EntryRefused framework_usage_store_unavailable, with a store of the application's
        """
        answer = await self.database.call(
            usage.usage_rollup,
            session_id=session_id,
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
        )
        if answer.rollup is None or answer.identity is None:
            return None
        identity = Identity.told(answer.identity)
        store = await store_from(
            self.host.usage_store, UsageReadContext(self.host.env, session_id, identity)
        )
        return answer.rollup if store is None else await store.rollup()

    def session_usage(self, session_id: str, *, actor: Actor = TRUSTED) -> SessionUsage:
        """Return the built-in usage store, bound to a session.

        Errors  EntryRefused framework_not_supported where the application has a store of its own:
                usage is never kept in two places
        """
        if self.host.usage_store is not None:
            raise EntryRefused("framework_not_supported", "Usage is kept in the host's own store")
        return SessionUsage(self.database.call, session_id, actor)

    def follow(
        self,
        session_id: str,
        *,
        after: int | None = None,
        epoch: str | None = None,
        actor: Actor = TRUSTED,
    ) -> AsyncIterator[StreamEvent]:
        """Deliver a session's chunks after a cursor, then what ended the stream: Reader.follow."""
        return self._open_reader().follow(
            session_id,
            after=after,
            epoch=epoch,
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
        )

    async def result(self, session_id: str, run_id: UUID, *, actor: Actor = TRUSTED) -> RunResult:
        """Wait until nothing executes for a run, and say how it stands."""
        with self.watcher.watch((actor.tenant_id, session_id)) as watch:
            watch.seen = END_ALONE
            while True:
                watch.moved.clear()
                run = await self.settled(session_id, run_id, actor)
                if run is not None:
                    return run
                await woken(watch, SETTLED_EVERY_S)

    async def settled(
        self, session_id: str, run_id: UUID, actor: Actor = TRUSTED
    ) -> RunResult | None:
        """Say how a run stands, or None while it is running. Errors as result."""
        run = await self.database.call(
            runs.get_run,
            session_id=session_id,
            run_id=run_id,
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
        )
        if run.run_id is None:
            raise session_not_found()
        if known(run.status, RUN_STATUSES) == "running":
            return None
        return RunResult(run.status, run.output, run.error_detail)

    async def recovery_metrics(self) -> RecoveryMetricsResult:
        """Sum up how recovery stands, over all processes; it names nobody."""
        return await self.database.call(recovery.recovery_metrics)

    def _open_reader(self) -> Reader:
        if self._reader is None:
            raise RuntimeError("open the runtime first: await runtime.open(database_url)")
        return self._reader


def _understood(answer: Answer) -> Answer:
    """Return what was read of a session, if it stands where this release knows one to stand."""
    known(answer.session_status, SESSION_STATUSES)
    if answer.stream_status is not None:
        known(answer.stream_status, STREAM_STATUSES)
    if answer.run_status is not None:
        known(answer.run_status, RUN_STATUSES)
    return answer
