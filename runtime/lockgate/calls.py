"""The open step of an attempt: run what is ours of its calls, and say what is left to await.

Each result is committed when it is there. The step is closed by the commit of its last result, and
stays open while a client, a person or a child is yet to answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from lockgate import children
from lockgate.agent_hooks import ToolAnswered, ToolCalled
from lockgate.call_usage import CallUsage
from lockgate.contained import called
from lockgate.errors import FailureClass, RunSuperseded, classify_entry_failure
from lockgate.judgement import Judged, Response, interrupted, unusable
from lockgate.materialize import Materialized
from lockgate.rules import steps as rules
from lockgate.scope import STOP_BOUND_S, Scope
from lockgate.session_state import patch_operations
from lockgate.strict_json import dumps
from lockgate.tools import failure, run_tool
from lockgate.worker_outcomes import StepResult

StoredCall = dict[str, Any]

# Of one call: a body that ends its host each time must not use up the budget of the whole run.
MAX_BODIES = 3


def is_ours(call: StoredCall) -> bool:
    """Say whether the drive has something to do for a call, and not a client or a person."""
    return call["status"] == "pending" and (
        call["kind"] in ("server", "subagent") or call.get("approved") is True
    )


class OpenStep:
    """The calls of one saved reply."""

    def __init__(
        self,
        scope: Scope,
        ready: Materialized,
        calls: Sequence[StoredCall],
        judged: Sequence[Judged],
    ) -> None:
        self._scope = scope
        self._ready = ready
        self._calls = calls
        self._judged = judged
        self.step = int(calls[0]["step"])
        self._open = {int(call["ordinal"]) for call in calls if call["status"] == "pending"}
        # Each worker that died may have died of a body of what it left open. It is not known which
        # did: some may have died before the reply, and then fewer bodies were begun than counted.
        claim = scope.claim
        was_left = self.step in (call["step"] for call in claim.calls)
        self._is_given_up = was_left and claim.deaths >= MAX_BODIES

    @property
    def is_closed(self) -> bool:
        """Say whether each call has its result, so that the step is over."""
        return not self._open

    async def run(self) -> bool:
        """Do all that is ours, side by side; False where a stop cut it off."""
        ours = [
            (call, judged)
            for call, judged in zip(self._calls, self._judged, strict=True)
            if is_ours(call)
        ]
        if not ours:
            if self.is_closed:  # all results were saved, and the attempt was lost before the step
                await self._scope.commit(rules.commit_step, step=self.step)
            return True
        return await self._scope.finished_before_a_stop(self._side_by_side(ours))

    async def _side_by_side(self, ours: Sequence[tuple[StoredCall, Judged]]) -> None:
        running = [asyncio.create_task(called(self._run, call, judged)) for call, judged in ours]
        try:
            # Not gather: cancelled, it would wait for each of them to have ended.
            ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
            for one in ended:
                one.result()
        finally:
            for one in running:
                one.cancel()
            # A body may swallow its cancellation, and the next attempt's is not to run beside it.
            # But the stop of a run does not wait for a body that does not listen.
            ended, late = await asyncio.wait(running, timeout=STOP_BOUND_S)
            self._scope.around.leave(asyncio.gather(*ended, *late, return_exceptions=True))

    async def _run(self, call: StoredCall, judged: Judged) -> None:
        """Bring one call to its result, or a sub-agent's to its start."""
        if judged.tool is not None and call["kind"] == "subagent" and judged.answer is None:
            response = await self._start_child(call, judged)
            if response is not None:
                await self._save(call, response, CallUsage())
            return
        usage = CallUsage()
        response = judged.answer or self._not_executable(call, judged)
        if response is None:
            response = await self._execute(call, judged, usage)
        await self._tell_readers(call, response, was_usable=judged.answer is None)
        await self._save(call, response, usage)
        if judged.answer is None:
            await self._tell_hooks("after_tool", call, response)

    def _not_executable(self, call: StoredCall, judged: Judged) -> Response | None:
        """Answer a call that is not to be executed here, or not again."""
        assert judged.tool is not None
        if judged.tool.execute is None:  # its tool is defined otherwise than when it was called
            return unusable(f"The tool {call['toolName']!r} cannot be executed here")
        is_spent = "begunAt" in call if judged.tool.replay == "never" else self._is_given_up
        return interrupted() if is_spent else None

    async def _execute(self, call: StoredCall, judged: Judged, usage: CallUsage) -> Response:
        tool = judged.tool
        assert tool is not None
        try:
            await self._tell_hooks("before_tool", call)
        except Exception as error:  # noqa: BLE001 - the typed error of a hook is the answer.
            return failure(error)
        await self._scope.hold_to_the_claim()
        if tool.replay == "never":
            await self._begin(call)
        began = time.monotonic()
        context = self._scope.tool_context(self.step, call, usage.record)
        output = self._ready.agent.output_schema
        response = await run_tool(tool, judged.arguments, context, output)
        spent = {"success": response["success"], "durationMs": _milliseconds_since(began)}
        usage.entries.insert(
            0, {"kind": "tool", "source": "tool", "tool": call["toolName"], **spent}
        )
        return response

    async def _begin(self, call: StoredCall) -> None:
        """Record that a body begins that must not run twice.

        Where it is answered `repeated` it is our own repeat: nobody else may write for the run, and
        the call was not begun when this attempt took it.
        """
        scope = self._scope
        address = {**scope.address, "step": self.step, "ordinal": call["ordinal"]}
        await scope.writer.beside(lambda: scope.around.database.call(rules.begin_call, **address))

    async def _start_child(self, call: StoredCall, judged: Judged) -> Response | None:
        """Start a sub-agent; what refuses it for good is the answer to its call."""
        scope, tool = self._scope, judged.tool
        assert tool is not None
        try:
            await self._tell_hooks("before_sub_agent", call)
            await children.start_child(scope, call, tool)
        except RunSuperseded:
            raise
        except Exception as error:
            if classify_entry_failure(error) is not FailureClass.REFUSED:
                raise
            return failure(error)
        await self._tell_hooks("after_sub_agent", call, {"success": True})
        return None

    async def _tell_readers(
        self, call: StoredCall, response: Response, *, was_usable: bool
    ) -> None:
        """Put on the stream what a result tells beside its tool_end."""
        scope, ordinal = self._scope, int(call["ordinal"])
        if not response["success"]:
            scope.state.drop(ordinal)  # A body that failed changes nothing.
            if was_usable:
                await scope.writer.put(scope.chunks.output_error(self.step, call, response))
            elif response.get("code") == "validation_error":
                await scope.writer.put(scope.chunks.input_error(self.step, call, response))
        changes = scope.state.changes_of(ordinal)
        if changes:
            patches = patch_operations(changes)
            await scope.writer.put(scope.chunks.chunk("state_patch", self.step, patches=patches))

    async def _save(self, call: StoredCall, response: Response, usage: CallUsage) -> None:
        """Commit a result, with the state it leaves; the last one closes the step."""
        scope, ordinal = self._scope, int(call["ordinal"])
        used = await scope.used(self.step, str(ordinal), usage.entries)
        call["response"], call["status"] = response, "answered"
        self._open.discard(ordinal)
        closes = self.is_closed

        async def save(chunks: list[str]) -> StepResult:
            # Under the writer's lock, so that of two results each saves the other's state too.
            state = scope.state.saves(ordinal)
            answer = await scope.around.database.call(
                rules.commit_result,
                **scope.address,
                step=self.step,
                ordinal=ordinal,
                response=dumps(response),
                closes_step=closes,
                state=None if state is None else dumps(state),
                usage=used,
                chunks=chunks,
            )
            scope.state.saved(ordinal)
            return answer

        await scope.commit_by(save)

    async def _tell_hooks(
        self, name: str, call: StoredCall, response: Response | None = None
    ) -> None:
        tool, call_id = call["toolName"], call["toolCallId"]
        event = (
            ToolCalled(tool, call_id, call["input"])
            if response is None
            else ToolAnswered(tool, call_id, response)
        )
        await self._scope.tell_hooks(name, self.step, event)


def _milliseconds_since(began: float) -> int:
    return int((time.monotonic() - began) * 1_000)
