"""Two entries into one session: one run, and the other is told which.

The session's row lock is the gate; whoever comes second decides from what the first committed.
"""

from functools import partial
from typing import Any

import psycopg
import pytest

from tests.support.door import Door
from tests.support.proves import case
from tests.support.racers import BOUND_S, Caller, Racers

RACERS = 16


@pytest.fixture(params=["a new session", "an idle session", "a created session"])
def place(request: pytest.FixtureRequest, db: Door) -> str:
    """Where the race is held."""
    if request.param == "an idle session":
        db.finished("s1")
    if request.param == "a created session":
        db.create_session("s1")
    return "s1"


@case(5)
def test_the_second_start_of_a_key_waits_and_is_attached(racers: Racers, place: str) -> None:
    first, second = racers.callers(2)
    started = first.start(place, "again", request_key="k1")
    future = racers.waiting(second, second.start, place, "again", request_key="k1")
    first.commit()
    answer = future.result(BOUND_S)

    assert (started.outcome, answer.outcome) == ("started", "attached")
    assert answer.run_id == started.run_id


@case(2)
def test_the_second_start_without_a_key_waits_and_is_busy(
    racers: Racers, db: Door, place: str
) -> None:
    first, second = racers.callers(2)
    started = first.start(place, "first")
    future = racers.waiting(second, second.start, place, "second")
    first.commit()
    answer = future.result(BOUND_S)
    second.commit()

    assert (answer.outcome, answer.run_id) == ("already_running", started.run_id)
    assert "second" not in str(db.messages())


def test_the_second_start_of_a_key_with_other_input_is_a_conflict(
    racers: Racers, place: str
) -> None:
    first, second = racers.callers(2)
    first.start(place, "first", request_key="k1")
    future = racers.waiting(second, second.start, place, "second", request_key="k1")
    first.commit()

    assert future.result(BOUND_S).outcome == "request_key_conflict"


@pytest.mark.parametrize("key", [None, "k1"])
def test_the_second_starts_when_the_first_rolls_back(
    racers: Racers, db: Door, place: str, key: str | None
) -> None:
    first, second = racers.callers(2)
    first.start(place, "first", request_key=key)
    future = racers.waiting(second, second.start, place, "second", request_key=key)
    first.rollback()
    answer = future.result(BOUND_S)
    second.commit()

    assert answer.outcome == "started"
    assert "first" not in str(db.messages())


@case(18)
def test_the_second_starts_when_the_first_dies_before_its_commit(
    racers: Racers, db: Door, place: str
) -> None:
    first, second = racers.callers(2)
    first.start(place, "same", request_key="k1")
    future = racers.waiting(second, second.start, place, "same", request_key="k1")
    racers.kill(first)
    answer = future.result(BOUND_S)
    second.commit()

    assert answer.outcome == "started"
    assert db.run(answer.run_id).request_key == "k1"


@case(1)
def test_the_same_start_twice_at_once_is_one_run(racers: Racers, db: Door, place: str) -> None:
    run_id = db.row("select gen_random_uuid() as id").id
    first, second = racers.callers(2)
    first.start(place, "same", run_id=run_id)
    future = racers.waiting(second, second.start, place, "same", run_id=run_id)
    first.commit()
    answer = future.result(BOUND_S)

    assert (answer.outcome, answer.run_id) == ("replayed", run_id)


@case(5)
def test_sixteen_starts_of_one_key_are_one_run(racers: Racers, db: Door, place: str) -> None:
    callers = racers.callers(RACERS)
    answers = racers.at_once(
        [partial(committed, caller, place, "same", request_key="k1") for caller in callers]
    )

    assert sorted(answer.outcome for answer in answers) == ["attached"] * 15 + ["started"]
    assert len({answer.run_id for answer in answers}) == 1


@case(2)
def test_sixteen_starts_without_a_key_are_one_run_and_fifteen_are_busy(
    racers: Racers, db: Door, place: str
) -> None:
    before = len(db.messages(place))
    answers = racers.at_once(
        [
            partial(committed, caller, place, f"text {number}")
            for number, caller in enumerate(racers.callers(RACERS))
        ]
    )

    assert sorted(answer.outcome for answer in answers) == ["already_running"] * 15 + ["started"]
    assert len({answer.run_id for answer in answers}) == 1
    assert len(db.messages(place)) == before + 1


@case(2)
def test_a_hundred_rounds_of_two_callers_have_one_winner_each(racers: Racers) -> None:
    callers = racers.callers(2)
    for number in range(100):
        answers = racers.at_once([partial(committed, caller, f"s{number}") for caller in callers])

        assert {answer.outcome for answer in answers} == {"started", "already_running"}


@case(47)
def test_the_same_key_in_two_tenants_does_not_wait(racers: Racers) -> None:
    first, second = racers.callers(2)
    first.start("s1", request_key="k1", tenant_id="t1")

    assert second.start("s1", request_key="k1", tenant_id="t2").outcome == "started"
    first.rollback()


def test_a_start_waits_no_longer_than_it_is_told(racers: Racers, db: Door, place: str) -> None:
    first, second = racers.callers(2)
    first.start(place, "first")
    future = racers.waiting(second, second.start, place, "second", concurrent_entry_timeout_ms=200)
    with pytest.raises(psycopg.errors.LockNotAvailable):
        future.result(BOUND_S)
    second.rollback()
    first.rollback()

    assert "second" not in str(db.messages(place))


def test_the_bound_on_a_start_ends_with_it(racers: Racers) -> None:
    caller = racers.caller()
    before = caller.row("show lock_timeout").lock_timeout
    caller.start("s1", concurrent_entry_timeout_ms=200)

    assert caller.row("show lock_timeout").lock_timeout == before


def test_two_sessions_made_at_once_are_one(racers: Racers) -> None:
    first, second = racers.callers(2)
    assert first.create_session("s1").outcome == "created"
    future = racers.waiting(second, second.create_session, "s1")
    first.commit()

    assert future.result(BOUND_S).outcome == "existing"


def test_a_start_into_a_session_that_is_being_made_waits_and_uses_it(
    racers: Racers, db: Door
) -> None:
    first, second = racers.callers(2)
    first.create_session("s1", metadata={"plan": "pro"})
    future = racers.waiting(second, second.start, "s1")
    first.commit()
    answer = future.result(BOUND_S)
    second.commit()

    assert answer.outcome == "started"
    assert db.session().metadata == {"plan": "pro"}


def committed(caller: Caller, session_id: str, say: str = "hi", **more: Any) -> Any:
    answer = caller.start(session_id, say, **more)
    caller.commit()
    return answer
