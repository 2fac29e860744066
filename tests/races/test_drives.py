"""Drives, ends and takeovers at once: one of them has the run, the other is told so."""

from functools import partial

import pytest

from tests.support.door import Door, Drive
from tests.support.proves import case
from tests.support.racers import BOUND_S, Caller, Racers


def same_drive(caller: Caller, drive: Drive) -> Drive:
    """The same attempt, over another connection."""
    return Drive(caller, drive.run_id, drive.attempt, drive.head)


@case(8)
def test_an_end_that_commits_first_makes_the_takeover_stale(racers: Racers, db: Door) -> None:
    drive = db.driven()
    db.set_workflow(drive.run_id, status="ERROR")
    worker, sweeper = racers.callers(2)
    same_drive(worker, drive).finish()
    future = racers.waiting(sweeper, sweeper.requeue, drive.run_id, "closed_owner")
    worker.commit()
    answer = future.result(BOUND_S)
    sweeper.commit()

    assert answer.outcome == "stale"
    assert db.run(drive.run_id).status == "completed"
    assert len(db.rows("select * from lockgate_store.settlements")) == 1


@case(3)
def test_a_takeover_that_commits_first_fences_the_end(racers: Racers, db: Door) -> None:
    drive = db.driven()
    db.set_workflow(drive.run_id, status="ERROR")
    worker, sweeper = racers.callers(2)
    late = same_drive(worker, drive)
    worker.commit()
    assert sweeper.requeue(drive.run_id, "closed_owner").outcome == "requeued"
    future = racers.waiting(worker, late.finish)
    sweeper.commit()
    answer = future.result(BOUND_S)
    worker.commit()

    assert (answer.outcome, answer.run_status) == ("fenced", "running")
    assert db.rows("select * from lockgate_store.settlements") == []


@case(8)
def test_a_claim_that_commits_first_makes_the_finding_stale(racers: Racers, db: Door) -> None:
    run_id = db.start().run_id
    db.beat("worker-1", lease_ms=60_000)
    worker, sweeper = racers.callers(2)
    assert worker.claim(run_id, worker_id="worker-1").outcome == "claimed"
    future = racers.waiting(sweeper, sweeper.requeue, run_id, "unserved")
    worker.commit()

    assert future.result(BOUND_S).outcome == "stale"


def test_a_takeover_that_commits_first_makes_the_claim_over(racers: Racers, db: Door) -> None:
    run_id = db.start().run_id
    worker, sweeper = racers.callers(2)
    drive_id = db.run(run_id).drive_id
    assert sweeper.requeue(run_id, "unserved").outcome == "requeued"
    future = racers.waiting(worker, worker.claim, run_id, drive_id=drive_id)
    sweeper.commit()

    assert future.result(BOUND_S).outcome == "over"
    worker.commit()
    assert db.claim(run_id).outcome == "claimed"


def test_two_claims_of_one_drive_have_one_winner(racers: Racers, db: Door) -> None:
    run_id = db.start().run_id
    first, second = racers.callers(2)
    assert first.claim(run_id, worker_id="worker-1").outcome == "claimed"
    future = racers.waiting(second, second.claim, run_id, worker_id="worker-2")
    first.commit()

    assert future.result(BOUND_S).outcome == "over"


def test_a_claim_that_rolls_back_leaves_the_drive_to_the_other(racers: Racers, db: Door) -> None:
    run_id = db.start().run_id
    first, second = racers.callers(2)
    first.claim(run_id, worker_id="worker-1")
    future = racers.waiting(second, second.claim, run_id, worker_id="worker-2")
    first.rollback()
    answer = future.result(BOUND_S)
    second.commit()

    assert (answer.outcome, db.run(run_id).owner_id) == ("claimed", "worker-2")


@case(8)
def test_two_sweepers_with_one_finding_make_one_attempt(racers: Racers, db: Door) -> None:
    drive = db.driven()
    db.set_workflow(drive.run_id, status="ERROR")

    def act(sweeper: Caller) -> str:
        answer = sweeper.requeue(drive.run_id, "closed_owner", drive_id=drive.drive_id)
        sweeper.commit()
        return str(answer.outcome)

    outcomes = racers.at_once([partial(act, sweeper) for sweeper in racers.callers(8)])

    assert sorted(outcomes) == ["requeued"] + ["stale"] * 7
    assert len(db.rows("select * from dbos.workflow_status")) == 2


@case(3)
def test_an_append_that_waits_for_a_takeover_is_fenced(racers: Racers, db: Door) -> None:
    drive = db.driven()
    worker, sweeper = racers.callers(2)
    late = same_drive(worker, drive)
    worker.commit()
    sweeper.requeue(drive.run_id, "raised")
    future = racers.waiting(worker, late.append, "late")
    sweeper.commit()
    answer = future.result(BOUND_S)
    worker.commit()

    assert answer.outcome == "fenced"
    assert db.chunks() == []


