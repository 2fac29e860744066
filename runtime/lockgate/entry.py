"""The pipeline around the gate: parse, plan, materialize, admit, one rule call.

The rule decides again under its lock whatever was planned here. A plan is read only where something
of the host's may refuse before the commit; otherwise the rule alone answers, in one round trip.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias
from uuid import UUID, uuid4

from lockgate.agents import DriveFactoryContext
from lockgate.answer import accepted, refused
from lockgate.contained import called
from lockgate.database import Database
from lockgate.errors import EntryRefused, error_detail
from lockgate.hooks import BeforeEntryContext, Identity, Origin, Refuse
from lockgate.host import Host
from lockgate.materialize import materialize, needs_no_factory
from lockgate.outcomes import EntryOutcome, EntryResult
from lockgate.requests import Actor, EntryRequest, parse_request_key
from lockgate.rules import entries, sessions
from lockgate.strict_json import dumps

POLL_S = 0.05  # how often an entry looks whether the run it interrupted has settled

Rule: TypeAlias = Callable[..., Awaitable[EntryResult]]

# The rule of each request, by its drive, and the one that only says what it would say.
RULES: Mapping[str, tuple[Rule, Rule]] = MappingProxyType(
    {
        "start": (entries.start, entries.plan_start),
        "resume": (entries.resume, entries.plan_resume),
        "retry": (entries.retry, entries.plan_retry),
    }
)
GOES_ON = (EntryOutcome.STARTED, EntryOutcome.RESUMED)


@dataclass(frozen=True, slots=True)
class Entry:
    """Takes entries for one host over one database."""

    host: Host
    database: Database

    async def enter(
        self,
        request: EntryRequest,
        *,
        actor: Actor,
        origin: Origin,
        run_id: UUID | None = None,
        cancelled: asyncio.Event | None = None,
    ) -> EntryResult:
        """Take a request through every gate; the answer names the run it started or found.

        cancelled  once it is set, nothing is committed any more
        Errors     EntryRefused and its kinds; StoreUnavailable; RuleBroken
        Source     reference/state.md 3.6
        """
        if request.request_key is not None:
            parse_request_key(request.request_key)
        call = _Call(self, request, actor, origin, run_id or uuid4(), cancelled)
        if self._gate_decides_alone(request.agent_type):
            answer = await call.commit(expect=None)
        else:
            answer = await self._planned(call)
        return accepted(answer, request.drive)

    async def _planned(self, call: _Call) -> EntryResult:
        """Commit what was planned; a lost race, or a run that had to be stopped, is once more."""
        answer = await call.planned_commit()
        if answer.outcome is EntryOutcome.INTERRUPTING:
            await self._wait_for_the_end(answer, call)
            answer = await call.planned_commit(after=answer.run_id)
        elif answer.outcome is EntryOutcome.REJECTED and answer.cause != "run_id_conflict":
            answer = await call.planned_commit()
        if answer.outcome is EntryOutcome.INTERRUPTING:
            raise refused(answer, EntryOutcome.ALREADY_RUNNING)
        return answer

    def _gate_decides_alone(self, agent_type: str) -> bool:
        """Say whether nothing of the host's can refuse: then no plan is needed."""
        return (
            self.host.hooks.before_entry is None
            and self.host.concurrent_entry == "reject"
            and needs_no_factory(self.host, agent_type)
        )

    async def _wait_for_the_end(self, answer: EntryResult, call: _Call) -> None:
        """Wait until the interrupted run executes no more; past the bound the stop still stands."""
        assert answer.run_id is not None
        deadline = time.monotonic() + self.host.concurrent_entry_timeout_ms / 1000
        while time.monotonic() < deadline:
            await call.refuse_if_cancelled()
            status = await self.database.call(
                sessions.status,
                session_id=answer.session_id,
                dispatch_limit_ms=self.host.dispatch_limit_ms,
                tenant_id=call.actor.tenant_id,
            )
            if status.run_id != answer.run_id or not status.is_executing:
                return
            await asyncio.sleep(POLL_S)
        raise refused(answer, EntryOutcome.ALREADY_RUNNING)


