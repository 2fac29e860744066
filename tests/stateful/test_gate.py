"""Random lives of a few sessions agree with a small model, at each step.

After each move the rows are those of the model, and the invariants hold. Plain dice roll the many
entries (long_run.py); Hypothesis rolls some too, and shortens what it finds.
"""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from lockgate_ops.exits import announce
from tests.stateful.life import MOVES, Move
from tests.stateful.long_run import run
from tests.stateful.reach import frequencies, unreached
from tests.stateful.world import World
from tests.support.cluster import Cluster
from tests.support.connections import Connection


class Gate(RuleBasedStateMachine):
    """A few sessions, and every move that a caller, a worker or a store client can make."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.world = World(connection, Counter())

    @rule(move=st.sampled_from(MOVES), dice=st.randoms(use_true_random=False))
    def somebody_moves(self, move: Move, dice: random.Random) -> None:
        move(self.world, dice)
        self.world.compare_touched()

    def teardown(self) -> None:
        self.world.compare_all()


def live(cluster: Cluster, examples: int, steps: int) -> None:
    with cluster.lend("frozen") as database:

        class GateOfThisDatabase(Gate):
            def __init__(self) -> None:
                super().__init__(database.warm)

        run_state_machine_as_test(
            GateOfThisDatabase,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


@pytest.mark.timeout(600)
def test_twenty_thousand_random_entries_agree_with_the_model(
    cluster: Cluster, pytestconfig: pytest.Config
) -> None:
    seed = pytestconfig.getoption("--stateful-seed", None)
    if seed is None:
        seed = random.SystemRandom().randrange(10**9)
    announce(f"seed {seed}: pytest tests/stateful --stateful-seed {seed}")

    with cluster.lend("frozen") as database:
        reached = run(database.warm, entries=20_000, seed=seed, look_every=1, check_every=50)
        announce("\n".join(frequencies(reached)))

        assert unreached(database.warm, reached) == set()


def test_random_lives_agree_with_the_model(cluster: Cluster) -> None:
    live(cluster, examples=40, steps=50)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_lives_agree_with_the_model(cluster: Cluster) -> None:
    live(cluster, examples=1000, steps=80)