@case(15)
@pytest.mark.parametrize("end", ["finish", "requeue"])
def test_an_append_that_is_open_comes_before_the_end_that_waits_for_it(
    racers: Racers, db: Door, end: str
) -> None:
    drive = db.driven()
    worker, other = racers.callers(2)
    assert same_drive(worker, drive).append("a", "b").outcome == "appended"
    if end == "finish":
        future = racers.waiting(other, same_drive(other, drive).finish, "failed")
    else:
        future = racers.waiting(other, other.requeue, drive.run_id, "raised")
    worker.commit()
    future.result(BOUND_S)
    other.commit()

    assert [c.get("delta") for c in db.chunks()][:2] == ["a", "b"]
    assert db.stream().head_sequence == len(db.chunks())


@case(15, 32)
def test_the_next_runs_numbers_begin_after_an_append_that_was_still_open(
    racers: Racers, db: Door
) -> None:
    """A worker that was taken for dead may wake and append while the next start supersedes it."""
    lost = db.driven()
    lost.append("a")
    worker, starter = racers.callers(2)
    assert same_drive(worker, lost).append("b", "c").outcome == "appended"
    future = racers.waiting(starter, starter.start, say="again")
    worker.commit()
    answer = future.result(BOUND_S)
    starter.commit()
    db.drive(answer.run_id).append("new")

    assert answer.start_sequence == db.run(answer.run_id).start_sequence == 3
    assert [c["delta"] for c in db.chunks()[answer.start_sequence :]] == ["new"]


def test_a_start_that_waits_for_an_end_is_the_next_turn(racers: Racers, db: Door) -> None:
    drive = db.driven()
    worker, starter = racers.callers(2)
    same_drive(worker, drive).finish()
    future = racers.waiting(starter, starter.start, say="and now?", request_key="k1")
    worker.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert answer.outcome == "started"
    assert (db.run(drive.run_id).status, db.run(answer.run_id).turn) == ("completed", 2)


@pytest.mark.parametrize("write", ["append", "finish"])
def test_a_write_that_waits_for_the_run_that_replaces_its_own_is_fenced(
    racers: Racers, db: Door, write: str
) -> None:
    drive = db.driven()
    worker, starter = racers.callers(2)
    late = same_drive(worker, drive)
    worker.commit()
    assert starter.start(say="again").outcome == "started"
    if write == "append":
        future = racers.waiting(worker, late.append, "late")
    else:
        future = racers.waiting(worker, late.finish)
    starter.commit()
    answer = future.result(BOUND_S)
    worker.commit()

    assert answer.outcome == "fenced"
    assert db.chunks() == []
    assert db.run(drive.run_id).status == "superseded"


def test_a_claim_that_waits_for_the_run_that_replaces_its_own_is_over(
    racers: Racers, db: Door
) -> None:
    lost = db.start().run_id
    worker, starter = racers.callers(2)
    drive_id = db.run(lost).drive_id
    starter.start(say="again", dispatch_limit_ms=0)
    future = racers.waiting(worker, worker.claim, lost, drive_id=drive_id)
    starter.commit()

    assert future.result(BOUND_S).outcome == "over"


def test_a_stop_that_waits_for_an_end_touches_no_later_run(racers: Racers, db: Door) -> None:
    db.beat(lease_ms=60_000)
    drive = db.driven()
    worker, starter = racers.callers(2)
    same_drive(worker, drive).finish()
    future = racers.waiting(
        starter, starter.start, say="instead", concurrent_entry="interrupt_previous"
    )
    worker.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert answer.outcome == "started"
    assert {row.stop_kind for row in db.rows("select * from lockgate_store.runs")} == {None}


def test_a_reader_sees_a_page_and_its_head_of_one_moment(racers: Racers, db: Door) -> None:
    drive = db.driven()
    drive.append("a")
    worker = racers.caller()
    same_drive(worker, drive).append("b")
    page = db.call("read_stream", session_id="s1")
    worker.commit()

    assert (page.head_sequence, len(page.chunks)) == (1, 1)


def test_two_heartbeats_of_a_new_worker_are_one_row(racers: Racers, db: Door) -> None:
    def beat(caller: Caller) -> bool:
        late = caller.beat("worker-1").was_late
        caller.commit()
        return bool(late)

    assert racers.at_once([partial(beat, caller) for caller in racers.callers(8)]) == [False] * 8
    assert len(db.rows("select * from lockgate_store.workers")) == 1
