"""Drives: one DBOS workflow is one attempt at a run.

An attempt claims its run, goes on from the first step that is not committed, and ends in its one
DBOS step. Nothing here relies on a replay: an attempt that is lost is followed by another one, with
a workflow of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
import structlog
from dbos import DBOS
from psycopg_pool import PoolTimeout

from lockgate.alone import Alone
from lockgate.attempt import Attempt
from lockgate.contained import called
from lockgate.errors import (
    LockgateError,
    RuleBroken,
    RunSuperseded,
    StoreUnavailable,
    error_detail,
)
from lockgate.finishing import End
from lockgate.rules import recovery, runs, steps
from lockgate.scope import Surroundings
from lockgate.stream_writer import StreamWriter
from lockgate.strict_json import dumps
from lockgate.weather import is_weather, was_rolled_back
from lockgate.worker_outcomes import ClaimRunOutcome, ClaimRunResult, RequeueRunOutcome

AT_ONCE = 8  # attempts that a leaving worker hands over side by side: it has little time for it

CLAIM_TRIES = 4  # of a claim of which it is certain that it was not heard

log = structlog.get_logger(__name__)

HAND_OVER_EVERY_S = 0.5  # besides what each call waits by itself


@dataclass(frozen=True, slots=True)
class Active:
    """An attempt under way in this process: whose it is, and where a stop reaches it.

    handing_over  held while its run is given to the next one; its workflow ends after that
    """

    run: dict[str, Any]
    writer: StreamWriter
    handing_over: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Driver:
    """What a worker gives to its drives.

    end       finish_run or suspend_run as a DBOS transactional step
    slots     how many drives this worker takes at once
    kick      starts what waits in the queue, once a slot is free
    draining  set once this worker takes no more; leaving, once it finishes nothing either
    active    the attempts under way, by drive_id; it decides nothing
    alone     the turns of runs whose workers died again and again
    """

    around: Surroundings
    worker_id: str
    end: Callable[..., Awaitable[dict[str, Any]]]
    slots: int
    kick: Callable[[], None]
    max_attempts: int = 5
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    active: dict[UUID, Active] = field(default_factory=dict)
    alone: Alone = field(default_factory=Alone)

    async def drive(
        self,
        tenant_id: str,
        session_id: str,
        run_id: UUID,
        drive_id: UUID,
        deaths: int = 0,
    ) -> dict[str, Any]:
        """Drive a run for one attempt, and say how the attempt went.

        deaths  of its workers, since it last made progress
        """
        run: dict[str, Any] = {"tenant_id": tenant_id, "session_id": session_id, "run_id": run_id}
        async with self.alone.turn(deaths) as has_begun:
            return await self._drive(run, drive_id, has_begun)

    async def _drive(
        self, run: dict[str, Any], drive_id: UUID, on_commit: Callable[[], None]
    ) -> dict[str, Any]:
        if len(self.active) + 1 >= self.slots:
            self.kick()  # a full worker has left others waiting, and the poll is slow
        await self._may_claim()
        if self.draining.is_set():
            return await self._requeue(run, drive_id, "raised", None)
        try:
            return await self._attempt(run, drive_id, on_commit)
        except RunSuperseded:
            return {"outcome": "fenced"}
        except Exception as error:  # noqa: BLE001 - DBOS's own signals pass by.
            return await self._hand_over(run, drive_id, error)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Somebody's code raised it; nobody cancelled us, and nobody else would go on.
            return await self._hand_over(run, drive_id, error)

    async def _may_claim(self) -> None:
        """Wait until our own promise is fresh, or we are to leave.

        Who claims while it does not beat is taken for dead at once, at the cost of the run's
        budget; what waits here is handed on by a sweep, uncounted.
        """
        ways: list[Awaitable[object]] = [self.around.may_begin(), self.draining.wait()]
        waits = [asyncio.ensure_future(each) for each in ways]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def _claim(self, run: dict[str, Any], drive_id: UUID) -> ClaimRunResult:
        """Claim a run, once; again only where the database cannot have heard of it."""
        for tries_left in reversed(range(CLAIM_TRIES)):
            try:
                return await self.around.database.call_once(
                    steps.claim_run, drive_id=drive_id, worker_id=self.worker_id, **run
                )
            except (psycopg.Error, PoolTimeout, OSError) as error:
                if not (tries_left and is_weather(error) and was_rolled_back(error)):
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    async def _attempt(
        self, run: dict[str, Any], drive_id: UUID, on_commit: Callable[[], None]
    ) -> dict[str, Any]:
        lapses = self.around.lapses()
        try:
            claim = await self._claim(run, drive_id)
        except RuleBroken as error:
            return await self._end_unclaimed(run, error)
        if claim.outcome is ClaimRunOutcome.OVER:
            return {"outcome": "over"}
        if self.leaving.is_set():  # the claim was under way when the others were handed over
            return await self._requeue(run, drive_id, "drained", None)
        self.around.tally.recoveries += claim.is_recovery
        attempt = Attempt(self.around, **run, claim=claim, lapses=lapses, on_commit=on_commit)
        active = self.active[drive_id] = Active(run, attempt.writer)
        try:
            end: End = await called(attempt.run)
            answer = await self._finish(run, claim.attempt, end)
            if answer["outcome"] == "finished":
                attempt.tell_end(end)
            if "runId" in answer or claim.parent_session_id is not None:
                self.kick()  # a continuation, or a parent's, may have been started by this commit
            return answer
        finally:
            async with active.handing_over:  # a workflow that ended first would look like a failure
                del self.active[drive_id]
            await attempt.writer.close()
            self.around.tell((run["tenant_id"], run["session_id"]))

    async def _end_unclaimed(self, run: dict[str, Any], error: RuleBroken) -> dict[str, Any]:
        """End a run that no drive can be given, whatever is tried: what it needs is damaged."""
        log.error("drive.store_corrupt", run_id=str(run["run_id"]), error=error_detail(error))
        stored = await self.around.database.call(runs.get_run, **run)
        if stored.run_id is None:
            return {"outcome": "over"}
        end = End("failed", error_detail=error_detail(error))
        return await self._finish(run, stored.attempt, end)

    def halt(self, run_id: UUID, stop_kind: str) -> None:
        """Tell a run's attempt of a stop that stands on it."""
        for active in self.active.values():
            if active.run["run_id"] == run_id:
                active.writer.halt(stop_kind)

    async def hand_over_drained(self) -> None:
        """Give up what this worker did not finish in time; not counted as a failure.

        Each attempt is told first, so that it begins nothing between the commit and its notice.
        """
        self.leaving.set()
        left = iter([*self.active.items()])
        await asyncio.gather(*[self._hand_over_each(left) for _ in range(AT_ONCE)])

    async def _hand_over_each(self, left: Iterator[tuple[UUID, Active]]) -> None:
        for drive_id, active in left:
            async with active.handing_over:
                active.writer.lose()
                try:
                    await self._requeue(active.run, drive_id, "drained", None)
                except LockgateError as error:
                    # Our lease runs out with us, and a sweep finds the run then.
                    log.warning("drain.failed", error=error_detail(error))

    async def _finish(self, run: dict[str, Any], attempt: int, end: End) -> dict[str, Any]:
        answer = await self._end(run, attempt, end)
        self.around.tally.fenced_writes += answer["outcome"] == "fenced"
        return answer

    async def _end(self, run: dict[str, Any], attempt: int, end: End) -> dict[str, Any]:
        if end.status == "suspended":
            return await self.end("suspend_run", **run, attempt=attempt, step=end.step)
        return await self.end(
            "finish_run",
            **run,
            attempt=attempt,
            status=end.status,
            output=None if end.output is None else dumps(end.output),
            error_detail=None if end.error_detail is None else dumps(end.error_detail),
            partial=None if end.partial is None else dumps(end.partial),
        )

    async def _hand_over(
        self, run: dict[str, Any], drive_id: UUID, error: BaseException
    ) -> dict[str, Any]:
        """Give a run that this attempt could not go on with to the next one, within the budget.

        A database that is away is waited for: to everybody else the run is ours while we beat.
        """
        log.warning("drive.raised", run_id=str(run["run_id"]), error=error_detail(error))
        while True:
            try:
                return await self._requeue(run, drive_id, "raised", dumps(error_detail(error)))
            except StoreUnavailable:
                await asyncio.sleep(HAND_OVER_EVERY_S)

    async def _requeue(
        self, run: dict[str, Any], drive_id: UUID, finding: str, failure: str | None
    ) -> dict[str, Any]:
        answer = await self.around.database.call(
            recovery.requeue_run,
            drive_id=drive_id,
            finding=finding,
            worker_id=self.worker_id,
            failure=failure,
            max_attempts=self.max_attempts,
            **run,
        )
        self.around.tally.exhausted += answer.outcome is RequeueRunOutcome.EXHAUSTED
        return {"outcome": str(answer.outcome)}


_driver: Driver | None = None


def use(driver: Driver | None) -> None:
    """Name the driver of this process: DBOS is one per process, and so is its worker."""
    global _driver
    _driver = driver


@DBOS.workflow(name="drive_run", max_recovery_attempts=None)
async def drive_run(
    tenant_id: str, session_id: str, run_id: str, drive_id: str, deaths: int = 0
) -> dict[str, Any]:
    """Drive one attempt; what the queue calls."""
    if _driver is None:
        raise RuntimeError("no worker is running in this process")
    return await _driver.drive(tenant_id, session_id, UUID(run_id), UUID(drive_id), deaths)
