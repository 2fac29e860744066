"""One attempt at a run: from its first uncommitted step to the end it asks for.

The rows say where to go on; nothing is kept here that they do not hold. Each commit answers whether
the attempt still stands and whether the run is to stop, and both are obeyed at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, cast
from uuid import UUID

from lockgate.agent_hooks import Completed, Failed, Started
from lockgate.agents import DriveFactoryContext
from lockgate.asking import ask, save, saved_message
from lockgate.calls import OpenStep
from lockgate.children import inherited_hooks
from lockgate.companions import with_companions
from lockgate.errors import (
    EntryRefused,
    FailureClass,
    RunSuperseded,
    classify_entry_failure,
    error_detail,
)
from lockgate.finishing import (
    End,
    is_enough,
    is_finished,
    out_of_steps,
    own_end,
    shown_history,
    stopped_early,
    unfit_answers,
)
from lockgate.hooks import AfterEntryContext, DriveKind, logged
from lockgate.judgement import has_output, judge_all
from lockgate.labels import CALL_STATUSES, DRIVES, known
from lockgate.materialize import Materialized, materialize
from lockgate.messages import Message, Part, read_history, result_part
from lockgate.models.protocol import ModelError
from lockgate.scope import Scope, Surroundings
from lockgate.worker_outcomes import ClaimRunResult


class Attempt:
    """One claimed run, from its first uncommitted step to the end it asks for."""

    def __init__(
        self,
        around: Surroundings,
        tenant_id: str,
        session_id: str,
        run_id: UUID,
        claim: ClaimRunResult,
        lapses: int,
        on_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self._scope = Scope(around, tenant_id, session_id, run_id, claim, lapses, on_commit)
        self._claim = claim
        self._history: list[Message] = []
        self._calls: list[dict[str, Any]] = claim.calls
        self._step = claim.step_count
        self._was_forced = False
        self._began = time.monotonic()
        self.writer = self._scope.writer

    async def run(self) -> End:
        """Go on from what is committed until the run can end, or waits for somebody else."""
        claim = self._claim
        drive = cast("DriveKind", "recover" if claim.is_recovery else claim.drive)
        self._tell_host(drive)
        try:
            self._read(claim)
            ready = await materialize(self._scope.around.host, self._context(drive))
            ready = with_companions(self._scope, ready)
            self._scope.hooks = (*await inherited_hooks(self._scope), *ready.hooks)
            self._scope.usage_store = ready.usage_store
            self._scope.state.schema = ready.agent.state_schema
            await self._begin(ready)
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
            env=self._scope.around.host.env,
            session_id=self._scope.session_id,
            run_id=str(self._scope.run_id),
            drive=drive,
            identity=self._scope.identity,
            agent_type=self._claim.agent_type,
        )

    async def _begin(self, ready: Materialized) -> None:
        """Tell of the run's first attempt, and of submitted results that do not fit their tools."""
        if self._claim.is_recovery:
            return
        state = self._scope.state.seen()
        started = Started(self._claim.agent_type, self._input(), state)
        await self._scope.tell_hooks("on_agent_start", self._step, started)
        if self._claim.drive == "continue":
            await self._tell_of_unfit(ready, self._history)

    def _input(self) -> Sequence[Part]:
        asked = (each.content for each in reversed(self._history) if each.role == "user")
        return next(asked, ())

    async def _tell_of_unfit(self, ready: Materialized, history: Sequence[Message]) -> None:
        for part in unfit_answers(shown_history(history, ready), history):
            await self.writer.put(self._scope.chunks.output_error(self._step, part, part))

    async def _steps(self, ready: Materialized) -> End:
        while True:
            if self.writer.stop_kind is not None:
                return End("stopped")
            if self._calls:
                end = await self._run_calls(ready)
            else:
                shown = shown_history(self._history, ready)
                end = own_end(shown, ready, str(self._scope.run_id))
                if end is None:
                    end = await self._ask(ready, shown)
                elif self._is_forced(ready) and not is_finished(shown):
                    raise await self._unfinished(ready)
            if end is not None:
                return end

    def _is_forced(self, ready: Materialized) -> bool:
        """Say whether the last step was one that had to bring the output."""
        agent = ready.agent
        return self._was_forced or (
            agent.output_schema is not None and self._step > agent.max_steps
        )

    async def _ask(self, ready: Materialized, shown: Sequence[Message]) -> End | None:
        """Make the next step's model call and save its reply, if there is a next step."""
        agent, step = ready.agent, self._step + 1
        if self._is_forced(ready):
            raise await self._unfinished(ready)
        enough = await is_enough(shown, agent, self._step, self._scope.state.seen())
        if enough and agent.output_schema is None:
            return stopped_early(shown)
        # Past the cap there is one more step, and only where it can bring the output.
        if step > agent.max_steps and agent.output_schema is None:
            raise out_of_steps(agent)
        forced = self._was_forced = enough or step > agent.max_steps
        if forced:
            reason = "stop_when" if enough else "max_steps"
            await self._tell_forced(step, completionReason=reason)
        reply = await ask(self._scope, ready, shown, step, forced=forced)
        if isinstance(reply, End):
            return reply
        answer = await save(self._scope, ready, step, reply)
        self._history.append(saved_message(self._scope, step, reply, answer))
        self._calls = answer.calls
        if not answer.calls:
            self._step = step
        return None

    async def _unfinished(self, ready: Materialized) -> EntryRefused:
        """Fail a run whose forced completion brought no output."""
        error = out_of_steps(ready.agent)
        await self._tell_forced(self._step, error=str(error))
        await self.writer.drain()
        return error

    async def _tell_forced(self, step: int, **fields: str) -> None:
        await self.writer.put(self._scope.chunks.chunk("forced_completion", step, **fields))

    async def _run_calls(self, ready: Materialized) -> End | None:
        """Do what is ours of the open step; suspend the run where somebody else is awaited."""
        reply = next(each for each in reversed(self._history) if each.role == "assistant")
        judged = judge_all(ready.tools, self._calls, has_output=has_output(reply.content))
        step = OpenStep(self._scope, ready, self._calls, judged)
        if not await step.run():
            return None  # The stop that cut it off is met at the next boundary: now.
        if not step.is_closed:
            await self.writer.drain()
            return End("suspended", step=step.step)
        results = [result_part(call) for call in self._calls]
        self._history.append(Message("tool", results, str(self._scope.run_id), step.step))
        self._calls = []
        self._step = step.step
        await self._tell_of_unfit(ready, self._history)
        return None

    def tell_end(self, end: End) -> None:
        """Tell the agent's hooks of an end that is committed; nobody waits for them."""
        told: tuple[str, Any] | None = None
        if end.status == "completed":
            spent_ms = int((time.monotonic() - self._began) * 1_000)
            final = Completed(
                end.output, self._scope.state.seen(), self._step, spent_ms, end.reason
            )
            told = ("on_agent_complete", final)
        elif end.status == "failed":
            told = ("on_agent_fail", Failed(end.error_detail or {}, self._step))
        if told is not None:
            self._scope.around.leave(self._scope.tell_hooks(told[0], self._step, told[1]))

    def _tell_host(self, drive: DriveKind) -> None:
        """Fire after_entry; the drive does not wait for it."""
        around = self._scope.around
        hook = around.host.hooks.after_entry
        if hook is None:
            return
        context = AfterEntryContext(
            env=around.host.env,
            tenant_id=str(self._scope.address["tenant_id"]),
            session_id=self._scope.session_id,
            run_id=self._scope.run_id,
            drive=drive,
        )
        around.leave(logged("after_entry", hook, context))
