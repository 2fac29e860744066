"""Children: sub-agents and companions of a session."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lockgate.call_outcomes import (
    AncestorItem,
    ChildItem,
    EndRemoteChildResult,
    RecordChildRunningResult,
)
from lockgate.rules.call import Connection, call_many, call_one
from lockgate.worker_outcomes import AwaitChildResult, StartChildResult


async def start_child(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    tool_call_id: str,
    agent_type: str,
    input: str,
    mode: str = "subagent",
    name: str | None = None,
    chunks: Sequence[str] = (),
    usage: str | None = None,
    tenant_id: str = "",
) -> StartChildResult:
    """Make a child for one of a run's calls and start its run; input and usage are JSON texts."""
    return await call_one(
        conn,
        StartChildResult,
        "start_child",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_tool_call_id=tool_call_id,
        p_agent_type=agent_type,
        p_input=input,
        p_mode=mode,
        p_name=name,
        p_chunks=list(chunks),
        p_usage=usage,
        p_tenant_id=tenant_id,
    )


async def record_remote_child(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    tool_call_id: str,
    agent_type: str,
    child_session_id: str,
    mode: str = "subagent",
    name: str | None = None,
    chunks: Sequence[str] = (),
    usage: str | None = None,
    tenant_id: str = "",
) -> StartChildResult:
    """Record a child that another host is about to be asked to start; usage is a JSON text."""
    return await call_one(
        conn,
        StartChildResult,
        "record_remote_child",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_tool_call_id=tool_call_id,
        p_agent_type=agent_type,
        p_child_session_id=child_session_id,
        p_mode=mode,
        p_name=name,
        p_chunks=list(chunks),
        p_usage=usage,
        p_tenant_id=tenant_id,
    )


async def await_child(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    tool_call_id: str,
    name: str,
    tenant_id: str = "",
) -> AwaitChildResult:
    """Have a sub-agent's call wait for a companion that is there."""
    return await call_one(
        conn,
        AwaitChildResult,
        "await_child",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_tool_call_id=tool_call_id,
        p_name=name,
        p_tenant_id=tenant_id,
    )


async def record_child_running(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    child_session_id: str,
    child_run_id: UUID | None = None,
    tenant_id: str = "",
) -> RecordChildRunningResult:
    """Record that a companion has taken a message, and runs again unless it has ended by now."""
    return await call_one(
        conn,
        RecordChildRunningResult,
        "record_child_running",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_child_session_id=child_session_id,
        p_child_run_id=child_run_id,
        p_tenant_id=tenant_id,
    )


async def end_remote_child(
    conn: Connection,
    *,
    session_id: str,
    child_session_id: str,
    status: str,
    output: str | None = None,
    error_detail: str | None = None,
    run_id: UUID | None = None,
    attempt: int | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EndRemoteChildResult:
    """Record how a child on another host ended; output and error_detail are JSON texts."""
    return await call_one(
        conn,
        EndRemoteChildResult,
        "end_remote_child",
        p_session_id=session_id,
        p_child_session_id=child_session_id,
        p_status=status,
        p_output=output,
        p_error_detail=error_detail,
        p_run_id=run_id,
        p_attempt=attempt,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def list_children(
    conn: Connection, *, session_id: str, acting_user_id: str | None = None, tenant_id: str = ""
) -> list[ChildItem]:
    """Read the children of a session, oldest first."""
    return await call_many(
        conn,
        ChildItem,
        "list_children",
        p_session_id=session_id,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def list_ancestors(
    conn: Connection, *, session_id: str, tenant_id: str = ""
) -> list[AncestorItem]:
    """Read the sessions that a child descends from, the root first."""
    return await call_many(
        conn, AncestorItem, "list_ancestors", p_session_id=session_id, p_tenant_id=tenant_id
    )
