"""lockgate.sweep: what nothing executes, found by one regular worker and only found."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import case, proves
from tests.support.store_client import StoreClient
from tests.support.suspensions import forget_to_continue, suspended

LEASE_S = 5.0
A_MOMENT_S = 0.001
DISPATCH_LIMIT_S = 30.0
SWEEPER = "sweeper"
LOOKS = 100  # at one of three: one that none of them meets is once in 10^17


def regular(db: Door, clock: Clock) -> None:
    """Let the sweeper beat long enough to judge others."""
    for _ in range(3):
        db.beat(SWEEPER)
        clock.forward(seconds=LEASE_S - 1)
    db.beat(SWEEPER)


def found(db: Door, sweeper: str = SWEEPER, **more: object) -> list[tuple[str, Any]]:
    with db.nothing_written():
        findings = db.call_many("sweep", worker_id=sweeper, **more)
    return [(f.finding, f.run_id) for f in findings]


def dispatched(db: Door, run_id: UUID, clock: Clock, executor: str = "worker-1") -> None:
    db.set_workflow(
        run_id,
        status="PENDING",
        executor_id=executor,
        started_at_epoch_ms=int(clock.now.timestamp() * 1000),
    )


@proves("finding.owner_dead")
def test_an_owner_is_dead_when_heartbeat_and_claim_are_both_older_than_its_lease(
    db: Door, clock: Clock
) -> None:
    regular(db, clock)
    db.beat("worker-1", lease_ms=2000)
    clock.forward(seconds=1.5)
    run_id = db.driven().run_id
    dispatched(db, run_id, clock)
    clock.forward(seconds=1.9)  # The heartbeat is 3.4 s old, the claim only 1.9 s.
    assert found(db) == []
    db.beat(SWEEPER)
    clock.forward(seconds=0.2)

    assert found(db) == [("owner_dead", run_id)]


@case(28)
def test_a_worker_that_beats_keeps_its_run_whatever_its_age(db: Door, clock: Clock) -> None:
    db.beat("worker-1")
    run_id = db.driven().run_id
    dispatched(db, run_id, clock)
    for _ in range(20):
        regular(db, clock)
        db.beat("worker-1")

    assert found(db) == []


@proves("finding.unserved")
@case(7)
def test_a_waiting_run_is_unserved_past_the_dispatch_limit_where_nobody_serves_it(
    db: Door, clock: Clock
) -> None:
    run_id = db.start().run_id
    regular(db, clock)
    db.beat(SWEEPER, draining=True)
    waited = (clock.now - db.run(run_id).dispatch_at).total_seconds()
    limit_ms = int(waited * 1000)
    assert found(db, dispatch_limit_ms=limit_ms) == []
    clock.forward(seconds=A_MOMENT_S)

    assert found(db, dispatch_limit_ms=limit_ms) == [("unserved", run_id)]
    db.beat("worker-1")
    assert found(db, dispatch_limit_ms=0) == []


def test_a_run_that_waits_for_its_backoff_is_not_found(db: Door, clock: Clock) -> None:
    drive = db.driven()
    regular(db, clock)
    db.requeue(drive.run_id, "raised")
    db.beat(SWEEPER, draining=True)

    assert found(db, dispatch_limit_ms=0) == []


@proves("finding.never_claimed")
def test_a_dispatched_run_is_found_when_executor_and_dispatch_are_older_than_the_lease(
    db: Door, clock: Clock
) -> None:
    regular(db, clock)
    db.beat("worker-1", lease_ms=2000)
    run_id = db.start().run_id
    clock.forward(seconds=1.5)
    dispatched(db, run_id, clock)
    clock.forward(seconds=1.9)
    assert found(db) == []
    db.beat(SWEEPER)
    clock.forward(seconds=0.2)
    assert found(db) == [("never_claimed", run_id)]
    db.beat("worker-1")
    assert found(db) == []


def test_a_dispatch_whose_answer_a_living_worker_never_had_is_found_after_three_leases(
    db: Door, clock: Clock
) -> None:
    regular(db, clock)
    db.beat("worker-1", lease_ms=2000)
    run_id = db.start().run_id
    dispatched(db, run_id, clock)
    for _ in range(5):
        clock.forward(seconds=1.18)
        db.beat(SWEEPER)
        db.beat("worker-1", lease_ms=2000)
    assert found(db) == []
    clock.forward(seconds=0.2)
    assert found(db) == [("never_claimed", run_id)]


@proves("finding.closed_owner")
@case(20)
@pytest.mark.parametrize(
    "status", ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED", None]
)
@pytest.mark.parametrize("claimed", [True, False])
def test_a_workflow_that_ended_or_is_missing_is_a_closed_owner_at_once(
    db: Door, clock: Clock, status: str | None, claimed: bool
) -> None:
    regular(db, clock)
    db.beat("worker-1")
    run_id = db.driven().run_id if claimed else db.start().run_id
    clock.forward(seconds=A_MOMENT_S)
    if status is None:
        db.execute("delete from dbos.workflow_status")
    else:
        db.set_workflow(run_id, status=status)

    assert found(db) == [("closed_owner", run_id)]
    assert db.requeue(run_id, "closed_owner").outcome in ("requeued", "ended")


@pytest.mark.parametrize("how", ["unknown", "stale", "newly regular", "late again"])
def test_a_worker_that_was_away_itself_finds_nothing(db: Door, clock: Clock, how: str) -> None:
    run_id = db.driven().run_id
    db.set_workflow(run_id, status="ERROR")
    if how != "unknown":
        db.beat(SWEEPER)
        clock.forward(seconds=LEASE_S)
    if how == "newly regular":
        db.beat(SWEEPER)
    if how == "late again":
        regular(db, clock)
        clock.forward(seconds=LEASE_S + A_MOMENT_S)
        db.beat(SWEEPER)

    assert found(db) == []
    regular(db, clock)
    assert found(db) == [("closed_owner", run_id)]


@case(7)
def test_a_run_born_this_moment_is_found_by_nobody(db: Door, clock: Clock) -> None:
    regular(db, clock)
    db.beat("worker-1")
    db.start()

    assert found(db, dispatch_limit_ms=0) == []


def test_ended_and_suspended_runs_are_never_found(db: Door, clock: Clock) -> None:
    regular(db, clock)
    db.finished("s1")
    run_id = db.start("s2").run_id
    db.execute("update dbos.workflow_status set status = 'SUCCESS'")
    db.execute(
        "update lockgate_store.runs set status = 'suspended_client_tool' where run_id = %s", run_id
    )
    assert found(db) == []
    db.execute("update lockgate_store.runs set status = 'running' where run_id = %s", run_id)


@proves("sweep.first_run_overdue")
def test_a_created_session_without_a_run_is_found_past_its_limit(db: Door, clock: Clock) -> None:
    db.create_session("never-run")
    db.create_session("ran")
    db.finished("ran")
    db.create_session("failed")
    db.call("fail_session_without_run", session_id="failed", error_detail={"message": "no"})
    regular(db, clock)
    waited = (clock.now - db.session("never-run").created_at).total_seconds()
    assert found(db, first_run_limit_ms=int(waited * 1000)) == []
    clock.forward(seconds=A_MOMENT_S)

    (finding,) = db.call_many("sweep", worker_id=SWEEPER, first_run_limit_ms=int(waited * 1000))
    assert (finding.finding, finding.session_id) == ("first_run_overdue", "never-run")
    assert (finding.run_id, finding.drive_id) == (None, None)


def test_a_sweep_finds_no_more_than_its_limit(db: Door, clock: Clock) -> None:
    for number in range(3):
        db.driven(f"s{number}")
    db.execute("update dbos.workflow_status set status = 'ERROR'")
    regular(db, clock)

    assert len(found(db, limit=2)) == 2


def left(db: Door, finding: str, session_id: str) -> None:
    """Leave a session so that a sweep finds this of it."""
    if finding == "closed_owner":
        db.set_workflow(db.driven(session_id).run_id, status="ERROR")
    elif finding == "first_run_overdue":
        db.create_session(session_id)
    elif finding == "end_due":
        StoreClient(db, session_id).end(db.driven(session_id).run_id, "completed")
    else:
        forget_to_continue(db, suspended(db, session_id=session_id).run_id)


@pytest.mark.parametrize(
    "finding", ["closed_owner", "first_run_overdue", "end_due", "batch_complete"]
)
def test_what_cannot_be_mended_does_not_hide_the_rest(db: Door, clock: Clock, finding: str) -> None:
    """Which of them a look finds is left to chance, so each of them is found in the end."""
    names = {"s1", "s2", "s3"}
    for name in names:
        left(db, finding, name)
    regular(db, clock)
    looked: set[str] = set()
    for _ in range(LOOKS):
        told = db.call_many(
            "sweep", worker_id=SWEEPER, limit=1, first_run_limit_ms=0, end_limit_ms=0
        )
        looked |= {each.session_id for each in told if each.finding == finding}
    if finding == "batch_complete":
        for name in names:
            db.call("continue_session", session_id=name)

    assert looked == names


@case(8)
def test_a_second_sweeper_that_comes_late_finds_nothing(db: Door, clock: Clock) -> None:
    run_id = db.driven().run_id
    db.set_workflow(run_id, status="ERROR")
    regular(db, clock)
    (finding,) = db.call_many("sweep", worker_id=SWEEPER)
    acted = [
        db.call(
            "requeue_run",
            session_id=finding.session_id,
            run_id=finding.run_id,
            drive_id=finding.drive_id,
            finding=finding.finding,
            worker_id=worker_id,
        ).outcome
        for worker_id in (SWEEPER, "worker-2")
    ]

    assert acted == ["requeued", "stale"]
    assert found(db) == []


@proves("sweep.end_due")
def test_an_end_that_a_store_client_has_left_is_found_past_its_limit(
    db: Door, clock: Clock
) -> None:
    drive = db.driven()
    StoreClient(db).end(drive.run_id, "completed")
    StoreClient(db).set_run(drive.run_id, "completed")
    regular(db, clock)
    left = (clock.now - db.session().updated_at).total_seconds()
    assert found(db, end_limit_ms=int(left * 1000)) == []
    clock.forward(seconds=A_MOMENT_S)
    assert found(db, end_limit_ms=int(left * 1000)) == [("end_due", drive.run_id)]
    StoreClient(db).close(drive.run_id, "ended")
    assert found(db, end_limit_ms=0) == []
