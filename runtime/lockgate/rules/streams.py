"""Streams: appended by a drive, read by anyone, closed for a runtime that is not ours."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lockgate.outcomes import CloseStreamResult, MovedStream, ReadStreamResult
from lockgate.rules.call import Connection, call_many, call_one
from lockgate.worker_outcomes import AppendChunksResult


async def append_chunks(
    conn: Connection,
    *,
    session_id: str,
    run_id: UUID,
    attempt: int,
    after: int,
    chunks: Sequence[str],
    tenant_id: str = "",
) -> AppendChunksResult:
    """Append a batch of chunks, JSON texts, after the writer's own last sequence."""
    return await call_one(
        conn,
        AppendChunksResult,
        "append_chunks",
        p_session_id=session_id,
        p_run_id=run_id,
        p_attempt=attempt,
        p_after=after,
        p_chunks=list(chunks),
        p_tenant_id=tenant_id,
    )


async def read_stream(
    conn: Connection,
    *,
    session_id: str,
    after: int | None = None,
    limit: int = 256,
    epoch: str | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> ReadStreamResult:
    """Read a page of a session's stream, in one consistent look.

    after   exclusive; sequences start at 1; None begins at the oldest that is kept
    limit   1 to 1,000 chunks
    Source  lockgate.read_stream; design section 8
    """
    return await call_one(
        conn,
        ReadStreamResult,
        "read_stream",
        p_session_id=session_id,
        p_after=after,
        p_limit=limit,
        p_epoch=epoch,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )


async def moved_streams(
    conn: Connection,
    *,
    tenant_ids: Sequence[str],
    session_ids: Sequence[str],
    heads: Sequence[int],
) -> list[MovedStream]:
    """Ask once for many streams which of them have more than their watcher has seen."""
    return await call_many(
        conn,
        MovedStream,
        "moved_streams",
        p_tenant_ids=list(tenant_ids),
        p_session_ids=list(session_ids),
        p_heads=list(heads),
    )


async def close_stream(
    conn: Connection,
    *,
    session_id: str,
    status: str,
    expect_run_id: str,
    output: str | None = None,
    error_detail: str | None = None,
    acting_user_id: str | None = None,
    tenant_id: str = "",
) -> CloseStreamResult:
    """Close a session's stream; output and error_detail are JSON texts."""
    return await call_one(
        conn,
        CloseStreamResult,
        "close_stream",
        p_session_id=session_id,
        p_status=status,
        p_expect_run_id=expect_run_id,
        p_output=output,
        p_error_detail=error_detail,
        p_acting_user_id=acting_user_id,
        p_tenant_id=tenant_id,
    )
