"""A worker: drives runs on this process's loop, beats, sweeps, delivers, and hands over.

DBOS dispatches and this process executes; whose run it is, and what a worker that has gone leaves
behind, is decided by the rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import structlog
from dbos import DBOS, DBOSConfig

from lockgate import dbos_log, drives
from lockgate.ending import SERIALIZER, EndStep, blocking_link, sqlalchemy_url
from lockgate.errors import error_detail
from lockgate.executor import Runtime
from lockgate.heartbeat import Heartbeat
from lockgate.kick import Kicker
from lockgate.recovery import Sweeper
from lockgate.rules import recovery as rules
from lockgate.scope import Surroundings
from lockgate.settlement import HookDelivery
from lockgate.tally import Tally

QUEUE = "lockgate_drives"
DRIVE_VERSION = "drive-1"  # a contract test holds it to lockgate.drive_version()
STOPS_EVERY_S = 0.25  # how long a stop may go unheard by a model call that says nothing
DELIVER_EVERY_S = 0.5
RELISTEN_S = 2.0
LEAST_S = 1.5  # to hand over, however little time there is
HAND_OVER_S = 4.0  # of it half to hand over, and half until DBOS has let go
LETS_GO_S = 5.0  # DBOS takes over a second, and minutes where the database says nothing

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How a worker works.

    concurrency     runs that it drives at the same time
    lease_ms        it is taken for dead when its heartbeat is older
    sweep_every_s   how often it looks for what nothing executes; None is five times a lease, and
                    once a second at least
    drain_s         how soon it is gone, once it is told to stop: it finishes what it can, and keeps
                    the last third, four seconds at most, to hand over the rest; however short it
                    is, a second and a half is taken for that
    max_attempts    attempts without progress after which a run ends failed
    """

    concurrency: int = 64
    lease_ms: int = 5_000
    sweep_every_s: float | None = None
    drain_s: float = 10.0
    max_attempts: int = 5
    first_run_limit_ms: int = 300_000
    dbos_schema: str = "dbos"

    def sweeps_every_s(self) -> float:
        """Return how often it sweeps, in seconds."""
        derived_s = min(1.0, self.lease_ms / 5_000)
        return derived_s if self.sweep_every_s is None else self.sweep_every_s


