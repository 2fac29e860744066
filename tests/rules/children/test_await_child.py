"""lockgate.await_child: a call waits for a companion that is there."""

from typing import Any

from tests.support.door import Door, Drive
from tests.support.family import (
    address,
    born,
    calling,
    continuation,
    end,
    records,
    results,
    session_of,
    suspend,
)
from tests.support.proves import proves


def wait(parent: Drive, call_id: str = "call-b", name: str = "scout") -> Any:
    given = {"tool_call_id": call_id, "name": name}
    return parent.door.call("await_child", **address(parent), **given)


def family(db: Door) -> tuple[Drive, Drive]:
    """Return a parent with two calls open, and the companion that the first of them has made."""
    parent = calling(db, "call-a", "call-b")
    (child,) = born(parent, "call-a", mode="background", name="scout")
    parent.result(1, 1, {"name": "scout"})
    return parent, child


@proves("await_child.waiting")
def test_the_end_of_the_run_under_way_is_the_answer(db: Door) -> None:
    parent, child = family(db)
    answer = wait(parent)
    assert (answer.outcome, answer.child_session_id, answer.status) == (
        "waiting",
        session_of(child),
        "running",
    )
    assert answer.head_sequence == db.stream("parent").head_sequence
    assert suspend(parent).run_status == "suspended_awaiting_children"
    paused = db.chunks("parent")[-1]
    assert paused["children"] == [session_of(child)]
    end(child, output="found")

    assert continuation(db, parent).status == "running"
    assert results(db)["call-b"]["result"] == {"said": "found"}


def test_two_calls_may_wait_for_it(db: Door) -> None:
    parent = calling(db, "call-a", "call-b", "call-c")
    (child,) = born(parent, "call-a", mode="background", name="scout")
    parent.result(1, 1)
    assert [wait(parent, each).outcome for each in ("call-b", "call-c")] == ["waiting"] * 2
    suspend(parent)
    end(child, "failed")

    assert continuation(db, parent).status == "running"
    assert [results(db)[each]["error"] for each in ("call-b", "call-c")] == ["the child broke"] * 2


@proves("await_child.ended")
def test_an_idle_companion_answers_at_once_with_what_it_came_to_last(db: Door) -> None:
    parent, child = family(db)
    end(child, output="before")
    answer = wait(parent)

    assert (answer.outcome, answer.status) == ("ended", "completed")
    assert suspend(parent).outcome == "continued"
    assert results(db)["call-b"]["result"] == {"said": "before"}


def test_one_that_has_taken_a_message_since_is_waited_for(db: Door) -> None:
    parent, child = family(db)
    end(child, output="before")
    again = db.start(session_of(child), "more", agent_type="helper")
    named = {**address(parent), "child_session_id": session_of(child)}
    db.call("record_child_running", child_run_id=again.run_id, **named)
    assert wait(parent).outcome == "waiting"
    suspend(parent)
    end(db.drive(again.run_id), output="after")

    assert results(db)["call-b"]["result"] == {"said": "after"}


@proves("await_child.repeated")
def test_a_repeat_writes_nothing(db: Door) -> None:
    parent, child = family(db)
    wait(parent)
    with db.nothing_written():
        assert wait(parent).outcome == "repeated"
        assert wait(parent, "call-a").outcome == "repeated"
        assert wait(parent, "none").outcome == "repeated"
    end(child)
    with db.nothing_written():
        assert wait(parent).outcome == "repeated"


@proves("await_child.child_not_found")
def test_nobody_waits_for_a_name_that_no_companion_has(db: Door) -> None:
    parent, _ = family(db)
    with db.nothing_written():
        assert wait(parent, name="nobody").outcome == "child_not_found"


@proves("await_child.fenced")
def test_a_lost_attempt_waits_for_nobody(db: Door) -> None:
    parent, _ = family(db)
    db.requeue(parent.run_id, "raised")
    with db.nothing_written():
        assert wait(parent).outcome == "fenced"


def test_a_wait_that_was_given_up_is_not_answered(db: Door) -> None:
    parent, child = family(db)
    wait(parent)
    suspend(parent)
    db.start("parent", "never mind")
    end(child, output="late")

    assert records(db)[0].output == {"said": "late"}
    assert results(db)["call-b"]["error"] is not None
