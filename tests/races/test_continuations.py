"""A session that nobody continued, continued by two at once, or while something else enters it."""

from functools import partial
from typing import Any

from tests.support.door import Door
from tests.support.family import end, results, waiting
from tests.support.racers import BOUND_S, Caller, Racers
from tests.support.suspensions import forget_to_continue, suspended

RACERS = 8


def goes_on(caller: Door, session_id: str = "s1") -> Any:
    return caller.call("continue_session", session_id=session_id)


def committed(caller: Caller) -> Any:
    answer = goes_on(caller)
    caller.commit()
    return answer


def test_eight_sweepers_at_once_start_one_run(racers: Racers, db: Door) -> None:
    drive = suspended(db)
    forget_to_continue(db, drive.run_id)
    answers = racers.at_once([partial(committed, caller) for caller in racers.callers(RACERS)])

    outcomes = sorted(str(answer.outcome) for answer in answers)
    assert outcomes == ["continued", *["stale"] * (RACERS - 1)]
    assert db.session().turn_count == 2


def test_a_message_that_comes_first_leaves_nothing_to_continue(racers: Racers, db: Door) -> None:
    drive = suspended(db)
    forget_to_continue(db, drive.run_id)
    entry, sweeper = racers.callers(2)
    started = entry.start(say="something else")
    future = racers.waiting(sweeper, goes_on, sweeper)
    entry.commit()
    assert future.result(BOUND_S).outcome == "stale"
    sweeper.commit()

    assert db.session().current_run_id == started.run_id
    assert db.session().turn_count == 2


def test_a_child_that_ends_meanwhile_waits_and_finds_its_call_answered(
    racers: Racers, db: Door
) -> None:
    _, (child,) = waiting(db, "a")
    db.execute(
        "update lockgate_store.children"
        """ set status = 'completed', output = '"found"', ended_at = lockgate.now()"""
    )
    sweeper, worker = racers.callers(2)
    answer = goes_on(sweeper, "parent")
    child.door = worker
    future = racers.waiting(worker, end, child, "failed")
    sweeper.commit()
    assert future.result(BOUND_S).outcome == "finished"
    worker.commit()

    assert answer.outcome == "continued"
    assert db.session("parent").current_run_id == answer.run_id
    assert results(db)["a"]["result"] == "found"
