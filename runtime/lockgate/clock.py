"""The clock by which a process judges how long something is ago."""

from __future__ import annotations

import time


def now_s() -> float:
    """Read a clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
