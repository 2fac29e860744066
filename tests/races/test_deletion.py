"""A deletion and whatever else happens to its session at the same moment.

The deletion holds the row of every session of the tree until its commit: who comes second finds
all of it or nothing.
"""

from functools import partial
from typing import Any

import pytest

from tests.support.door import Door, Drive
from tests.support.proves import proves
from tests.support.racers import BOUND_S, Caller, Racers

TABLES = ("sessions", "runs", "messages", "streams", "stream_chunks", "settlements", "deliveries")


def claim(caller: Door, consumer: str = "hook") -> list[Any]:
    return caller.call_many("claim_settlements", consumer=consumer)


def stored(db: Door) -> dict[str, int]:
    """Count the rows of each table that has any."""
    counts = {
        table: db.row(f"select count(*) as n from lockgate_store.{table}").n for table in TABLES
    }
    return {table: count for table, count in counts.items() if count}


def test_a_start_waits_for_the_deletion_and_begins_a_new_life(racers: Racers, db: Door) -> None:
    old = db.finished(request_key="k1")
    epoch = db.stream().epoch
    deleter, starter = racers.callers(2)
    assert deleter.delete_session().outcome == "deleted"
    future = racers.waiting(starter, starter.start, "s1", "new", request_key="k2")
    deleter.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.run_id != old) == ("started", True)
    assert (db.session().turn_count, len(db.messages())) == (1, 1)
    assert db.stream().epoch != epoch


def test_a_start_after_a_deletion_that_rolls_back_finds_the_session(
    racers: Racers, db: Door
) -> None:
    db.finished()
    deleter, starter = racers.callers(2)
    deleter.delete_session()
    future = racers.waiting(starter, starter.start)
    deleter.rollback()
    assert future.result(BOUND_S).outcome == "started"
    starter.commit()

    assert db.session().turn_count == 2


def test_a_deletion_waits_for_the_start_and_takes_its_run_away(racers: Racers, db: Door) -> None:
    db.finished()
    starter, deleter = racers.callers(2)
    run_id = starter.start().run_id
    future = racers.waiting(deleter, deleter.delete_session)
    starter.commit()
    drive_id = db.run(run_id).drive_id
    assert future.result(BOUND_S).outcome == "deleted"
    deleter.commit()

    assert stored(db) == {}
    over = {"session_id": "s1", "run_id": run_id, "drive_id": drive_id, "worker_id": "w"}
    assert db.call("claim_run", **over).outcome == "over"


@proves("delete_session.again")
def test_a_deletion_finds_that_the_tree_grew_while_it_waited(racers: Racers, db: Door) -> None:
    db.create_session("root")
    parent, deleter = racers.callers(2)
    assert parent.create_session("child", parent_session_id="root").outcome == "created"
    future = racers.waiting(deleter, deleter.delete_session, "root")
    parent.commit()
    answer = future.result(BOUND_S)
    assert (answer.outcome, answer.deleted_sessions) == ("again", 0)
    assert stored(db) == {"sessions": 2}
    deleter.commit()

    again = deleter.delete_session("root")
    deleter.commit()
    assert (again.outcome, again.deleted_sessions) == ("deleted", 2)
    assert stored(db) == {}


@pytest.mark.parametrize("entry", ["create_session", "start"])
def test_a_child_is_made_under_its_parents_lock(racers: Racers, db: Door, entry: str) -> None:
    """Or a child of a session that is being deleted would be in nobody's tree."""
    db.create_session("root")
    deleter, parent = racers.callers(2)
    assert deleter.delete_session("root").deleted_sessions == 1
    future = racers.waiting(parent, getattr(parent, entry), "child", parent_session_id="root")
    deleter.commit()
    answer = future.result(BOUND_S)
    parent.commit()

    assert answer.outcome in ("created", "started")
    assert db.session("child").parent_session_id == "root"
    assert db.rows("select from lockgate_store.sessions where session_id = 'root'") == []


def test_a_child_that_is_not_made_after_all_stops_no_deletion(racers: Racers, db: Door) -> None:
    db.create_session("root")
    parent, deleter = racers.callers(2)
    parent.create_session("child", parent_session_id="root")
    future = racers.waiting(deleter, deleter.delete_session, "root")
    parent.rollback()
    answer = future.result(BOUND_S)
    deleter.commit()

    assert (answer.outcome, answer.deleted_sessions) == ("deleted", 1)


def test_a_child_that_exists_is_entered_without_its_parents_lock(racers: Racers, db: Door) -> None:
    db.create_session("root")
    db.create_session("child", parent_session_id="root")
    parent, child = racers.callers(2)
    parent.start("root")

    assert child.start("child", parent_session_id="root").outcome == "started"
    child.commit()
    parent.commit()


def test_of_two_deletions_the_second_finds_nothing(racers: Racers, db: Door) -> None:
    db.finished()
    one, other = racers.callers(2)
    assert one.delete_session().outcome == "deleted"
    future = racers.waiting(other, other.delete_session)
    one.commit()

    assert future.result(BOUND_S).outcome == "not_found"


def test_the_second_deletes_where_the_first_rolled_back(racers: Racers, db: Door) -> None:
    db.finished()
    one, other = racers.callers(2)
    one.delete_session()
    future = racers.waiting(other, other.delete_session)
    one.rollback()
    assert future.result(BOUND_S).outcome == "deleted"
    other.commit()

    assert stored(db) == {}


@pytest.mark.parametrize(("first", "second"), [("root", "a child"), ("a child", "root")])
def test_a_tree_and_its_branch_are_deleted_at_the_same_moment(
    racers: Racers, db: Door, first: str, second: str
) -> None:
    """The child's id sorts before its parent's, so the tree's locks meet the branch's."""
    db.create_session("root")
    db.create_session("a child", parent_session_id="root")
    one, other = racers.callers(2)
    one.delete_session(first)
    future = racers.waiting(other, other.delete_session, second)
    one.commit()
    answer = future.result(BOUND_S)
    other.commit()

    assert answer.outcome == {"root": "not_found", "a child": "deleted"}[first]
    assert stored(db) == {}


def test_what_a_drive_is_appending_goes_too(racers: Racers, db: Door) -> None:
    drive = db.driven()
    worker, deleter = racers.callers(2)
    assert Drive(worker, drive.run_id, drive.attempt, 0).append("late").outcome == "appended"
    future = racers.waiting(deleter, deleter.delete_session)
    worker.commit()
    assert future.result(BOUND_S).outcome == "deleted"
    deleter.commit()

    assert stored(db) == {}
    assert drive.append("later").outcome == "fenced"


@pytest.mark.parametrize("write", ["append", "reply", "finish"])
def test_a_drive_that_comes_second_is_fenced(racers: Racers, db: Door, write: str) -> None:
    drive = db.driven()
    deleter, worker = racers.callers(2)
    late = Drive(worker, drive.run_id, drive.attempt, 0)
    worker.commit()
    deleter.delete_session()
    future = racers.waiting(worker, getattr(late, write))
    deleter.commit()
    assert future.result(BOUND_S).outcome == "fenced"
    worker.commit()

    assert stored(db) == {}


def test_an_end_that_comes_first_is_deleted_with_its_settlement(racers: Racers, db: Door) -> None:
    claim(db)
    drive = db.driven()
    worker, deleter = racers.callers(2)
    assert Drive(worker, drive.run_id, drive.attempt, 0).finish().outcome == "finished"
    future = racers.waiting(deleter, deleter.delete_session)
    worker.commit()
    assert future.result(BOUND_S).outcome == "deleted"
    deleter.commit()

    assert stored(db) == {}
    assert claim(db) == []


def test_a_consumer_keeps_what_it_has_leased_until_its_commit(racers: Racers, db: Door) -> None:
    claim(db)
    run_id = db.finished()
    consumer, deleter = racers.callers(2)
    (due,) = claim(consumer)
    future = racers.waiting(deleter, deleter.delete_session)
    marked = consumer.call("mark_delivered", delivery_id=due.delivery_id, consumer="hook")
    consumer.commit()
    assert future.result(BOUND_S).outcome == "deleted"
    deleter.commit()

    assert (due.run_id, marked.outcome) == (run_id, "marked")
    assert stored(db) == {}


def test_a_consumer_skips_what_is_being_deleted(racers: Racers, db: Door) -> None:
    claim(db)
    db.finished("s1")
    other = db.finished("s2")
    deleter, consumer = racers.callers(2)
    deleter.delete_session()

    assert [due.run_id for due in claim(consumer)] == [other]
    deleter.commit()
    consumer.commit()
    assert stored(db)["deliveries"] == 1


def test_a_consumer_that_registers_meanwhile_is_owed_nothing_that_is_gone(
    racers: Racers, db: Door
) -> None:
    db.finished()
    deleter, consumer = racers.callers(2)
    deleter.delete_session()
    future = racers.waiting(consumer, claim, consumer)
    deleter.commit()
    assert future.result(BOUND_S) == []
    consumer.commit()

    assert stored(db) == {}


def test_a_deletion_waits_for_the_consumer_that_registers(racers: Racers, db: Door) -> None:
    db.finished()
    consumer, deleter = racers.callers(2)
    assert len(claim(consumer)) == 1
    future = racers.waiting(deleter, deleter.delete_session)
    consumer.commit()
    assert future.result(BOUND_S).outcome == "deleted"
    deleter.commit()

    assert stored(db) == {}


def test_fifty_rounds_of_deletions_starts_and_new_children_never_lock_each_other_out(
    racers: Racers, db: Door
) -> None:
    callers = racers.callers(4)

    def run(caller: Caller, call: Any) -> str:
        outcome: str = call(caller).outcome
        caller.commit()
        return outcome

    for number in range(50):
        root, child = f"root {number}", f"child {number}"
        db.create_session(root)
        outcomes = racers.at_once(
            [
                partial(run, callers[0], lambda caller, name=root: caller.delete_session(name)),
                partial(run, callers[1], lambda caller, name=root: caller.delete_session(name)),
                partial(run, callers[2], lambda caller, name=root: caller.start(name)),
                partial(
                    run,
                    callers[3],
                    lambda caller, name=child, parent=root: caller.create_session(
                        name, parent_session_id=parent
                    ),
                ),
            ]
        )
        assert set(outcomes[:2]) <= {"deleted", "not_found", "again"}
        assert outcomes[2:] == ["started", "created"]
