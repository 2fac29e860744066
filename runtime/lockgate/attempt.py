"""One attempt at a run: from its first uncommitted step to the end it asks for.

The rows say where to go on; nothing is kept here that they do not hold. Each commit answers whether
the attempt still stands and whether the run is to stop, and both are obeyed at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from uuid import UUID

from lockgate.agents import DriveFactoryContext, ToolContext
from lockgate.chunks import ChunkMaker
from lockgate.database import Database
from lockgate.errors import (
    EntryRefused,
    FailureClass,
    RunSuperseded,
    classify_entry_failure,
    error_detail,
)
from lockgate.hooks import AfterEntryContext, DriveKind, Identity, logged
from lockgate.host import Host
from lockgate.labels import CALL_STATUSES, DRIVES, known
from lockgate.materialize import Materialized, materialize
from lockgate.messages import Message, assistant_message, output_of, read_history, result_part
from lockgate.model import ModelCall, Reply
from lockgate.models.protocol import ModelError, ModelRequest
from lockgate.rules import steps as rules
from lockgate.stream_writer import StreamWriter
from lockgate.strict_json import dumps, storable
from lockgate.tools import run_tool
from lockgate.worker_outcomes import ClaimRunResult, StepResult


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt wants its run to end."""

    status: Literal["completed", "failed", "stopped"]
    output: Any = None
    error_detail: Mapping[str, Any] | None = None
    partial: Any = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an attempt needs of the worker around it.

    may_begin   waits until this worker's own promise is fresh; False if it had to wait
    tell        wakes the readers of a stream in this process
    background  keeps what nobody waits for alive
    """

    host: Host
    database: Database
    may_begin: Callable[[], Awaitable[bool]]
    tell: Callable[..., None]
    background: set[asyncio.Task[Any]]


class Attempt:
    """One claimed run, from its first uncommitted step to the end it asks for."""

    def __init__(
        self,
        around: Surroundings,
        tenant_id: str,
        session_id: str,
        run_id: UUID,
        claim: ClaimRunResult,
    ) -> None:
        self._around = around
        self._claim = claim
        self._run_id = run_id
        self._session_id = session_id
        self._identity = Identity(
            user_id=claim.user_id,
            tags=tuple(claim.tags),
            metadata=claim.metadata,
            parent_session_id=claim.parent_session_id,
            root_session_id=claim.root_session_id,
        )
        self._address: dict[str, Any] = {
            "tenant_id": tenant_id,
            "session_id": session_id,
            "run_id": run_id,
            "attempt": claim.attempt,
        }
        self._chunks = ChunkMaker(session_id, claim.agent_type)
        self._history: list[Message] = []
        self._calls: list[dict[str, Any]] = claim.calls
        self._step = claim.step_count
        self._committed = claim.head_sequence
        self.writer = StreamWriter(
            around.database, head=claim.head_sequence, tell=around.tell, **self._address
        )
        self.writer.stop_kind = claim.stop_kind

    async def run(self) -> End:
        """Go on from what is committed until the run can end."""
        claim = self._claim
        drive = cast("DriveKind", "recover" if claim.attempt > 1 else claim.drive)
        self._tell_host(drive)
        try:
            self._read(claim)
            ready = await materialize(self._around.host, self._context(drive))
            return await self._steps(ready)
        except RunSuperseded:
            raise
        except ModelError as error:
            return End("failed", error_detail=error_detail(error))
        except Exception as error:
            if classify_entry_failure(error) in (FailureClass.REFUSED, FailureClass.FATAL):
                return End("failed", error_detail=error_detail(error))
            raise

    def _read(self, claim: ClaimRunResult) -> None:
        """Read what the store holds of the run; what nobody understands ends it."""
        known(claim.drive, DRIVES)
        for call in claim.calls:
            known(call["status"], CALL_STATUSES)
        self._history = read_history(claim.messages, claim.message_count)

    def _context(self, drive: DriveKind) -> DriveFactoryContext:
        return DriveFactoryContext(
            env=self._around.host.env,
            session_id=self._session_id,
            run_id=str(self._run_id),
            drive=drive,
            identity=self._identity,
            agent_type=self._claim.agent_type,
        )

    async def _steps(self, ready: Materialized) -> End:
        while True:
            if self.writer.stop_kind is not None:
                return End("stopped")
            if self._calls:
                await self._run_tools(ready)
                continue
            last = self._history[-1] if self._history else None
            if last is not None and last.role == "assistant" and self._is_mine(last):
                return End("completed", output=output_of(last))
            if self._step >= ready.agent.max_steps:
                raise EntryRefused(
                    "framework_max_steps",
                    f"The run did not end within {ready.agent.max_steps} steps",
                )
            end = await self._ask(ready)
            if end is not None:
                return end

    def _is_mine(self, message: Message) -> bool:
        return message.run_id == str(self._run_id)

    async def _ask(self, ready: Materialized) -> End | None:
        """Make one model call and save its reply, unless a stop cuts it off."""
        step = self._step + 1
        prompt = ready.agent.system_prompt
        request = ModelRequest(
            messages=self._history,
            system_prompt=prompt(self._claim.state) if callable(prompt) else prompt,
            tools=[tool.spec() for tool in ready.agent.tools],
            step=step,
            settings=ready.agent.settings,
        )
        call = ModelCall(ready.model, request, self.writer, self._chunks)
        resync = {
            "runId": str(self._run_id),
            "attempt": self._claim.attempt,
            "committedSequence": self._committed,
        }
        if not await self._finished_before_a_stop(call.run(resync)):
            await self.writer.drain()
            return End("stopped", partial=call.reply.content or None)
        await self._save_reply(step, call.reply)
        return None

    async def _finished_before_a_stop(self, work: Awaitable[object]) -> bool:
        """Await work that a stop, or a lost attempt, may cancel; say whether it came to its end."""
        task = asyncio.ensure_future(work)
        self.writer.on_halt = task.cancel
        try:
            if self.writer.stop_kind is not None:
                task.cancel()
            await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is not None and own.cancelling():
                task.cancel()
                raise
            await self.writer.check()  # a lost attempt says so here
            if self.writer.stop_kind is None:
                raise RuntimeError("the work was cancelled from within") from None
            return False
        finally:
            self.writer.on_halt = None
        return True

    async def _save_reply(self, step: int, reply: Reply) -> None:
        calls = [
            {"id": storable(call.id), "toolName": call.tool, "input": storable(call.input)}
            for call in reply.calls
        ]
        answer = await self._commit(
            rules.commit_reply, step=step, content=dumps(reply.content), calls=dumps(calls)
        )
        self._history = [
            *self._history,
            assistant_message(str(self._run_id), step, reply.content, answer.calls),
        ]
        self._calls = answer.calls
        if not calls:
            self._step = step

    async def _run_tools(self, ready: Materialized) -> None:
        """Run what a saved reply asked for, all at once, each result saved when it is there."""
        step = int(self._calls[0]["step"])
        waiting = [call for call in self._calls if call["status"] == "pending"]
        if waiting and not await self._around.may_begin():
            await self.writer.check()
        if not await self._finished_before_a_stop(self._run_calls(ready, waiting)):
            return
        if not waiting:  # all results were saved, and the attempt was lost before the step was
            await self._commit(rules.commit_step, step=step)
        results = [result_part(call) for call in self._calls]
        self._history = [*self._history, Message("tool", results, str(self._run_id), step)]
        self._calls = []
        self._step = step

    async def _run_calls(self, ready: Materialized, calls: Sequence[dict[str, Any]]) -> None:
        waiting = {int(call["ordinal"]) for call in calls}
        tasks = [asyncio.create_task(self._run_call(ready, call, waiting)) for call in calls]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            # A body that swallows its cancellation must not run on beside the next attempt's.
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_call(self, ready: Materialized, call: dict[str, Any], waiting: set[int]) -> None:
        """Run one call; the last of its step to be answered commits the step with its result."""
        step, ordinal = int(call["step"]), int(call["ordinal"])

        async def emit(name: str, data: Any) -> None:
            await self.writer.put(self._chunks.custom(step, name, storable(data)))

        context = ToolContext(
            session_id=self._session_id,
            run_id=str(self._run_id),
            tool_call_id=call["toolCallId"],
            dedupe_id=f"{self._run_id}:{step}:{ordinal}",
            identity=self._identity,
            state=self._claim.state,
            emit=emit,
        )
        response = await run_tool(ready.agent, call["toolName"], call["input"], context)
        call["response"] = response
        waiting.discard(ordinal)
        await self._commit(
            rules.commit_result,
            step=step,
            ordinal=ordinal,
            response=dumps(response),
            closes_step=not waiting,
        )

    async def _commit(self, rule: Callable[..., Awaitable[StepResult]], **part: Any) -> StepResult:
        """Save one part of a step, with everything that was put on the stream before it."""

        async def with_chunks(chunks: list[str]) -> StepResult:
            return await self._around.database.call(rule, **self._address, **part, chunks=chunks)

        answer = await self.writer.commit(with_chunks)
        self._committed = answer.head_sequence
        return answer

    def _tell_host(self, drive: DriveKind) -> None:
        """Fire after_entry; the drive does not wait for it."""
        hook = self._around.host.hooks.after_entry
        if hook is None:
            return
        context = AfterEntryContext(
            env=self._around.host.env,
            tenant_id=str(self._address["tenant_id"]),
            session_id=self._session_id,
            run_id=self._run_id,
            drive=drive,
        )
        task = asyncio.create_task(logged(hook(context), "after_entry"))
        self._around.background.add(task)
        task.add_done_callback(self._around.background.discard)
