"""The life of a process that serves until it is told to leave.

The first TERM or INT asks it to leave in order, within a bound; the second leaves at once. Owns the
event loop, and the end: neither a thread nor the loop, blocked by an application's tool, must hold
the process, so the process ends when its work has ended.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable

from lockgate_ops.exits import complain, leave
from lockgate_ops.refusals import FAILED

GRACE_S = 2.0  # beyond the drain: to hand over, to say so, and to close the links


class Leaving:
    """Whether this process was told to leave."""

    def __init__(self, drain_s: float) -> None:
        self._bound_s = drain_s + GRACE_S
        self._loop = asyncio.get_running_loop()
        self._asked = asyncio.Event()
        self._is_told = threading.Event()

    def listen(self) -> None:
        """Hear TERM and INT, for the running loop and also while that is blocked.

        The loop's own handlers would wait for the loop. The bound has its thread beforehand: a
        handler interrupts code that may hold the lock with which a thread is started.
        """
        threading.Thread(target=self._bound, name="lockgate-bound", daemon=True).start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told)

    async def wait(self) -> None:
        """Return once the process was told to leave."""
        await self._asked.wait()

    def _told(self, number: int, _frame: object) -> None:
        if self._is_told.is_set():
            leave(128 + number)
        self._is_told.set()
        self._loop.call_soon_threadsafe(self._asked.set)

    def _bound(self) -> None:
        self._is_told.wait()
        time.sleep(self._bound_s)
        complain("some work did not end within the drain time; others take it over")
        leave(FAILED)


def run(main: Callable[[Leaving], Awaitable[None]], *, drain_s: float) -> int:
    """Run a coroutine on this process's loop until it returns; returns the exit code.

    It is given a Leaving, and is to return soon after that was told. Threads that are still busy
    are not waited for: the caller ends the process by leave().
    """
    if sys.platform == "win32":
        loop = asyncio.new_event_loop()
    else:
        import uvloop

        loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)

    async def listening() -> None:
        leaving = Leaving(drain_s)
        leaving.listen()
        await main(leaving)

    loop.run_until_complete(listening())
    return 0