class Worker:
    """The worker of one process: DBOS is one per process, and so is this."""

    def __init__(self, runtime: Runtime, settings: WorkerSettings | None = None) -> None:
        self.settings = settings or WorkerSettings()
        self.worker_id = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:12]}"
        self._runtime = runtime
        self._tally = Tally()
        self._beat = Heartbeat(
            runtime.database.url,
            self.worker_id,
            self.settings.lease_ms,
            self._tally,
            on_lost=runtime.database.count_reconnect,
        )
        self._background: set[asyncio.Task[Any]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._end: EndStep | None = None
        self._kicker: Kicker | None = None
        self._driver: drives.Driver | None = None
        self._sweeper = Sweeper(
            database=runtime.database.patient(),
            worker_id=self.worker_id,
            max_attempts=self.settings.max_attempts,
            auto_resume=runtime.host.auto_resume,
            dispatch_limit_ms=runtime.host.dispatch_limit_ms,
            first_run_limit_ms=self.settings.first_run_limit_ms,
            tally=self._tally,
        )

    async def start(self) -> None:
        """Beat, launch DBOS on this loop, and take drives.

        Errors  TimeoutError when the database does not answer; what DBOS raises when its tables
                are not there: run `lockgate install`
        """
        await self._beat.start()
        try:
            await self._take_drives()
        except BaseException:
            await self._beat.stop()  # who does not work must not promise to
            raise
        self._runtime.hurry()  # what has been waiting need not wait for the first poll
        log.info("worker.ready", worker_id=self.worker_id)

    async def _take_drives(self) -> None:
        self._end = await EndStep.open(
            self._runtime.database.url, dbos_schema=self.settings.dbos_schema
        )
        self._driver = drives.Driver(
            around=Surroundings(
                host=self._runtime.host,
                database=self._runtime.database.patient(),
                may_begin=self._may_begin,
                lapses=self._beat.lapses,
                tell=self._runtime.watcher.tell,
                hurry=self._runtime.hurry,
                background=self._background,
                tally=self._tally,
            ),
            worker_id=self.worker_id,
            end=self._end,
            slots=self.settings.concurrency,
            kick=self._runtime.hurry,
            max_attempts=self.settings.max_attempts,
        )
        drives.use(self._driver)
        self._launch()
        self._kicker = await Kicker.open(QUEUE, self.settings.concurrency)
        self._runtime.kick = self._kicker.kick
        self._loops = [
            asyncio.create_task(self._repeat(self._sweep, self.settings.sweeps_every_s())),
            asyncio.create_task(self._repeat(self._deliver, DELIVER_EVERY_S)),
            asyncio.create_task(self._repeat(self._hear_stops, STOPS_EVERY_S)),
            asyncio.create_task(self._listen()),
        ]

    async def stop(self) -> None:
        """Take no more, finish what can be finished in the drain time, hand over the rest.

        A silent database may keep it for eight seconds beyond the drain time, and no longer: DBOS's
        threads that then still wait for an answer are left behind.
        """
        log.info("worker.draining", worker_id=self.worker_id)
        self._runtime.kick = None
        self._beat.drain()
        if self._kicker is not None:
            await self._kicker.close()
        kept_s = min(HAND_OVER_S, self.settings.drain_s / 3)
        if self._driver is not None:
            self._driver.draining.set()
            hands_over_s = max(kept_s / 2, LEAST_S)
            await self._drain(self._driver, self.settings.drain_s - kept_s, hands_over_s)
        for task in (*self._loops, *self._background):
            task.cancel()
        await self._ended(kept_s / 4)
        await self._beat.stop()
        try:
            async with asyncio.timeout(LETS_GO_S):
                await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=1)
        except TimeoutError:
            log.warning("worker.dbos_left_behind", worker_id=self.worker_id)
        # DBOS had made its own pool the loop's, and has just shut it down.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        drives.use(None)
        if self._end is not None:
            await self._end.close()
        log.info("worker.stopped", worker_id=self.worker_id)

    def _launch(self) -> None:
        url = sqlalchemy_url(self._runtime.database.url)
        config: DBOSConfig = {
            "name": "lockgate",
            "system_database_url": url,
            "dbos_system_schema": self.settings.dbos_schema,
            "run_migrations": False,
            "executor_id": self.worker_id,
            "application_version": DRIVE_VERSION,
            "serializer": SERIALIZER,
            "use_listen_notify": False,
            "db_engine_kwargs": {"creator": partial(blocking_link, self._runtime.database.url)},
        }
        dbos_log.retell()
        DBOS(config=config)
        DBOS.listen_queues([])  # the drives' queue is ours to look after, by the kicker
        DBOS.launch()

    async def _ended(self, within_s: float) -> None:
        """Wait until what was cancelled has ended, but not for what does not listen."""
        cancelled = [*self._loops, *self._background]
        if cancelled:
            await asyncio.wait(cancelled, timeout=within_s)

    async def _drain(self, driver: drives.Driver, finishes_s: float, hands_over_s: float) -> None:
        deadline = asyncio.get_running_loop().time() + finishes_s
        while driver.active and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.05)
        try:
            async with asyncio.timeout(hands_over_s):
                await driver.hand_over_drained()
        except TimeoutError:
            # Our lease runs out with us, and a sweep finds what is left.
            log.warning("worker.drain_cut_off", worker_id=self.worker_id)

    async def _may_begin(self) -> None:
        """Wait until our own promise is fresh, before a claim, a model call or a tool body."""
        while not self._beat.is_fresh():
            await asyncio.sleep(0.1)

    async def _repeat(self, act: Callable[[], Awaitable[object]], every_s: float) -> None:
        while True:
            try:
                await act()
            except Exception as error:  # noqa: BLE001 - a loop that ends would leave a worker deaf.
                _complain("worker.loop_failed", error)
            await asyncio.sleep(every_s)

    async def _sweep(self) -> None:
        await self._sweeper.sweep_on(self._runtime.hurry)

    async def _deliver(self) -> None:
        delivery = HookDelivery(self._runtime.host, self._runtime.database)
        while await delivery.deliver():
            pass

    async def _hear_stops(self) -> None:
        assert self._driver is not None
        if not self._driver.active:
            return
        stops = await self._runtime.database.call(rules.list_stops, worker_id=self.worker_id)
        for stop in stops:
            self._driver.halt(stop.run_id, stop.stop_kind)

    async def _listen(self) -> None:
        """Kick when another process says that it committed a drive; the poll is the guarantee."""
        if self._runtime.database.direct_url is None:
            return
        while True:
            try:
                async with self._runtime.database.listening() as notifications:
                    self._runtime.hurry()  # what was said while nobody listened
                    async for _ in notifications:
                        self._runtime.hurry()
            except Exception as error:  # noqa: BLE001 - a hint may fail in any way; try again.
                _complain("worker.listen_failed", error)
            await asyncio.sleep(RELISTEN_S)


def _complain(event: str, error: Exception) -> None:
    with contextlib.suppress(Exception):  # A log that breaks must end no loop, either.
        log.warning(event, error=error_detail(error))
