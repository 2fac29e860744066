"""Two or more callers at once: who calls, who is seen waiting, who goes on.

A test never sleeps: it waits until the database says that the other waits for a lock.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.support.cluster import Database
from tests.support.connections import Connection
from tests.support.door import Door

BOUND_S = 20.0  # Far above any wait of a passing test, and below pytest's own limit.


class Caller(Door):
    """A caller with its own connection, in a transaction of its own from its first call on."""

    def commit(self) -> None:
        self.connection.commit()

    def rollback(self) -> None:
        self.connection.rollback()

    @property
    def pid(self) -> int:
        return self.connection.info.backend_pid


class Racers:
    """The callers of one test, the threads in which they wait, and one that looks on."""

    def __init__(self, database: Database, stack: ExitStack) -> None:
        self._database = database
        self._stack = stack
        self._threads = stack.enter_context(ThreadPoolExecutor(max_workers=32))
        self.looking = Door(self._opened(autocommit=True))

    def caller(self) -> Caller:
        return Caller(self._opened(autocommit=False))

    def callers(self, count: int) -> list[Caller]:
        return [self.caller() for _ in range(count)]

    def later(self, call: Callable[..., Any], *args: Any, **more: Any) -> "Future[Any]":
        """Make a call that is expected to wait, in a thread of its own."""
        return self._threads.submit(call, *args, **more)

    def waiting(
        self, caller: Caller, call: Callable[..., Any], *args: Any, **more: Any
    ) -> "Future[Any]":
        """Make a call and return when its caller is seen waiting for a lock."""
        future = self.later(call, *args, **more)
        deadline = time.monotonic() + BOUND_S
        while not self._waits(caller.pid):
            if future.done():
                raise AssertionError(f"the call did not wait: {future.result()}")
            assert time.monotonic() < deadline, "nobody was seen waiting"
        return future

    def at_once(self, calls: list[Callable[[], Any]]) -> list[Any]:
        """Make all calls at the same moment and return their answers."""
        gate = threading.Barrier(len(calls))

        def run(call: Callable[[], Any]) -> Any:
            gate.wait(BOUND_S)
            return call()

        return [future.result(BOUND_S) for future in [self.later(run, call) for call in calls]]

    def kill(self, caller: Caller) -> None:
        """End a caller's backend before it can commit."""
        self.looking.execute("select pg_terminate_backend(%s, 5000)", caller.pid)

    def _waits(self, pid: int) -> bool:
        return bool(
            self.looking.rows(
                "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'", pid
            )
        )

    def _opened(self, *, autocommit: bool) -> Connection:
        connection = self._database.connect(autocommit=autocommit)
        self._stack.callback(connection.close)
        return connection


@contextmanager
def racing(database: Database) -> Iterator[Racers]:
    """Lend callers on a database; whoever still has a transaction open at the end loses it."""
    with ExitStack() as stack:
        yield Racers(database, stack)
