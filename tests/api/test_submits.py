"""POST submit-tool-result where it is taken: reference/http.md 7.2, 7.3 and 12.6."""

import asyncio
from typing import Any

import pytest
from pydantic import TypeAdapter

from lockgate_api.documents import SubmitAnswer
from tests.api.pending import (
    continuation,
    decision,
    failure,
    result,
    stored,
    submit,
    suspend,
    suspended,
    waiting,
)
from tests.api.rig import Api, driven, error
from tests.support.door import Door
from tests.support.proves import case
from tests.support.rows import row
from tests.support.suspensions import delegated


def said(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    TypeAdapter(SubmitAnswer).validate_python(answer.json(), extra="forbid")
    return answer.json()


@case(29)
@row("U15", "U16")
def test_the_last_answer_of_a_batch_names_the_run_that_goes_on(api: Api, db: Door) -> None:
    """Two calls with one name and one input; the second is answered first."""
    drive = suspended(api, db, "pick", "pick")
    partial = said(submit(api, result("blue", "call-2")))
    assert partial == {"status": "accepted", "toolCallId": "call-2", "runId": None}
    status = api.get("/sessions/s1/status").json()
    assert (status["status"], status["awaitingToolCallIds"]) == ("paused", ["call-1"])
    refusal = api.post(
        "/sessions/s1/resume", {"agentType": "support", "options": {"mode": "continue"}}
    )
    assert (refusal.status_code, refusal.json()["code"]) == (409, "state_not_resumable")
    assert (refusal.json()["retryable"], refusal.json()["error"][:6]) == (True, "call-1")
    last = said(submit(api, result("red", "call-1")))
    run = continuation(db)
    assert last == {"status": "accepted", "toolCallId": "call-1", "runId": str(run.run_id)}
    assert (run.drive, run.status, run.turn) == ("continue", "running", 2)
    assert db.run(drive.run_id).status == "superseded"
    parts = [message for message in db.messages() if message.role == "tool"][-1].content
    assert [part["result"] for part in parts] == ["red", "blue"]


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, {"a": [1.5, None]}])
def test_any_value_of_json_is_a_result(api: Api, db: Door, value: object) -> None:
    suspended(api, db, "pick")
    said(submit(api, result(value)))
    assert stored(db).response == {"success": True, "result": value}


def test_a_result_is_exact(api: Api, db: Door) -> None:
    suspended(api, db, "pick")
    exact = "0.10000000000000000001"
    body = f'{{"kind":"client-tool-result","toolCallId":"call-1","result":{exact}}}'
    said(submit(api, body.encode()))
    response = db.row("select response::text as it from lockgate_store.tool_calls")
    assert exact in response.it


def test_a_failure_of_a_client_is_an_answer_and_is_redacted(api: Api, db: Door) -> None:
    suspended(api, db, "pick")
    said(submit(api, failure("no camera, token=abc123 at /srv/app/x.py")))
    told = {"success": False, "error": "no camera, token=[REDACTED] at [path]"}
    assert stored(db).response == told


@pytest.mark.parametrize("text", ["€" * 2_700, "<" * 8_192], ids=["wide", "escaped"])
def test_a_long_failure_is_taken_whole_or_cut_never_refused(api: Api, db: Door, text: str) -> None:
    suspended(api, db, "pick")
    said(submit(api, failure(text)))
    assert len(stored(db).response["error"].encode()) <= 8_192


@row("U6", "U7")
@pytest.mark.parametrize("approved", [True, False])
def test_a_decision_stands_and_a_later_one_is_told_so(api: Api, db: Door, approved: bool) -> None:
    suspended(api, db, "pay", "pick")
    first = said(submit(api, decision(db, approved, reason="I looked.")))
    assert first == {"status": "accepted", "toolCallId": "call-1", "runId": None}
    for again in (approved, not approved):
        with db.nothing_written():
            later = said(submit(api, decision(db, again)))
        done = {"status": "already_completed", "toolCallId": "call-1", "approved": approved}
        assert later == done
    said(submit(api, result("red", "call-2")))
    late = said(submit(api, decision(db, not approved)))
    assert late["approved"] is approved, "also once the run that goes on has it"


