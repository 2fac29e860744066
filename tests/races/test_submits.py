"""Answers at the same moment as another answer, an entry, a stop, a deletion or the suspension."""

from functools import partial
from typing import Any

import pytest

from tests.support.door import Door, tool
from tests.support.racers import BOUND_S, Caller, Racers
from tests.support.seen import seen
from tests.support.suspensions import (
    approval,
    client,
    decision,
    delegated,
    results,
    subagent,
    submit,
    suspended,
    suspends,
)

RACERS = 8


def committed(caller: Caller, *args: Any, **more: Any) -> Any:
    answer = submit(caller, *args, **more)
    caller.commit()
    return answer


def waits_for(racers: Racers, waiter: Caller, holder: Caller) -> bool:
    row = racers.looking.row("select pg_blocking_pids(%s) as pids", waiter.pid)
    return bool(row.pids == [holder.pid])


def test_two_last_answers_start_one_run(racers: Racers, db: Door) -> None:
    suspended(db, client("a"), client("b"))
    first, second = racers.callers(2)
    waits = submit(first, "a")
    future = racers.waiting(second, submit, second, "b")
    first.commit()
    goes_on = future.result(BOUND_S)
    second.commit()

    assert (waits.outcome, waits.run_id) == ("accepted", None)
    assert (goes_on.outcome, goes_on.run_id) == ("accepted", db.session().current_run_id)
    assert db.session().turn_count == 2
    assert [r["toolCallId"] for r in results(db)] == ["a", "b"]


def test_a_batch_of_eight_answered_at_once_starts_one_run(racers: Racers, db: Door) -> None:
    names = [f"call-{n}" for n in range(RACERS)]
    suspended(db, *(client(name) for name in names))
    answers = racers.at_once(
        [
            partial(committed, caller, name)
            for caller, name in zip(racers.callers(RACERS), names, strict=True)
        ]
    )

    assert {answer.outcome for answer in answers} == {"accepted"}
    assert len([answer for answer in answers if answer.run_id]) == 1
    assert db.session().turn_count == 2
    assert [r["toolCallId"] for r in results(db)] == names, "in the order of the calls"


def test_eight_answers_to_one_call_are_one(racers: Racers, db: Door) -> None:
    suspended(db)
    answers = racers.at_once(
        [
            partial(committed, caller, result=place)
            for place, caller in enumerate(racers.callers(RACERS))
        ]
    )
    outcomes = sorted(answer.outcome for answer in answers)
    (won,) = (place for place, answer in enumerate(answers) if answer.outcome == "accepted")

    assert outcomes == ["accepted"] + ["already_completed"] * (RACERS - 1)
    assert [r["result"] for r in results(db)] == [won]


@pytest.mark.parametrize("ends", ["commit", "rollback"])
def test_an_approval_and_its_refusal_are_decided_by_the_first(
    racers: Racers, db: Door, ends: str
) -> None:
    suspended(db, approval())
    yes, no = racers.callers(2)
    submit(yes, "pay-1", answer=decision(db, True))
    future = racers.waiting(no, submit, no, "pay-1", answer=decision(db, False))
    getattr(yes, ends)()
    answer = future.result(BOUND_S)
    no.commit()

    assert (answer.outcome, answer.approved) == (
        ("already_completed", True) if ends == "commit" else ("accepted", False)
    )


def test_an_answer_that_waited_for_a_start_comes_too_late(racers: Racers, db: Door) -> None:
    drive = suspended(db)
    starter, late = racers.callers(2)
    started = starter.start(say="never mind")
    future = racers.waiting(late, submit, late)
    starter.commit()
    answer = future.result(BOUND_S)

    assert (answer.outcome, answer.call_run_id) == ("run_ended", drive.run_id)
    assert db.session().current_run_id == started.run_id


def test_a_start_that_waited_for_the_last_answer_is_busy(racers: Racers, db: Door) -> None:
    suspended(db)
    answerer, starter = racers.callers(2)
    run_id = submit(answerer).run_id
    future = racers.waiting(starter, starter.start, say="new")
    answerer.commit()
    answer = future.result(BOUND_S)

    assert (answer.outcome, answer.run_id) == ("already_running", run_id)


@pytest.mark.parametrize("verb", ["interrupt", "abort"])
def test_a_stop_that_waited_for_the_last_answer_is_on_the_run_that_goes_on(
    racers: Racers, db: Door, verb: str
) -> None:
    suspended(db)
    answerer, stopper = racers.callers(2)
    run_id = submit(answerer).run_id
    future = racers.waiting(stopper, stopper.call, verb, session_id="s1")
    answerer.commit()
    answer = future.result(BOUND_S)
    stopper.commit()

    assert (answer.outcome, answer.run_id) == ("stopping", run_id)


