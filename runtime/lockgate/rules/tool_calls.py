"""Tool calls: the answers to those that wait for a client."""

from __future__ import annotations

from lockgate.call_outcomes import PlanSubmitResult, SubmitResult
from lockgate.rules.call import Connection, call_one


async def submit_tool_result(
    conn: Connection,
    *,
    session_id: str,
    tool_call_id: str,
    answer: str,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> SubmitResult:
    """Store the answer to a pending call, once; answer is a JSON text."""
    return await call_one(
        conn,
        SubmitResult,
        "submit_tool_result",
        p_session_id=session_id,
        p_tool_call_id=tool_call_id,
        p_answer=answer,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def plan_submit(
    conn: Connection,
    *,
    session_id: str,
    tool_call_id: str,
    answer: str,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> PlanSubmitResult:
    """Say what submit_tool_result would say now, without a lock and without a write."""
    return await call_one(
        conn,
        PlanSubmitResult,
        "plan_submit",
        p_session_id=session_id,
        p_tool_call_id=tool_call_id,
        p_answer=answer,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )
