"""Looks on while the storm rages: every 50 ms for two live runs, every second at everything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from lockgate_ops.invariants import violations

Connection = psycopg.Connection[Any]
AGAIN_S = 0.05
MOST = 20  # broken sentences that are kept: the first ones tell why
TWO_LIVE_RUNS = """
select session_id, count(*) from lockgate_store.runs
 where status = 'running' or status like 'suspended%'
 group by tenant_id, session_id having count(*) > 1"""


def two_live_runs(connection: Connection) -> list[tuple[str, Any]]:
    """Return each session that has two live runs."""
    return [("one live run a session", row) for row in connection.execute(TWO_LIVE_RUNS)]


@dataclass(slots=True)
class Watch:
    """One who looks. `broken` are the sentences it saw broken, with a row each."""

    name: str
    url: str
    look: Callable[[Connection], list[tuple[str, Any]]]
    every_s: float
    looks: int = 0
    slowest_s: float = 0.0
    broken: list[str] = field(default_factory=list)
    failure: BaseException | None = None

    def run(self, over: threading.Event) -> None:
        """Look until it is over; a link that the storm cuts is made again."""
        try:
            while not over.is_set():
                try:
                    with closing(psycopg.connect(self.url, autocommit=True)) as connection:
                        self._look_on(connection, over)
                except psycopg.OperationalError:
                    over.wait(AGAIN_S)
        except BaseException as failure:  # noqa: BLE001 - a thread's failure is told at the end.
            self.failure = failure

    def _look_on(self, connection: Connection, over: threading.Event) -> None:
        while not over.is_set():
            began = time.monotonic()
            for sentence, row in self.look(connection):
                if len(self.broken) < MOST:
                    self.broken.append(f"{sentence} {row}")
            took = time.monotonic() - began
            self.looks += 1
            self.slowest_s = max(self.slowest_s, took)
            # Never more than half of the time: a long storm has many rows to look at.
            over.wait(max(took, self.every_s - took))


@contextmanager
def watched(url: str) -> Iterator[list[Watch]]:
    """Look on for as long as the block lasts, and once more at its end."""
    watches = [
        Watch("two live runs", url, two_live_runs, 0.05),
        Watch("every invariant", url, violations, 1.0),
    ]
    over = threading.Event()
    threads = [threading.Thread(target=watch.run, args=[over]) for watch in watches]
    for thread in threads:
        thread.start()
    try:
        yield watches
    finally:
        over.set()
        for thread in threads:
            thread.join()
