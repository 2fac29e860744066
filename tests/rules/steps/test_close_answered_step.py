"""lockgate.close_answered_step: a child that ended while its parent ran is told to readers too."""

from typing import Any

from tests.support.door import Door, Drive, tool
from tests.support.family import born, calling, end, sub, suspend
from tests.support.suspensions import approval, decision, submit


def types(db: Door) -> list[str]:
    return [chunk["type"] for chunk in db.chunks("parent")]


def told(db: Door) -> list[tuple[Any, ...]]:
    """Return what readers were told of ends, in its order."""
    return [
        (chunk["type"], chunk["toolCallId"])
        for chunk in db.chunks("parent")
        if chunk["type"] in ("subagent_end", "tool_end")
    ]


def lost(db: Door, drive: Drive) -> Drive:
    """Lose an attempt, and return the next one."""
    assert db.requeue(drive.run_id, "raised").outcome == "requeued"
    return db.drive(drive.run_id)


def test_a_child_that_ended_between_two_attempts_is_told(db: Door) -> None:
    parent = calling(db, "ask-1")
    (child,) = born(parent, "ask-1")
    later = lost(db, parent)
    end(child, output=1)
    assert told(db) == []

    assert later.step(1).outcome == "saved"
    assert told(db) == [("subagent_end", "ask-1"), ("tool_end", "ask-1")]
    assert types(db)[-1] == "step_committed"


def test_a_result_that_closes_the_step_tells_of_it_too(db: Door) -> None:
    parent = db.driven("parent")
    parent.reply(1, "", tool("call-a"), sub("ask-1"))
    (child,) = born(parent, "ask-1")
    later = lost(db, parent)
    end(child, "failed")

    assert later.result(1, 1, closes_step=True).outcome == "saved"
    assert told(db) == [("tool_end", "call-a"), ("subagent_end", "ask-1"), ("tool_end", "ask-1")]


def test_a_step_that_was_taken_over_is_told_once(db: Door) -> None:
    """The child's end came before the approval, and was told with it."""
    parent = db.driven("parent")
    parent.reply(1, "", approval("pay-1"), sub("ask-1"))
    (child,) = born(parent, "ask-1")
    assert suspend(parent).outcome == "suspended"
    end(child, output=1)
    yes = decision(db, True)
    run_id = submit(db, "pay-1", session_id="parent", answer=yes).run_id
    assert told(db) == [("subagent_end", "ask-1"), ("tool_end", "ask-1")]

    db.drive(run_id).result(1, 1, closes_step=True)
    assert told(db)[2:] == [("tool_end", "pay-1")]


def test_a_child_that_ended_before_the_suspension_is_told_by_the_next_run(db: Door) -> None:
    parent = calling(db, "ask-1")
    (child,) = born(parent, "ask-1")
    end(child, output=1)
    assert suspend(parent).outcome == "continued"
    assert told(db) == [("subagent_end", "ask-1"), ("tool_end", "ask-1")]
