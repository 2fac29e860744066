"""Submits: what a client answers to a call that waits for it.

Whatever may refuse an answer does so before it is stored, and the call stays pending. The rule that
stores the last answer of a batch starts the run that goes on, in the same commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockgate.agents import Agent, LookupFactoryContext
from lockgate.answer import SUBMITTED, submit_refused
from lockgate.call_outcomes import PlanSubmitResult, SubmitOutcome, SubmitResult
from lockgate.client_answers import ClientToolResult, Submitted, ToolAnswer, answer_text
from lockgate.database import Database
from lockgate.errors import EntryRefused
from lockgate.forwarding import Submit, forwarded
from lockgate.hooks import Identity
from lockgate.host import Host
from lockgate.materialize import materialize
from lockgate.requests import Actor
from lockgate.rules import tool_calls

INVALID_RESULT_MESSAGE = "The submitted result failed the tool output validation"


@dataclass(frozen=True, slots=True)
class Submits:
    """Takes submits for one host over one database."""

    host: Host
    database: Database

    async def submit(
        self, session_id: str, tool_call_id: str, answer: ToolAnswer, actor: Actor
    ) -> Submitted:
        """Store an answer, once; errors and order as Runtime.submit_tool_result says."""
        given: dict[str, Any] = {
            "session_id": session_id,
            "tool_call_id": tool_call_id,
            "answer": answer_text(tool_call_id, answer),
            "acting_user_id": actor.user_id,
            "tenant_id": actor.tenant_id,
        }
        plan = await self.database.call(tool_calls.plan_submit, **given)
        if plan.outcome is SubmitOutcome.UNKNOWN_TOOL_CALL:
            elsewhere = await self._forwarded(Submit(session_id, tool_call_id, answer, actor))
            if elsewhere is not None:
                return elsewhere
        if plan.outcome is not SubmitOutcome.ACCEPTED:
            return _submitted(plan, tool_call_id)
        agent = await self._looked_up(plan)
        if isinstance(answer, ClientToolResult):
            _refuse_misfit(agent, plan, answer)
        return _submitted(await self.database.call(tool_calls.submit_tool_result, **given))

    async def _forwarded(self, submit: Submit) -> Submitted | None:
        """Send a submit for a call that nobody knows here to whoever may know it."""
        if self.host.submit_forwarder is None:
            return None
        bound_s = self.host.concurrent_entry_timeout_ms / 1000
        return await forwarded(self.host.submit_forwarder, submit, bound_s)

    async def _looked_up(self, plan: PlanSubmitResult) -> Agent:
        """Find the agent of the call's own session, as the run that goes on will need it."""
        detail: dict[str, Any] = plan.detail or {}
        assert plan.agent_type is not None
        context = LookupFactoryContext(
            env=self.host.env,
            session_id=plan.session_id,
            identity=Identity.told(detail["identity"]),
            agent_type=plan.agent_type,
            reason="submit_validation",
        )
        return (await materialize(self.host, context)).agent


def _submitted(
    answer: PlanSubmitResult | SubmitResult, tool_call_id: str | None = None
) -> Submitted:
    """Return what a stored answer is, or raise what the label means."""
    if answer.outcome not in SUBMITTED:
        raise submit_refused(answer)
    is_new = answer.outcome is SubmitOutcome.ACCEPTED
    found = answer.tool_call_id or tool_call_id
    assert found is not None
    return Submitted(
        tool_call_id=found,
        status="accepted" if is_new else "already_completed",
        run_id=answer.run_id if is_new and isinstance(answer, SubmitResult) else None,
        approved=answer.approved,
    )


def _refuse_misfit(agent: Agent, plan: PlanSubmitResult, answer: ClientToolResult) -> None:
    """Hold a result to its tool's output schema, if it has one.

    Errors  EntryRefused INVALID_RESULT; its issues are told only to who asked for them
    """
    called = next((tool for tool in agent.tools if tool.name == plan.tool_name), None)
    if called is None or called.output_schema is None:
        return
    flaws = called.output_schema.flaws(answer.result)
    if flaws is not None:
        raise EntryRefused(
            "INVALID_RESULT",
            INVALID_RESULT_MESSAGE,
            detail={
                "toolName": plan.tool_name,
                "toolCallId": plan.tool_call_id,
                "issues": flaws.split("; "),
            },
        )
