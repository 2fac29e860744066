"""lockgate.end_remote_child: somebody has learnt how a child on another host ended."""

from typing import Any

import pytest

from tests.rules.children.test_record_remote_child import record
from tests.support.door import Door, Drive
from tests.support.family import (
    address,
    born,
    calling,
    continuation,
    records,
    results,
    runs,
    session_of,
    suspend,
)
from tests.support.proves import proves


@pytest.fixture
def parent(db: Door) -> Drive:
    """A parent that waits for two remote children."""
    drive = calling(db, "call-a", "call-b")
    record(drive, "call-a", "far-1")
    record(drive, "call-b", "far-2")
    assert suspend(drive).outcome == "suspended"
    return drive


def end(db: Door, child_id: str, status: object = "completed", **more: object) -> Any:
    given = {"session_id": "parent", "child_session_id": child_id, "status": status, **more}
    return db.call("end_remote_child", **given)


@proves("end_remote_child.written")
def test_the_last_end_starts_the_parents_next_run(db: Door, parent: Drive) -> None:
    first = end(db, "far-2", output={"said": 2})
    last = end(db, "far-1", "failed", error_detail={"message": "it broke there"})

    assert (first.outcome, first.run_id) == ("written", None)
    assert (last.outcome, last.status, last.run_id) == (
        "written",
        "failed",
        continuation(db, parent).run_id,
    )
    assert results(db) == {
        "call-a": {"success": False, "result": None, "error": "it broke there"},
        "call-b": {"success": True, "result": {"said": 2}, "error": None},
    }


def test_an_end_while_the_parent_runs_waits_for_it_to_suspend(db: Door) -> None:
    parent = calling(db, "call-a")
    record(parent)
    assert (end(db, "far-1").run_id, len(runs(db))) == (None, 1)
    assert suspend(parent).outcome == "continued"


@proves("end_remote_child.unchanged")
def test_the_first_end_counts(db: Door, parent: Drive) -> None:
    end(db, "far-1", output={"n": 1})
    with db.nothing_written():
        again = end(db, "far-1", "failed")

    assert (again.outcome, again.status, again.run_id) == ("unchanged", "completed", None)


def test_a_companion_that_runs_again_may_end_again(db: Door) -> None:
    parent = calling(db, "call-a")
    record(parent, mode="background", name="scout")
    end(db, "far-1", output={"n": 1})
    db.call("record_child_running", **address(parent), child_session_id="far-1")
    assert records(db)[0].status == "running"

    assert end(db, "far-1", "interrupted").outcome == "written"
    assert (records(db)[0].status, records(db)[0].output) == ("interrupted", None)


@proves("end_remote_child.fenced")
def test_a_lost_attempt_ends_no_child(db: Door) -> None:
    """It may have found the child's host silent only because it was away itself."""
    parent = calling(db, "call-a")
    record(parent)
    lost = address(parent)
    db.requeue(parent.run_id, "raised")
    with db.nothing_written():
        assert end(db, "far-1", "failed", **lost).outcome == "fenced"
        unnamed = {**address(parent), "attempt": None}
        assert end(db, "far-1", "failed", **unnamed).outcome == "fenced"
    now = {**lost, "attempt": db.run(parent.run_id).attempt}
    assert end(db, "far-1", output={"n": 1}, **now).outcome == "written"


@proves("end_remote_child.child_not_found")
def test_only_a_remote_child_of_this_session_is_found(db: Door, parent: Drive) -> None:
    (local,) = born(calling(db, "call-c", session_id="other"), "call-c")
    with db.nothing_written():
        assert end(db, "none").outcome == "child_not_found"
        assert end(db, "far-1", tenant_id="t2").outcome == "child_not_found"
        assert end(db, "far-1", acting_user_id="eve").outcome == "child_not_found"
        local_one = {"session_id": "other", "child_session_id": session_of(local)}
        answer = db.call("end_remote_child", **local_one, status="completed")
        assert answer.outcome == "child_not_found"


@proves("end_remote_child.invalid_request")
@pytest.mark.parametrize("status", [None, "running", "superseded", "done"])
def test_only_an_end_is_one(db: Door, parent: Drive, status: object) -> None:
    with db.nothing_written():
        assert end(db, "far-1", status).outcome == "invalid_request"
