"""A notice travels beside the entries, and many that are wanted at once are one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from lockgate.database import Database
from lockgate.errors import StoreUnavailable
from lockgate.notifier import Notifier


class _Slow:
    """A database whose notices take as long as the test says."""

    def __init__(self) -> None:
        self.sent = 0
        self.fails = False
        self.may_go_on = asyncio.Event()

    async def wake_workers(self) -> None:
        self.sent += 1
        await self.may_go_on.wait()
        if self.fails:
            raise StoreUnavailable


def _run(test: Callable[[_Slow, Notifier], Awaitable[None]]) -> None:
    async def main() -> None:
        database = _Slow()
        notifier = Notifier(cast("Database", database))
        await asyncio.wait_for(test(database, notifier), 5)
        await notifier.close()

    asyncio.run(main())


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_notice_is_sent_and_its_caller_does_not_wait() -> None:
    async def test(database: _Slow, notifier: Notifier) -> None:
        notifier.notify()
        assert database.sent == 0
        await _settle()
        assert database.sent == 1

    _run(test)


def test_what_is_wanted_while_one_is_on_its_way_becomes_one_more() -> None:
    async def test(database: _Slow, notifier: Notifier) -> None:
        notifier.notify()
        await _settle()
        for _ in range(100):
            notifier.notify()
        database.may_go_on.set()
        await _settle()
        assert database.sent == 2

    _run(test)


def test_a_notice_that_fails_is_followed_by_the_next() -> None:
    async def test(database: _Slow, notifier: Notifier) -> None:
        database.fails = True
        database.may_go_on.set()
        notifier.notify()
        await _settle()
        notifier.notify()
        await _settle()
        assert database.sent == 2

    _run(test)
