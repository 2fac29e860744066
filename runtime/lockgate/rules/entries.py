"""Entries: a request that wants a run."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lockgate.outcomes import EntryResult
from lockgate.rules.call import Connection, call_one


async def start(
    conn: Connection,
    *,
    session_id: str,
    agent_type: str,
    input: str,
    request_key: str | None = None,
    user_id: str | None = None,
    tags: Sequence[str] | None = None,
    metadata: str | None = None,
    parent_session_id: str | None = None,
    root_session_id: str | None = None,
    concurrent_entry: str = "reject",
    concurrent_entry_timeout_ms: int = 30_000,
    run_id: UUID | None = None,
    expect: str | None = None,
    dispatch_limit_ms: int = 30_000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EntryResult:
    """Start a run with a user's message; input, metadata and expect are JSON texts."""
    return await call_one(
        conn,
        EntryResult,
        "start",
        p_session_id=session_id,
        p_agent_type=agent_type,
        p_input=input,
        p_request_key=request_key,
        p_user_id=user_id,
        p_tags=None if tags is None else list(tags),
        p_metadata=metadata,
        p_parent_session_id=parent_session_id,
        p_root_session_id=root_session_id,
        p_concurrent_entry=concurrent_entry,
        p_concurrent_entry_timeout_ms=concurrent_entry_timeout_ms,
        p_run_id=run_id,
        p_expect=expect,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def plan_start(
    conn: Connection,
    *,
    session_id: str,
    agent_type: str,
    input: str,
    request_key: str | None = None,
    user_id: str | None = None,
    tags: Sequence[str] | None = None,
    metadata: str | None = None,
    parent_session_id: str | None = None,
    root_session_id: str | None = None,
    concurrent_entry: str = "reject",
    run_id: UUID | None = None,
    expect: str | None = None,
    dispatch_limit_ms: int = 30_000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EntryResult:
    """Say what start would say now, without a lock and without a write."""
    return await call_one(
        conn,
        EntryResult,
        "plan_start",
        p_session_id=session_id,
        p_agent_type=agent_type,
        p_input=input,
        p_request_key=request_key,
        p_user_id=user_id,
        p_tags=None if tags is None else list(tags),
        p_metadata=metadata,
        p_parent_session_id=parent_session_id,
        p_root_session_id=root_session_id,
        p_concurrent_entry=concurrent_entry,
        p_run_id=run_id,
        p_expect=expect,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def resume(
    conn: Connection,
    *,
    session_id: str,
    agent_type: str,
    options: str,
    request_key: str | None = None,
    concurrent_entry: str = "reject",
    concurrent_entry_timeout_ms: int = 30_000,
    run_id: UUID | None = None,
    expect: str | None = None,
    dispatch_limit_ms: int = 30_000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EntryResult:
    """Go on with a session that stands idle; options and expect are JSON texts."""
    return await call_one(
        conn,
        EntryResult,
        "resume",
        p_session_id=session_id,
        p_agent_type=agent_type,
        p_options=options,
        p_request_key=request_key,
        p_concurrent_entry=concurrent_entry,
        p_concurrent_entry_timeout_ms=concurrent_entry_timeout_ms,
        p_run_id=run_id,
        p_expect=expect,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def plan_resume(
    conn: Connection,
    *,
    session_id: str,
    agent_type: str,
    options: str,
    request_key: str | None = None,
    concurrent_entry: str = "reject",
    run_id: UUID | None = None,
    expect: str | None = None,
    dispatch_limit_ms: int = 30_000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EntryResult:
    """Say what resume would say now, without a lock and without a write."""
    return await call_one(
        conn,
        EntryResult,
        "plan_resume",
        p_session_id=session_id,
        p_agent_type=agent_type,
        p_options=options,
        p_request_key=request_key,
        p_concurrent_entry=concurrent_entry,
        p_run_id=run_id,
        p_expect=expect,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def retry(
    conn: Connection,
    *,
    session_id: str,
    agent_type: str,
    checkpoint_id: str | None = None,
    message: str | None = None,
    request_key: str | None = None,
    concurrent_entry: str = "reject",
    concurrent_entry_timeout_ms: int = 30_000,
    run_id: UUID | None = None,
    expect: str | None = None,
    dispatch_limit_ms: int = 30_000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EntryResult:
    """Go on with a failed session; message and expect are JSON texts."""
    return await call_one(
        conn,
        EntryResult,
        "retry",
        p_session_id=session_id,
        p_agent_type=agent_type,
        p_checkpoint_id=checkpoint_id,
        p_message=message,
        p_request_key=request_key,
        p_concurrent_entry=concurrent_entry,
        p_concurrent_entry_timeout_ms=concurrent_entry_timeout_ms,
        p_run_id=run_id,
        p_expect=expect,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def plan_retry(
    conn: Connection,
    *,
    session_id: str,
    agent_type: str,
    checkpoint_id: str | None = None,
    message: str | None = None,
    request_key: str | None = None,
    concurrent_entry: str = "reject",
    run_id: UUID | None = None,
    expect: str | None = None,
    dispatch_limit_ms: int = 30_000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> EntryResult:
    """Say what retry would say now, without a lock and without a write."""
    return await call_one(
        conn,
        EntryResult,
        "plan_retry",
        p_session_id=session_id,
        p_agent_type=agent_type,
        p_checkpoint_id=checkpoint_id,
        p_message=message,
        p_request_key=request_key,
        p_concurrent_entry=concurrent_entry,
        p_run_id=run_id,
        p_expect=expect,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )
