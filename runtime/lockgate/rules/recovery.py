"""Recovery: a worker's promise to be there, what nothing executes, and who drives it next."""

from __future__ import annotations

from uuid import UUID

from lockgate.rules.call import Connection, call_many, call_none, call_one
from lockgate.worker_outcomes import (
    CompleteEndResult,
    ContinueSessionResult,
    HeartbeatResult,
    RecoveryMetricsResult,
    RequeueRunResult,
    StandingStop,
    StrandedRun,
    SweepFinding,
)


async def heartbeat(
    conn: Connection,
    *,
    worker_id: str,
    lease_ms: int = 5_000,
    draining: bool = False,
    takeovers: int = 0,
    recoveries: int = 0,
    exhausted: int = 0,
    fenced_writes: int = 0,
    swept_ago_ms: int | None = None,
) -> HeartbeatResult:
    """Renew a worker's promise to be there for another lease, and tell its totals."""
    return await call_one(
        conn,
        HeartbeatResult,
        "heartbeat",
        p_worker_id=worker_id,
        p_lease_ms=lease_ms,
        p_draining=draining,
        p_takeovers=takeovers,
        p_recoveries=recoveries,
        p_exhausted=exhausted,
        p_fenced_writes=fenced_writes,
        p_swept_ago_ms=swept_ago_ms,
    )


async def sweep(
    conn: Connection,
    *,
    worker_id: str,
    limit: int = 100,
    dispatch_limit_ms: int = 30_000,
    first_run_limit_ms: int = 300_000,
    end_limit_ms: int = 10_000,
    with_paused: bool = True,
) -> list[SweepFinding]:
    """Find what nothing executes, and what is paused for nothing; it only finds."""
    return await call_many(
        conn,
        SweepFinding,
        "sweep",
        p_worker_id=worker_id,
        p_limit=limit,
        p_dispatch_limit_ms=dispatch_limit_ms,
        p_first_run_limit_ms=first_run_limit_ms,
        p_end_limit_ms=end_limit_ms,
        p_with_paused=with_paused,
    )


async def requeue_run(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    drive_id: UUID,
    finding: str,
    worker_id: str,
    failure: str | None = None,
    max_attempts: int = 5,
    auto_resume: bool = True,
    lock_timeout_ms: int | None = None,
    tenant_id: str = "",
) -> RequeueRunResult:
    """Hand a run that nothing executes to a new attempt; failure is a JSON text."""
    return await call_one(
        conn,
        RequeueRunResult,
        "requeue_run",
        p_session_id=session_id,
        p_run_id=run_id,
        p_drive_id=drive_id,
        p_finding=finding,
        p_worker_id=worker_id,
        p_failure=failure,
        p_max_attempts=max_attempts,
        p_auto_resume=auto_resume,
        p_lock_timeout_ms=lock_timeout_ms,
        p_tenant_id=tenant_id,
    )


async def continue_session(
    conn: Connection,
    *,
    session_id: str,
    acting_user_id: str | None = None,
    lock_timeout_ms: int | None = None,
    tenant_id: str = "",
) -> ContinueSessionResult:
    """Start the run that goes on with a paused session that waits for nothing any more."""
    return await call_one(
        conn,
        ContinueSessionResult,
        "continue_session",
        p_session_id=session_id,
        p_acting_user_id=acting_user_id,
        p_lock_timeout_ms=lock_timeout_ms,
        p_tenant_id=tenant_id,
    )


async def complete_end(
    conn: Connection,
    *,
    session_id: str,
    acting_user_id: str | None = None,
    lock_timeout_ms: int | None = None,
    tenant_id: str = "",
) -> CompleteEndResult:
    """Write the rest of an end that a store client began and left."""
    return await call_one(
        conn,
        CompleteEndResult,
        "complete_end",
        p_session_id=session_id,
        p_acting_user_id=acting_user_id,
        p_lock_timeout_ms=lock_timeout_ms,
        p_tenant_id=tenant_id,
    )


async def list_stops(conn: Connection, *, worker_id: str) -> list[StandingStop]:
    """Ask once for all runs of a worker which of them are to stop."""
    return await call_many(conn, StandingStop, "list_stops", p_worker_id=worker_id)


async def list_stranded_runs(conn: Connection, *, limit: int = 1_000) -> list[StrandedRun]:
    """List the runs that nothing executes, longest first."""
    return await call_many(conn, StrandedRun, "list_stranded_runs", p_limit=limit)


async def recovery_metrics(conn: Connection) -> RecoveryMetricsResult:
    """Sum up how recovery stands; it names nobody."""
    return await call_one(conn, RecoveryMetricsResult, "recovery_metrics")


async def wake_workers(conn: Connection) -> None:
    """Tell workers of other processes that a drive is waiting; only a hint."""
    await call_none(conn, "wake_workers")


async def listen_for_drives(conn: Connection) -> None:
    """Make this connection hear wake_workers."""
    await call_none(conn, "listen_for_drives")
