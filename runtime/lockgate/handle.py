"""What an entry gives back, a handle of its run; and what may take entries at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from uuid import UUID

from lockgate.client_answers import Submitted, ToolAnswer
from lockgate.hooks import Origin
from lockgate.requests import TRUSTED, Actor, Continue, ResumeOptions, UserInput
from lockgate.streams import CaughtUp, Chunk, Idle, StreamEvent
from lockgate.strict_json import loads_stored


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
class Stop:
    """What a stop has done.

    status      stopping: it stands on the run, which ends at its next boundary. stopped: that was
                waited for. not_running: nothing was written
    run_id      the run that is meant; None where the session has none
    run_status  how it stands, once it has settled
    """

    session_id: str
    status: Literal["stopping", "stopped", "not_running"]
    run_id: UUID | None
    run_status: str | None = None


class Stopping(Protocol):
    """What can be asked to stop a run."""

    async def interrupt(
        self,
        session_id: str,
        *,
        run_id: UUID | None = None,
        reason: str | None = None,
        wait: bool = False,
        actor: Actor = TRUSTED,
    ) -> Stop: ...

    async def abort(
        self,
        session_id: str,
        *,
        run_id: UUID | None = None,
        reason: str | None = None,
        wait: bool = False,
        actor: Actor = TRUSTED,
    ) -> Stop: ...


class RunReads(Stopping, Protocol):
    """What a handle asks of the runtime that made it."""

    def follow(
        self, session_id: str, *, after: int | None = None, actor: Actor = TRUSTED
    ) -> AsyncIterator[StreamEvent]: ...
    async def result(
        self, session_id: str, run_id: UUID, *, actor: Actor = TRUSTED
    ) -> RunResult: ...
    async def settled(
        self, session_id: str, run_id: UUID, actor: Actor = TRUSTED
    ) -> RunResult | None: ...


@dataclass(frozen=True, slots=True)
class RunHandle:
    """A run that an entry started, or found: under its key, or as the session's current one.

    attached  whether it was found
    """

    session_id: str
    run_id: UUID
    start_sequence: int
    attached: bool
    actor: Actor
    _runtime: RunReads

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

    async def interrupt(self, reason: str | None = None, *, wait: bool = False) -> Stop:
        """Ask this very run to end interrupted; a later one of the session is left alone.

        Errors  as Runtime.interrupt
        """
        return await self._runtime.interrupt(
            self.session_id, run_id=self.run_id, reason=reason, wait=wait, actor=self.actor
        )

    async def abort(self, reason: str | None = None, *, wait: bool = False) -> Stop:
        """Ask this very run to end failed, framework_cancelled. Errors  as Runtime.abort."""
        return await self._runtime.abort(
            self.session_id, run_id=self.run_id, reason=reason, wait=wait, actor=self.actor
        )


class Executor(Stopping, Protocol):
    """What takes entries, answers and stops: a runtime, or a wrapper around one.

    One that records request keys says `supports_request_key = True`, and then a repeat of a key
    attaches, replays or is refused typed. Absent means false, so it is read with getattr.
    """

    async def start(
        self,
        session_id: str,
        agent_type: str,
        message: UserInput,
        *,
        request_key: str | None = None,
        actor: Actor = TRUSTED,
        origin: Origin | None = None,
        run_id: UUID | None = None,
        cancelled: asyncio.Event | None = None,
        **identity_and_state: Any,
    ) -> RunHandle: ...

    async def resume(
        self,
        session_id: str,
        agent_type: str,
        options: ResumeOptions = ...,
        *,
        request_key: str | None = None,
        actor: Actor = TRUSTED,
        origin: Origin | None = None,
        run_id: UUID | None = None,
        cancelled: asyncio.Event | None = None,
    ) -> RunHandle: ...

    async def retry(
        self,
        session_id: str,
        agent_type: str,
        *,
        checkpoint_id: str | None = None,
        message: UserInput | None = None,
        request_key: str | None = None,
        actor: Actor = TRUSTED,
        origin: Origin | None = None,
        run_id: UUID | None = None,
        cancelled: asyncio.Event | None = None,
    ) -> RunHandle: ...

    async def submit_tool_result(
        self,
        session_id: str,
        tool_call_id: str,
        answer: ToolAnswer | Mapping[str, Any],
        *,
        actor: Actor = TRUSTED,
    ) -> Submitted: ...


@dataclass(frozen=True, slots=True)
class SessionHandle:
    """A session that somebody comes back to. run is its current one, None where none ever was."""

    session_id: str
    agent_type: str
    run: RunHandle | None
    actor: Actor
    _executor: Executor

    @property
    def run_id(self) -> UUID | None:
        """The current run's id."""
        return None if self.run is None else self.run.run_id

    async def resume(
        self,
        options: ResumeOptions = Continue(),  # noqa: B008 - frozen, and equal to every other one
        *,
        request_key: str | None = None,
    ) -> RunHandle:
        """Resume the session as it stands now.

        Errors  as Runtime.resume: state_not_resumable, state_session_not_found for one that was
                deleted since, state_agent_type_mismatch for one that was made anew
        """
        return await self._executor.resume(
            self.session_id, self.agent_type, options, request_key=request_key, actor=self.actor
        )

    async def interrupt(self, reason: str | None = None, *, wait: bool = False) -> Stop:
        """Ask the run that the session had when it was found to end interrupted.

        A later one is left alone; where the session had none, nothing is written.
        Errors  as Runtime.interrupt
        """
        return await self._stop(self._executor.interrupt, reason, wait)

    async def abort(self, reason: str | None = None, *, wait: bool = False) -> Stop:
        """Ask it to end failed, framework_cancelled. Errors  as Runtime.abort."""
        return await self._stop(self._executor.abort, reason, wait)

    async def _stop(
        self, verb: Callable[..., Awaitable[Stop]], reason: str | None, wait: bool
    ) -> Stop:
        if self.run is None:  # Named by none, a stop would mean whichever run came since.
            return Stop(self.session_id, "not_running", None)
        return await verb(
            self.session_id, run_id=self.run_id, reason=reason, wait=wait, actor=self.actor
        )
