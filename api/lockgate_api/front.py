"""What the routes of one app share: the runtime, the options, and what must end before we leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from litestar import Request
from litestar.datastructures import State

from lockgate import Executor, Runtime, Sender

AnyRequest: TypeAlias = Request[Any, Any, State]
Result = TypeVar("Result")

STATE_KEY = "lockgate"
FINISH_S = 30.0  # how long a leaving process waits for entries that have begun


class Drain:
    """Ends every open stream at once, so that the process can leave.

    It is `app.state.drain`; who stops the server calls `begin` first, on the app's event loop.
    """

    def __init__(self) -> None:
        self.has_begun = False
        self._begun: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Tell every open stream, and every one that is opened from now on, to end."""
        self.has_begun = True
        if self._begun is not None and not self._begun.done():
            self._begun.set_result(None)

    def begun(self) -> asyncio.Future[None]:
        """Return what is done once the drain has begun: one future for all streams."""
        if self._begun is None:
            self._begun = asyncio.get_running_loop().create_future()
            if self.has_begun:
                self._begun.set_result(None)
        return self._begun


class UnderWay:
    """Writes that have begun. They end, whatever becomes of the request that asked for them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def finish(self, write: Coroutine[Any, Any, Result]) -> Result:
        """Await a write; who is cancelled meanwhile goes, and the write goes on."""
        task = asyncio.create_task(write)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Wait for what has begun, for a bounded time."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=FINISH_S)


@dataclass(frozen=True, slots=True)
class Front:
    """One app's front: what `create_app` was given, and what its routes keep in common.

    sender        sends entries through the runtime, or through a wrapper around one
    authenticate  None only where `allow_unauthenticated` was said
    """

    runtime: Runtime
    sender: Sender
    authenticate: Callable[[AnyRequest], Any] | None
    verbose_validation_errors: bool
    max_body_bytes: int
    drain: Drain = field(default_factory=Drain)
    under_way: UnderWay = field(default_factory=UnderWay)

    @property
    def executor(self) -> Executor:
        """What takes answers and stops, as the sender's entries."""
        return self.sender.executor


def front_of(request: AnyRequest) -> Front:
    """Return the front of the app that a request came to."""
    front = request.app.state[STATE_KEY]
    assert isinstance(front, Front)
    return front
