"""How strong a storm is, and which sessions it goes over."""

from __future__ import annotations

from dataclasses import dataclass

CONTESTED = 6  # of so many sessions one is asked for by everybody at once
POISON_MODEL = "poison-model"
POISON_TOOL = "poison-tool"


@dataclass(frozen=True, slots=True)
class Forecast:
    """The measures of one storm.

    lease_ms   of the workers: a process that is silent for longer is taken for dead
    runs_in_s  runs in a second that the tellers wish to start together
    asks_in_s  requests in a second that the askers wish to make together
    calm_s     at least and at most between two troubles
    """

    seconds: float
    seed: int
    workers: int = 4
    servers: int = 2
    sessions: int = 40
    lease_ms: int = 2_000
    runs_in_s: float = 5.0
    asks_in_s: float = 12.0
    calm_s: tuple[float, float] = (1.2, 3.0)

    @property
    def contested(self) -> tuple[str, ...]:
        """The sessions that many clients ask for, each in its own way."""
        return tuple(f"contested-{n}" for n in range(max(2, self.sessions // CONTESTED)))

    @property
    def told(self) -> tuple[str, ...]:
        """The sessions of which each has one client, who knows how every run must end."""
        return tuple(f"told-{n}" for n in range(self.sessions - len(self.contested)))
