"""lockgate.heartbeat: a worker's promise to be there for another lease."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.support.clock import START, Clock
from tests.support.door import Door

LEASE_S = 5.0
TOTALS = ("takeovers", "recoveries", "exhausted", "fenced_writes")


def worker(db: Door) -> Any:
    return db.row("select * from lockgate_store.workers")


def test_a_first_beat_registers_the_worker(db: Door) -> None:
    answer = db.beat("worker-1", lease_ms=2000)
    row = worker(db)

    assert (answer.heartbeat_at, answer.was_late) == (START, False)
    assert (row.worker_id, row.drive_version, row.lease_ms) == ("worker-1", "drive-1", 2000)
    assert row.started_at == row.regular_since == START
    assert not row.draining


def test_beats_in_time_keep_the_regular_time(db: Door, clock: Clock) -> None:
    db.beat()
    for _ in range(3):
        now = clock.forward(seconds=LEASE_S)
        assert not db.beat().was_late

    assert (worker(db).heartbeat_at, worker(db).regular_since) == (now, START)


def test_a_late_beat_starts_the_regular_time_anew(db: Door, clock: Clock) -> None:
    db.beat()
    late = clock.forward(seconds=LEASE_S + 0.001)
    assert db.beat().was_late
    clock.forward(seconds=1)
    assert not db.beat().was_late

    assert (worker(db).regular_since, worker(db).started_at) == (late, START)


def test_a_worker_is_judged_by_the_lease_it_promised_last(db: Door, clock: Clock) -> None:
    db.beat(lease_ms=60_000)
    clock.forward(seconds=30)

    assert not db.beat(lease_ms=5000).was_late


def test_a_draining_worker_says_so_and_can_take_it_back(db: Door) -> None:
    db.beat(draining=True)
    assert worker(db).draining
    db.beat()
    assert not worker(db).draining


def test_a_beat_carries_the_totals_of_its_boot(db: Door) -> None:
    db.beat(takeovers=3, recoveries=2, exhausted=1, fenced_writes=4)
    assert [getattr(worker(db), name) for name in TOTALS] == [3, 2, 1, 4]
    db.beat(takeovers=5, recoveries=2, exhausted=1, fenced_writes=4)
    assert [getattr(worker(db), name) for name in TOTALS] == [5, 2, 1, 4]


@pytest.mark.parametrize("name", TOTALS)
def test_a_total_never_goes_down(db: Door, name: str) -> None:
    """A beat that was held up on its way may come after a later one."""
    for total in (7, 6, 0):
        db.call("heartbeat", worker_id="worker-1", **{name: total})

    assert {each: getattr(worker(db), each) for each in TOTALS} == {
        each: 7 if each == name else 0 for each in TOTALS
    }


def test_a_beat_says_how_long_ago_the_last_sweep_ended(db: Door, clock: Clock) -> None:
    for _ in range(3):
        db.beat(swept_ago_ms=0)
        assert worker(db).swept_at is None, "it was not to judge anybody yet"
        clock.forward(seconds=2)
    db.beat(swept_ago_ms=250)
    swept = clock.now - timedelta(milliseconds=250)
    assert worker(db).swept_at == swept
    clock.forward(seconds=1)
    db.beat()
    assert worker(db).swept_at == swept, "who says nothing of a sweep takes none back"
    db.beat(swept_ago_ms=0)
    assert worker(db).swept_at == clock.now


@pytest.mark.parametrize("name", [*TOTALS, "swept_ago_ms"])
@pytest.mark.parametrize("told", [-1, 2**63 - 1])
def test_less_than_nothing_or_more_than_can_be_is_a_broken_promise(
    db: Door, name: str, told: int
) -> None:
    with pytest.raises(psycopg.DatabaseError) as broken:
        db.call("heartbeat", worker_id="worker-1", **{name: told})

    assert broken.value.sqlstate == "LG002"


def test_whether_it_drains_is_to_be_said(db: Door) -> None:
    with pytest.raises(psycopg.DatabaseError) as broken:
        db.beat(draining=None)

    assert broken.value.sqlstate == "LG002"


def updates(db: Door) -> tuple[int, int]:
    """Return how often a worker's row was updated, and how often of that within its page."""
    db.execute("select pg_stat_force_next_flush()")
    told = db.row(
        "select n_tup_upd as all_of_them, n_tup_hot_upd as hot from pg_stat_user_tables"
        " where relid = 'lockgate_store.workers'::regclass"
    )
    return told.all_of_them, told.hot


def test_a_beat_touches_no_index(db: Door) -> None:
    """It is the most frequent write of an idle installation: the row stays in its page."""
    db.beat()
    before = updates(db)
    for number in range(200):
        db.beat(takeovers=number, swept_ago_ms=number)

    assert [now - then for now, then in zip(updates(db), before, strict=True)] == [200, 200]
