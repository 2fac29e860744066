"""The runtime: one object, one method per verb, in any process that has the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID, uuid4

import structlog

from lockgate.agents import Agent, AgentRegistry, AgentResolver
from lockgate.answer import agent_type_mismatch, session_made
from lockgate.client_answers import Submitted, ToolAnswer, parse_answer
from lockgate.entry import Entry
from lockgate.errors import error_detail
from lockgate.forwarding import SubmitForwarder
from lockgate.handle import RunHandle, SessionHandle
from lockgate.hooks import Hooks, Origin
from lockgate.host import ConcurrentEntry, Host
from lockgate.outcomes import CreateSessionResult, EntryOutcome
from lockgate.requests import (
    TRUSTED,
    Actor,
    Continue,
    EntryRequest,
    Resume,
    ResumeOptions,
    Retry,
    Start,
    UserInput,
    parse_resume_options,
)
from lockgate.rules import sessions
from lockgate.stops import Stops
from lockgate.strict_json import dumps
from lockgate.submits import Submits
from lockgate.usage import UsageStoreFactory

log = structlog.get_logger(__name__)


class Runtime(Stops):
    """Lockgate for an application: its agents, its hooks, and the verbs of a session.

    agents                       agents, or a resolver that finds one by its type
    hooks                        before_entry, after_entry, on_run_settled
    env                          any value; every hook and factory is given it
    concurrent_entry             'reject', or 'interrupt_previous': the last message wins
    concurrent_entry_timeout_ms  how long an entry waits at most
    auto_resume                  whether a run whose worker was lost goes on by itself; if not, it
                                 is paused and settles, and a resume goes on with it
    usage_store                  makes the store of a session's usage, plain or async, for a drive
                                 or to read; without it usage is kept in rows of our own
    submit_forwarder             sends on a submit for a session that another host owns
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
        auto_resume: bool = True,
        dispatch_limit_ms: int = 30_000,
        usage_store: UsageStoreFactory | None = None,
        submit_forwarder: SubmitForwarder | None = None,
    ) -> None:
        super().__init__(
            Host(
                agents=agents if callable(agents) else AgentRegistry(agents),
                hooks=hooks or Hooks(),
                env=env,
                concurrent_entry=concurrent_entry,
                concurrent_entry_timeout_ms=concurrent_entry_timeout_ms,
                auto_resume=auto_resume,
                dispatch_limit_ms=dispatch_limit_ms,
                usage_store=usage_store,
                submit_forwarder=submit_forwarder,
            )
        )
        self.kick: Callable[[], None] | None = None
        self._cancellable: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Close the pool. What cancels a run from now on is not heard any more."""
        for task in self._cancellable:
            task.cancel()
        await asyncio.gather(*self._cancellable, return_exceptions=True)
        await super().close()

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
    ) -> RunHandle:
        """Start a run with a user's message, on a new session or an idle one.

        request_key  1 to 128 characters of [A-Za-z0-9._:-]: the same request under it runs once
        run_id       chosen by the caller, so that a repeat of this very call is a no-op
        cancelled    once it is set, the entry is refused framework_cancelled instead of committed;
                     after the commit an abort is recorded on its run
        …            state, user_id, tags, metadata, parent_session_id, root_session_id
        Errors       EntryRefused and its kinds; StoreUnavailable; RuleBroken
        Source       design section 6.1
        """
        request = Start(
            session_id, agent_type, message, request_key=request_key, **identity_and_state
        )
        return await self._enter(request, actor, origin, run_id, cancelled)

    async def resume(
        self,
        session_id: str,
        agent_type: str,
        options: ResumeOptions | Mapping[str, Any] = Continue(),  # noqa: B008 - frozen
        *,
        request_key: str | None = None,
        actor: Actor = TRUSTED,
        origin: Origin | None = None,
        run_id: UUID | None = None,
        cancelled: asyncio.Event | None = None,
    ) -> RunHandle:
        """Go on with a session that was interrupted, or is paused with nothing awaited.

        options  Continue, WithMessage or FromCheckpoint, or a mapping as the wire spells them
        …        as start
        Errors   as start; state_not_resumable, which is retryable while answers are awaited;
                 framework_not_supported for with_confirmation
        """
        request = Resume(
            session_id, agent_type, parse_resume_options(options), request_key=request_key
        )
        return await self._enter(request, actor, origin, run_id, cancelled)

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
    ) -> RunHandle:
        """Go on with a failed session, from its last committed step or from a checkpoint.

        message  a new user's message after what is kept
        …        as start
        Errors   as start; state_not_resumable for a session that is not failed
        """
        request = Retry(session_id, agent_type, checkpoint_id, message, request_key=request_key)
        return await self._enter(request, actor, origin, run_id, cancelled)

    async def submit_tool_result(
        self,
        session_id: str,
        tool_call_id: str,
        answer: ToolAnswer | Mapping[str, Any],
        *,
        actor: Actor = TRUSTED,
    ) -> Submitted:
        """Store the answer to a call that waits for it; the last one of a batch starts a run.

        session_id  of the call, or of the root session it belongs to
        answer      ClientToolResult, ClientToolError or ApprovalResponse, or a mapping as the wire
                    spells them. The first one counts; a later one answers already_completed
        Errors      EntryRefused: invalid_payload, unknown_tool_call, state_not_resumable with cause
                    not_pending_yet (retryable) or run_ended, validation_error for another kind of
                    answer; what materializing the agent raises; INVALID_RESULT for a result that
                    the tool's output schema refuses; transport_error of another host's.
                    StoreUnavailable: to submit again is safe, whatever it knows of the commit
        Source      reference/http.md 7.3
        """
        submitted = await Submits(self.host, self.database).submit(
            session_id, tool_call_id, parse_answer(answer), actor
        )
        self.hurry()  # a repeat too: what the first one was told may be lost, and its hurry with it
        return submitted

    async def get_handle(
        self, session_id: str, agent_type: str, *, actor: Actor = TRUSTED
    ) -> SessionHandle | None:
        """Find a session to come back to; None where there is none, or it is another user's.

        Errors  EntryRefused state_agent_type_mismatch
        """
        answer = await self.status(session_id, actor=actor)
        if answer is None:
            return None
        if answer.agent_type != agent_type:
            raise agent_type_mismatch()
        run = None
        if answer.run_id is not None:
            run = self._handle(session_id, answer.run_id, answer.start_sequence, True, actor)
        return SessionHandle(session_id, agent_type, run, actor, _executor=self)

    async def _enter(
        self,
        request: EntryRequest,
        actor: Actor,
        origin: Origin | None,
        run_id: UUID | None,
        cancelled: asyncio.Event | None,
    ) -> RunHandle:
        answer = await Entry(self.host, self.database).enter(
            request, actor=actor, origin=origin or Origin(), run_id=run_id, cancelled=cancelled
        )
        assert answer.run_id is not None
        attached = answer.outcome is EntryOutcome.ATTACHED
        if not attached:  # a replayed start's first hurry may be lost
            self.hurry()
            self._heed(cancelled, request.session_id, answer.run_id, actor)
        return self._handle(
            request.session_id, answer.run_id, answer.start_sequence, attached, actor
        )

    def _heed(
        self, cancelled: asyncio.Event | None, session_id: str, run_id: UUID, actor: Actor
    ) -> None:
        """Abort a run of our own starting, should its caller cancel it before it has settled."""
        if cancelled is not None:
            task = asyncio.create_task(self.abort_once(cancelled, session_id, run_id, actor))
            self._cancellable.add(task)
            task.add_done_callback(self._cancellable.discard)

    def _handle(
        self,
        session_id: str,
        run_id: UUID,
        start_sequence: int | None,
        attached: bool,
        actor: Actor,
    ) -> RunHandle:
        assert start_sequence is not None
        return RunHandle(session_id, run_id, start_sequence, attached, actor, _runtime=self)

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

    def hurry(self) -> None:
        """Hurry what was just committed: `kick` is set by who can, a worker or a notifier."""
        if self.kick is None:
            return
        try:
            self.kick()
        except Exception as error:  # noqa: BLE001 - it is committed: the queue's poll finds it.
            log.warning("kick.failed", error=error_detail(error))
