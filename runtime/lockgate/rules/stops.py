"""Stops: a run is asked to end at its next boundary."""

from __future__ import annotations

from uuid import UUID

from lockgate.call_outcomes import RequestStopResult
from lockgate.rules.call import Connection, call_one


async def interrupt(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID | None = None,
    reason: str | None = None,
    include_suspended: bool = False,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> RequestStopResult:
    """Ask a run to end interrupted, to be resumed later."""
    return await call_one(
        conn,
        RequestStopResult,
        "interrupt",
        p_session_id=session_id,
        p_run_id=run_id,
        p_reason=reason,
        p_include_suspended=include_suspended,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def abort(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID | None = None,
    reason: str | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> RequestStopResult:
    """Ask a run to end failed, cancelled."""
    return await call_one(
        conn,
        RequestStopResult,
        "abort",
        p_session_id=session_id,
        p_run_id=run_id,
        p_reason=reason,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )
