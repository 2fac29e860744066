"""A clock that stands until a test moves it: the setting that `now.sql` reads."""

from datetime import UTC, datetime, timedelta

from tests.support.connections import Connection

START = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    """The time on one connection to a `frozen` clone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.now = START
        self.forward()

    def forward(self, *, seconds: float = 0) -> datetime:
        """Move the clock, and return the new time."""
        self.now += timedelta(seconds=seconds)
        self._connection.execute(
            "select set_config('lockgate.fake_now', %s, false)", [self.now.isoformat()]
        )
        return self.now
