"""lockgate.record_child_running: a companion has taken a message."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.door import Door, Drive
from tests.support.family import address, born, calling, end, records, session_of
from tests.support.proves import proves
from tests.support.suspensions import submit, suspends


@pytest.fixture
def parent(db: Door) -> Drive:
    return calling(db, "call-a")


@pytest.fixture
def companion(parent: Drive) -> Drive:
    """A companion whose first run has ended."""
    (child,) = born(parent, "call-a", mode="background", name="scout")
    end(child, output="first")
    return child


def sent(db: Door, child: Drive) -> UUID:
    answer = db.start(session_of(child), "more", agent_type="helper")
    assert answer.outcome == "started"
    run_id: UUID = answer.run_id
    return run_id


def record(parent: Drive, child: Drive, run_id: UUID | None, **more: object) -> Any:
    given = {**address(parent), "child_session_id": session_of(child), **more}
    return parent.door.call("record_child_running", child_run_id=run_id, **given)


@proves("record_child_running.written")
def test_what_it_came_to_last_is_forgotten(db: Door, parent: Drive, companion: Drive) -> None:
    answer = record(parent, companion, sent(db, companion))

    assert (answer.outcome, answer.status) == ("written", "running")
    (kept,) = records(db)
    assert (kept.status, kept.output, kept.ended_at) == ("running", None, None)


@proves("record_child_running.unchanged")
def test_a_run_that_has_ended_by_now_is_not_running(
    db: Door, parent: Drive, companion: Drive
) -> None:
    run_id = sent(db, companion)
    end(db.drive(run_id), output="second")
    with db.nothing_written():
        answer = record(parent, companion, run_id)
        assert record(parent, companion, None).outcome == "unchanged"

    assert (answer.outcome, answer.status) == ("unchanged", "completed")
    assert records(db)[0].output == {"said": "second"}


def test_a_run_that_was_continued_meanwhile_runs_on(
    db: Door, parent: Drive, companion: Drive
) -> None:
    """Or a wait would be answered with what the run before the message came to."""
    drive = suspends(db.drive(sent(db, companion)))
    answer = submit(db, session_id=session_of(companion))
    assert (answer.outcome, db.run(drive.run_id).status) == ("accepted", "superseded")

    assert record(parent, companion, drive.run_id).outcome == "written"
    end(db.drive(answer.run_id), output="second")
    assert (records(db)[0].status, records(db)[0].output) == ("completed", {"said": "second"})
    with db.nothing_written():
        assert record(parent, companion, drive.run_id).outcome == "unchanged"


@proves("record_child_running.fenced")
def test_a_lost_attempt_opens_no_companion_again(db: Door, parent: Drive, companion: Drive) -> None:
    run_id = sent(db, companion)
    db.requeue(parent.run_id, "raised")
    with db.nothing_written():
        assert record(parent, companion, run_id).outcome == "fenced"
        for wrong in ({"session_id": "none"}, {"tenant_id": "t2"}, {"attempt": None}):
            assert record(parent, companion, run_id, **wrong).outcome == "fenced"


@proves("record_child_running.child_not_found")
def test_no_companion_is_not_found(db: Door, parent: Drive, companion: Drive) -> None:
    other = calling(db, "call-b", session_id="other")
    (sub_agent,) = born(other, "call-b")
    with db.nothing_written():
        assert record(parent, companion, None, child_session_id="none").outcome == "child_not_found"
        for child in (companion, sub_agent):
            assert record(other, child, child.run_id).outcome == "child_not_found"
