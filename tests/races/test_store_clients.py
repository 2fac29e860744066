"""A store client's writes at the same moment as an entry, or as another client's.

Whoever comes second decides from what the first committed, and a refusal leaves nothing behind.
"""

from typing import Any
from uuid import UUID

import pytest

from tests.support import standings
from tests.support.door import Door
from tests.support.racers import BOUND_S, Caller, Racers
from tests.support.standings import statuses
from tests.support.store import dump
from tests.support.store_client import StoreClient


@pytest.fixture
def run_id(db: Door) -> UUID:
    """A run with one committed step, of a worker that nobody hears any more."""
    return standings.stranded(db)


@pytest.fixture
def plan(db: Door, run_id: UUID) -> dict[str, Any]:
    """What a run start was planned against, before the race."""
    return StoreClient(db).plan()


def two(racers: Racers) -> tuple[Caller, StoreClient, Caller, StoreClient]:
    first, second = racers.callers(2)
    return first, StoreClient(first), second, StoreClient(second)


# A run start and a terminal commit.


def test_a_start_that_waited_for_a_terminal_commit_was_planned_too_early(
    racers: Racers, db: Door, run_id: UUID, plan: dict[str, Any]
) -> None:
    ender, end, starter, start = two(racers)
    assert end.end(run_id, "completed").outcome == "written"
    future = racers.waiting(starter, start.start, expect=plan)
    ender.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.cause) == ("rejected", "session_status_changed")
    assert start.start(expect={**plan, "sessionStatus": "completed"}).outcome == "started"
    starter.rollback()


def test_a_start_that_finishes_the_run_waits_for_the_end_that_it_names(
    racers: Racers, db: Door, run_id: UUID, plan: dict[str, Any]
) -> None:
    ender, end, starter, start = two(racers)
    end.end(run_id, "interrupted")
    future = racers.waiting(
        starter,
        start.start,
        expect={**plan, "sessionStatus": "interrupted"},
        finish_current={"runId": str(run_id), "status": "interrupted"},
    )
    ender.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, db.run(run_id).status) == ("started", "interrupted")
    assert statuses(db, run_id) == ["interrupted"]


def test_an_end_that_rolls_back_has_not_landed(
    racers: Racers, db: Door, run_id: UUID, plan: dict[str, Any]
) -> None:
    ender, end, starter, start = two(racers)
    end.end(run_id, "completed")
    future = racers.waiting(
        starter,
        start.start,
        expect=plan,
        finish_current={"runId": str(run_id), "status": "completed"},
    )
    ender.rollback()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.cause) == ("rejected", "finish_current_invalid")
    assert db.run(run_id).status == "running"


def test_a_terminal_commit_that_waited_for_a_start_is_fenced(
    racers: Racers, db: Door, run_id: UUID, plan: dict[str, Any]
) -> None:
    starter, start, ender, end = two(racers)
    start.start(expect=plan)
    future = racers.waiting(ender, end.end, run_id, "completed")
    starter.commit()
    before = dump(db.connection)
    answer = future.result(BOUND_S)
    ender.commit()

    assert (answer.outcome, answer.session_status) == ("fenced", "active")
    assert dump(db.connection) == before


def test_of_two_ends_the_first_stands(racers: Racers, run_id: UUID) -> None:
    first, end, second, other = two(racers)
    end.end(run_id, "completed")
    future = racers.waiting(second, other.end, run_id, "failed")
    first.commit()

    assert future.result(BOUND_S).outcome == "refused"


# Two run starts.


def test_of_two_starts_of_one_plan_one_is_rejected(
    racers: Racers, db: Door, run_id: UUID, plan: dict[str, Any]
) -> None:
    first, start, second, other = two(racers)
    winner = start.start(expect=plan).run_id
    future = racers.waiting(second, other.start, expect=plan)
    first.commit()
    before = dump(db.connection)
    answer = future.result(BOUND_S)
    second.commit()

    assert (answer.cause, answer.run_id) == ("current_run_changed", winner)
    assert dump(db.connection) == before


