"""What serves beside a test, in a thread with a loop of its own, until the test is over."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from tests.support.seen import WITHIN_S


class Served(Protocol):
    """What runs on a loop until it is told to stop."""

    async def serve(self, started: threading.Event, stop: asyncio.Event) -> None: ...


Lent = TypeVar("Lent", bound=Served)


async def drained(cut: Callable[[], Awaitable[None]]) -> None:
    """Cut all there is until who connected at the last moment is gone, too."""
    for _ in range(3):
        await cut()
        await asyncio.sleep(0.02)


@contextmanager
def in_a_thread(served: Lent, name: str) -> Iterator[Lent]:
    """Lend what serves, in a thread of its own."""
    started = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(served.serve(started, stop))

    thread = threading.Thread(target=run, name=name)
    thread.start()
    assert started.wait(WITHIN_S)
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(WITHIN_S)