@dataclass(slots=True)
class _Call:
    """One entry under way. Its run id was chosen first, so that its commit can be repeated."""

    entry: Entry
    request: EntryRequest
    actor: Actor
    origin: Origin
    run_id: UUID
    cancelled: asyncio.Event | None
    _was_admitted: bool = field(default=False)

    async def planned_commit(self, after: UUID | None = None) -> EntryResult:
        """Plan, ask the host once, and commit what was planned.

        after  the run this entry has interrupted: another one by now is not interrupted too
        """
        await self.refuse_if_cancelled()
        plan = await self._plan()
        if plan.outcome not in (*GOES_ON, EntryOutcome.INTERRUPTING):
            return plan
        detail: dict[str, Any] = plan.detail or {}
        expect = detail["expect"]
        if after is not None and expect["currentRunId"] != str(after):
            raise refused(plan, EntryOutcome.ALREADY_RUNNING)
        if not self._was_admitted:
            await self._ask_host(detail)
            self._was_admitted = True
        return await self.commit(expect=expect)

    async def commit(self, *, expect: Any) -> EntryResult:
        """Call the rule: the gate itself."""
        await self.refuse_if_cancelled()
        rule, _ = RULES[self.request.drive]
        return await self.entry.database.call(
            rule,
            **self._given(),
            concurrent_entry_timeout_ms=self.entry.host.concurrent_entry_timeout_ms,
            expect=None if expect is None else dumps(expect),
        )

    async def _plan(self) -> EntryResult:
        """Ask what the rule would say."""
        _, rule = RULES[self.request.drive]
        return await self.entry.database.call(rule, **self._given())

    def _given(self) -> dict[str, Any]:
        request, host = self.request, self.entry.host
        return {
            "session_id": request.session_id,
            "agent_type": request.agent_type,
            "request_key": request.request_key,
            "concurrent_entry": host.concurrent_entry,
            "run_id": self.run_id,
            "dispatch_limit_ms": host.dispatch_limit_ms,
            "acting_user_id": self.actor.user_id,
            "tenant_id": self.actor.tenant_id,
            **request.arguments(),
        }

    async def refuse_if_cancelled(self) -> None:
        """Refuse an entry whose caller wants it no more; a session's first one is recorded."""
        if self.cancelled is None or not self.cancelled.is_set():
            return
        error = EntryRefused("framework_cancelled", "The entry was cancelled")
        plan = await self._plan()
        if plan.outcome in GOES_ON:
            detail: dict[str, Any] = plan.detail or {}
            await self._record_first_failure(detail["expect"], error)
        raise error

    async def _ask_host(self, plan: dict[str, Any]) -> None:
        """Materialize the agent and ask before_entry; nothing has been written yet.

        A session that never had a run records why its first entry failed, unless it was refused
        by the host's own response.
        """
        identity = Identity.told(plan["identity"])
        try:
            await materialize(self.entry.host, self._context(identity))
            await self._before_entry(identity)
        except EntryRefused as error:
            if error.response is None:
                await self._record_first_failure(plan["expect"], error)
            raise

    def _context(self, identity: Identity) -> DriveFactoryContext:
        return DriveFactoryContext(
            env=self.entry.host.env,
            session_id=self.request.session_id,
            run_id=str(self.run_id),
            drive=self.request.drive,
            identity=identity,
            agent_type=self.request.agent_type,
        )

    async def _before_entry(self, identity: Identity) -> None:
        hook = self.entry.host.hooks.before_entry
        if hook is None:
            return
        context = BeforeEntryContext(
            env=self.entry.host.env,
            session_id=self.request.session_id,
            agent_type=self.request.agent_type,
            drive=self.request.drive,
            origin=self.origin,
            identity=identity,
            **self.request.told(),
        )
        try:
            refusal: Refuse | None = await called(hook, context)
        except Exception as error:
            raise EntryRefused(
                "framework_hook_failed", "before_entry failed", cause=error
            ) from error
        if refusal is not None:
            raise EntryRefused(
                "FORBIDDEN", "before_entry refused the entry", response=refusal.response
            )

    async def _record_first_failure(self, expect: dict[str, Any], error: EntryRefused) -> None:
        if expect["sessionStatus"] is None or expect["currentRunId"] is not None:
            return
        await self.entry.database.call(
            sessions.fail_session_without_run,
            session_id=self.request.session_id,
            error_detail=dumps(error_detail(error)),
            acting_user_id=self.actor.user_id,
            tenant_id=self.actor.tenant_id,
        )