def test_of_two_starts_of_one_key_the_second_is_told_who_holds_it(
    racers: Racers, db: Door, run_id: UUID, plan: dict[str, Any]
) -> None:
    first, start, second, other = two(racers)
    keyed: dict[str, Any] = {"request_key": "k1", "request_digest": "d1", "expect": plan}
    holder = start.start(**keyed).run_id
    future = racers.waiting(second, other.start, **keyed)
    first.commit()
    answer = future.result(BOUND_S)

    assert (answer.cause, answer.detail) == ("request_key_taken", {"existingRunId": str(holder)})


# A run's status, and a stream's end, against a start that supersedes.


@pytest.mark.parametrize("status", ["completed", "suspended_client_tool", "running"])
def test_a_status_that_comes_after_a_start_is_refused(
    racers: Racers, db: Door, run_id: UUID, status: str
) -> None:
    starter, client = racers.callers(2)
    starter.start(say="next")
    future = racers.waiting(client, StoreClient(client).set_run, run_id, status)
    starter.commit()
    answer = future.result(BOUND_S)
    client.commit()

    assert (answer.outcome, answer.run_status) == ("superseded", "superseded")
    assert (db.session().status, db.stream().status) == ("active", "active")
    assert statuses(db, run_id) == ["superseded"]


@pytest.mark.parametrize(
    ("status", "settled"),
    [
        ("completed", ["completed"]),
        ("suspended_client_tool", ["superseded", "suspended_client_tool"]),
    ],
)
def test_a_start_that_comes_after_a_status_finds_it(
    racers: Racers, db: Door, run_id: UUID, status: str, settled: list[str]
) -> None:
    client, starter = racers.callers(2)
    StoreClient(client).set_run(run_id, status)
    future = racers.waiting(starter, starter.start, say="next")
    client.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert answer.outcome == "started"
    assert statuses(db, run_id) == settled
    assert (db.session().status, db.stream().run_id) == ("active", answer.run_id)


def test_a_start_that_supersedes_waits_for_a_status_that_rolls_back(
    racers: Racers, db: Door, run_id: UUID
) -> None:
    client, starter = racers.callers(2)
    StoreClient(client).set_run(run_id, "completed")
    future = racers.waiting(starter, starter.start, say="next")
    client.rollback()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, db.run(run_id).status) == ("started", "superseded")


def test_a_close_that_comes_after_a_start_is_fenced(racers: Racers, db: Door, run_id: UUID) -> None:
    StoreClient(db).set_run(run_id, "completed")
    starter, client = racers.callers(2)
    starter.start(say="next")
    future = racers.waiting(client, StoreClient(client).close, run_id, "ended")
    starter.commit()
    answer = future.result(BOUND_S)
    client.commit()

    assert (answer.outcome, answer.stream_status) == ("fenced", "active")
    assert (db.stream().status, db.stream().final) == ("active", None)


def test_a_start_that_comes_after_a_close_has_the_stream_from_there(
    racers: Racers, db: Door, run_id: UUID
) -> None:
    StoreClient(db).set_run(run_id, "failed", error_detail={"message": "boom"})
    client, starter = racers.callers(2)
    head = StoreClient(client).close(run_id, "failed").head_sequence
    future = racers.waiting(starter, starter.start, say="next")
    client.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.start_sequence) == ("started", head)
    assert (db.stream().status, db.stream().final) == ("active", None)


def test_a_close_and_an_append_do_not_lock_each_other_out(racers: Racers, db: Door) -> None:
    """An append holds the stream's row alone: the close waits for it, and then it is fenced."""
    drive = standings.stepped(db)
    writer, client = racers.callers(2)
    mine = type(drive)(writer, drive.run_id, drive.attempt, drive.head)
    assert mine.append("a").outcome == "appended"
    future = racers.waiting(client, StoreClient(client).set_run, drive.run_id, "completed")
    writer.commit()
    assert future.result(BOUND_S).outcome == "written"
    client.commit()
    assert mine.append("b").outcome == "fenced"
    writer.rollback()

    assert StoreClient(db).close(drive.run_id, "ended").outcome == "closed"
