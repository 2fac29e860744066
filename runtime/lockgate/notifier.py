"""Tell workers of other processes that a drive waits, for a process that has none of its own.

A notice is only a hint: the queue's poll is the guarantee. So it is sent beside the entries, never
inside one, and notices asked for while one is on its way become one.
"""

from __future__ import annotations

import asyncio

import structlog

from lockgate.database import Database
from lockgate.errors import error_detail

log = structlog.get_logger(__name__)


class Notifier:
    """Sends what `Database.listening` hears; its `notify` is a Runtime's `kick`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wanted = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def notify(self) -> None:
        """Ask for a notice; returns at once."""
        self._wanted.set()

    async def close(self) -> None:
        """Send no more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._database.wake_workers()
            except Exception as error:  # noqa: BLE001 - a hint may fail in any way; the next may not.
                log.warning("notifier.failed", error=error_detail(error))
