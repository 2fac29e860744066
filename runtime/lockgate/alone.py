"""What its workers died of again and again begins alone, in each process.

A run that ends its worker takes along whatever else is driven there. So what has died so often
without progress is begun while no other such run begins, until it commits something: or one run
that is poison would spend the budget of all that came back with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

ALONE_AFTER = 2  # deaths; the budget allows for more
ALONE_S = 10.0  # after so long alone it was not the poison


class Alone:
    """The turns of one process; whether a run may be driven stays the database's to say."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self, deaths: int) -> AsyncIterator[Callable[[], None]]:
        """Begin, alone if that is due; what is lent is called once a run has begun well.

        It is waited for before the claim: who waits here has nothing to lose.
        """
        if deaths < ALONE_AFTER:
            yield lambda: None
            return
        await self._lock.acquire()
        release = _Release(self._lock)
        try:
            yield release
        finally:
            release()


class _Release:
    """Lets go of a lock, once: when it is called, or after ALONE_S."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._late = asyncio.get_running_loop().call_later(ALONE_S, self)
        self._is_held = True

    def __call__(self) -> None:
        self._late.cancel()
        if self._is_held:
            self._is_held = False
            self._lock.release()
