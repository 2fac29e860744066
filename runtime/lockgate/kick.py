"""Take what waits in the queue: at once when kicked, and once a second besides.

The only file with DBOS's private names; a contract test holds them. The claim is DBOS's, the looks
are ours: a queue that DBOS looks after is one row, which tells every process how much to take, and
is looked after until DBOS ends. So here is who takes what this process has room for, and no more
once it leaves.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from typing import Self

import structlog
from dbos import DBOS, Queue
from dbos._core import execute_dequeued_workflow
from dbos._dbos import _get_dbos_instance
from dbos._queue import _INTERNAL_QUEUE_CONSTRUCTION
from dbos._sys_db import WorkflowStatusInternal
from dbos._utils import GlobalParams, generate_uuid

from lockgate.errors import error_detail

POLL_S = 1.0  # between two looks when nobody kicks: a kick may get lost
BACKLOG_S = 0.05  # between two looks while the queue may hold more than this worker has room for
STUCK_S = 5.0  # a look that takes longer is left behind: DBOS sleeps long after an outage

log = structlog.get_logger(__name__)


class Kicker:
    """Looks into a queue until it is closed, and starts what it claims there.

    Kicks asked for during a look become one.
    """

    def __init__(self, queue: str, slots: int) -> None:
        """slots  drives that may be under way in this process at the same time"""
        self._queue = Queue(queue, worker_concurrency=slots, token=_INTERNAL_QUEUE_CONSTRUCTION)
        self._slots = slots
        self._starting = 0  # claimed, and not yet among DBOS's active ones
        self._claims = threading.Lock()
        self._is_closed = threading.Event()
        self._wanted = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    @classmethod
    async def open(cls, queue: str, slots: int) -> Self:
        """Begin to look, on the loop of the drives, whose threads are to be DBOS's from now on."""
        await DBOS._configure_asyncio_thread_pool()
        return cls(queue, slots)

    def kick(self) -> None:
        """Ask for a look; returns at once."""
        self._wanted.set()

    async def close(self) -> None:
        """Look no more; what is being claimed is still started."""
        self._is_closed.set()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        is_full = False
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BACKLOG_S if is_full else POLL_S):
                    await self._wanted.wait()
            self._wanted.clear()
            try:
                is_full = await self._look()
            except Exception as error:  # noqa: BLE001 - whatever failed, the next look tries again.
                is_full = False
                _complain(error)

    async def _look(self) -> bool:
        """Look once, for a bounded time; not on this loop, for DBOS asks with blocking calls."""
        look = asyncio.ensure_future(asyncio.to_thread(self._start_waiting))
        look.add_done_callback(_heard)  # one that was left behind has nobody else to hear it
        done, _ = await asyncio.wait({look}, timeout=STUCK_S)
        return bool(done) and look.result()

    def _start_waiting(self) -> bool:
        """Start what there is room for, and say whether that filled every slot."""
        dbos, owner = _get_dbos_instance(), generate_uuid()
        # Where one that was left behind is at it, two would count the same room.
        if self._is_closed.is_set() or not self._claims.acquire(blocking=False):
            return False
        try:
            taken = dbos._active_workflows_set.count_for_queue(self._queue.name) + self._starting
            claimed, _ = dbos._sys_db.start_queued_workflows(
                self._queue,
                GlobalParams.executor_id,
                GlobalParams.app_version,
                None,
                taken,
                owner_xid=owner,
            )
            self._starting += len(claimed)
        finally:
            self._claims.release()
        try:
            self._start(dbos, claimed, owner)
        finally:
            with self._claims:
                self._starting -= len(claimed)
        return taken + len(claimed) >= self._slots

    def _start(self, dbos: DBOS, claimed: list[str], owner: str) -> None:
        for status in self._statuses(dbos, claimed):
            try:
                execute_dequeued_workflow(dbos, status, owner)
            except Exception as error:  # noqa: BLE001 - the others are claimed, too.
                _complain(error)

    def _statuses(self, dbos: DBOS, claimed: list[str]) -> Sequence[WorkflowStatusInternal]:
        """Read what was claimed, however often it takes: while we live it has long to wait else."""
        while claimed:
            try:
                return dbos._sys_db.get_workflow_statuses(claimed)
            except Exception as error:  # noqa: BLE001 - told, and tried again.
                _complain(error)
                if self._is_closed.wait(POLL_S):
                    break
        return ()


def _heard(look: asyncio.Future[bool]) -> None:
    if not look.cancelled():
        look.exception()


def _complain(error: Exception) -> None:
    with contextlib.suppress(Exception):  # The queue is looked at whether or not we can say so.
        log.warning("kick.failed", error=error_detail(error))
