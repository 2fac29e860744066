"""lockgate.start_child: a child, its run and its announcement in one commit."""

import psycopg
import pytest

from tests.support.door import Door, tool
from tests.support.family import begin, born, calling, records, session_of, suspend
from tests.support.proves import proves


@proves("start_child.started")
def test_a_child_has_its_parents_identity_and_a_run(db: Door) -> None:
    parent = calling(db, "call-a", user_id="ann", tags=["t"], metadata={"jsonb": "no"})
    answer = begin(parent, "call-a", input={"message": "look", "state": {"depth": 1}})
    child = db.session(answer.child_session_id)

    assert (answer.outcome, answer.status, answer.stop_kind) == ("started", "running", None)
    assert (child.parent_session_id, child.root_session_id) == ("parent", "parent")
    assert (child.user_id, child.tags, child.metadata) == ("ann", ["t"], {"jsonb": "no"})
    assert (child.agent_type, child.state) == ("helper", {"depth": 1})
    assert child.current_run_id == answer.child_run_id
    (record,) = records(db)
    assert (record.child_session_id, record.mode, record.location, record.status) == (
        answer.child_session_id,
        "subagent",
        "local",
        "running",
    )


def test_its_readers_are_told_after_what_the_parent_had_said(db: Door) -> None:
    parent = calling(db, "call-a")
    answer = begin(parent, "call-a")
    last = db.chunks("parent")[-1]

    assert answer.head_sequence == db.stream("parent").head_sequence
    assert {name: last[name] for name in ("type", "toolCallId", "childAgentType", "step")} == {
        "type": "subagent_start",
        "toolCallId": "call-a",
        "childAgentType": "helper",
        "step": 1,
    }
    assert last["childSessionId"] == answer.child_session_id


def test_a_grandchild_knows_the_root(db: Door) -> None:
    parent = calling(db, "call-a")
    (child,) = born(parent, "call-a")
    child.reply(1, "", {**tool("call-b"), "kind": "subagent"})
    grandchild = db.session(begin(child, "call-b").child_session_id)

    assert grandchild.parent_session_id == session_of(child)
    assert grandchild.root_session_id == "parent"


@proves("start_child.repeated")
def test_a_repeat_finds_the_child_that_is_there(db: Door) -> None:
    parent = calling(db, "call-a")
    first = begin(parent, "call-a")
    with db.nothing_written():
        again = begin(parent, "call-a")

    assert again.outcome == "repeated"
    assert (again.child_session_id, again.child_run_id) == (
        first.child_session_id,
        first.child_run_id,
    )


@proves("start_child.repeated")
def test_a_later_attempt_finds_it_too(db: Door) -> None:
    parent = calling(db, "call-a")
    first = begin(parent, "call-a")
    db.requeue(parent.run_id, "raised")
    again = begin(db.drive(parent.run_id), "call-a")

    assert (again.outcome, again.child_session_id) == ("repeated", first.child_session_id)


@proves("start_child.name_taken")
def test_a_name_is_one_companions_for_ever(db: Door) -> None:
    parent = calling(db, "call-a", "call-b")
    first = begin(parent, "call-a", mode="background", name="scout")
    with db.nothing_written():
        other = begin(parent, "call-b", mode="background", name="scout")

    assert (other.outcome, other.child_session_id) == ("name_taken", first.child_session_id)


@proves("start_child.fenced")
def test_a_lost_attempt_starts_no_child(db: Door) -> None:
    parent = calling(db, "call-a")
    db.requeue(parent.run_id, "raised")
    with db.nothing_written():
        assert begin(parent, "call-a").outcome == "fenced"


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool_call_id": "none"},
        {"mode": "blocking"},
        {"name": "scout"},
        {"mode": "sideways", "name": "scout"},
        {"mode": "background", "name": ""},
        {"mode": "background", "name": "x" * 129},
        {"agent_type": ""},
        {"input": {}},
    ],
)
def test_what_is_not_of_the_form_is_a_broken_promise(db: Door, wrong: dict[str, object]) -> None:
    parent = calling(db, "call-a")
    given = {"call_id": wrong.pop("tool_call_id", "call-a"), **wrong}
    with db.nothing_written(), pytest.raises(psycopg.Error) as broken:
        begin(parent, **given)  # type: ignore[arg-type]
    assert broken.value.sqlstate == "LG002"


def test_a_run_does_not_suspend_over_a_call_without_a_child(db: Door) -> None:
    parent = calling(db, "call-a", "call-b")
    begin(parent, "call-a")
    with db.nothing_written(), pytest.raises(psycopg.Error) as broken:
        suspend(parent)

    assert broken.value.sqlstate == "LG002"
