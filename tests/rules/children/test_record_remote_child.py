"""lockgate.record_remote_child: another host is about to be asked to start a child."""

from typing import Any

import psycopg
import pytest

from tests.support.door import Door, Drive
from tests.support.family import address, begin, calling, records, suspend
from tests.support.proves import proves


def record(parent: Drive, call_id: str = "call-a", child_id: object = "far-1", **more: Any) -> Any:
    given = {"tool_call_id": call_id, "child_session_id": child_id, "agent_type": "far", **more}
    return parent.door.call("record_remote_child", **address(parent), **given)


@proves("record_remote_child.started")
def test_it_is_on_record_under_the_id_that_was_chosen(db: Door) -> None:
    parent = calling(db, "call-a")
    answer = record(parent)

    assert (answer.outcome, answer.child_session_id, answer.child_run_id) == (
        "started",
        "far-1",
        None,
    )
    (kept,) = records(db)
    assert (kept.location, kept.status, kept.mode) == ("remote", "running", "subagent")
    assert db.chunks("parent")[-1]["childSessionId"] == "far-1"
    assert db.rows("select from lockgate_store.sessions where session_id = 'far-1'") == []
    assert suspend(parent).outcome == "suspended"


@proves("record_remote_child.repeated")
def test_a_repeat_finds_the_id_of_the_first(db: Door) -> None:
    parent = calling(db, "call-a")
    record(parent)
    with db.nothing_written():
        again = record(parent, child_id="far-2")

    assert (again.outcome, again.child_session_id) == ("repeated", "far-1")


@proves("record_remote_child.name_taken")
def test_a_local_companion_may_have_the_name(db: Door) -> None:
    parent = calling(db, "call-a", "call-b")
    begin(parent, "call-b", mode="background", name="scout")
    with db.nothing_written():
        assert record(parent, mode="background", name="scout").outcome == "name_taken"


@proves("record_remote_child.fenced")
def test_a_lost_attempt_records_nothing(db: Door) -> None:
    parent = calling(db, "call-a")
    db.requeue(parent.run_id, "raised")
    with db.nothing_written():
        assert record(parent).outcome == "fenced"


@pytest.mark.parametrize("wrong", [{"child_id": None}, {"child_id": ""}, {"call_id": "none"}])
def test_what_is_not_of_the_form_is_a_broken_promise(db: Door, wrong: dict[str, Any]) -> None:
    parent = calling(db, "call-a")
    with db.nothing_written(), pytest.raises(psycopg.Error) as broken:
        record(parent, **wrong)
    assert broken.value.sqlstate == "LG002"


def test_two_children_of_one_id_are_a_broken_promise(db: Door) -> None:
    parent = calling(db, "call-a", "call-b")
    record(parent)
    with db.nothing_written(), pytest.raises(psycopg.Error) as broken:
        record(parent, "call-b")
    assert broken.value.sqlstate == "LG002"
