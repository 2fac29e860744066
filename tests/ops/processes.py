"""The `lockgate` command as a person runs it, and what is left of it afterwards."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from lockgate_ops.settings import child_environment

COMMAND = [sys.executable, "-P", "-m", "lockgate_ops"]
SEEN_WITHIN_S = 20.0


def lockgate(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with those settings in its environment and no others."""
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env=child_environment(**settings),
    )


def wait_until(seen: Callable[[], object], what: str) -> None:
    """Wait for a seen state, with a bound."""
    deadline = time.monotonic() + SEEN_WITHIN_S
    while not seen():
        assert time.monotonic() < deadline, f"not seen in {SEEN_WITHIN_S} s: {what}"
        threading.Event().wait(0.05)


def processes_with(word: str) -> list[str]:
    """Return the processes that have a word in their arguments or their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue  # It has gone meanwhile.
        if word.encode() in told:
            found.append(f"{process.name}: {told[:200]!r}")
    return found


def children_of(pid: int) -> list[list[str]]:
    """Return the arguments of a process's children."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if parent == pid:
            found.append(words)
    return found
