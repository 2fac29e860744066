"""lockgate.heartbeat: a worker's promise to be there for another lease."""

from typing import Any

from tests.support.clock import START, Clock
from tests.support.door import Door

LEASE_S = 5.0


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
