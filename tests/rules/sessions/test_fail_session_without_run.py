"""lockgate.fail_session_without_run: a session's first entry failed before any run existed."""

from typing import Any

import pytest

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves

DETAIL = {"message": "no such model", "code": "framework_agent_not_found"}


def fail(db: Door, **more: object) -> str:
    asked = {"session_id": "s1", "error_detail": DETAIL, **more}
    outcome: str = db.call("fail_session_without_run", **asked).outcome
    return outcome


@proves("fail_session_without_run.failed")
def test_the_failure_is_on_the_session_only(db: Door, clock: Clock) -> None:
    db.create_session()
    now = clock.forward(seconds=1)
    outcome = fail(db)
    session = db.session()

    assert outcome == "failed"
    assert (session.status, session.error_detail, session.version) == ("failed", DETAIL, 2)
    assert (session.current_run_id, session.updated_at) == (None, now)
    assert not session.first_run_due
    for table in ("runs", "streams", "settlements", "deliveries", "messages"):
        assert db.rows(f"select * from lockgate_store.{table}") == []
    assert db.call("snapshot", session_id="s1").error_detail == DETAIL


@proves("fail_session_without_run.unchanged")
def test_a_second_failure_changes_nothing(db: Door) -> None:
    db.create_session()
    fail(db)
    with db.nothing_written():
        assert fail(db, error_detail={"message": "another"}) == "unchanged"


@proves("fail_session_without_run.has_run")
@pytest.mark.parametrize("end", ["running", "completed", "failed"])
def test_a_run_that_exists_wins_whatever_its_status(db: Door, end: str) -> None:
    drive: Any = db.driven()
    if end != "running":
        drive.finish(end)
    with db.nothing_written():
        assert fail(db) == "has_run"


@proves("fail_session_without_run.session_not_found")
def test_no_session_and_another_users_are_not_found(db: Door) -> None:
    db.create_session(user_id="ann")
    with db.nothing_written():
        assert fail(db, session_id="none") == "session_not_found"
        assert fail(db, acting_user_id="eve") == "session_not_found"
        assert fail(db, tenant_id="t2") == "session_not_found"


def test_the_next_start_is_accepted_and_clears_it(db: Door) -> None:
    db.create_session()
    fail(db)
    answer = db.start()

    assert answer.outcome == "started"
    assert (db.session().status, db.session().error_detail) == ("active", None)
