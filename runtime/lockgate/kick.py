"""Start a committed drive at once, instead of at the queue's next poll.

The only file with DBOS's private names; a contract test holds them. It only hurries what the poll
would do anyway, through the same claim: a kick that fails or races the poll changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib

import structlog
from dbos import Queue
from dbos._core import execute_dequeued_workflow
from dbos._dbos import _get_dbos_instance
from dbos._utils import GlobalParams, generate_uuid

from lockgate.errors import error_detail

BACKLOG_S = 0.05  # between two kicks while the queue may hold more than this worker has room for

log = structlog.get_logger(__name__)


def start_waiting(queue: Queue, slots: int) -> bool:
    """Claim and start what the queue can start now, and say whether that filled every slot.

    Not on the drives' own loop: it asks the database with blocking calls.
    """
    dbos, owner = _get_dbos_instance(), generate_uuid()
    running = dbos._active_workflows_set.count_for_queue(queue.name)
    claimed, _ = dbos._sys_db.start_queued_workflows(
        queue,
        GlobalParams.executor_id,
        GlobalParams.app_version,
        None,
        running,
        owner_xid=owner,
    )
    for status in dbos._sys_db.get_workflow_statuses(claimed) if claimed else []:
        execute_dequeued_workflow(dbos, status, owner)
    return running + len(claimed) >= slots


class Kicker:
    """Kicks a queue when asked, and again while it holds more than there is room for.

    Kicks asked for meanwhile become one.
    """

    def __init__(self, queue: Queue, slots: int) -> None:
        self._queue = queue
        self._slots = slots
        self._wanted = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def kick(self) -> None:
        """Ask for a kick; returns at once."""
        self._wanted.set()

    async def close(self) -> None:
        """Kick no more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        is_full = False
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BACKLOG_S if is_full else None):
                    await self._wanted.wait()
            self._wanted.clear()
            try:
                is_full = await asyncio.to_thread(start_waiting, self._queue, self._slots)
            except Exception as error:  # noqa: BLE001 - the poll is the guarantee; this, a hint.
                is_full = False
                log.warning("kick.failed", error=error_detail(error))
