"""Runs: read one."""

from __future__ import annotations

from uuid import UUID

from lockgate.outcomes import GetRunResult
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
