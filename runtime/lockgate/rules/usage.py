"""Usage: what a session's runs have used, summed up."""

from __future__ import annotations

from lockgate.call_outcomes import RecordUsageEntriesResult, UsageRollupResult
from lockgate.outcomes import ListResult
from lockgate.rules.call import Connection, call_one


async def usage_rollup(
    conn: Connection, *, session_id: str, acting_user_id: str | None = None, tenant_id: str = ""
) -> UsageRollupResult:
    """Sum up what a session's runs have used; rollup is None where there is no session."""
    return await call_one(
        conn,
        UsageRollupResult,
        "usage_rollup",
        p_session_id=session_id,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def record_usage_entries(
    conn: Connection,
    *,
    session_id: str,
    entries: str,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> RecordUsageEntriesResult:
    """Add what an application counts itself, once for each id; entries is a JSON text."""
    return await call_one(
        conn,
        RecordUsageEntriesResult,
        "record_usage_entries",
        p_session_id=session_id,
        p_entries=entries,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def list_usage_entries(
    conn: Connection,
    *,
    session_id: str,
    after: int = 0,
    limit: int = 1000,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> ListResult:
    """Read a page of what a session's runs have used, after an entry's number."""
    return await call_one(
        conn,
        ListResult,
        "list_usage_entries",
        p_session_id=session_id,
        p_after=after,
        p_limit=limit,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )
