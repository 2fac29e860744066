"""What the tests of single rules share: a door to a fresh database, and a clock that stands."""

from collections.abc import Iterator

import pytest

from tests.support.clock import Clock
from tests.support.cluster import LentDatabase
from tests.support.connections import Connection
from tests.support.door import Door
from tests.support.invariants import violations


@pytest.fixture
def connection(rules_db: LentDatabase) -> Connection:
    """The test's first connection."""
    return rules_db.warm


@pytest.fixture
def clock(connection: Connection) -> Clock:
    """The time on the test's first connection."""
    return Clock(connection)


@pytest.fixture
def db(connection: Connection, clock: Clock) -> Iterator[Door]:
    """The rules; whatever a test did through them, the invariants hold at its end."""
    door = Door(connection)
    yield door
    assert violations(connection) == []
