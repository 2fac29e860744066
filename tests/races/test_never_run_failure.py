"""A first run and the failure of a session that never ran: the run wins, in either order."""

from tests.support.door import Door
from tests.support.racers import BOUND_S, Racers

FAILURE = {"session_id": "s1", "error_detail": {"message": "no model"}}


def test_a_run_that_commits_first_wins(racers: Racers, db: Door) -> None:
    db.create_session()
    starter, sweeper = racers.callers(2)
    starter.start()
    future = racers.waiting(sweeper, sweeper.call, "fail_session_without_run", **FAILURE)
    starter.commit()
    answer = future.result(BOUND_S)
    sweeper.commit()

    assert answer.outcome == "has_run"
    assert (db.session().status, db.session().error_detail) == ("active", None)


def test_a_run_that_commits_second_clears_the_failure(racers: Racers, db: Door) -> None:
    db.create_session()
    starter, sweeper = racers.callers(2)
    assert sweeper.call("fail_session_without_run", **FAILURE).outcome == "failed"
    future = racers.waiting(starter, starter.start)
    sweeper.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert answer.outcome == "started"
    assert (db.session().status, db.session().error_detail) == ("active", None)


def test_a_start_that_rolls_back_lets_the_failure_be_recorded(racers: Racers, db: Door) -> None:
    db.create_session()
    starter, sweeper = racers.callers(2)
    starter.start()
    future = racers.waiting(sweeper, sweeper.call, "fail_session_without_run", **FAILURE)
    starter.rollback()
    answer = future.result(BOUND_S)
    sweeper.commit()

    assert (answer.outcome, db.session().status) == ("failed", "failed")


def test_two_failures_at_once_are_one(racers: Racers, db: Door) -> None:
    db.create_session()
    one, other = racers.callers(2)
    one.call("fail_session_without_run", **FAILURE)
    future = racers.waiting(other, other.call, "fail_session_without_run", **FAILURE)
    one.commit()

    assert future.result(BOUND_S).outcome == "unchanged"
