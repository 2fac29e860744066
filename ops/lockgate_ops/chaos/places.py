"""The places of a cluster: at each runs one `lockgate` process, and whichever ends has a successor.

A place remembers when it was down, and which of its processes ended without having been told to.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from lockgate_ops.children import Child, Children
from lockgate_ops.refusals import Refused

LOOK_EVERY_S = 0.05
AGAIN_S = 0.3
# It lets go when its stdin ends: whoever stopped the process may himself be killed meanwhile.
FREEZER = 'kill -STOP "$0"; read -r _; kill -CONT "$0"'
KILLED = -signal.SIGKILL

Role = Literal["server", "worker"]


@dataclass(slots=True)
class Frozen:
    """One process that stood still, by the clock on the wall."""

    pid: int
    since: float
    until: float = float("inf")


@dataclass(slots=True)
class History:
    """What has become of the processes of a cluster.

    odd_ends  those of which nobody knows why
    diary     a file of all that happened to them, by the clock of their logs
    longest_alone_s  for how long no worker was there, at most
    by_own    how many ended their own process, as a poisonous tool does
    """

    started: int = 0
    by_own: int = 0
    frozen: list[Frozen] = field(default_factory=list)
    odd_ends: list[str] = field(default_factory=list)
    diary: Path | None = None
    longest_alone_s: float = 0.0
    workers: int = 0
    alone_since: float = float("inf")

    def comes(self, role: Role) -> None:
        """Note that a process is ready to work."""
        if role == "worker":
            if self.workers == 0:
                alone_s = time.monotonic() - self.alone_since
                self.longest_alone_s = max(self.longest_alone_s, alone_s)
            self.workers += 1

    def goes(self, role: Role) -> None:
        """Note that a process is there no more, or is leaving."""
        if role == "worker":
            self.workers -= 1
            if self.workers == 0:
                self.alone_since = time.monotonic()

    def note(self, what: str) -> None:
        """Write into the diary, if one is kept, what happens now."""
        if self.diary is not None:
            with self.diary.open("a") as diary:
                diary.write(f"{datetime.now(UTC).isoformat()} {what}\n")


class Place:
    """Where one process runs, whichever it is at the moment."""

    def __init__(
        self, children: Children, role: Role, log: Path, history: History, **settings: str
    ) -> None:
        """settings  of the process, by their names"""
        self.role = role
        self.said = ""  # by the process that is there: its address, or its worker's id
        self.is_up = False
        self.is_frozen = False
        self._children = children
        self._log = log
        self._history = history
        self._settings = settings
        self._child: Child | None = None
        self._is_told = False
        self._disturbed: list[tuple[float, float]] = []

    async def keep(self, over: asyncio.Event) -> None:
        """Keep a process here until it is over."""
        while not over.is_set():
            child = self._child = self._children.start(self._words(), self._log, **self._settings)
            self._history.started += 1
            try:
                self.said = await asyncio.to_thread(child.ready)
            except Refused as refused:
                # The database is away: as a supervisor does, it is started again.
                self._history.note(f"{self._log.stem} is not ready: {refused}")
                await asyncio.sleep(AGAIN_S)
                continue
            self.is_up = True
            self._is_whole_again()
            self._history.note(f"{self._log.stem} is {self.said}")
            self._history.comes(self.role)
            while child.process.poll() is None and not over.is_set():
                await asyncio.sleep(LOOK_EVERY_S)
            if not over.is_set():
                self._ended(child.process.returncode)

    def kill(self) -> None:
        """End the process in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def redeploy(self) -> None:
        """Tell the process to leave, as for a new release; another one comes after it."""
        self._end(signal.SIGTERM)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let the process do nothing for as long as the block lasts, as a machine that sleeps."""
        assert self._child is not None
        frozen = Frozen(self._child.pid, time.time())
        freezer = subprocess.Popen(
            ["/bin/sh", "-c", FREEZER, str(self._child.pid)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._history.frozen.append(frozen)
        self._history.note(f"{self._log.stem} is frozen")
        self.is_frozen = True
        self._is_disturbed()
        try:
            yield
        finally:
            frozen.until = time.time()
            freezer.communicate()
            self.is_frozen = False
            self._history.note(f"{self._log.stem} is thawed")
            if self.is_up:
                self._is_whole_again()

    def was_disturbed(self, since: float) -> bool:
        """Say whether at any moment from then on no process was here, or it stood still."""
        return any(whole >= since for _, whole in self._disturbed)

    def _is_disturbed(self) -> None:
        self._disturbed.append((time.monotonic(), float("inf")))

    def _is_whole_again(self) -> None:
        now = time.monotonic()
        self._disturbed = [(began, min(whole, now)) for began, whole in self._disturbed]

    def _words(self) -> list[str]:
        if self.role == "worker":
            return ["work"]
        return ["serve", "--no-worker", "--allow-unauthenticated", "--port", "0"]

    def _end(self, number: signal.Signals) -> None:
        assert self._child is not None
        self._is_told = True
        self.is_up = False
        self._history.goes(self.role)
        self._is_disturbed()
        self._child.process.send_signal(number)

    def _ended(self, code: int) -> None:
        self._history.note(f"{self._log.stem} has ended with {code}")
        if not self._is_told:
            self._history.goes(self.role)
            self._is_disturbed()
            if code == KILLED and self.role == "worker":
                self._history.by_own += 1
            else:
                self._history.odd_ends.append(f"a {self.role} ended with {code} by itself")
        self.is_up = self._is_told = False
