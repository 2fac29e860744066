"""lockgate.update_run_status: a store client's write of a run's status, and what follows it."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from tests.support import standings
from tests.support.clock import Clock
from tests.support.door import WORKER, Door
from tests.support.proves import case, proves
from tests.support.standings import statuses, stepped
from tests.support.store_client import StoreClient

SUSPENDED = ["suspended_client_tool", "suspended_awaiting_children", "suspended_step_partial"]
TERMINAL = ["completed", "failed", "interrupted", "superseded"]
STREAM_OF = {"failed": "failed", **dict.fromkeys(SUSPENDED, "paused")}
THEN = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def client(db: Door) -> StoreClient:
    return StoreClient(db)


def closed(client: StoreClient, run_id: object, status: str) -> None:
    """Write the last part, so that nothing is left half done."""
    assert client.close(run_id, STREAM_OF.get(status, "ended")).outcome == "closed"


@proves("update_run_status.written")
@pytest.mark.parametrize("status", TERMINAL)
def test_an_end_is_written_with_all_that_follows(
    db: Door, client: StoreClient, clock: Clock, status: str
) -> None:
    run_id = standings.executing(db)
    clock.forward(seconds=1)
    answer = client.set_run(run_id, status, output={"n": 1}, error_detail={"message": "boom"})
    run, session, stream = db.run(run_id), db.session(), db.stream()
    closed(client, run_id, status)

    assert (answer.outcome, answer.run_status) == ("written", status)
    assert (run.status, run.completed_at, run.owner_id) == (status, clock.now, None)
    assert (run.output, run.error_detail) == ({"n": 1}, {"message": "boom"})
    assert run.attempt == stream.attempt == 2
    assert session.status == ("active" if status == "superseded" else status)
    assert statuses(db, run_id) == [status]


@proves("update_run_status.written")
@pytest.mark.parametrize("status", SUSPENDED)
def test_a_suspension_ends_the_attempt_and_settles(
    db: Door, client: StoreClient, status: str
) -> None:
    drive = db.drive(standings.waiting(db))
    answer = client.set_run(drive.run_id, status)
    run, session, stream = db.run(drive.run_id), db.session(), db.stream()

    assert (answer.outcome, answer.run_status) == ("written", status)
    assert (run.status, run.completed_at, run.owner_id) == (status, None, None)
    assert run.attempt == stream.attempt == 2
    assert (session.status, stream.status) == ("paused", "active")
    assert statuses(db, drive.run_id) == [status]
    with db.nothing_written():
        assert {each.outcome for _, each in drive.every_write()} == {"fenced"}
    closed(client, drive.run_id, status)


def test_a_run_may_be_suspended_set_running_and_suspended_again(
    db: Door, client: StoreClient
) -> None:
    run_id = standings.executing(db)
    client.suspend(run_id)
    assert client.set_run(run_id, "running").outcome == "written"
    session, run, stream = db.session(), db.run(run_id), db.stream()

    assert (session.status, run.status, run.owner_id) == ("active", "running", None)
    assert (stream.status, stream.final, stream.attempt) == ("active", None, run.attempt)
    assert statuses(db, run_id) == ["suspended_client_tool"]
    client.suspend(run_id)
    client.set_run(run_id, "running")
    client.suspend(run_id, "suspended_awaiting_children")

    assert statuses(db, run_id) == ["suspended_awaiting_children", "suspended_client_tool"]
    assert db.run(run_id).attempt == db.stream().attempt


def test_a_run_that_is_set_running_again_is_its_clients_until_a_sweep_finds_it(
    db: Door, client: StoreClient
) -> None:
    """Its drive is spent; where no client drives it, it gets another one."""
    run_id = standings.demoted(db)
    client.set_run(run_id, "running")
    with db.nothing_written():
        assert db.claim(run_id).outcome == "over"
    db.set_workflow(run_id, status="SUCCESS")
    assert db.requeue(run_id, "closed_owner").outcome == "requeued"
    drive = db.drive(run_id)
    drive.reply(2, "done")

    assert drive.finish().run_status == "completed"
    assert statuses(db, run_id) == ["completed", "suspended_step_partial"]


def test_a_running_run_written_as_running_stays_with_its_drive(
    db: Door, client: StoreClient
) -> None:
    drive = stepped(db)
    assert client.set_run(drive.run_id, "running").outcome == "written"

    assert db.run(drive.run_id).owner_id == WORKER
    assert drive.reply(2, "done").outcome == "saved"


@pytest.mark.parametrize("status", SUSPENDED + TERMINAL)
def test_a_suspended_run_takes_every_status(db: Door, client: StoreClient, status: str) -> None:
    run_id = standings.awaiting_calls(db)
    answer = client.set_run(run_id, status)

    assert (answer.outcome, db.run(run_id).status) == ("written", status)
    if status in TERMINAL:
        closed(client, run_id, status)
        assert db.stream().status == STREAM_OF.get(status, "ended")


@pytest.mark.parametrize("status", TERMINAL)
def test_an_end_pairs_the_open_calls(db: Door, client: StoreClient, status: str) -> None:
    run_id = standings.awaiting_calls(db)
    client.set_run(run_id, status)
    closed(client, run_id, status)
    last = db.messages()[-1]

    assert [part.get("reason") for part in last.content] == [None, "client_tool_abandoned"]
    assert db.session().message_count == last.seq
    assert [call.status for call in db.calls(run_id)] == ["consumed", "consumed", "abandoned"]


@pytest.mark.parametrize("status", SUSPENDED)
def test_a_suspension_leaves_the_calls_open(db: Door, client: StoreClient, status: str) -> None:
    run_id = standings.awaiting_calls(db)
    client.set_run(run_id, status)

    assert [call.status for call in db.calls(run_id)] == ["consumed", "answered", "pending"]


@case(14)
@pytest.mark.parametrize("status", ["running", *SUSPENDED])
def test_a_live_status_never_has_a_completion_time(
    db: Door, client: StoreClient, status: str
) -> None:
    run_id = db.driven().run_id
    client.set_run(run_id, status, completed_at=THEN)
    if status != "running":
        closed(client, run_id, status)

    assert db.run(run_id).completed_at is None


@pytest.mark.parametrize("status", TERMINAL)
def test_a_completion_time_is_taken_as_passed(db: Door, client: StoreClient, status: str) -> None:
    run_id = db.driven().run_id
    client.set_run(run_id, status, completed_at=THEN)
    closed(client, run_id, status)

    assert db.run(run_id).completed_at == THEN


@pytest.mark.parametrize("status", ["suspended_client_tool", "completed"])
def test_an_end_sequence_is_stored_as_passed_and_never_defaulted(
    db: Door, client: StoreClient, status: str
) -> None:
    for passed in (None, 0, 7):
        session_id = f"s{passed}"
        run_id = db.driven(session_id).run_id
        other = StoreClient(db, session_id)
        other.set_run(run_id, status, end_sequence=passed)
        closed(other, run_id, status)

        assert db.run(run_id).end_sequence == passed


@pytest.mark.parametrize("status", TERMINAL)
def test_the_budget_of_a_run_that_ends_is_gone(db: Door, client: StoreClient, status: str) -> None:
    run_id = db.driven().run_id
    db.requeue(run_id, "raised")
    assert db.rows("select * from lockgate_store.recoveries") != []
    client.set_run(run_id, status)
    closed(client, run_id, status)

    assert db.rows("select * from lockgate_store.recoveries") == []


@pytest.mark.parametrize("status", [*SUSPENDED, "running", *TERMINAL])
def test_a_terminal_commit_that_spoke_is_the_sessions_last_word(
    db: Door, client: StoreClient, status: str
) -> None:
    """From then on the run can only end as that says; a client that says otherwise is too late."""
    run_id = standings.landed("interrupted", suspended=False)(db)
    answer = client.set_run(run_id, status)

    assert db.session().status == "interrupted"
    assert answer.outcome == ("written" if status == "interrupted" else "superseded")
    assert db.run(run_id).status == ("interrupted" if status == "interrupted" else "running")
    if status == "interrupted":
        closed(client, run_id, status)


def test_the_run_keeps_what_the_terminal_commit_said_unless_it_is_told_otherwise(
    db: Door, client: StoreClient
) -> None:
    for told, kept in ((None, {"n": 1}), ({"n": 2}, {"n": 2})):
        session_id = f"s{told}"
        run_id = db.driven(session_id).run_id
        other = StoreClient(db, session_id)
        other.end(run_id, "completed", output={"n": 1})
        other.set_run(run_id, "completed", output=told)
        closed(other, run_id, "completed")

        assert db.run(run_id).output == kept


@proves("update_run_status.unchanged")
@case(15)
@pytest.mark.parametrize("standing", [standings.completed, standings.failed, standings.superseded])
def test_the_same_end_again_writes_nothing(
    db: Door, client: StoreClient, clock: Clock, standing: Any
) -> None:
    run_id = standing(db)
    status = db.run(run_id).status
    clock.forward(seconds=1)
    with db.nothing_written():
        answer = client.set_run(run_id, status, completed_at=THEN, end_sequence=9, output={"n": 9})

    assert (answer.outcome, answer.run_status) == ("unchanged", status)


@proves("update_run_status.superseded")
@case(15)
@pytest.mark.parametrize("standing", [standings.completed, standings.failed, standings.superseded])
@pytest.mark.parametrize("to", ["running", *SUSPENDED, *TERMINAL])
def test_another_status_of_a_run_that_has_ended_is_refused(
    db: Door, client: StoreClient, standing: Any, to: str
) -> None:
    run_id = standing(db)
    status = db.run(run_id).status
    with db.nothing_written():
        answer = client.set_run(run_id, to)

    assert answer.run_status == status
    assert answer.outcome == ("unchanged" if to == status else "superseded")


def test_a_superseded_run_stays_so_when_its_client_comes_late(
    db: Door, client: StoreClient
) -> None:
    lost = stepped(db).run_id
    db.start(say="next")
    with db.nothing_written():
        assert client.set_run(lost, "completed").outcome == "superseded"
        assert client.set_run(lost, "superseded").outcome == "unchanged"
        assert client.end(lost, "completed").outcome == "fenced"
        assert client.close(lost, "ended").outcome == "fenced"


@proves("update_run_status.not_found")
@pytest.mark.parametrize("owner", ["ann", None])
def test_no_run_and_another_users_answer_alike(
    db: Door, client: StoreClient, owner: str | None
) -> None:
    run_id = db.driven(user_id=owner).run_id
    elsewhere = db.driven("s2").run_id
    with db.nothing_written():
        answers = [
            client.set_run(uuid4(), "failed"),
            client.set_run(elsewhere, "failed"),
            client.set_run(run_id, "failed", acting_user_id="eve"),
            client.set_run(None, "failed"),
            client.set_run(run_id, "failed", session_id=None),
            client.set_run(run_id, "failed", tenant_id=None),
            client.set_run(run_id, "failed", tenant_id="t2"),
        ]

    assert {(each.outcome, each.run_status) for each in answers} == {("not_found", None)}


@proves("update_run_status.invalid_request")
@pytest.mark.parametrize("status", [None, "", "done", "suspended", "RUNNING"])
def test_no_other_status_is_one(db: Door, client: StoreClient, status: Any) -> None:
    run_id = db.driven().run_id
    with db.nothing_written():
        answer = client.set_run(run_id, status)

    assert (answer.outcome, answer.run_status) == ("invalid_request", None)
