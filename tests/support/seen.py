"""Waiting for what another process does: a test waits until it is seen, and never just waits."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

WITHIN_S = 30.0  # Far above any wait of a passing test on a busy machine, below pytest's limit.
LOOK_EVERY_S = 0.01


def seen(look: Callable[[], Found], what: str = "", *, within_s: float = WITHIN_S) -> Found:
    """Look until what is found is true, for a bounded time, and return it."""
    deadline = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < deadline, f"not seen in {within_s:g} s: {what or look.__name__}"
        time.sleep(LOOK_EVERY_S)
    return found
