"""What one attempt at a run stands on: its address, its stream, its state, and how it commits.

Shared by the parts of an attempt. It decides nothing about a run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from lockgate.agent_hooks import AgentHookContext, AgentHooks, tell
from lockgate.chunks import ChunkMaker
from lockgate.contained import called
from lockgate.database import Database
from lockgate.definitions import ToolContext
from lockgate.errors import RunSuperseded
from lockgate.hooks import Identity
from lockgate.host import Host
from lockgate.session_state import SessionState
from lockgate.stream_writer import StreamWriter
from lockgate.strict_json import dumps, storable
from lockgate.tally import Tally
from lockgate.usage import StrictStore
from lockgate.worker_outcomes import ClaimRunResult, StepOutcome, StepResult

STOP_BOUND_S = 2.0  # how long a body may go on after its cancellation before it is left behind


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an attempt needs of the worker around it.

    may_begin   waits until this worker's own promise is fresh
    lapses      how often that promise was broken so far
    tell        wakes the readers of a stream in this process
    hurry       starts what was just committed to be driven
    background  keeps what nobody waits for alive
    tally       counts what becomes of attempts; it decides nothing
    """

    host: Host
    database: Database
    may_begin: Callable[[], Awaitable[None]]
    lapses: Callable[[], int]
    tell: Callable[..., None]
    hurry: Callable[[], None]
    background: set[asyncio.Task[Any]]
    tally: Tally = field(default_factory=Tally)

    def leave(self, work: Awaitable[Any]) -> None:
        """Let something go on that nobody waits for."""
        left = asyncio.ensure_future(work)
        self.background.add(left)
        left.add_done_callback(self.background.discard)


def _identity_of(claim: ClaimRunResult) -> Identity:
    return Identity(
        user_id=claim.user_id,
        tags=tuple(claim.tags),
        metadata=claim.metadata,
        parent_session_id=claim.parent_session_id,
        root_session_id=claim.root_session_id,
    )


class Scope:
    """One attempt's own things; `address` names the attempt to every rule."""

    def __init__(
        self,
        around: Surroundings,
        tenant_id: str,
        session_id: str,
        run_id: UUID,
        claim: ClaimRunResult,
        lapses: int,
        on_commit: Callable[[], None],
    ) -> None:
        """lapses     of the worker's promise, from before it has claimed
        on_commit  called whenever a part of a step is saved
        """
        self.around = around
        self._lapses = lapses
        self._on_commit = on_commit
        self.claim = claim
        self.run_id = run_id
        self.session_id = session_id
        self.identity = _identity_of(claim)
        self.address: dict[str, Any] = {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "run_id": run_id,
            "attempt": claim.attempt,
        }
        self.chunks = ChunkMaker(session_id, claim.agent_type)
        self.state = SessionState(claim.state)
        self.aborted = asyncio.Event()
        self.hooks: Sequence[AgentHooks] = ()
        self.usage_store: StrictStore | None = None
        self.committed = claim.head_sequence
        self.writer = StreamWriter(
            around.database,
            head=claim.head_sequence,
            tell=around.tell,
            tally=around.tally,
            **self.address,
        )
        self.writer.stop_kind = claim.stop_kind

    async def commit(self, rule: Callable[..., Awaitable[StepResult]], **part: Any) -> StepResult:
        """Save one part of a step, with everything that was put on the stream before it."""

        async def with_chunks(chunks: list[str]) -> StepResult:
            return await self.around.database.call(rule, **self.address, **part, chunks=chunks)

        return await self.commit_by(with_chunks)

    async def commit_by(self, rule: Callable[[list[str]], Awaitable[StepResult]]) -> StepResult:
        """Save one part of a step by a call of its rule that is made under the writer's lock."""
        answer = await self.writer.commit(rule)
        self.committed = answer.head_sequence
        self._on_commit()
        return answer

    async def record(self, rule: Callable[..., Awaitable[Any]], **given: Any) -> None:
        """Call a rule that leaves the stream alone. Errors  RunSuperseded: the attempt is over"""
        answer = await self.around.database.call(rule, **self.address, **given)
        if answer.outcome == StepOutcome.FENCED:
            self.around.tally.fenced_writes += 1
            self.writer.lose()
            raise RunSuperseded

    def emitter(self, step: int) -> Callable[[str, Any], Awaitable[None]]:
        """Return what puts custom chunks on the stream."""

        async def emit(name: str, data: Any) -> None:
            await self.writer.put(self.chunks.custom(step, name, storable(data)))

        return emit

    async def tell_hooks(self, name: str, step: int, event: Any) -> None:
        """Call the agent's hooks of a name. Errors  the typed error that a `before_…` raises"""
        if any(getattr(each, name) is not None for each in self.hooks):
            await tell(self.hooks, name, self.hook_context(step), event)

    def hook_context(self, step: int) -> AgentHookContext:
        """Say where a hook of the agent is called from."""
        return AgentHookContext(
            session_id=self.session_id,
            agent_type=self.claim.agent_type,
            run_id=str(self.run_id),
            step=step,
            identity=self.identity,
            get_state=self.state.seen,
            emit=self.emitter(step),
            aborted=self.aborted,
        )

    def tool_context(
        self, step: int, call: Mapping[str, Any], record_usage: Callable[..., None]
    ) -> ToolContext:
        """Return what a body is given for a call."""
        ordinal = int(call["ordinal"])
        return ToolContext(
            session_id=self.session_id,
            agent_type=self.claim.agent_type,
            run_id=str(self.run_id),
            tool_call_id=call["toolCallId"],
            dedupe_id=f"{self.run_id}:{step}:{ordinal}",
            identity=self.identity,
            emit=self.emitter(step),
            get_state=self.state.seen,
            update_state=lambda patch: self.state.update(ordinal, patch),
            record_usage=record_usage,
            aborted=self.aborted,
        )

    async def used(self, step: int, part: str, entries: Sequence[Mapping[str, Any]]) -> str | None:
        """Return what a part of a step has used as its commit keeps it.

        Where the application has a store, that one is told instead, before the commit; `part` makes
        each entry's id the same for every try.
        """
        if self.usage_store is None or not entries:
            return dumps(entries) if entries else None
        told = [
            {
                "id": f"{self.run_id}:{step}:{part}:{number}",
                "sessionId": self.session_id,
                "runId": str(self.run_id),
                "stepCount": step,
                "timestamp": time.time_ns() // 1_000_000,
                **entry,
            }
            for number, entry in enumerate(entries, start=1)
        ]
        await self.usage_store.record(told)
        return None

    async def hold_to_the_claim(self) -> None:
        """Before a model call or a body begins: a worker that was away asks whether the run is its.

        Errors  RunSuperseded when the attempt is over
        """
        await self.around.may_begin()
        if (lapses := self.around.lapses()) != self._lapses:
            await self.writer.check()
            self._lapses = lapses

    async def finished_before_a_stop(self, work: Awaitable[object]) -> bool:
        """Await work that a stop, or a lost attempt, may cancel; say whether it came to its end."""
        working = asyncio.ensure_future(called(lambda: work))

        def halt() -> None:
            self.aborted.set()
            working.cancel()

        self.writer.on_halt = halt
        try:
            if self.writer.stop_kind is not None:
                halt()
            await working
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is not None and own.cancelling():
                halt()
                raise
            await self.writer.check()  # a lost attempt says so here
            if self.writer.stop_kind is None:
                raise RuntimeError("the work was cancelled from within") from None
            return False
        finally:
            self.writer.on_halt = None
        return True
