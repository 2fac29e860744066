"""Children in this database, as a place like any other: its questions, asked of our own rules."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid5

from lockgate.answer import accepted
from lockgate.call_outcomes import RequestStopOutcome
from lockgate.errors import EntryRefused, StoreUnavailable
from lockgate.outcomes import EntryOutcome, EntryResult
from lockgate.remote import (
    CHILD_RESUME_TIMEOUT_S,
    ChildAddress,
    ChildBusy,
    ChildStatus,
    ChildUnconfirmed,
    standing,
)
from lockgate.requests import Start, UserInput, WithMessage
from lockgate.rules import entries, runs, sessions, stops
from lockgate.scope import Scope
from lockgate.strict_json import dumps

POLL_S = 0.1  # how often an entry looks whether the run that it interrupted has settled
BUSY = (EntryOutcome.ALREADY_RUNNING, EntryOutcome.INTERRUPTING)


@dataclass(frozen=True, slots=True)
class LocalChildren:
    """Children in this database: the questions of a ChildHost, asked of our own rules.

    message_id  the same for every try to deliver one message, so that it is delivered once
    """

    scope: Scope
    message_id: str

    async def start(self, request: Start) -> str:
        """Start an idle child's next run."""
        child = ChildAddress(request.session_id, request.agent_type)
        return await self._entered(entries.start, "start", child, input=dumps(request.input()))

    async def resume(self, child: ChildAddress, message: UserInput) -> str:
        """Send a message to a child that is not idle."""
        options = dumps(WithMessage(message).wire())
        return await self._entered(entries.resume, "resume", child, options=options)

    async def status(self, child: ChildAddress) -> ChildStatus:
        """Read how a child stands."""
        answer = await self._call(sessions.status, child)
        if answer.session_id is None:
            raise EntryRefused("NOT_FOUND", "The companion's session is gone")
        return ChildStatus(standing(answer.session_status), answer.output, answer.error_detail)

    async def abort(self, child: ChildAddress) -> bool:
        """Ask the run that a child has now to end; a repeat is for no run after it."""
        current = await self._call(runs.get_current_run, child)
        answer = await self._call(
            stops.abort, child, run_id=current.run_id, reason="terminated_by_parent"
        )
        return bool(answer.outcome is RequestStopOutcome.STOPPING)

    async def _entered(
        self,
        rule: Callable[..., Awaitable[EntryResult]],
        drive: str,
        child: ChildAddress,
        **given: Any,
    ) -> str:
        """Enter a child's session once, and return the run that took the message."""
        host = self.scope.around.host
        run_id = uuid5(self.scope.run_id, self.message_id)
        try:
            async with asyncio.timeout(CHILD_RESUME_TIMEOUT_S):
                taken = await self._call(runs.get_run, child, run_id=run_id)
                if taken.run_id is not None:
                    return str(run_id)
                answer = await self._settled_entry(
                    rule,
                    child,
                    agent_type=child.agent_type,
                    run_id=run_id,
                    concurrent_entry=host.concurrent_entry,
                    dispatch_limit_ms=host.dispatch_limit_ms,
                    **given,
                )
        except TimeoutError as error:
            raise ChildUnconfirmed(error) from error
        except StoreUnavailable as error:
            if error.committed is False:
                raise
            raise ChildUnconfirmed(error) from error
        if answer.outcome in BUSY:
            raise ChildBusy
        run = accepted(answer, drive).run_id
        self.scope.around.hurry()
        return str(run)

    async def _settled_entry(
        self, rule: Callable[..., Awaitable[EntryResult]], child: ChildAddress, **given: Any
    ) -> EntryResult:
        """Enter, and where a run had to be interrupted for it, again once that one has settled."""
        bound_s = self.scope.around.host.concurrent_entry_timeout_ms / 1_000
        deadline = time.monotonic() + bound_s
        first: EntryResult = await self._call(rule, child, **given)
        answer = first
        while (
            answer.outcome is EntryOutcome.INTERRUPTING
            and answer.run_id == first.run_id
            and time.monotonic() < deadline
        ):
            await asyncio.sleep(POLL_S)
            answer = await self._call(rule, child, **given)
        return answer

    async def _call(
        self, rule: Callable[..., Awaitable[Any]], child: ChildAddress, **given: Any
    ) -> Any:
        return await self.scope.around.database.call(
            rule,
            session_id=child.session_id,
            tenant_id=self.scope.address["tenant_id"],
            **given,
        )
