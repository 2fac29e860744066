"""Recovery: look for what nothing executes, and hand each finding to its own rule."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from lockgate.database import Database
from lockgate.errors import error_detail
from lockgate.rules import recovery as rules
from lockgate.rules import sessions
from lockgate.strict_json import dumps
from lockgate.worker_outcomes import RequeueRunOutcome, SweepFinding

log = structlog.get_logger(__name__)

NEVER_RAN = {
    "message": "The session never had a run",
    "code": "framework_internal_error",
    "category": "framework",
    "retryable": True,
}


@dataclass(frozen=True, slots=True)
class Sweeper:
    """Acts on what a sweep finds, one finding after the other, for one worker."""

    database: Database
    worker_id: str
    max_attempts: int = 5
    dispatch_limit_ms: int = 30_000
    first_run_limit_ms: int = 300_000

    async def sweep(self) -> int:
        """Sweep once; returns how many runs were handed over. One bad session stops no other."""
        findings = await self.database.call(
            rules.sweep,
            worker_id=self.worker_id,
            dispatch_limit_ms=self.dispatch_limit_ms,
            first_run_limit_ms=self.first_run_limit_ms,
        )
        requeued = 0
        for finding in findings:
            try:
                requeued += await self._act(finding)
            except Exception as error:  # noqa: BLE001 - the next sweep finds it again.
                log.error(
                    "sweep.finding_failed", finding=finding.finding, error=error_detail(error)
                )
        return requeued

    async def _act(self, finding: SweepFinding) -> bool:
        """Call the rule a finding leads to; it judges the whole condition again."""
        if finding.run_id is None or finding.drive_id is None:
            await self.database.call(
                sessions.fail_session_without_run,
                session_id=finding.session_id,
                error_detail=dumps(NEVER_RAN),
                tenant_id=finding.tenant_id,
            )
            return False
        answer = await self.database.call(
            rules.requeue_run,
            session_id=finding.session_id,
            run_id=finding.run_id,
            drive_id=finding.drive_id,
            finding=finding.finding,
            worker_id=self.worker_id,
            max_attempts=self.max_attempts,
            tenant_id=finding.tenant_id,
        )
        log.info(
            "sweep.acted",
            finding=finding.finding,
            outcome=str(answer.outcome),
            session_id=finding.session_id,
            run_id=str(finding.run_id),
        )
        return answer.outcome is RequeueRunOutcome.REQUEUED
