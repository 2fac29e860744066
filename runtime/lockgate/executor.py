"""The runtime: one object, one method per verb, in any process that has the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID, uuid4

import structlog

from lockgate.agents import Agent, AgentRegistry, AgentResolver
from lockgate.answer import session_made, session_not_found
from lockgate.database import POOL_SIZE, Database
from lockgate.entry import Entry
from lockgate.errors import error_detail
from lockgate.hooks import Hooks, Origin
from lockgate.host import ConcurrentEntry, Host
from lockgate.outcomes import (
    CreateSessionResult,
    EntryOutcome,
    SnapshotResult,
    StatusResult,
)
from lockgate.requests import TRUSTED, Actor, Start
from lockgate.rules import runs, sessions
from lockgate.streams import END_ALONE, CaughtUp, Chunk, Idle, Reader, StreamEvent, Watcher, woken
from lockgate.strict_json import dumps, loads_stored

log = structlog.get_logger(__name__)


SETTLED_EVERY_S = 1.0  # a superseded run's stream goes on, so its end wakes nobody


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run stands: a settled status, with what came of it.

    status        completed, failed, interrupted, superseded, or suspended_*
    output        the structured output, or the text of the last reply
    error_detail  {message, code?, category?, retryable?, cause?} of a failed run
    """

    status: str
    output: Any
    error_detail: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RunHandle:
    """A run that an entry started, or found under its key (`attached`)."""

    session_id: str
    run_id: UUID
    start_sequence: int
    attached: bool
    actor: Actor
    _runtime: Runtime

    async def stream(self) -> AsyncIterator[dict[str, Any]]:
        """Deliver the run's own chunks from its start, live, until the run has settled."""
        events = self._runtime.follow(self.session_id, after=self.start_sequence, actor=self.actor)
        async for event in events:
            if isinstance(event, Chunk) and event.run_id == self.run_id:
                chunk: Any = loads_stored(event.text)
                yield chunk
            elif isinstance(event, Chunk) or await self._is_over(event):
                return

    async def _is_over(self, event: StreamEvent) -> bool:
        """Say whether the run has settled; a superseded one ends without a word on the stream."""
        if not isinstance(event, CaughtUp | Idle):
            return False
        return await self._runtime.settled(self.session_id, self.run_id, self.actor) is not None

    async def result(self) -> RunResult:
        """Wait until nothing executes for the run, and say how it ended.

        Errors  EntryRefused state_session_not_found when the run was deleted meanwhile
        """
        return await self._runtime.result(self.session_id, self.run_id, actor=self.actor)


class Runtime:
    """Lockgate for an application: its agents, its hooks, and the verbs of a session.

    agents                       agents, or a resolver that finds one by its type
    hooks                        before_entry, after_entry, on_run_settled
    env                          any value; every hook and factory is given it
    concurrent_entry             'reject', or 'interrupt_previous': the last message wins
    concurrent_entry_timeout_ms  how long an entry waits at most
    """

    supports_request_key = True

    def __init__(
        self,
        agents: Iterable[Agent] | AgentResolver = (),
        *,
        hooks: Hooks | None = None,
        env: Any = None,
        concurrent_entry: ConcurrentEntry = "reject",
        concurrent_entry_timeout_ms: int = 30_000,
        dispatch_limit_ms: int = 30_000,
    ) -> None:
        self.host = Host(
            agents=agents if callable(agents) else AgentRegistry(agents),
            hooks=hooks or Hooks(),
            env=env,
            concurrent_entry=concurrent_entry,
            concurrent_entry_timeout_ms=concurrent_entry_timeout_ms,
            dispatch_limit_ms=dispatch_limit_ms,
        )
        self._database: Database | None = None
        self._reader: Reader | None = None
        self.kick: Callable[[], None] | None = None

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

    async def start(
        self,
        session_id: str,
        agent_type: str,
        message: str | Sequence[Mapping[str, Any]],
        *,
        request_key: str | None = None,
        actor: Actor = TRUSTED,
        origin: Origin | None = None,
        run_id: UUID | None = None,
        **identity_and_state: Any,
    ) -> RunHandle:
        """Start a run with a user's message, on a new session or an idle one.

        request_key  1 to 128 characters of [A-Za-z0-9._:-]: the same request under it runs once
        run_id       chosen by the caller, so that a repeat of this very call is a no-op
        …            state, user_id, tags, metadata, parent_session_id, root_session_id
        Errors       EntryRefused and its kinds; StoreUnavailable; RuleBroken
        Source       design section 6.1
        """
        request = Start(
            session_id, agent_type, message, request_key=request_key, **identity_and_state
        )
        answer = await Entry(self.host, self.database).start(
            request, actor=actor, origin=origin or Origin(), run_id=run_id
        )
        assert answer.run_id is not None
        assert answer.start_sequence is not None
        if (
            answer.outcome is not EntryOutcome.ATTACHED
        ):  # a replayed start's first hurry may be lost
            self.hurry()
        return RunHandle(
            session_id=session_id,
            run_id=answer.run_id,
            start_sequence=answer.start_sequence,
            attached=answer.outcome is EntryOutcome.ATTACHED,
            actor=actor,
            _runtime=self,
        )

    async def create_session(
        self,
        session_id: str | None,
        agent_type: str,
        *,
        state: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
        actor: Actor = TRUSTED,
        **identity: Any,
    ) -> CreateSessionResult:
        """Make a session without a run; without an id one is minted. Errors as start."""
        answer = await self.database.call(
            sessions.create_session,
            session_id=session_id if session_id is not None else str(uuid4()),
            agent_type=agent_type,
            state=None if state is None else dumps(state),
            metadata=None if metadata is None else dumps(metadata),
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
            **identity,
        )
        return session_made(answer)

    async def status(self, session_id: str, *, actor: Actor = TRUSTED) -> StatusResult | None:
        """Read where a session stands; None where there is none."""
        answer = await self.database.call(
            sessions.status,
            session_id=session_id,
            dispatch_limit_ms=self.host.dispatch_limit_ms,
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
        )
        return answer if answer.session_id is not None else None

    async def snapshot(self, session_id: str, *, actor: Actor = TRUSTED) -> SnapshotResult | None:
        """Read a session's history and the cursor that follows it; None where there is none."""
        answer = await self.database.call(
            sessions.snapshot,
            session_id=session_id,
            acting_user_id=actor.user_id,
            tenant_id=actor.tenant_id,
        )
        return answer if answer.session_id is not None else None

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
        if run.status == "running":
            return None
        return RunResult(run.status, run.output, run.error_detail)

    def hurry(self) -> None:
        """Hurry what was just committed: `kick` is set by who can, a worker or a notifier."""
        if self.kick is None:
            return
        try:
            self.kick()
        except Exception as error:  # noqa: BLE001 - it is committed: the queue's poll finds it.
            log.warning("kick.failed", error=error_detail(error))

    def _open_reader(self) -> Reader:
        if self._reader is None:
            raise RuntimeError("open the runtime first: await runtime.open(database_url)")
        return self._reader
