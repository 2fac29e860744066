"""lockgate.requeue_run: a new attempt for a run that nothing executes, or the end it deserves."""

from datetime import timedelta

import pytest

from tests.support.clock import START, Clock
from tests.support.door import Door
from tests.support.proves import case, proves

LEASE_S = 5.0
FOUND = ("closed_owner", "owner_dead", "never_claimed", "unserved", "wait_over")


@proves("requeue_run.requeued", "finding.raised")
def test_a_drive_that_raised_hands_over_to_a_new_attempt(db: Door) -> None:
    old = db.driven()
    answer = db.requeue(old.run_id, "raised", failure={"message": "boom"})
    run, stream = db.run(old.run_id), db.stream()
    workflow = db.workflow(run.drive_id)
    (budget,) = db.rows("select * from lockgate_store.recoveries")

    assert (answer.outcome, answer.run_status, answer.attempt) == ("requeued", "running", 2)
    assert answer.next_at == START + timedelta(seconds=1)
    assert (run.owner_id, run.claimed_at, run.attempt) == (None, None, 2)
    assert run.dispatch_at == budget.next_at == answer.next_at
    assert (stream.attempt, stream.status) == (2, "active")
    assert run.drive_id != old.drive_id
    assert workflow.status == "DELAYED"
    assert (budget.attempts, budget.last_failure) == (1, {"message": "boom"})


@case(3)
def test_the_old_attempt_is_fenced_at_once(db: Door) -> None:
    old = db.driven()
    db.requeue(old.run_id, "raised")
    with db.nothing_written():
        answers = old.every_write()

    assert {answer.outcome for _, answer in answers} == {"fenced"}


@proves("requeue_run.exhausted")
def test_waits_double_to_a_minute_and_the_fifth_attempt_is_the_last(db: Door, clock: Clock) -> None:
    run_id = db.start().run_id
    waits = []
    for number in range(1, 5):
        db.drive(run_id)
        answer = db.requeue(run_id, "raised", failure={"message": f"boom {number}"})
        waits.append((answer.next_at - clock.now).total_seconds())
        clock.forward(seconds=60)
    db.drive(run_id)
    last = db.requeue(run_id, "raised", failure={"message": "boom 5"})
    detail = db.session().error_detail

    assert waits == [1, 2, 4, 8]
    assert (last.outcome, last.run_status) == ("exhausted", "failed")
    assert (detail["code"], detail["retryable"]) == ("framework_auto_resume_exhausted", True)
    assert detail["cause"] == {"message": "boom 5"}
    assert db.run(run_id).error_detail == detail
    assert db.stream().status == "failed"


def test_no_wait_is_longer_than_a_minute(db: Door, clock: Clock) -> None:
    run_id = db.start().run_id
    for _ in range(10):
        db.drive(run_id)
        answer = db.requeue(run_id, "raised", max_attempts=100)

    assert answer.next_at == clock.now + timedelta(seconds=60)


@proves("requeue_run.exhausted")
@case(20)
def test_exhaustion_names_the_last_failure_that_was_told(db: Door) -> None:
    run_id = db.start().run_id
    db.drive(run_id)
    db.requeue(run_id, "raised", failure={"message": "boom"}, max_attempts=2)
    db.drive(run_id)
    db.set_workflow(run_id, status="ERROR")
    answer = db.requeue(run_id, "closed_owner", max_attempts=2)

    assert answer.outcome == "exhausted"
    assert db.session().error_detail["cause"] == {"message": "boom"}
    assert db.start(say="again").outcome == "started"


@pytest.mark.parametrize("finding", ["unserved", "never_claimed", "closed_owner"])
def test_an_attempt_that_was_never_claimed_costs_nothing(
    db: Door, clock: Clock, finding: str
) -> None:
    run_id = db.start().run_id
    for _ in range(7):
        if finding == "closed_owner":
            db.set_workflow(run_id, status="ERROR")
        if finding == "never_claimed":
            db.set_workflow(
                run_id,
                status="PENDING",
                executor_id="gone",
                started_at_epoch_ms=int(clock.now.timestamp() * 1000),
            )
        clock.forward(seconds=LEASE_S + 1)
        answer = db.requeue(run_id, finding, max_attempts=2)

        assert (answer.outcome, answer.next_at) == ("requeued", clock.now)
        assert db.workflow(db.run(run_id).drive_id).delay_until_epoch_ms is None
    assert db.rows("select * from lockgate_store.recoveries") == []


