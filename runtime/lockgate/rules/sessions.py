"""Sessions: made, read, and failed when they never had a run."""

from __future__ import annotations

from collections.abc import Sequence

from lockgate.outcomes import (
    CreateSessionResult,
    FailSessionWithoutRunResult,
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
