"""What the races share: a database with the real clock, callers, and the invariants at the end."""

from collections.abc import Iterator

import pytest

from tests.support.cluster import Cluster
from tests.support.door import Door
from tests.support.invariants import violations
from tests.support.racers import Racers, racing


@pytest.fixture
def racers(cluster: Cluster) -> Iterator[Racers]:
    """Callers on a database without a row."""
    with cluster.lend("real") as database, racing(database) as racers:
        yield racers
        assert violations(database.warm) == []


@pytest.fixture
def db(racers: Racers) -> Door:
    """A caller who is not in the race: each of its calls commits at once."""
    return racers.looking
