"""Resumes and retries at the same moment as another entry: one run, and the other is told which."""

from functools import partial
from typing import Any

import pytest

from tests.support import standings
from tests.support.door import Door
from tests.support.proves import case
from tests.support.racers import BOUND_S, Caller, Racers

RACERS = 8


@pytest.fixture(params=["an answered pause", "an interrupted session", "a run left behind"])
def resumable(request: pytest.FixtureRequest, db: Door) -> str:
    """A session that takes a resume; what lived is dead."""
    makes: dict[str, Any] = {
        "an answered pause": standings.answered,
        "an interrupted session": standings.interrupted,
        "a run left behind": standings.stranded,
    }
    makes[request.param](db)
    standings.worker_dies(db)
    return "s1"


@case(5)
def test_the_second_resume_of_a_key_waits_and_is_attached(racers: Racers, resumable: str) -> None:
    first, second = racers.callers(2)
    resumed = first.resume(request_key="k1")
    future = racers.waiting(second, second.resume, request_key="k1")
    first.commit()
    answer = future.result(BOUND_S)

    assert (resumed.outcome, answer.outcome) == ("resumed", "attached")
    assert answer.run_id == resumed.run_id


def test_the_second_resume_without_a_key_waits_and_is_busy(
    racers: Racers, db: Door, resumable: str
) -> None:
    first, second = racers.callers(2)
    spoken = {"mode": "with_message", "message": "second"}
    resumed = first.resume()
    future = racers.waiting(second, second.resume, options=spoken)
    first.commit()
    answer = future.result(BOUND_S)
    second.commit()

    assert (answer.outcome, answer.run_id) == ("already_running", resumed.run_id)
    assert "second" not in str(db.messages())


def test_the_second_resumes_when_the_first_rolls_back(racers: Racers, resumable: str) -> None:
    first, second = racers.callers(2)
    first.resume(request_key="k1")
    future = racers.waiting(second, second.resume, request_key="k1")
    first.rollback()
    answer = future.result(BOUND_S)
    second.commit()

    assert answer.outcome == "resumed"


@pytest.mark.parametrize("wins", ["resume", "start"])
def test_a_resume_and_a_start_are_one_run(
    racers: Racers, db: Door, resumable: str, wins: str
) -> None:
    resumer, starter = racers.callers(2)
    turns = db.session().turn_count
    if wins == "resume":
        first = resumer.resume()
        future = racers.waiting(starter, starter.start, say="new")
        resumer.commit()
    else:
        first = starter.start(say="new")
        future = racers.waiting(resumer, resumer.resume)
        starter.commit()
    answer = future.result(BOUND_S)
    resumer.commit()
    starter.commit()

    assert (answer.outcome, answer.run_id) == ("already_running", first.run_id)
    assert db.session().turn_count == turns + 1


def test_a_resume_that_waited_for_a_start_that_ended_finds_nothing_to_go_on_from(
    racers: Racers, db: Door, resumable: str
) -> None:
    """Decided from what stands under the lock, not from what stood when it was asked."""
    starter, resumer = racers.callers(2)
    run_id = starter.start(say="new").run_id
    starter.drive(run_id).finish()
    future = racers.waiting(resumer, resumer.resume)
    starter.commit()
    answer = future.result(BOUND_S)

    assert (answer.outcome, answer.run_id) == ("not_resumable", run_id)
    assert answer.detail["sessionStatus"] == "completed"


def test_eight_resumes_of_one_key_are_one_run(racers: Racers, resumable: str) -> None:
    answers = racers.at_once(
        [
            partial(committed, caller, "resume", request_key="k1")
            for caller in racers.callers(RACERS)
        ]
    )

    assert sorted(each.outcome for each in answers) == ["attached"] * (RACERS - 1) + ["resumed"]
    assert len({each.run_id for each in answers}) == 1


# Retries.


@case(5)
@pytest.mark.parametrize(("key", "outcome"), [("k1", "attached"), (None, "already_running")])
def test_two_retries_are_one_run_and_cut_once(
    racers: Racers, db: Door, key: str | None, outcome: str
) -> None:
    standings.failed(db)
    first, second = racers.callers(2)
    retried = first.retry(message='"again"', request_key=key)
    future = racers.waiting(second, second.retry, message='"again"', request_key=key)
    first.commit()
    answer = future.result(BOUND_S)
    second.commit()

    assert (retried.outcome, answer.outcome) == ("resumed", outcome)
    assert answer.run_id == retried.run_id
    assert [m.role for m in db.messages()] == ["user", "assistant", "tool", "user"]


def test_a_retry_that_waited_for_a_retry_that_failed_too_tries_that_one_again(
    racers: Racers, db: Door
) -> None:
    standings.failed(db)
    first, second = racers.callers(2)
    run_id = first.retry(message='"once"').run_id
    first.drive(run_id).finish("failed")
    future = racers.waiting(second, second.retry, message='"twice"')
    first.commit()
    answer = future.result(BOUND_S)
    second.commit()
    said = [m.content[0].get("text") for m in db.messages() if m.role == "user"]

    assert (answer.outcome, said) == ("resumed", ["hi", "once", "twice"])


def test_a_checkpoint_that_was_cut_away_meanwhile_is_none(racers: Racers, db: Door) -> None:
    drive = standings.stepped(db)
    drive.reply(2, "more")
    drive.finish("failed")
    first, second = racers.callers(2)
    run_id = first.retry(checkpoint_id=f"{drive.run_id}:1").run_id
    first.drive(run_id).finish("failed")
    future = racers.waiting(second, second.retry, checkpoint_id=f"{drive.run_id}:2")
    first.commit()
    answer = future.result(BOUND_S)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": "checkpointId"})


def test_eight_retries_are_one_run_and_seven_are_busy(racers: Racers, db: Door) -> None:
    standings.failed(db)
    answers = racers.at_once(
        [partial(committed, caller, "retry") for caller in racers.callers(RACERS)]
    )

    assert sorted(each.outcome for each in answers) == (
        ["already_running"] * (RACERS - 1) + ["resumed"]
    )


def committed(caller: Caller, verb: str, **more: Any) -> Any:
    answer = getattr(caller, verb)(**more)
    caller.commit()
    return answer
