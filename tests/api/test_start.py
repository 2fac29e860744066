"""POST start, row by row: reference/http.md 12.3, E1 to E10."""

import asyncio
from typing import Any

import pytest

from lockgate import (
    Hooks,
)
from tests.api import standing
from tests.api.conftest import MakeApi
from tests.api.rig import (
    Api,
    agent,
    current,
    error,
    refuse,
    until,
)
from tests.support.door import Door
from tests.support.rows import row


@row("E1")
def test_a_new_session_is_started(api: Api, db: Door) -> None:
    answer = api.start("s1", "hello", state={"n": 1}, tags=["a"], metadata={"k": "v"})
    assert answer.status_code == 200
    run = current(db)
    assert answer.json() == {
        "sessionId": "s1",
        "streamId": "s1",
        "runId": str(run.run_id),
        "status": "started",
        "startSequence": 0,
    }
    session = db.session()
    assert (session.state, session.tags, session.metadata) == ({"n": 1}, ["a"], {"k": "v"})
    assert [message.content for message in db.messages()] == [[{"type": "text", "text": "hello"}]]
    assert db.workflow(run.drive_id).status == "ENQUEUED"


@row("E1")
def test_a_message_may_have_many_parts(api: Api, db: Door) -> None:
    file = {"type": "file", "mediaType": "image/png", "url": "https://x/y", "filename": "y.png"}
    message = [
        {"role": "user", "content": [{"type": "text", "text": "see"}, file], "id": "m1"},
        {"role": "user", "content": "and answer"},
    ]
    assert api.start("s1", message).status_code == 200
    assert [m.content for m in db.messages()] == [
        [{"type": "text", "text": "see"}, file],
        [{"type": "text", "text": "and answer"}],
    ]


def test_numbers_of_a_state_are_kept_exactly(api: Api) -> None:
    numbers = b'{"a":0.1000000000000000055511151231257827,"b":12345678901234567890123,"c":1E-300}'
    body = b'{"agentType":"support","input":{"message":"hi","state":' + numbers + b"}}"
    assert api.post("/sessions/s1/start", body).status_code == 200
    text = api.get("/sessions/s1/snapshot").text
    assert '"a":0.1000000000000000055511151231257827' in text
    assert '"b":12345678901234567890123' in text


@row("E2")
@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_an_idle_session_starts_its_next_run(api: Api, db: Door, status: str) -> None:
    api.start("s1", "one")
    drive = db.drive(current(db).run_id)
    drive.append("a", "b")
    if status == "interrupted":
        db.execute(
            "update lockgate_store.runs set stop_kind = 'interrupt', stop_requested_at = now()"
        )
        drive.finish("stopped")
    else:
        drive.finish(status, **({"error_detail": {"message": "m"}} if status == "failed" else {}))
    head = db.stream().head_sequence
    answer = api.start("s1", "two").json()
    assert (answer["status"], answer["startSequence"]) == ("started", head)
    assert db.session().turn_count == 2


@row("E4")
def test_a_live_run_that_nothing_executes_is_superseded(make_api: MakeApi, db: Door) -> None:
    api = make_api(dispatch_limit_ms=0)
    first = api.start("s1", "one").json()
    second = api.start("s1", "two").json()
    assert second["status"] == "started"
    assert (
        db.row("select status from lockgate_store.runs where run_id = %s", first["runId"]).status
        == "superseded"
    )


@row("E3")
def test_a_paused_session_is_started_and_its_calls_are_abandoned(api: Api, db: Door) -> None:
    paused = standing.awaiting(api, db)
    assert api.start("s1", "never mind").json()["status"] == "started"
    assert db.run(paused).status == "superseded"
    assert {call.status for call in db.calls(paused)} == {"consumed", "abandoned"}
    results = db.messages()[-2].content
    assert [(part["success"], part["reason"]) for part in results] == [
        (False, "client_tool_abandoned")
    ] * 2


@row("E5")
def test_a_run_whose_terminal_commit_has_landed_gets_that_status(api: Api, db: Door) -> None:
    api.start("s1", "one")
    first = current(db)
    db.execute(
        "update lockgate_store.sessions set status = 'completed', terminal_run_id = current_run_id,"
        " terminal_status = 'completed'"
    )
    assert api.start("s1", "two").json()["status"] == "started"
    assert db.run(first.run_id).status == "completed"


@row("E6")
@pytest.mark.parametrize("claimed", [False, True])
def test_a_run_that_executes_is_busy(api: Api, db: Door, claimed: bool) -> None:
    api.start("s1", "one")
    if claimed:
        db.beat()
        db.drive(current(db).run_id)
    with db.nothing_written():
        answer = api.start("s1", "two")
    assert error(answer) == (409, "state_already_running", True)
    assert set(answer.json()) == {"error", "code", "retryable"}


@row("E7")
def test_the_last_message_wins_where_the_host_says_so(make_api: MakeApi, db: Door) -> None:
    api = make_api(concurrent_entry="interrupt_previous")
    api.start("s1", "one")
    db.beat()
    drive = db.drive(current(db).run_id)

    async def overtake() -> Any:
        request = asyncio.create_task(api.astart("s1", "two"))
        await until(lambda: db.run(drive.run_id).stop_kind)
        drive.finish("stopped")
        return await request

    answer = api.run(overtake())
    assert (answer.status_code, answer.json()["status"]) == (200, "started")
    first = db.run(drive.run_id)
    assert (first.status, first.stop_reason) == ("interrupted", "superseded_by_new_entry")


@row("E8")
def test_a_run_that_does_not_settle_in_time_stays_asked_to(make_api: MakeApi, db: Door) -> None:
    api = make_api(concurrent_entry="interrupt_previous", concurrent_entry_timeout_ms=100)
    api.start("s1", "one")
    db.beat()
    drive = db.drive(current(db).run_id)
    answer = api.start("s1", "two")
    assert error(answer) == (409, "state_already_running", True)
    run = db.run(drive.run_id)
    assert (run.status, run.stop_kind) == ("running", "interrupt")
    assert len(db.messages()) == 1


@row("E9")
@pytest.mark.parametrize(
    ("say", "body", "status"),
    [("no", {}, 402), ("two", {"agentType": "other"}, 409), ("two", {"tags": ["x"]}, 400)],
)
def test_a_refused_entry_interrupts_nobody(
    make_api: MakeApi, db: Door, say: str, body: dict[str, Any], status: int
) -> None:
    api = make_api(
        agents=[agent(), agent("other")],
        hooks=Hooks(before_entry=refuse),
        concurrent_entry="interrupt_previous",
    )
    api.start("s1", "one")
    with db.nothing_written():
        assert api.start("s1", say, **body).status_code == status
    assert current(db).stop_kind is None


@row("E10")
@pytest.mark.parametrize("branch", [{"fromSessionId": "s0"}, None])
def test_a_branch_is_not_supported(unread: Api, branch: object) -> None:
    assert error(unread.start(branch=branch)) == (500, "framework_not_supported", False)
