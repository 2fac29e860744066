"""What recovery has come to for one worker since its boot: counted where it happens.

It decides nothing. The drives' loop counts, and the heartbeat's own thread reads and tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from lockgate.clock import now_s


@dataclass(slots=True)
class Tally:
    """A worker's totals; they only grow.

    takeovers      runs that its sweeps handed to a new attempt
    recoveries     drives that it entered as recover
    exhausted      runs that ended by the crash-loop budget in its hands
    fenced_writes  writes of its lost attempts that were refused
    """

    takeovers: int = 0
    recoveries: int = 0
    exhausted: int = 0
    fenced_writes: int = 0
    _swept_at_s: float | None = None

    def swept(self) -> None:
        """Note that a sweep has ended just now."""
        self._swept_at_s = now_s()

    def swept_ago_ms(self) -> int | None:
        """Say how long ago the last sweep ended; None before the first."""
        swept_at_s = self._swept_at_s
        return None if swept_at_s is None else max(0, round((now_s() - swept_at_s) * 1_000))
