"""Stops: a run is asked to end at its next boundary; each stands on one run and on no other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias
from uuid import UUID

import structlog

from lockgate.answer import stop_heard
from lockgate.call_outcomes import RequestStopResult
from lockgate.errors import error_detail
from lockgate.handle import Stop
from lockgate.outcomes import GetRunResult
from lockgate.reads import Reads
from lockgate.requests import TRUSTED, Actor
from lockgate.rules import runs, stops

StopKind: TypeAlias = Literal["interrupt", "abort"]

log = structlog.get_logger(__name__)


class Stops(Reads):
    """The stopping verbs of a runtime."""

    async def interrupt(
        self,
        session_id: str,
        *,
        run_id: UUID | None = None,
        reason: str | None = None,
        wait: bool = False,
        actor: Actor = TRUSTED,
    ) -> Stop:
        """Ask a run to end interrupted, to be resumed later.

        run_id  the run that is meant: without it the one that is live now. Who may ask twice, or
                late, names it: a run that came after it is left alone
        wait    until it has settled, for concurrent_entry_timeout_ms at most
        Errors  EntryRefused: validation_error for a paused session, state_session_not_found;
                StoreUnavailable
        Source  reference/http.md 11
        """
        answer = await self.stop("interrupt", session_id, run_id=run_id, reason=reason, actor=actor)
        return await self.ended(answer, actor) if wait else answer

    async def abort(
        self,
        session_id: str,
        *,
        run_id: UUID | None = None,
        reason: str | None = None,
        wait: bool = False,
        actor: Actor = TRUSTED,
    ) -> Stop:
        """Ask a run to end failed, framework_cancelled; it outranks an interrupt.

        Of a paused session it writes nothing.
        …       as interrupt
        """
        answer = await self.stop("abort", session_id, run_id=run_id, reason=reason, actor=actor)
        return await self.ended(answer, actor) if wait else answer

    async def stop(
        self,
        kind: StopKind,
        session_id: str,
        *,
        run_id: UUID | None = None,
        reason: str | None = None,
        include_suspended: bool = False,
        actor: Actor = TRUSTED,
    ) -> Stop:
        """Stop a run, from code of the application's own; no route passes include_suspended.

        include_suspended  let an interrupt stand on a suspended run too: nothing ends at once, and
                           the run that goes on with it ends interrupted before any model call
        Errors             as interrupt
        """
        rule: Callable[..., Awaitable[RequestStopResult]] = (
            stops.interrupt if kind == "interrupt" else stops.abort
        )
        flagged = {"include_suspended": include_suspended} if kind == "interrupt" else {}
        given = {"session_id": session_id, "reason": reason, **flagged}
        if run_id is None:  # Named first: a repeat after a lost answer is for no run after it.
            current: GetRunResult = await self._asked(
                runs.get_current_run, actor, session_id=session_id
            )
            run_id = current.run_id
        answer: RequestStopResult = await self._asked(rule, actor, run_id=run_id, **given)
        is_heard = stop_heard(answer, kind)
        return Stop(session_id, "stopping" if is_heard else "not_running", answer.run_id)

    async def _asked(self, rule: Callable[..., Awaitable[Any]], actor: Actor, **given: Any) -> Any:
        return await self.database.call(
            rule, acting_user_id=actor.user_id, tenant_id=actor.tenant_id, **given
        )

    async def ended(self, answer: Stop, actor: Actor = TRUSTED) -> Stop:
        """Wait until a run that is stopping has settled, for a bounded time, as `wait` does."""
        if answer.status != "stopping" or answer.run_id is None:
            return answer
        try:
            async with asyncio.timeout(self.host.concurrent_entry_timeout_ms / 1000):
                result = await self.result(answer.session_id, answer.run_id, actor=actor)
        except TimeoutError:
            return answer
        return Stop(answer.session_id, "stopped", answer.run_id, result.status)

    async def abort_once(
        self, cancelled: asyncio.Event, session_id: str, run_id: UUID, actor: Actor
    ) -> None:
        """Record an abort on a run once its caller wants it no more, unless it has settled by then.

        A failure is logged: who cancels does not wait for an answer.
        """
        wanted_no_more = asyncio.create_task(cancelled.wait())
        settled = asyncio.create_task(self.result(session_id, run_id, actor=actor))
        try:
            await asyncio.wait((wanted_no_more, settled), return_when=asyncio.FIRST_COMPLETED)
            if settled.done() and settled.exception() is not None:
                await wanted_no_more  # how the run stands cannot be read: the rule will know
            if cancelled.is_set():
                await self.abort(
                    session_id, run_id=run_id, reason="The caller has cancelled it", actor=actor
                )
        except Exception as error:  # noqa: BLE001 - nobody is there to be told.
            log.warning("abort.failed", error=error_detail(error))
        finally:
            for task in (wanted_no_more, settled):
                task.cancel()
            await asyncio.gather(wanted_no_more, settled, return_exceptions=True)
