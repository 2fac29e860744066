"""lockgate.commit_run_start: a store client's run start, written whole or not at all."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support import standings
from tests.support.door import WORKER, Door, tool
from tests.support.proves import case, proves
from tests.support.standings import statuses, stepped
from tests.support.store_client import StoreClient

HI = '"hi"'


@pytest.fixture
def client(db: Door) -> StoreClient:
    return StoreClient(db)


def test_a_first_run_is_written_whole(db: Door, client: StoreClient) -> None:
    db.create_session(state={"a": 1})
    answer = client.start(messages=HI, state={"b": 2}, request_key="k1", request_digest="d1")
    run, session, stream = db.run(answer.run_id), db.session(), db.stream()

    assert (answer.outcome, answer.run_status, answer.start_sequence) == ("started", "running", 0)
    assert (run.turn, run.drive, run.attempt, run.owner_id) == (1, "start", 1, None)
    assert (run.request_key, run.request_digest) == ("k1", "d1")
    assert (session.status, session.current_run_id) == ("active", run.run_id)
    assert (session.state, session.message_count) == ({"a": 1, "b": 2}, 1)
    assert (stream.status, stream.run_id, stream.attempt) == ("active", run.run_id, 1)
    assert db.workflow(run.drive_id).status == "ENQUEUED"


@pytest.mark.parametrize("status", ["active", "paused"])
def test_the_sessions_status_is_written_as_given(
    db: Door, client: StoreClient, status: str
) -> None:
    db.create_session()
    client.start(session_status=status, messages=HI)

    assert db.session().status == status


@pytest.mark.parametrize("drive", ["start", "resume", "retry", "continue"])
def test_the_drive_is_the_clients_to_say(db: Door, client: StoreClient, drive: str) -> None:
    db.finished()

    assert db.run(client.start(drive=drive).run_id).drive == drive


@pytest.mark.parametrize("standing", [standings.stranded, standings.answered, standings.demoted])
def test_a_live_run_is_superseded_and_told(db: Door, client: StoreClient, standing: Any) -> None:
    previous = standing(db)
    answer = client.start(messages=HI)
    run = db.run(previous)

    assert (answer.outcome, run.status, run.owner_id) == ("started", "superseded", None)
    assert run.completed_at is not None
    assert "superseded" in statuses(db, previous)


@pytest.mark.parametrize("drive", ["resume", "continue"])
def test_a_suspended_run_that_is_continued_settles_no_second_time(
    db: Door, client: StoreClient, drive: str
) -> None:
    previous = standings.answered(db)
    client.start(drive=drive)

    assert db.run(previous).status == "superseded"
    assert statuses(db, previous) == ["suspended_client_tool"]
    assert [part["result"] for part in db.messages()[-1].content] == ["yes", "yes"]


@pytest.mark.parametrize("suspended", [False, True])
@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_a_run_whose_terminal_commit_landed_is_finished_as_that_says(
    db: Door, client: StoreClient, status: str, suspended: bool
) -> None:
    """Its recorded owner lives, and does not block the next entry."""
    landed = standings.landed(status, suspended=suspended)(db)
    answer = client.start(finish_current={"runId": str(landed), "status": status}, messages=HI)

    assert (answer.outcome, db.run(landed).status) == ("started", status)
    assert status in statuses(db, landed)
    assert "superseded" not in statuses(db, landed)


def test_what_the_terminal_commit_said_stays_with_the_run(db: Door, client: StoreClient) -> None:
    """The session forgets it when the next run starts; a replay of a key reads it from the run."""
    for entry in ("commit_run_start", "start"):
        drive = stepped(db, session_id=entry)
        other = StoreClient(db, entry)
        other.end(drive.run_id, "failed", output={"n": 1}, error_detail={"message": "boom"})
        if entry == "start":
            db.start(entry)
        else:
            other.start(finish_current={"runId": str(drive.run_id), "status": "failed"})
        run = db.run(drive.run_id)

        assert (run.status, run.output) == ("failed", {"n": 1})
        assert run.error_detail == {"message": "boom"}
        assert (db.session(entry).output, db.session(entry).error_detail) == (None, None)


def test_without_finish_current_a_run_that_is_over_is_superseded(
    db: Door, client: StoreClient
) -> None:
    landed = standings.landed("completed", suspended=True)(db)
    client.start(messages=HI)

    assert db.run(landed).status == "superseded"


@pytest.mark.parametrize("displaced", [WORKER, None])
def test_an_owner_that_is_gone_or_displaced_stops_nobody(
    db: Door, client: StoreClient, displaced: str | None
) -> None:
    run_id = standings.executing(db) if displaced else standings.stranded(db)

    assert client.start(displace_owner=displaced).outcome == "started"
    assert db.run(run_id).status == "superseded"


def test_open_calls_are_abandoned_and_paired(db: Door, client: StoreClient) -> None:
    run_id = standings.awaiting_calls(db)
    client.start(messages=HI)
    results = db.messages()[-2].content

    assert [part.get("reason") for part in results] == [None, "client_tool_abandoned"]
    assert [call.status for call in db.calls(run_id)] == ["consumed", "consumed", "abandoned"]


@pytest.mark.parametrize(("drive", "carried"), [("continue", "interrupt"), ("start", None)])
def test_a_stop_on_a_suspended_run_goes_to_the_run_that_continues_it(
    db: Door, client: StoreClient, drive: str, carried: str | None
) -> None:
    run_id = standings.answered(db)
    db.execute(
        "update lockgate_store.runs set stop_kind = 'interrupt', stop_requested_at = lockgate.now()"
        " where run_id = %s",
        run_id,
    )

    assert db.run(client.start(drive=drive).run_id).stop_kind == carried


def test_what_a_store_client_starts_our_own_worker_may_drive(db: Door, client: StoreClient) -> None:
    db.create_session()
    drive = db.drive(client.start(messages=HI).run_id)
    drive.reply(1, "", tool("a"))
    drive.result(1, 1)
    drive.step(1)

    assert drive.finish().run_status == "completed"


# The same start again.


@proves("entry_outcome.replayed")
@case(1)
def test_a_repeat_is_a_no_op_whatever_became_of_the_run(db: Door, client: StoreClient) -> None:
    db.create_session()
    run_id = uuid4()
    asked: dict[str, Any] = {
        "run_id": run_id,
        "messages": HI,
        "request_key": "k1",
        "request_digest": "d1",
    }
    client.start(**asked)
    drive = db.drive(run_id)
    for status in ("running", "completed"):
        with db.nothing_written():
            again = client.start(**asked)

        assert (again.outcome, again.run_id, again.run_status) == ("replayed", run_id, status)
        if status == "running":
            drive.reply(1, "done")
            drive.finish()
    db.start(say="later")
    with db.nothing_written():
        assert client.start(**asked).outcome == "replayed"


def test_what_is_expected_and_whom_it_displaces_is_no_part_of_it(
    db: Door, client: StoreClient
) -> None:
    db.create_session()
    run_id = client.start(messages=HI).run_id
    with db.nothing_written():
        again = client.start(
            run_id=run_id,
            messages='[{"role": "user", "content": "hi"}]',
            expect={"currentRunId": "x", "currentRunStatus": "y", "sessionStatus": "z"},
            displace_owner="w",
            finish_current={"runId": "x", "status": "failed"},
            state={},
        )

    assert again.outcome == "replayed"
