"""lockgate.close_stream: the last part of an end or a suspension, fenced on the run."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support import standings
from tests.support.door import Door
from tests.support.proves import proves
from tests.support.standings import stepped
from tests.support.store_client import StoreClient

SUSPENDED = ["suspended_client_tool", "suspended_awaiting_children", "suspended_step_partial"]
ENDS = [
    ("completed", "ended"),
    ("interrupted", "ended"),
    ("superseded", "ended"),
    ("failed", "failed"),
    *((status, "paused") for status in SUSPENDED),
]
CLOSED = ["ended", "failed", "paused"]


@pytest.fixture
def client(db: Door) -> StoreClient:
    return StoreClient(db)


@proves("close_stream.closed")
@pytest.mark.parametrize(("run_status", "status"), ENDS)
def test_a_stream_is_closed_as_its_run_has_settled(
    db: Door, client: StoreClient, run_status: str, status: str
) -> None:
    drive = stepped(db)
    drive.append("a")
    client.set_run(drive.run_id, run_status, error_detail={"message": "boom"})
    answer = client.close(drive.run_id, status)
    stream = db.stream()

    assert (answer.outcome, answer.stream_status) == ("closed", status)
    assert (stream.status, stream.final["status"]) == (status, run_status)
    assert answer.head_sequence == stream.head_sequence == stream.committed_sequence
    assert stream.attempt == db.run(drive.run_id).attempt
    with db.nothing_written():
        assert drive.append("late").outcome == "fenced"


def test_a_failure_and_an_interrupt_are_told_to_readers(db: Door, client: StoreClient) -> None:
    for run_status, status, last in (
        ("failed", "failed", "error"),
        ("interrupted", "ended", "run_interrupted"),
        ("completed", "ended", "text_delta"),
    ):
        drive = db.driven(run_status)
        drive.append("a")
        other = StoreClient(db, run_status)
        other.set_run(drive.run_id, run_status, error_detail={"message": "boom"})
        other.close(drive.run_id, status)

        assert db.chunks(run_status)[-1]["type"] == last


def test_what_is_passed_wins_over_what_the_run_says(db: Door, client: StoreClient) -> None:
    drive = db.driven()
    client.set_run(drive.run_id, "failed", output={"n": 1}, error_detail={"message": "run"})
    client.close(drive.run_id, "failed", output={"n": 2}, error_detail={"message": "stream"})

    assert db.stream().final == {
        "status": "failed",
        "error": "stream",
        "errorDetail": {"message": "stream"},
        "output": {"n": 2},
    }


@pytest.mark.parametrize(("run_status", "status"), ENDS[:4])
def test_a_paused_stream_ends_when_its_run_does(
    db: Door, client: StoreClient, run_status: str, status: str
) -> None:
    """Or readers would wait at a pause that nobody ends."""
    run_id = standings.awaiting_calls(db)
    client.set_run(run_id, run_status)
    answer = client.close(run_id, status)
    stream = db.stream()

    assert (answer.outcome, answer.stream_status) == ("closed", status)
    assert (stream.status, stream.final["status"]) == (status, run_status)


def test_the_next_run_has_the_stream_again(db: Door, client: StoreClient) -> None:
    drive = db.driven()
    drive.append("a", "b")
    client.set_run(drive.run_id, "completed")
    client.close(drive.run_id, "ended")
    answer = db.start(say="next")

    assert (db.stream().status, db.stream().final) == ("active", None)
    assert answer.start_sequence == 2


@proves("close_stream.unchanged")
def test_the_same_close_again_writes_nothing(db: Door, client: StoreClient) -> None:
    for number, (run_status, status) in enumerate(ENDS):
        run_id = db.driven(f"s{number}").run_id
        other = StoreClient(db, f"s{number}")
        other.set_run(run_id, run_status)
        other.close(run_id, status)
        with db.nothing_written():
            answer = other.close(run_id, status, output={"n": 9})

        assert (answer.outcome, answer.stream_status) == ("unchanged", status)


@proves("close_stream.refused")
@pytest.mark.parametrize("standing", [standings.executing, standings.stranded])
def test_the_stream_of_a_run_that_runs_is_not_closed(
    db: Door, client: StoreClient, standing: Any
) -> None:
    run_id = standing(db)
    with db.nothing_written():
        answers = [client.close(run_id, status) for status in CLOSED]

    assert {(each.outcome, each.stream_status) for each in answers} == {("refused", "active")}


@proves("close_stream.refused")
def test_a_terminal_commit_alone_closes_no_stream(db: Door, client: StoreClient) -> None:
    run_id = standings.landed("completed", suspended=False)(db)
    with db.nothing_written():
        assert client.close(run_id, "ended").outcome == "refused"


@proves("close_stream.refused")
@pytest.mark.parametrize(("run_status", "right"), ENDS)
def test_a_close_that_the_runs_status_contradicts_is_refused(
    db: Door, client: StoreClient, run_status: str, right: str
) -> None:
    run_id = db.driven().run_id
    client.set_run(run_id, run_status)
    for wrong in set(CLOSED) - {right}:
        with db.nothing_written():
            answer = client.close(run_id, wrong)

        assert (answer.outcome, answer.stream_status) == ("refused", "active")
    assert client.close(run_id, right).outcome == "closed"
    for wrong in set(CLOSED) - {right}:
        with db.nothing_written():
            answer = client.close(run_id, wrong)

        assert (answer.outcome, answer.stream_status) == ("refused", right)


@proves("close_stream.fenced")
def test_the_stream_of_another_run_is_left_alone(db: Door, client: StoreClient) -> None:
    earlier = db.finished()
    db.driven(say="later")
    with db.nothing_written():
        answers = [client.close(run_id, "ended") for run_id in (earlier, uuid4())]

    assert {(each.outcome, each.stream_status) for each in answers} == {("fenced", "active")}


@proves("close_stream.not_found")
@pytest.mark.parametrize("owner", ["ann", None])
def test_no_stream_and_another_users_answer_alike(
    db: Door, client: StoreClient, owner: str | None
) -> None:
    run_id = db.finished(user_id=owner)
    db.create_session("s2")
    with db.nothing_written():
        answers = [
            client.close(run_id, "ended", acting_user_id="eve"),
            client.close(run_id, "ended", session_id="s2"),
            client.close(run_id, "ended", session_id="nobody"),
            client.close(run_id, "ended", session_id=None),
            client.close(run_id, "ended", tenant_id="t2"),
            client.close(run_id, "ended", tenant_id=None),
        ]

    assert {(each.outcome, each.stream_status, each.head_sequence) for each in answers} == {
        ("not_found", None, None)
    }


@proves("close_stream.invalid_request")
@pytest.mark.parametrize(
    "wrong",
    [
        {"expect_run_id": None},
        {"expect_run_id": ""},
        {"expect_run_id": "null"},
        {"expect_run_id": "{run}x"},
        {"expect_run_id": "{run}\n"},
        {"expect_run_id": "{{{run}}}"},
        {"expect_run_id": "r" * 1_000_000},
        {"status": None},
        {"status": "active"},
        {"status": "closed"},
    ],
)
def test_a_fence_that_cannot_be_read_applies_nothing(
    db: Door, client: StoreClient, wrong: dict[str, Any]
) -> None:
    run_id = db.driven().run_id
    client.set_run(run_id, "completed")
    named = {
        name: value.format(run=run_id) if isinstance(value, str) else value
        for name, value in wrong.items()
    }
    with db.nothing_written():
        answer = client.close(run_id, named.pop("status", "ended"), **named)

    assert (answer.outcome, answer.stream_status) == ("invalid_request", None)
    assert client.close(str(run_id).upper(), "ended").outcome == "closed"