def test_a_stop_that_names_the_paused_run_comes_too_late_for_the_next(
    racers: Racers, db: Door
) -> None:
    drive = suspended(db)
    answerer, stopper = racers.callers(2)
    run_id = submit(answerer).run_id
    future = racers.waiting(stopper, stopper.call, "abort", session_id="s1", run_id=drive.run_id)
    answerer.commit()
    assert future.result(BOUND_S).outcome == "not_running"
    stopper.commit()

    assert db.run(run_id).stop_kind is None


def test_a_flag_that_waited_for_the_last_answer_is_on_the_run_that_goes_on(
    racers: Racers, db: Door
) -> None:
    suspended(db)
    answerer, stopper = racers.callers(2)
    run_id = submit(answerer).run_id
    future = racers.waiting(
        stopper, stopper.call, "interrupt", session_id="s1", include_suspended=True
    )
    answerer.commit()
    assert future.result(BOUND_S).run_id == run_id
    stopper.commit()

    assert db.claim(run_id).stop_kind == "interrupt"


def test_an_answer_that_waited_for_a_deletion_is_to_nothing(racers: Racers, db: Door) -> None:
    suspended(db)
    deleter, late = racers.callers(2)
    deleter.delete_session()
    future = racers.waiting(late, submit, late)
    deleter.commit()

    assert future.result(BOUND_S).outcome == "unknown_tool_call"


def test_a_deletion_that_waited_for_the_last_answer_takes_its_run_along(
    racers: Racers, db: Door
) -> None:
    suspended(db)
    answerer, deleter = racers.callers(2)
    run_id = submit(answerer).run_id
    future = racers.waiting(deleter, deleter.delete_session)
    answerer.commit()
    assert future.result(BOUND_S).outcome == "deleted"
    deleter.commit()

    assert db.rows("select from lockgate_store.runs where run_id = %s", run_id) == []


def test_an_answer_that_waited_for_the_suspension_is_taken(racers: Racers, db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", client())
    suspender, answerer = racers.callers(2)
    drive.door = suspender
    drive.suspend()
    future = racers.waiting(answerer, submit, answerer)
    suspender.commit()
    answer = future.result(BOUND_S)
    answerer.commit()

    assert (answer.outcome, answer.run_id) == ("accepted", db.session().current_run_id)


def test_a_suspension_that_waited_for_a_stop_ends_the_run(racers: Racers, db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", client())
    stopper, suspender = racers.callers(2)
    stopper.call("abort", session_id="s1")
    drive.door = suspender
    future = racers.waiting(suspender, drive.suspend)
    stopper.commit()
    answer = future.result(BOUND_S)
    suspender.commit()

    assert (answer.outcome, answer.run_status) == ("ended", "failed")
    assert submit(db).outcome == "run_ended"


def test_the_last_answer_and_the_end_of_the_last_child_start_one_run(
    racers: Racers, db: Door
) -> None:
    drive = db.driven()
    drive.reply(1, "", client(), subagent())
    child = delegated(db, drive)
    drive.suspend()
    asked = db.drive(child.child_run_id)
    answerer, ender = racers.callers(2)
    submit(answerer)
    asked.door = ender
    future = racers.waiting(ender, asked.finish, output={"n": 1})
    answerer.commit()
    assert future.result(BOUND_S).outcome == "finished"
    ender.commit()

    assert db.session().turn_count == 2
    assert [r["result"] for r in results(db)] == ["yes", {"n": 1}]


def test_an_answer_through_the_root_takes_the_lock_of_the_child_that_came_to_wait(
    racers: Racers, db: Door
) -> None:
    """Where it looked first there was no such call; since then a child has announced one."""
    root = db.driven()
    root.reply(1, "", tool("x"))
    child = db.driven("child", parent_session_id="s1", root_session_id="s1")
    holder, answerer, rival = racers.callers(3)
    root.door = holder
    root.result(1, 1)
    future = racers.waiting(answerer, submit, answerer, result="second")
    suspends(child)
    first = submit(rival, result="first", session_id="child")
    holder.commit()
    seen(lambda: waits_for(racers, answerer, rival), "the answer waits for the other")
    rival.commit()
    answer = future.result(BOUND_S)
    answerer.commit()

    assert (first.outcome, answer.outcome) == ("accepted", "already_completed")
    assert answer.session_id == "child"
    assert [r["result"] for r in results(db, "child")] == ["first"]