@proves("finding.drained")
def test_a_draining_worker_hands_over_what_it_owns_and_it_costs_nothing(db: Door) -> None:
    drive = db.driven()
    with db.nothing_written():
        foreign = db.requeue(drive.run_id, "drained", worker_id="worker-2")
    mine = db.requeue(drive.run_id, "drained", worker_id="worker-1")

    assert (foreign.outcome, mine.outcome) == ("stale", "requeued")
    assert db.rows("select * from lockgate_store.recoveries") == []


@proves("requeue_run.stale")
@case(8)
def test_a_finding_about_an_ended_run_or_an_older_drive_is_stale(db: Door) -> None:
    drive = db.driven()
    db.requeue(drive.run_id, "raised")
    with db.nothing_written():
        for finding in ("raised", "drained", *FOUND):
            again = db.requeue(drive.run_id, finding, drive_id=drive.drive_id)
            assert (again.outcome, again.attempt, again.run_status) == ("stale", None, None)
    db.drive(drive.run_id).finish()
    with db.nothing_written():
        for finding in ("raised", "drained", *FOUND):
            assert db.requeue(drive.run_id, finding).outcome == "stale"


@proves("requeue_run.stale")
@case(8, 28)
@pytest.mark.parametrize("finding", FOUND)
def test_a_finding_about_a_run_that_executes_is_stale(db: Door, finding: str) -> None:
    db.beat()
    drive = db.driven()
    db.set_workflow(drive.run_id, status="PENDING", executor_id="worker-1")
    with db.nothing_written():
        assert db.requeue(drive.run_id, finding, worker_id="worker-2").outcome == "stale"


def test_no_session_and_another_sessions_run_are_stale(db: Door) -> None:
    run_id = db.start("s1").run_id
    db.start("s2")
    with db.nothing_written():
        for place in ({"session_id": "s2"}, {"session_id": "none"}, {"tenant_id": "t2"}):
            asked = {"session_id": "s1", "tenant_id": "", **place}
            answer = db.call(
                "requeue_run",
                run_id=run_id,
                drive_id=db.run(run_id).drive_id,
                finding="raised",
                worker_id="w",
                **asked,
            )
            assert answer.outcome == "stale"


def test_a_claim_that_always_fails_spends_the_budget(db: Door) -> None:
    """A drive that cannot even claim its run must not be tried without end."""
    run_id = db.start().run_id
    failure = {"message": "no claim"}
    waits = [db.requeue(run_id, "raised", failure=failure, max_attempts=3) for _ in range(2)]
    last = db.requeue(run_id, "raised", failure=failure, max_attempts=3)

    assert [answer.outcome for answer in waits] == ["requeued", "requeued"]
    assert waits[0].next_at < waits[1].next_at, "each wait is longer"
    assert (last.outcome, last.run_status) == ("exhausted", "failed")
    assert db.session().error_detail["cause"] == failure


@proves("requeue_run.ended")
@pytest.mark.parametrize("finding", ["raised", "drained", "closed_owner"])
def test_a_workflow_cancelled_from_outside_is_an_abort_whoever_asks(db: Door, finding: str) -> None:
    drive = db.driven()
    db.set_workflow(drive.run_id, status="CANCELLED")
    answer = db.requeue(drive.run_id, finding)

    assert (answer.outcome, answer.run_status) == ("ended", "failed")
    assert db.session().error_detail["code"] == "framework_cancelled"
    assert db.stream().status == "failed"
    assert db.row("select * from lockgate_store.settlements").status == "failed"


@proves("requeue_run.ended")
@pytest.mark.parametrize(("kind", "status"), [("interrupt", "interrupted"), ("abort", "failed")])
def test_a_stop_that_stands_is_honoured_instead_of_another_attempt(
    db: Door, kind: str, status: str
) -> None:
    drive = db.driven()
    db.execute(
        "update lockgate_store.runs set stop_kind = %s, stop_reason = 'enough',"
        " stop_requested_at = started_at",
        kind,
    )
    db.set_workflow(drive.run_id, status="ERROR")
    answer = db.requeue(drive.run_id, "closed_owner")

    assert (answer.outcome, answer.run_status) == ("ended", status)
    assert (db.session().status, db.run(drive.run_id).status) == (status, status)


def test_a_cancelled_workflow_outranks_an_interrupt(db: Door) -> None:
    db.beat()
    drive = db.driven()
    db.start(say="instead", concurrent_entry="interrupt_previous")
    db.set_workflow(drive.run_id, status="CANCELLED")

    assert db.requeue(drive.run_id, "closed_owner").run_status == "failed"


@case(9)
def test_the_next_attempt_begins_at_the_first_uncommitted_step(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "hello")
    db.requeue(drive.run_id, "raised")
    answer = db.claim(drive.run_id)

    assert (answer.step_count, answer.attempt) == (1, 2)
    assert [m["role"] for m in answer.messages] == ["user", "assistant"]
