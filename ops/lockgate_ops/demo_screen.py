"""What the tour puts on the screen: plain lines, eighty columns, each as soon as it is known."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Sequence
from typing import Any

WIDTH = 80
MARGIN = "   "


class Screen:
    """Writes to stdout, and knows how long the tour has lasted."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._column = 0

    def seconds(self) -> float:
        """Return the seconds since the tour began."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """Write one line."""
        self._write(f"{text}\n")

    def step(self, what: str) -> None:
        """Write what is being done now, with the time."""
        self.say(f"[{self.seconds():4.1f} s] {what}")

    def title(self, number: str, what: str) -> None:
        """Open a part of the tour."""
        self.say(f"\n{number}  {what}  [{self.seconds():.1f} s]")

    def note(self, text: str) -> None:
        """Write what was seen, below a title."""
        for line in text.splitlines():
            self.say(
                textwrap.fill(line, WIDTH, initial_indent=MARGIN, subsequent_indent=MARGIN + "  ")
            )

    def word(self, word: str) -> None:
        """Write a piece of a text that is still coming; the lines are broken here."""
        if self._column + len(word) > WIDTH:
            self._write("\n")
            self._column = 0
        if self._column == 0:
            self._write(f"{MARGIN}| ")
            self._column = len(MARGIN) + 2
        self._write(word)
        self._column += len(word)

    def end_of_words(self) -> None:
        """End a text that came in pieces."""
        self._write("\n")
        self._column = 0

    def table(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows as a small table."""
        texts = [[*names], *([("" if cell is None else str(cell)) for cell in row] for row in rows)]
        widths = [max(len(row[place]) for row in texts) for place in range(len(names))]
        texts.insert(1, ["-" * width for width in widths])
        for row in texts:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.say(f"{MARGIN}{'  '.join(cells).rstrip()}")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
