"""Settlement: what is due to a consumer, and the mark that it was told."""

from __future__ import annotations

from lockgate.rules.call import Connection, call_many, call_one
from lockgate.worker_outcomes import ClaimedSettlement, MarkDeliveredResult


async def claim_settlements(
    conn: Connection, *, consumer: str, limit: int = 32, lease_ms: int = 60_000
) -> list[ClaimedSettlement]:
    """Lease what is due to a consumer, oldest first."""
    return await call_many(
        conn,
        ClaimedSettlement,
        "claim_settlements",
        p_consumer=consumer,
        p_limit=limit,
        p_lease_ms=lease_ms,
    )


async def mark_delivered(
    conn: Connection, *, delivery_id: str, consumer: str, error: str | None = None
) -> MarkDeliveredResult:
    """Mark a settlement as delivered, also when its hook threw."""
    return await call_one(
        conn,
        MarkDeliveredResult,
        "mark_delivered",
        p_delivery_id=delivery_id,
        p_consumer=consumer,
        p_error=error,
    )
