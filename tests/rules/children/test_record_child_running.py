"""lockgate.record_child_running: a companion has taken a message."""

from typing import Any
from uuid import UUID

import pytest

from tests.support.door import Door, Drive
from tests.support.family import born, calling, end, records, session_of
from tests.support.proves import proves
from tests.support.suspensions import submit, suspends


@pytest.fixture
def companion(db: Door) -> Drive:
    """A companion whose first run has ended."""
    (child,) = born(calling(db, "call-a"), "call-a", mode="background", name="scout")
    end(child, output="first")
    return child


def sent(db: Door, child: Drive) -> UUID:
    answer = db.start(session_of(child), "more", agent_type="helper")
    assert answer.outcome == "started"
    run_id: UUID = answer.run_id
    return run_id


def record(db: Door, child: Drive, run_id: UUID | None, **more: object) -> Any:
    given = {"session_id": "parent", "child_session_id": session_of(child), **more}
    return db.call("record_child_running", child_run_id=run_id, **given)


@proves("record_child_running.written")
def test_what_it_came_to_last_is_forgotten(db: Door, companion: Drive) -> None:
    answer = record(db, companion, sent(db, companion))

    assert (answer.outcome, answer.status) == ("written", "running")
    (kept,) = records(db)
    assert (kept.status, kept.output, kept.ended_at) == ("running", None, None)


@proves("record_child_running.unchanged")
def test_a_run_that_has_ended_by_now_is_not_running(db: Door, companion: Drive) -> None:
    run_id = sent(db, companion)
    end(db.drive(run_id), output="second")
    with db.nothing_written():
        answer = record(db, companion, run_id)
        assert record(db, companion, None).outcome == "unchanged"

    assert (answer.outcome, answer.status) == ("unchanged", "completed")
    assert records(db)[0].output == {"said": "second"}


def test_a_run_that_was_continued_meanwhile_runs_on(db: Door, companion: Drive) -> None:
    """Or a wait would be answered with what the run before the message came to."""
    drive = suspends(db.drive(sent(db, companion)))
    answer = submit(db, session_id=session_of(companion))
    assert (answer.outcome, db.run(drive.run_id).status) == ("accepted", "superseded")

    assert record(db, companion, drive.run_id).outcome == "written"
    end(db.drive(answer.run_id), output="second")
    assert (records(db)[0].status, records(db)[0].output) == ("completed", {"said": "second"})
    with db.nothing_written():
        assert record(db, companion, drive.run_id).outcome == "unchanged"


@proves("record_child_running.child_not_found")
def test_no_companion_is_not_found(db: Door, companion: Drive) -> None:
    (sub_agent,) = born(calling(db, "call-b", session_id="other"), "call-b")
    with db.nothing_written():
        for wrong in (
            {"session_id": "none"},
            {"child_session_id": "none"},
            {"tenant_id": "t2"},
            {"acting_user_id": "eve"},
            {"session_id": "other", "child_session_id": session_of(sub_agent)},
        ):
            assert record(db, companion, companion.run_id, **wrong).outcome == "child_not_found"
