"""What a command says and how it ends; light, since `lockgate --help` imports it too."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import NoReturn

from lockgate_ops.refusals import FAILED


def announce(line: str) -> None:
    """Print a line that a person reads and another program may wait for."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def complain(line: str) -> None:
    """Say on stderr what went wrong; where that is broken, nobody is told and nothing fails."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"lockgate: {line}\n")
        sys.stderr.flush()


def leave(code: int) -> NoReturn:
    """End the process, whatever its threads still wait for.

    An application's tool may block a thread for as long as it likes; its run was handed over. A
    stream that is broken, or that a signal found in the middle of a write, is left as it is.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            stream.flush()
    os._exit(code)


def exit_with_parent() -> None:
    """Leave at once when stdin ends: whoever started this process has gone, however it died."""
    threading.Thread(target=_watch_parent, name="lockgate-parent", daemon=True).start()


def _watch_parent() -> None:
    while os.read(0, 4096):
        pass
    leave(FAILED)
