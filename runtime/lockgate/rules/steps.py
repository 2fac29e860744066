"""Steps: what a drive commits. Every write carries run and attempt; a stale one is fenced."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lockgate.rules.call import Connection, call_one
from lockgate.worker_outcomes import (
    ClaimRunResult,
    FinishRunResult,
    StepResult,
    SuspendRunResult,
)


async def claim_run(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    drive_id: UUID,
    worker_id: str,
    tenant_id: str = "",
) -> ClaimRunResult:
    """Take a run for one drive, once; `over` in every other case."""
    return await call_one(
        conn,
        ClaimRunResult,
        "claim_run",
        p_session_id=session_id,
        p_run_id=run_id,
        p_drive_id=drive_id,
        p_worker_id=worker_id,
        p_tenant_id=tenant_id,
    )


async def commit_reply(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    step: int,
    content: str,
    calls: str = "[]",
    chunks: Sequence[str] = (),
    usage: str | None = None,
    tenant_id: str = "",
) -> StepResult:
    """Save what the model said, before any tool runs; content, calls and usage are JSON texts."""
    return await call_one(
        conn,
        StepResult,
        "commit_reply",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_step=step,
        p_content=content,
        p_calls=calls,
        p_chunks=list(chunks),
        p_usage=usage,
        p_tenant_id=tenant_id,
    )


async def commit_result(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    step: int,
    ordinal: int,
    response: str,
    closes_step: bool = False,
    state: str | None = None,
    chunks: Sequence[str] = (),
    usage: str | None = None,
    tenant_id: str = "",
) -> StepResult:
    """Save one server tool's result, so that its body never runs again; the last may close."""
    return await call_one(
        conn,
        StepResult,
        "commit_result",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_step=step,
        p_ordinal=ordinal,
        p_response=response,
        p_closes_step=closes_step,
        p_state=state,
        p_chunks=list(chunks),
        p_usage=usage,
        p_tenant_id=tenant_id,
    )


async def commit_step(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    step: int,
    state: str | None = None,
    chunks: Sequence[str] = (),
    tenant_id: str = "",
) -> StepResult:
    """Commit a step whose calls all have their results; state is a JSON text, if it changed."""
    return await call_one(
        conn,
        StepResult,
        "commit_step",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_step=step,
        p_state=state,
        p_chunks=list(chunks),
        p_tenant_id=tenant_id,
    )


async def finish_run(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    status: str,
    output: str | None = None,
    error_detail: str | None = None,
    partial: str | None = None,
    tenant_id: str = "",
) -> FinishRunResult:
    """End a run completed, failed, or stopped as its recorded stop says."""
    return await call_one(
        conn,
        FinishRunResult,
        "finish_run",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_status=status,
        p_output=output,
        p_error_detail=error_detail,
        p_partial=partial,
        p_tenant_id=tenant_id,
    )


async def begin_call(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    step: int,
    ordinal: int,
    tenant_id: str = "",
) -> StepResult:
    """Record that the body of a call begins that must not run twice."""
    return await call_one(
        conn,
        StepResult,
        "begin_call",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_step=step,
        p_ordinal=ordinal,
        p_tenant_id=tenant_id,
    )


async def suspend_run(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    step: int,
    state: str | None = None,
    chunks: Sequence[str] = (),
    tenant_id: str = "",
) -> SuspendRunResult:
    """Suspend a run that waits for somebody else; state is a JSON text, if the step changed it."""
    return await call_one(
        conn,
        SuspendRunResult,
        "suspend_run",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_step=step,
        p_state=state,
        p_chunks=list(chunks),
        p_tenant_id=tenant_id,
    )