@row("U6")
def test_an_answer_that_stands_is_told_at_once(api: Api, db: Door) -> None:
    suspended(api, db, "pick", "pick")
    said(submit(api, result("red")))
    with db.nothing_written():
        again = said(submit(api, result("blue")))
        failed = said(submit(api, failure("no")))
    assert again == failed == {"status": "already_completed", "toolCallId": "call-1"}
    said(submit(api, result("green", "call-2")))
    assert said(submit(api, result("blue")))["status"] == "already_completed"
    assert stored(db).response["result"] == "red"


@row("U9")
def test_an_approval_may_be_let_go_with_an_error(api: Api, db: Door) -> None:
    suspended(api, db, "pay")
    assert said(submit(api, failure("The user has left.")))["runId"] is not None
    assert stored(db).approved is None
    assert db.calls(continuation(db).run_id) == []


@case(4)
@row("U18")
def test_one_answer_twice_at_once_is_stored_once(api: Api, db: Door) -> None:
    suspended(api, db, "pick")

    async def both() -> list[Any]:
        path = "/sessions/s1/submit-tool-result"
        return await asyncio.gather(*(api.apost(path, result(word)) for word in ("red", "blue")))

    answers = [said(answer) for answer in api.run(both())]
    assert sorted(answer["status"] for answer in answers) == ["accepted", "already_completed"]
    assert [run.turn for run in db.rows("select turn from lockgate_store.runs order by 1")] == [
        1,
        2,
    ]


@row("U17")
def test_two_last_answers_at_once_start_one_run(api: Api, db: Door) -> None:
    suspended(api, db, "pick", "pick")

    async def both() -> list[Any]:
        path = "/sessions/s1/submit-tool-result"
        calls = ("call-1", "call-2")
        return await asyncio.gather(*(api.apost(path, result("red", call)) for call in calls))

    answers = [said(answer) for answer in api.run(both())]
    assert [answer["status"] for answer in answers] == ["accepted", "accepted"]
    named = [answer["runId"] for answer in answers if answer["runId"]]
    assert named == [str(continuation(db).run_id)]
    assert len(db.rows("select from lockgate_store.runs")) == 2


@row("U19")
def test_an_answer_may_come_through_the_root_session(api: Api, db: Door) -> None:
    api.start("root")
    suspended(api, db, "pick", parentSessionId="root", rootSessionId="root")
    answer = said(submit(api, result("red"), session_id="root"))
    assert answer["runId"] == str(continuation(db).run_id)
    db.drive(db.session("root").current_run_id).finish()


@case(37)
@row("G8")
def test_what_is_pending_is_what_the_store_says(api: Api, db: Door) -> None:
    suspended(api, db, "pick", "pay")
    pick, pay = api.get("/sessions/s1/snapshot").json()["pending"]
    assert (pick["toolCallId"], pick["kind"], pick["status"]) == ("call-1", "client", "pending")
    assert pick["input"] == {"n": 1}
    assert "approvalId" not in pick
    assert pay["approvalId"] == decision(db, True, "call-2")["approvalId"]
    submit(api, result("red"))
    left = api.get("/sessions/s1/snapshot").json()["pending"]
    assert [call["toolCallId"] for call in left] == ["call-2"]
    submit(api, decision(db, True, "call-2"))
    assert api.get("/sessions/s1/snapshot").json()["pending"] == []
    assert api.get("/sessions/s1/status").json()["awaitingToolCallIds"] == []
    drive = db.drive(continuation(db).run_id)
    drive.result(1, 2)
    drive.step(1)
    drive.reply(2, "Done.")
    drive.finish()
    assert driven(api, db).finish().run_status == "completed"
    types = [event.data["chunk"]["type"] for event in api.events() if event.name == "chunk"]
    assert types.index("tool_approval_request") < types.index("tool_end"), "the past has both"
    assert api.get("/sessions/s1/snapshot").json()["pending"] == []
    with db.nothing_written():
        assert submit(api, result("blue")).json()["status"] == "already_completed"


@row("G8")
def test_a_sub_agent_is_nobodys_to_answer(api: Api, db: Door) -> None:
    drive = waiting(api, db, "pick", "delegate")
    delegated(db, drive, "call-2")
    suspend(drive)
    pending = api.get("/sessions/s1/snapshot").json()["pending"]
    assert [call["toolCallId"] for call in pending] == ["call-1"]
    assert api.get("/sessions/s1/status").json()["awaitingToolCallIds"] == ["call-1"]
    with db.nothing_written():
        assert error(submit(api, result(1, "call-2"))) == (404, "unknown_tool_call", False)
