"""When a run counts as executing: what `busy` means to the next entry."""

import pytest

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import case

LEASE_S = 5.0
DISPATCH_LIMIT_S = 30.0
A_MOMENT_S = 0.001


def busy(db: Door) -> bool:
    """Ask both who reads and who would enter; they must agree."""
    seen: bool = db.call("status", session_id="s1").is_executing
    assert db.plan_start(say="next").outcome == ("already_running" if seen else "started")
    return seen


def test_a_claimed_run_executes_while_its_workers_heartbeat_is_fresh(
    db: Door, clock: Clock
) -> None:
    db.beat()
    db.driven()
    clock.forward(seconds=LEASE_S - A_MOMENT_S)
    assert busy(db)
    clock.forward(seconds=A_MOMENT_S)
    assert not busy(db)
    db.beat()
    assert busy(db)


def test_a_claimed_run_executes_by_its_own_worker_only(db: Door, clock: Clock) -> None:
    db.beat()
    db.driven()
    clock.forward(seconds=LEASE_S)
    db.beat("worker-2")

    assert not busy(db)


def test_a_draining_worker_still_executes_what_it_claimed(db: Door) -> None:
    db.beat()
    db.driven()
    db.beat(draining=True)

    assert busy(db)


@case(20)
def test_an_unclaimed_run_executes_while_a_worker_serves_it_whatever_its_age(
    db: Door, clock: Clock
) -> None:
    db.start()
    clock.forward(seconds=100 * DISPATCH_LIMIT_S)
    db.beat()

    assert busy(db)


def test_an_unclaimed_run_nobody_serves_executes_for_the_dispatch_limit(
    db: Door, clock: Clock
) -> None:
    db.start()
    clock.forward(seconds=DISPATCH_LIMIT_S - A_MOMENT_S)
    assert busy(db)
    clock.forward(seconds=A_MOMENT_S)
    assert not busy(db)


@pytest.mark.parametrize("reason", ["draining", "other version", "dead"])
def test_who_takes_no_new_drives_serves_none(db: Door, clock: Clock, reason: str) -> None:
    db.start()
    clock.forward(seconds=DISPATCH_LIMIT_S)
    db.beat(draining=reason == "draining")
    if reason == "other version":
        db.execute("update lockgate_store.workers set drive_version = 'drive-0'")
    if reason == "dead":
        clock.forward(seconds=LEASE_S)

    assert not busy(db)


def test_the_dispatch_limit_counts_from_the_next_attempt(db: Door, clock: Clock) -> None:
    drive = db.driven()
    clock.forward(seconds=DISPATCH_LIMIT_S)
    next_at = db.requeue(drive.run_id, "raised").next_at
    assert next_at > clock.now
    clock.forward(seconds=DISPATCH_LIMIT_S)
    assert busy(db)
    clock.now = next_at
    clock.forward(seconds=DISPATCH_LIMIT_S)
    assert not busy(db)


def test_no_run_and_an_ended_run_execute_nothing(db: Door) -> None:
    db.beat()
    db.create_session()
    assert not busy(db)
    db.finished()
    assert not busy(db)


def test_a_suspended_run_does_not_execute(db: Door) -> None:
    db.beat()
    run_id = db.start().run_id
    db.execute(
        "update lockgate_store.runs set status = 'suspended_client_tool' where run_id = %s", run_id
    )
    assert not busy(db)
    db.execute("update lockgate_store.runs set status = 'running' where run_id = %s", run_id)
