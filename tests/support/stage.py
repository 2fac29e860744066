"""What happens in other processes, as a test sees and holds it: a ledger and gates, in a folder.

Models, tools and hooks of the tests note what they do, one line each, and wait at gates until the
test opens them. A line is written before anything else can happen, so a kill loses none.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tests.support.seen import LOOK_EVERY_S, seen

Note = dict[str, Any]


class Stage:
    """A folder that a test and the processes it has started share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ledger = folder / "ledger.jsonl"
        self._lines: list[Note] = []
        self._read_bytes = 0

    def note(self, what: str, **more: Any) -> None:
        """Write a line: what was done, by which process, and more."""
        line = json.dumps({"what": what, "pid": os.getpid(), **more}, default=str) + "\n"
        ledger = os.open(self._ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(ledger, line.encode())
        finally:
            os.close(ledger)

    def notes(self, what: str, **more: Any) -> list[Note]:
        """Return the lines of a kind that say so, in their order."""
        wanted = {"what": what, **{name: _plain(value) for name, value in more.items()}}
        return [line for line in self.lines() if wanted.items() <= line.items()]

    def lines(self) -> list[Note]:
        """Return all lines, in the order in which they were written."""
        if self._ledger.exists():
            with self._ledger.open("rb") as ledger:
                ledger.seek(self._read_bytes)
                whole, end, _ = ledger.read().rpartition(b"\n")
            self._lines += [json.loads(line) for line in whole.splitlines()]
            self._read_bytes += len(whole + end)
        return [*self._lines]

    def seen(self, what: str, count: int = 1, **more: Any) -> list[Note]:
        """Wait until there are so many such lines, and return them."""
        return seen(
            lambda: found if len(found := self.notes(what, **more)) >= count else [],
            f"{what} {more}",
        )

    def open(self, gate: str) -> None:
        """Let pass who waits at a gate, and who will come to it."""
        self._gate(gate).touch()

    def opens(self, gate: str) -> bool:
        """Open a gate, and say whether it was closed."""
        was_open = self.is_open(gate)
        self.open(gate)
        return not was_open

    def is_open(self, gate: str) -> bool:
        return self._gate(gate).exists()

    def close(self, gate: str) -> None:
        """Close a gate again."""
        self._gate(gate).unlink(missing_ok=True)

    async def passed(self, gate: str) -> None:
        """Wait at a gate; that somebody waits there is noted."""
        self.note("waits", gate=gate)
        while not self.is_open(gate):
            await asyncio.sleep(LOOK_EVERY_S)

    def _gate(self, gate: str) -> Path:
        return self.folder / f"{gate}.open"


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | bool | None) else str(value)
