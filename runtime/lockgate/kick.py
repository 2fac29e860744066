"""Start a committed drive at once, instead of at the queue's next poll.

The only file with DBOS's private names; a contract test holds them. It only hurries what the poll
would do anyway, through the same claim: a kick that fails or races the poll changes nothing.
"""

from __future__ import annotations

import asyncio

import structlog
from dbos import Queue
from dbos._core import execute_dequeued_workflow
from dbos._dbos import _get_dbos_instance
from dbos._utils import GlobalParams, generate_uuid

BACKLOG_S = 0.05  # between two kicks while the queue holds more than this worker has room for

log = structlog.get_logger(__name__)


def start_waiting(queue: Queue) -> bool:
    """Claim and start what the queue can start now, and say whether more may be waiting.

    Not on the drives' own loop: it asks the database with blocking calls.
    """
    dbos, owner = _get_dbos_instance(), generate_uuid()
    claimed, held_back = dbos._sys_db.start_queued_workflows(
        queue,
        GlobalParams.executor_id,
        GlobalParams.app_version,
        None,
        dbos._active_workflows_set.count_for_queue(queue.name),
        owner_xid=owner,
    )
    for status in dbos._sys_db.get_workflow_statuses(claimed) if claimed else []:
        execute_dequeued_workflow(dbos, status, owner)
    return bool(claimed) or held_back is not None


class Kicker:
    """Kicks a queue when asked; kicks asked for meanwhile become one."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
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
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                while await asyncio.to_thread(start_waiting, self._queue):
                    await asyncio.sleep(BACKLOG_S)
            except Exception:
                log.warning("kick.failed", exc_info=True)
