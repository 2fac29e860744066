"""lockgate.recovery_metrics: how recovery stands, summed up in one look."""

from typing import Any

from tests.support.clock import Clock
from tests.support.door import Door

LEASE_S = 5.0


def told(db: Door) -> Any:
    with db.nothing_written():
        return db.call("recovery_metrics")


def test_where_nothing_has_happened_all_is_nothing_and_no_age_is_told(db: Door) -> None:
    answer = vars(told(db))

    assert {name: answer.pop(name) for name in ("heartbeat_age_ms", "sweep_age_ms")} == {
        "heartbeat_age_ms": None,
        "sweep_age_ms": None,
    }
    assert set(answer.values()) == {0}


def test_workers_are_counted_by_what_they_promise(db: Door, clock: Clock) -> None:
    db.beat("dead")
    clock.forward(seconds=LEASE_S)
    db.beat("quiet", lease_ms=60_000)
    clock.forward(seconds=4)
    db.beat("leaving", draining=True)
    db.beat("busy")
    clock.forward(seconds=0.5)
    answer = told(db)

    assert (answer.workers_alive, answer.workers_draining) == (3, 1)
    assert answer.heartbeat_age_ms == 4500, "of the one that was silent longest, and is alive"


def test_totals_are_of_every_boot_also_of_the_dead(db: Door, clock: Clock) -> None:
    db.beat("dead", takeovers=1, recoveries=10, exhausted=100, fenced_writes=1000)
    clock.forward(seconds=LEASE_S * 10)
    db.beat("alive", takeovers=2, recoveries=20, exhausted=200, fenced_writes=2000)
    answer = told(db)

    assert (answer.takeovers, answer.recoveries) == (3, 30)
    assert (answer.exhausted, answer.fenced_writes) == (300, 3000)


def test_the_newest_sweep_of_anybody_counts(db: Door, clock: Clock) -> None:
    for _ in range(3):
        db.beat("worker-1", swept_ago_ms=100)
        db.beat("worker-2", swept_ago_ms=700)
        clock.forward(seconds=LEASE_S - 1)
    db.beat("worker-1", swept_ago_ms=100)
    db.beat("worker-2", swept_ago_ms=700)
    db.beat("worker-3")
    clock.forward(seconds=2)

    assert told(db).sweep_age_ms == 2100


def test_running_runs_and_those_of_them_that_are_stranded(db: Door, clock: Clock) -> None:
    db.beat("worker-1", lease_ms=60_000)
    db.drive(db.start("driven").run_id, worker_id="worker-1")
    db.drive(db.start("stranded").run_id, worker_id="unheard-of")
    db.start("waiting")
    db.finished("over")
    handed = db.drive(db.start("handed-over").run_id, worker_id="unheard-of")
    clock.forward(seconds=LEASE_S + 1)
    assert (told(db).running_runs, told(db).stranded_runs) == (4, 2)
    db.requeue(handed.run_id, "owner_dead")

    assert (told(db).running_runs, told(db).stranded_runs) == (4, 1)
    assert [row.session_id for row in db.call_many("list_stranded_runs")] == ["stranded"]


def test_settlements_are_undelivered_for_each_consumer_until_its_mark(db: Door) -> None:
    db.finished("before")
    assert told(db).undelivered_settlements == 0, "nobody has asked to be told"
    db.call_many("claim_settlements", consumer="hook")
    db.call_many("claim_settlements", consumer="webhook:crm")
    run_id = db.finished("after")
    assert told(db).undelivered_settlements == 4
    db.call("mark_delivered", delivery_id=f"{run_id}:completed", consumer="hook")

    assert told(db).undelivered_settlements == 3
