"""Children that end while somebody else does something to their parent, many times over.

Whatever comes first, the parent goes on exactly once, and nobody waits in a circle.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.support.door import Door, Drive
from tests.support.family import (
    address,
    begin,
    born,
    calling,
    end,
    records,
    results,
    runs,
    session_of,
    suspend,
    waiting,
)
from tests.support.racers import BOUND_S, Caller, Racers

ROUNDS = 6
CALLS = ("call-a", "call-b", "call-c", "call-d")


def by(caller: Caller, drive: Drive) -> Drive:
    """Return the same attempt as another connection sees it."""
    return Drive(caller, drive.run_id, drive.attempt, drive.head)


def committed(caller: Caller, call: Callable[[], Any]) -> Callable[[], Any]:
    """Make a call and commit it, as one move."""

    def move() -> Any:
        answer = call()
        caller.commit()
        return answer

    return move


def ends_by(racers: Racers, children: list[Drive]) -> list[Callable[[], Any]]:
    """Return the end of each child as a move of a caller of its own."""
    callers = racers.callers(len(children))
    moves = [
        committed(caller, partial(end, by(caller, child), output=n))
        for n, (caller, child) in enumerate(zip(callers, children, strict=True))
    ]
    for caller in callers:
        caller.commit()
    return moves


@pytest.mark.parametrize("suspends", [False, True], ids=["suspended", "suspending"])
def test_four_children_that_end_together_continue_their_parent_once(
    racers: Racers, db: Door, suspends: bool
) -> None:
    for n in range(ROUNDS):
        name = f"parent-{n}"
        parent = calling(db, *CALLS, session_id=name)
        children = born(parent, *CALLS)
        moves = ends_by(racers, children)
        if suspends:
            caller = racers.caller()
            own = by(caller, parent)
            caller.commit()
            moves.append(committed(caller, partial(suspend, own)))
        else:
            suspend(parent)
        racers.at_once(moves)

        assert len(runs(db, name)) == 2
        found = results(db, name)
        assert {call_id: each["result"] for call_id, each in found.items()} == {
            call_id: {"said": n} for n, call_id in enumerate(CALLS)
        }


def test_a_new_message_or_a_last_child_comes_first_and_the_other_starts_nothing_more(
    racers: Racers, db: Door
) -> None:
    for n in range(ROUNDS):
        name = f"parent-{n}"
        _, children = waiting(db, *CALLS, session_id=name)
        caller = racers.caller()
        moves = ends_by(racers, children)
        start = partial(caller.start, name, "never mind", dispatch_limit_ms=0)
        racers.at_once([*moves, committed(caller, start)])

        drives = [db.run(run_id).drive for run_id in runs(db, name)]
        assert drives in (["start", "start"], ["start", "continue", "start"])
        assert len(results(db, name)) == len(CALLS), "each call has a result, whoever gave it"


def test_a_tree_that_is_deleted_while_its_children_end_is_gone(racers: Racers, db: Door) -> None:
    for n in range(ROUNDS):
        name = f"parent-{n}"
        _, children = waiting(db, *CALLS, session_id=name)
        caller = racers.caller()
        moves = ends_by(racers, children)
        *_, answer = racers.at_once(
            [*moves, committed(caller, partial(caller.delete_session, name))]
        )

        assert (answer.outcome, answer.deleted_sessions) == ("deleted", 5)
        assert db.rows("select from lockgate_store.sessions") == []
        assert db.rows("select from lockgate_store.children") == []


def test_children_that_end_or_are_deleted_at_the_same_moment_are_all_told_of(
    racers: Racers, db: Door
) -> None:
    for n in range(ROUNDS):
        name = f"parent-{n}"
        _, children = waiting(db, *CALLS, session_id=name)
        moves = ends_by(racers, children[:2])
        for child in children[2:]:
            caller = racers.caller()
            moves.append(committed(caller, partial(caller.delete_session, session_of(child))))
        racers.at_once(moves)

        assert len(runs(db, name)) == 2
        assert [each["success"] for each in results(db, name).values()] == [True] * 2 + [False] * 2


def test_two_who_delete_overlapping_trees_do_not_wait_in_a_circle(racers: Racers, db: Door) -> None:
    for n in range(ROUNDS):
        name = f"root-{n}"
        parent = calling(db, "call-a", session_id=name)
        (child,) = born(parent, "call-a")
        child.reply(
            1, "", *({**{"id": c, "toolName": "x", "input": {}}, "kind": "subagent"} for c in CALLS)
        )
        for call_id in CALLS:
            begin(child, call_id)
        first, second = racers.callers(2)
        below = session_of(child)
        racers.at_once(
            [
                committed(first, partial(first.delete_session, name)),
                committed(second, partial(second.delete_session, below)),
            ]
        )
        assert db.rows("select from lockgate_store.sessions") == []


def test_sessions_that_name_each_other_as_parent_never_wait_for_each_other(
    racers: Racers, db: Door
) -> None:
    one = db.driven("one", parent_session_id="two")
    two = db.driven("two", parent_session_id="one")
    first, second = racers.callers(2)
    assert by(first, one).finish().outcome == "finished"
    assert racers.later(by(second, two).finish).result(BOUND_S).outcome == "finished"
    second.commit()
    first.commit()

    assert [db.session(name).status for name in ("one", "two")] == ["completed"] * 2


def test_an_end_waits_for_the_parents_lock_and_a_delivery_is_recorded_before_it(
    racers: Racers, db: Door
) -> None:
    """The record says `running` only until the end that waits for it has been written."""
    parent = calling(db, "call-a")
    (child,) = born(parent, "call-a", mode="background", name="scout")
    end(child, output="first")
    again = db.start(session_of(child), "more", agent_type="helper")
    drive = db.drive(again.run_id)
    recorder, ender = racers.callers(2)
    named = {**address(parent), "child_session_id": session_of(child)}
    answer = recorder.call("record_child_running", child_run_id=again.run_id, **named)
    assert answer.outcome == "written"
    future = racers.waiting(ender, end, by(ender, drive), output="second")
    recorder.commit()
    future.result(BOUND_S)
    ender.commit()

    (kept,) = records(db)
    assert (kept.status, kept.output) == ("completed", {"said": "second"})
