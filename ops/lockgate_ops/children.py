"""Processes of ours that another one of ours starts, and takes along however it dies.

A child reads its parent's end from a pipe on its stdin, so that even a kill -9 leaves none behind.
Each is ended by its own process id, and by no name.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Self

from lockgate_ops.refusals import FAILED, Refused
from lockgate_ops.settings import child_environment

READY = "ready "
READY_S = 60.0  # a loaded machine imports slowly; it takes two or three seconds
ENDED_S = 10.0  # beyond the drain it was given


class Child:
    """One `lockgate` process."""

    def __init__(self, words: list[str], log: Path | None = None, /, **settings: str) -> None:
        """Start it.

        words     as on the command line
        log       what it says on stderr is added there; None keeps it in no folder
        settings  by their names, for its environment
        """
        self._name = words[0]
        # Without a name in any folder, so that nothing is left of it; close() closes either.
        self._errors: IO[bytes] = (
            tempfile.TemporaryFile() if log is None else log.open("a+b")  # noqa: SIM115
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lockgate_ops", *words, "--exit-with-parent"],
            env=child_environment(**settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,  # A Ctrl-C in the terminal is for the parent alone.
        )
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.process.pid

    def ready(self) -> str:
        """Wait for its ready line, and return what it names. Errors  Refused when it ended."""
        deadline = time.monotonic() + READY_S
        with contextlib.suppress(queue.Empty):
            while line := self._lines.get(timeout=max(0, deadline - time.monotonic())):
                if line.startswith(READY):
                    return line.removeprefix(READY).strip()
        raise Refused(
            f"lockgate {self._name} did not become ready: {self._last_words()}", code=FAILED
        )

    def kill(self) -> None:
        """Kill it in the middle of its work, as a crash would."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Let go of its pipes and its log; it has ended."""
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError):  # The pipe was closed meanwhile.
            for line in self.process.stdout:
                self._lines.put(line)
        self._lines.put("")

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


class Children:
    """The children of one process; a context manager that leaves none running."""

    def __init__(self) -> None:
        self._all: list[Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop(self._all)

    def start(self, words: list[str], log: Path | None = None, /, **settings: str) -> Child:
        """Start a child that ends with us."""
        child = Child(words, log, **settings)
        self._all.append(child)
        return child

    @staticmethod
    def stop(children: Iterable[Child]) -> None:
        """Tell all of them to leave, then wait for each; one that does not leave is killed."""
        running = [child for child in children if child.process.poll() is None]
        for child in running:
            child.process.terminate()
        for child in running:
            try:
                child.process.wait(ENDED_S)
            except subprocess.TimeoutExpired:
                child.kill()
        for child in children:
            child.close()
