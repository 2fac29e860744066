"""How strong a storm is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Forecast:
    """The measures of one storm.

    rate     requests in a second that all clients wish to make together
    calm_s   at least and at most between two kills
    """

    seconds: float
    clients: int
    sessions: int
    seed: int
    rate: float = 80.0
    calm_s: tuple[float, float] = (2.0, 4.0)

    def session(self, number: int) -> str:
        return f"s{number % self.sessions}"
