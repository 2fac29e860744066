"""Deliver what has settled to the host's hook: at least once, outside the drives, and bounded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from lockgate.database import Database
from lockgate.errors import error_detail
from lockgate.hooks import RunSettledContext, raised_by
from lockgate.host import Host
from lockgate.rules import settlement as rules
from lockgate.worker_outcomes import ClaimedSettlement

CONSUMER = "hook"
LEASE_MS = 60_000  # longer than a hook's bound, so that a slow hook is not told twice
AT_ONCE = 16  # deliveries under way in one process

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HookDelivery:
    """Tells on_run_settled of every settlement that has no mark yet."""

    host: Host
    database: Database

    async def deliver(self) -> int:
        """Deliver what is due now; returns how many. With no hook nothing is claimed or marked."""
        if self.host.hooks.on_run_settled is None:
            return 0
        due = await self.database.call(
            rules.claim_settlements, consumer=CONSUMER, limit=AT_ONCE, lease_ms=LEASE_MS
        )
        await asyncio.gather(*(self._deliver_one(settlement) for settlement in due))
        return len(due)

    async def _deliver_one(self, settlement: ClaimedSettlement) -> None:
        error = await self._call_hook(settlement)
        await self.database.call(
            rules.mark_delivered,
            delivery_id=settlement.delivery_id,
            consumer=CONSUMER,
            error=error,
        )

    async def _call_hook(self, settlement: ClaimedSettlement) -> str | None:
        hook = self.host.hooks.on_run_settled
        assert hook is not None
        context = RunSettledContext(
            env=self.host.env,
            tenant_id=settlement.tenant_id,
            session_id=settlement.session_id,
            run_id=settlement.run_id,
            drive=settlement.drive,
            status=settlement.status,
            result=settlement.output,
            error_detail=settlement.error_detail,
            delivery_id=settlement.delivery_id,
        )
        error = await raised_by(hook, context)
        if error is None:
            return None
        told = error_detail(error)
        log.error("hook.on_run_settled_raised", delivery_id=settlement.delivery_id, error=told)
        return str(told["message"])
