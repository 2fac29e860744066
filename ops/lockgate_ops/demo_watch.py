"""What the tour looks at: the ledger, and a run whose worker is killed in its middle."""

from __future__ import annotations

import time
from typing import Any

import psycopg

from lockgate_ops.children import Child
from lockgate_ops.demo_screen import Screen
from lockgate_ops.refusals import FAILED, Refused

STEPS = 5
KILL_AT_STEP = 3


class KilledRun:
    """Watches a run step by step, and kills the worker that drives it in the middle."""

    def __init__(
        self, screen: Screen, ledger: Ledger, workers: dict[str, Child], names: dict[str, str]
    ) -> None:
        self._screen = screen
        self._ledger = ledger
        self._workers = workers
        self._names = names
        self._driver = ""
        self._killed_at = 0.0
        self._done: list[int] = []

    def see(self, name: str, chunk: dict[str, Any], run_id: str) -> None:
        """See one event of the run's stream."""
        kind = chunk.get("type") if name == "chunk" else name
        if kind == "tool_start":
            self._driver = self._ledger.owner(run_id) or self._driver
            if chunk["step"] == KILL_AT_STEP and not self._killed_at:
                self._kill()
        elif kind == "stream_resync" and self._killed_at:
            self._driver = self._ledger.owner(run_id) or self._driver
            took = time.monotonic() - self._killed_at
            self._screen.note(
                f"{self._names[self._driver]} has taken the run over, {took:.1f} s after the kill, "
                f"and goes on in step {KILL_AT_STEP}"
            )
        elif kind == "tool_end":
            self._done.append(chunk["step"])
            self._screen.note(
                f"step {chunk['step']} of {STEPS} done by {self._names[self._driver]}"
            )
        elif kind == "end":
            self._screen.note(f"end  status {chunk['status']}, output {chunk['output']!r}")

    def check(self) -> None:
        """Hold that the run went through, and that no step's result was made twice."""
        require(bool(self._killed_at), "no worker was killed")
        require(self._done == [*range(1, STEPS + 1)], f"steps came as {self._done}")
        before = ", ".join(str(step) for step in range(1, KILL_AT_STEP))
        self._screen.note(f"steps {before} were committed before the kill and not done again")

    def _kill(self) -> None:
        worker = self._workers[self._driver]
        self._screen.note(
            f"step {KILL_AT_STEP} has begun: kill -9 {worker.pid}, {self._names[self._driver]}, "
            "which owns the run"
        )
        worker.kill()
        self._killed_at = time.monotonic()


class Ledger:
    """The run ledger, read through SQL as anybody would."""

    def __init__(self, conn: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._conn = conn

    def read(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names of a query's columns, and its rows."""
        cursor = self._conn.execute(query.encode())
        return [column.name for column in cursor.description or ()], cursor.fetchall()

    def owner(self, run_id: str) -> str | None:
        """Return the worker that drives a run now."""
        row = self._conn.execute(
            "select owner_id from lockgate.run_ledger where run_id = %s", [run_id]
        ).fetchone()
        return row[0] if row else None


def require(holds: bool, otherwise: str) -> None:
    """Stop the tour where something went another way than it should."""
    if not holds:
        raise Refused(f"the tour met what it should not: {otherwise}", code=FAILED)
