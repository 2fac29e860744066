"""Runs: read, and written for a runtime that is not ours."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from lockgate.outcomes import (
    CommitTerminalResult,
    EntryResult,
    GetRunResult,
    ListResult,
    UpdateRunStatusResult,
)
from lockgate.rules.call import Connection, call_one


async def get_run(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> GetRunResult:
    """Read one run of a session; its run_id is None where there is none."""
    return await call_one(
        conn,
        GetRunResult,
        "get_run",
        p_session_id=session_id,
        p_run_id=run_id,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def commit_run_start(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    drive: str,
    session_status: str,
    expect: str,
    messages: str | None = None,
    keep_messages: int | None = None,
    state: str | None = None,
    request_key: str | None = None,
    request_digest: str | None = None,
    finish_current: str | None = None,
    displace_owner: str | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EntryResult:
    """Start a run for a foreign runtime; expect, messages, state, finish_current are JSON texts."""
    return await call_one(
        conn,
        EntryResult,
        "commit_run_start",
        p_session_id=session_id,
        p_run_id=run_id,
        p_drive=drive,
        p_session_status=session_status,
        p_expect=expect,
        p_messages=messages,
        p_keep_messages=keep_messages,
        p_state=state,
        p_request_key=request_key,
        p_request_digest=request_digest,
        p_finish_current=finish_current,
        p_displace_owner=displace_owner,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def commit_terminal(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    status: str,
    output: str | None = None,
    error_detail: str | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> CommitTerminalResult:
    """Write a session's terminal status; output and error_detail are JSON texts."""
    return await call_one(
        conn,
        CommitTerminalResult,
        "commit_terminal",
        p_session_id=session_id,
        p_run_id=run_id,
        p_status=status,
        p_output=output,
        p_error_detail=error_detail,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def update_run_status(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    status: str,
    completed_at: datetime | None = None,
    end_sequence: int | None = None,
    output: str | None = None,
    error_detail: str | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> UpdateRunStatusResult:
    """Write a run's status as far as its transitions allow; output, error_detail are JSON texts."""
    return await call_one(
        conn,
        UpdateRunStatusResult,
        "update_run_status",
        p_session_id=session_id,
        p_run_id=run_id,
        p_status=status,
        p_completed_at=completed_at,
        p_end_sequence=end_sequence,
        p_output=output,
        p_error_detail=error_detail,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def get_current_run(
    conn: Connection, *, session_id: str, acting_user_id: str | None = None, tenant_id: str = ""
) -> GetRunResult:
    """Read a session's current run; its run_id is None where there is none."""
    return await call_one(
        conn,
        GetRunResult,
        "get_current_run",
        p_session_id=session_id,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def get_run_by_request_key(
    conn: Connection,
    *,
    session_id: str,
    request_key: str,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> GetRunResult:
    """Read the run that holds a session's request key; its run_id is None where none does."""
    return await call_one(
        conn,
        GetRunResult,
        "get_run_by_request_key",
        p_session_id=session_id,
        p_request_key=request_key,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def list_runs(
    conn: Connection,
    *,
    session_id: str,
    limit: int = 50,
    offset: int = 0,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> ListResult:
    """Read a page of a session's runs, newest turn first; limit is 1 to 200."""
    return await call_one(
        conn,
        ListResult,
        "list_runs",
        p_session_id=session_id,
        p_limit=limit,
        p_offset=offset,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )
