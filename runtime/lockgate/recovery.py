"""Recovery: look for what nothing executes, and hand each finding to its own rule."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import structlog

from lockgate.database import Database
from lockgate.errors import RuleBroken, error_detail
from lockgate.rules import recovery as rules
from lockgate.rules import sessions, steps
from lockgate.strict_json import dumps
from lockgate.tally import Tally
from lockgate.worker_outcomes import ContinueSessionOutcome, RequeueRunOutcome, SweepFinding

log = structlog.get_logger(__name__)

# Our own rules leave no paused session that waits for nothing, and to ask looks at each that is
# paused: a tenth of a second where there are 100,000.
PAUSED_EVERY_S = 30.0
# Findings acted on side by side: behind hundreds of drives each waits its turn at the pool.
AT_ONCE = 8
# How long a finding may wait for its session: who holds one holds up no other's recovery, and the
# next sweep comes back to it.
LOCK_TIMEOUT_MS = 500
NEVER_RAN = {
    "message": "The session never had a run",
    "code": "framework_internal_error",
    "category": "framework",
    "retryable": True,
}
# Why an attempt failed that said nothing itself; of a run's own steps it claims nothing.
LOST = {**NEVER_RAN, "message": "The worker that drove the run was lost"}


@dataclass(slots=True)
class Sweeper:
    """Acts on what a sweep finds, some findings at a time, for one worker."""

    database: Database
    worker_id: str
    max_attempts: int = 5
    auto_resume: bool = True
    dispatch_limit_ms: int = 30_000
    first_run_limit_ms: int = 300_000
    tally: Tally = field(default_factory=Tally)
    _paused_due_at: float = 0.0

    async def sweep(self) -> int:
        """Sweep once; returns how many drives were enqueued. One bad session stops no other."""
        with_paused = self.auto_resume and time.monotonic() >= self._paused_due_at
        findings = await self.database.call(
            rules.sweep,
            worker_id=self.worker_id,
            dispatch_limit_ms=self.dispatch_limit_ms,
            first_run_limit_ms=self.first_run_limit_ms,
            with_paused=with_paused,
        )
        if with_paused:
            self._paused_due_at = time.monotonic() + PAUSED_EVERY_S
        left = iter(findings)
        enqueued = sum(await asyncio.gather(*[self._act_on(left) for _ in range(AT_ONCE)]))
        self.tally.swept()
        return enqueued

    async def sweep_on(self, hurry: Callable[[], None]) -> None:
        """Sweep until nothing more is enqueued: what is found at once is not all there may be.

        hurry  starts what was just enqueued
        """
        while await self.sweep():
            hurry()

    async def _act_on(self, left: Iterator[SweepFinding]) -> int:
        enqueued = 0
        for finding in left:
            try:
                enqueued += await self._act(finding)
            except Exception as error:  # noqa: BLE001 - the next sweep finds it again.
                log.error(
                    "sweep.finding_failed", finding=finding.finding, error=error_detail(error)
                )
        return enqueued

    async def _act(self, finding: SweepFinding) -> bool:
        """Call the rule a finding leads to; it judges the whole condition again."""
        named: dict[str, Any] = {
            "session_id": finding.session_id,
            "lock_timeout_ms": LOCK_TIMEOUT_MS,
            "tenant_id": finding.tenant_id,
        }
        if finding.finding == "first_run_overdue":
            await self.database.call(
                sessions.fail_session_without_run, error_detail=dumps(NEVER_RAN), **named
            )
            return False
        if finding.finding == "end_due":
            completed = await self.database.call(rules.complete_end, **named)
            self._tell(finding, completed.outcome)
            return False
        if finding.finding == "batch_complete":
            continued = await self.database.call(rules.continue_session, **named)
            self._tell(finding, continued.outcome)
            return continued.outcome is ContinueSessionOutcome.CONTINUED
        try:
            return await self._requeue(finding)
        except RuleBroken as error:
            await self._end(finding, error)
            return False

    async def _end(self, finding: SweepFinding, error: RuleBroken) -> None:
        """End a run that cannot be handed over, whatever is tried: what it needs is damaged.

        Where it was handed over meanwhile all the same, the attempt that was found is fenced.
        An error of class LG tells of the caller, or of a label of another release: not of the run.
        """
        if error.sqlstate.startswith("LG"):
            raise error
        log.error("sweep.store_corrupt", run_id=str(finding.run_id), error=error_detail(error))
        assert finding.run_id is not None
        assert finding.attempt is not None
        await self.database.call(
            steps.finish_run,
            session_id=finding.session_id,
            run_id=finding.run_id,
            attempt=finding.attempt,
            status="failed",
            error_detail=dumps(error_detail(error)),
            tenant_id=finding.tenant_id,
        )

    async def _requeue(self, finding: SweepFinding) -> bool:
        assert finding.run_id is not None
        assert finding.drive_id is not None
        requeued = await self.database.call(
            rules.requeue_run,
            run_id=finding.run_id,
            drive_id=finding.drive_id,
            failure=dumps(LOST) if finding.finding == "owner_dead" else None,
            finding=finding.finding,
            worker_id=self.worker_id,
            max_attempts=self.max_attempts,
            auto_resume=self.auto_resume,
            session_id=finding.session_id,
            lock_timeout_ms=LOCK_TIMEOUT_MS,
            tenant_id=finding.tenant_id,
        )
        self._tell(finding, requeued.outcome)
        self.tally.takeovers += requeued.outcome is RequeueRunOutcome.REQUEUED
        self.tally.exhausted += requeued.outcome is RequeueRunOutcome.EXHAUSTED
        return requeued.outcome in (RequeueRunOutcome.REQUEUED, RequeueRunOutcome.RELEASED)

    def _tell(self, finding: SweepFinding, outcome: str) -> None:
        log.info(
            "sweep.acted",
            finding=finding.finding,
            outcome=str(outcome),
            session_id=finding.session_id,
            run_id=str(finding.run_id),
        )
