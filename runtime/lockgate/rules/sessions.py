"""Sessions: made, read, failed when they never had a run, and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lockgate.outcomes import (
    CreateSessionResult,
    DeleteSessionResult,
    FailSessionWithoutRunResult,
    ListResult,
    SnapshotResult,
    StatusResult,
)
from lockgate.rules.call import Connection, call_one


async def create_session(
    conn: Connection,
    *,
    session_id: str,
    agent_type: str,
    state: str | None = None,
    user_id: str | None = None,
    tags: Sequence[str] | None = None,
    metadata: str | None = None,
    parent_session_id: str | None = None,
    root_session_id: str | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> CreateSessionResult:
    """Make a session without a run; state and metadata are JSON texts."""
    return await call_one(
        conn,
        CreateSessionResult,
        "create_session",
        p_session_id=session_id,
        p_agent_type=agent_type,
        p_state=state,
        p_user_id=user_id,
        p_tags=None if tags is None else list(tags),
        p_metadata=metadata,
        p_parent_session_id=parent_session_id,
        p_root_session_id=root_session_id,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def fail_session_without_run(
    conn: Connection,
    *,
    session_id: str,
    error_detail: str,
    acting_user_id: str | None = None,
    lock_timeout_ms: int | None = None,
    tenant_id: str = "",
) -> FailSessionWithoutRunResult:
    """Record that a session's first entry failed before any run existed."""
    return await call_one(
        conn,
        FailSessionWithoutRunResult,
        "fail_session_without_run",
        p_session_id=session_id,
        p_error_detail=error_detail,
        p_acting_user_id=acting_user_id,
        p_lock_timeout_ms=lock_timeout_ms,
        p_tenant_id=tenant_id,
    )


async def status(
    conn: Connection,
    *,
    session_id: str,
    dispatch_limit_ms: int = 30_000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> StatusResult:
    """Read where a session stands; its session_id is None where there is none."""
    return await call_one(
        conn,
        StatusResult,
        "status",
        p_session_id=session_id,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def snapshot(
    conn: Connection, *, session_id: str, acting_user_id: str | None = None, tenant_id: str = ""
) -> SnapshotResult:
    """Read a session's history and the cursor that follows it; session_id None is no session."""
    return await call_one(
        conn,
        SnapshotResult,
        "snapshot",
        p_session_id=session_id,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def list_messages(
    conn: Connection,
    *,
    session_id: str,
    after: int = 0,
    limit: int = 1000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> ListResult:
    """Read a page of a session's history after a message's seq; limit is 1 to 1,000."""
    return await call_one(
        conn,
        ListResult,
        "list_messages",
        p_session_id=session_id,
        p_after=after,
        p_limit=limit,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def list_checkpoints(
    conn: Connection,
    *,
    session_id: str,
    limit: int = 50,
    offset: int = 0,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> ListResult:
    """Read a page of a session's checkpoints, newest first; limit is 1 to 200."""
    return await call_one(
        conn,
        ListResult,
        "list_checkpoints",
        p_session_id=session_id,
        p_limit=limit,
        p_offset=offset,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def list_sessions(
    conn: Connection,
    *,
    user_id: str | None = None,
    agent_type: str | None = None,
    statuses: Sequence[str] | None = None,
    parent_session_id: str | None = None,
    roots_only: bool = False,
    tags: Sequence[str] | None = None,
    metadata: str | None = None,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    limit: int = 50,
    offset: int = 0,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> ListResult:
    """Read a page of the sessions that pass every filter given, newest first.

    tags, metadata  a session has all of them; metadata is a JSON text
    created_to      exclusive; created_from is inclusive
    limit           1 to 200
    """
    return await call_one(
        conn,
        ListResult,
        "list_sessions",
        p_user_id=user_id,
        p_agent_type=agent_type,
        p_statuses=None if statuses is None else list(statuses),
        p_parent_session_id=parent_session_id,
        p_roots_only=roots_only,
        p_tags=None if tags is None else list(tags),
        p_metadata=metadata,
        p_created_from=created_from,
        p_created_to=created_to,
        p_limit=limit,
        p_offset=offset,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def delete_session(
    conn: Connection, *, session_id: str, acting_user_id: str | None = None, tenant_id: str = ""
) -> DeleteSessionResult:
    """Delete a session and its tree; on AGAIN commit, and call once more."""
    return await call_one(
        conn,
        DeleteSessionResult,
        "delete_session",
        p_session_id=session_id,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )
