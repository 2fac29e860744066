"""lockgate.forget_workers: what a boot has told outlives its row, and the row goes."""

from datetime import timedelta
from typing import Any

from tests.rules.recovery.test_heartbeat import TOTALS
from tests.support.clock import Clock
from tests.support.door import Door

DAY_S = 24 * 60 * 60
LEASE_S = 5.0


def workers(db: Door) -> set[str]:
    rows = db.rows("select worker_id from lockgate_store.workers")
    return {row.worker_id for row in rows}


def told(db: Door) -> list[int]:
    answer = db.call("recovery_metrics")
    return [getattr(answer, name) for name in TOTALS]


def boots(db: Door, count: int, *, age: str = "1 week") -> None:
    """Let so many boots have been there, and be silent for so long."""
    db.execute(
        "insert into lockgate_store.workers (worker_id, drive_version, lease_ms, heartbeat_at,"
        " regular_since, started_at, takeovers, swept_at)"
        " select 'boot-' || n, 'drive-1', 5000, t.at, t.at, t.at, 1, t.at"
        " from generate_series(1, %s) n, (select lockgate.now() - %s::interval) t(at)",
        count,
        age,
    )


def test_a_new_boot_forgets_one_that_was_silent_for_a_day_past_its_lease(
    db: Door, clock: Clock
) -> None:
    db.beat("old", lease_ms=int(LEASE_S * 1000))
    clock.forward(seconds=DAY_S + LEASE_S)
    db.beat("second")
    assert workers(db) == {"old", "second"}
    clock.forward(seconds=0.001)
    db.beat("second")
    assert workers(db) == {"old", "second"}, "only a first beat forgets"
    db.beat("third")

    assert workers(db) == {"second", "third"}


def test_what_the_forgotten_have_told_still_counts(db: Door, clock: Clock) -> None:
    for times in (1, 2):
        db.beat("here", takeovers=3, recoveries=4, exhausted=5, fenced_writes=6)
        db.beat("old", takeovers=10, recoveries=20, exhausted=30, fenced_writes=40)
        before = told(db)
        clock.forward(seconds=DAY_S * 2)
        db.beat("here")
        db.beat(f"new-{times}")

        assert workers(db) == {"here", f"new-{times}"}
        assert told(db) == before


def test_the_last_sweep_of_all_is_known_whoever_made_it(db: Door, clock: Clock) -> None:
    boots(db, 2)
    boot_age = timedelta(weeks=1)
    assert db.call("recovery_metrics").sweep_age_ms == boot_age // timedelta(milliseconds=1)
    db.beat("new")
    assert workers(db) == {"new"}
    assert db.call("recovery_metrics").sweep_age_ms == boot_age // timedelta(milliseconds=1)


def test_who_owns_a_run_is_not_forgotten(db: Door, clock: Clock) -> None:
    db.beat("owner")
    run_id = db.drive(db.start().run_id, worker_id="owner").run_id
    clock.forward(seconds=DAY_S * 2)
    db.beat("second")
    assert workers(db) == {"owner", "second"}
    db.requeue(run_id, "owner_dead")
    db.beat("third")

    assert workers(db) == {"second", "third"}


def test_a_first_beat_forgets_a_thousand_at_most(db: Door) -> None:
    boots(db, 1200)
    for left in (200, 0):
        before: Any = told(db)
        db.beat(f"new-{left}")
        assert sum(name.startswith("boot-") for name in workers(db)) == left
        assert told(db) == before


def test_one_that_was_forgotten_and_wakes_up_judges_nobody_for_a_lease(
    db: Door, clock: Clock
) -> None:
    db.beat("asleep")
    clock.forward(seconds=DAY_S * 2)
    db.beat("new")
    db.set_workflow(db.driven().run_id, status="ERROR")
    db.beat("asleep")
    looks = []
    for _ in range(2):
        looks.append(len(db.call_many("sweep", worker_id="asleep")))
        clock.forward(seconds=LEASE_S - 1)
        db.beat("asleep")
    looks.append(len(db.call_many("sweep", worker_id="asleep")))

    assert looks == [0, 0, 1]
    assert db.row("select * from lockgate.worker_health where worker_id = 'asleep'").live_runs == 0


def test_one_that_was_forgotten_and_claims_keeps_its_run_while_it_beats(
    db: Door, clock: Clock
) -> None:
    db.beat("asleep")
    clock.forward(seconds=DAY_S * 2)
    db.beat("new")
    run_id = db.drive(db.start().run_id, worker_id="asleep").run_id
    db.set_workflow(run_id, status="PENDING", executor_id="asleep")
    for _ in range(4):
        db.beat("asleep")
        db.beat("new")
        clock.forward(seconds=LEASE_S - 1)

    assert db.requeue(run_id, "owner_dead", worker_id="new").outcome == "stale"
