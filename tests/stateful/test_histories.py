"""Whatever a random life leaves in a history, the strictest provider takes it."""

import random
from collections import Counter

import pytest

from lockgate_ops.exits import announce
from tests.stateful.life import live
from tests.stateful.long_run import rolls_of
from tests.support.cluster import Cluster
from tests.support.door import Door
from tests.support.histories import refused

LIVES = 40


def test_every_history_of_random_lives_can_be_gone_on_with(
    cluster: Cluster, pytestconfig: pytest.Config
) -> None:
    seed = pytestconfig.getoption("--stateful-seed", None)
    if seed is None:
        seed = random.SystemRandom().randrange(10**9)
    announce(f"seed {seed}: pytest tests/stateful --stateful-seed {seed}")
    with cluster.lend("frozen") as database:
        door, calls = Door(database.warm), 0
        for life in range(1, LIVES + 1):
            live(database.warm, rolls_of(seed, life), Counter(), 1_000, 1_000)
            assert refused(door) == [], f"seed {seed}, life {life}"
            query = "select count(*) as n from lockgate_store.messages where role = 'tool'"
            calls += door.row(query).n
        assert calls > 0, "no life called a tool"
