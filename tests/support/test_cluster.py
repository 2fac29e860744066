"""The test house itself: nothing of one test is left for another."""

from contextlib import suppress

import psycopg
import pytest

from tests.support.clock import START, Clock
from tests.support.cluster import Cluster
from tests.support.door import Door
from tests.support.store import dump


@pytest.mark.parametrize("way", ["clone", "lend"])
def test_a_connection_left_open_fails_its_test(
    cluster: Cluster, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.cluster.CLOSING_S", 0.05)
    with (
        pytest.raises(AssertionError, match="left open"),
        getattr(cluster, way)("real") as database,
    ):
        forgotten = database.connect()
    forgotten.close()


def test_a_lent_database_is_empty_again_whatever_was_done_in_it(cluster: Cluster) -> None:
    with cluster.lend("frozen") as database:
        before = dump(database.warm)
        name = database.name
        Clock(database.warm)
        Door(database.warm).finished()
        database.warm.execute("set role lockgate_runtime")
        database.warm.execute("begin")
    with cluster.lend("frozen") as database:
        now, role = database.warm.execute("select lockgate.now(), current_role").fetchone() or (
            0,
            0,
        )

        assert database.name == name
        assert dump(database.warm) == before == {}
        assert now < START
        assert role == "postgres"


@pytest.mark.parametrize(
    "change",
    [
        "create table mine ()",
        "drop index lockgate_store.runs_one_live",
        "alter function lockgate.start set lock_timeout = '1s'",
        "select pg_terminate_backend(pg_backend_pid())",
    ],
)
def test_a_database_whose_catalog_changed_is_not_lent_again(cluster: Cluster, change: str) -> None:
    with cluster.lend("frozen") as database:
        name = database.name
        with suppress(psycopg.errors.AdminShutdown):
            database.warm.execute(change.encode())
    with cluster.lend("frozen") as database:
        assert database.name != name


def test_only_the_rules_clock_can_be_moved(cluster: Cluster) -> None:
    for kind, moves in (("frozen", True), ("real", False)):
        with cluster.lend(kind) as database:
            Clock(database.warm)
            (now,) = database.warm.execute("select lockgate.now()").fetchone() or (None,)
            assert (now == START) is moves
