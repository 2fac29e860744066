"""GET status and snapshot: reference/http.md 1.2 and 12.8."""

from typing import Any
from uuid import UUID

import pytest
from pydantic import TypeAdapter

from lockgate import EntryRefused, RuleBroken, StoreUnavailable
from lockgate_api.documents import SnapshotAnswer, StatusAnswer
from tests.api.rig import Api
from tests.support.door import AGENT, Door, tool
from tests.support.proves import case
from tests.support.rows import row

FAILED = {
    "message": "The model is away",
    "code": "provider_error",
    "category": "provider",
    "retryable": True,
    "cause": {"message": "deeper", "cause": "deepest"},
}


def status(api: Api, session_id: str = "s1") -> Any:
    answer = api.get(f"/sessions/{session_id}/status")
    assert answer.status_code == 200, answer.text
    TypeAdapter(StatusAnswer).validate_python(answer.json(), extra="forbid")
    return answer.json()


def snapshot(api: Api, session_id: str = "s1") -> Any:
    answer = api.get(f"/sessions/{session_id}/snapshot")
    assert answer.status_code == 200, answer.text
    TypeAdapter(SnapshotAnswer).validate_python(answer.json(), extra="forbid")
    return answer.json()


@row("G1")
def test_the_status_of_a_session_that_runs(api: Api, db: Door) -> None:
    run_id = api.start("s1").json()["runId"]
    said = status(api)
    assert said.pop("updatedAt").endswith("Z")
    assert said == {
        "sessionId": "s1",
        "agentType": AGENT,
        "status": "active",
        "streamId": "s1",
        "streamStatus": "active",
        "runId": run_id,
        "runStatus": "running",
        "turn": 1,
        "isExecuting": True,
        "startSequence": 0,
        "awaitingToolCallIds": [],
    }


@row("G1")
def test_the_status_of_a_session_without_a_run(api: Api) -> None:
    api.post("/sessions", {"agentType": AGENT, "sessionId": "s1"})
    said = status(api)
    nothing = {"streamStatus", "runId", "runStatus", "turn", "startSequence"}
    assert {name for name, value in said.items() if value is None} == nothing
    assert (said["status"], said["isExecuting"]) == ("active", False)


@row("G1")
def test_the_output_of_a_run_is_exact(api: Api, db: Door) -> None:
    run_id = UUID(api.start("s1").json()["runId"])
    drive = db.drive(run_id)
    drive.finish(output='{"sum": 0.10000000000000000001, "n": 9007199254740993}')
    text = api.get("/sessions/s1/status").text
    assert '"output":{"n":9007199254740993,"sum":0.10000000000000000001}' in text
    assert status(api)["status"] == "completed"
    assert '"sum":0.10000000000000000001' in api.get("/sessions/s1/sse").text


@row("G1")
def test_the_snapshot_of_a_session_that_runs(api: Api, db: Door) -> None:
    run_id = api.start("s1", "hello", state={"n": 1}).json()["runId"]
    drive = db.drive(UUID(run_id))
    drive.append("not ", "saved ")
    said = snapshot(api)
    assert said.pop("timestamp").endswith("Z")
    assert said == {
        "sessionId": "s1",
        "agentType": AGENT,
        "status": "active",
        "sessionStatus": "active",
        "messages": [
            {
                "id": f"msg_{run_id}_1",
                "role": "user",
                "parts": [{"type": "text", "text": "hello"}],
            }
        ],
        "state": {"n": 1},
        "streamId": "s1",
        "streamStatus": "active",
        "streamSequence": 0,
        "epoch": db.stream().epoch,
        "run": {"runId": run_id, "turn": 1, "status": "running", "startSequence": 0},
        "pending": [],
    }


@row("G1")
def test_tool_results_are_merged_into_their_calls(api: Api, db: Door) -> None:
    run_id = api.start("s1").json()["runId"]
    drive = db.drive(UUID(run_id))
    drive.reply(1, "looking", tool(), tool("call-b"))
    drive.result(1, 1, {"found": 3})
    _, shown = snapshot(api)["messages"]
    assert shown["id"] == f"msg_{run_id}"
    assert [part["type"] for part in shown["parts"]] == [
        "step-start",
        "text",
        "dynamic-tool",
        "dynamic-tool",
    ]
    assert shown["parts"][2]["output"] == {"found": 3}
    assert shown["parts"][3]["state"] == "input-available"
    assert snapshot(api)["pending"] == []


@row("G1")
@pytest.mark.parametrize(
    ("status", "view"), [("completed", "ended"), ("failed", "failed"), ("paused", "paused")]
)
def test_the_view_names_a_session_as_its_stream(api: Api, db: Door, status: str, view: str) -> None:
    drive = db.drive(UUID(api.start("s1").json()["runId"]))
    if status == "paused":
        db.execute("update lockgate_store.sessions set status = 'paused'")
    else:
        drive.finish(status, **({"error_detail": FAILED} if status == "failed" else {}))
    said = snapshot(api)
    assert (said["status"], said["sessionStatus"]) == (view, status)
    if status == "paused":
        db.execute("update lockgate_store.sessions set status = 'active'")
    else:
        assert said["run"]["endSequence"] == db.stream().head_sequence


@row("G2")
@pytest.mark.parametrize("verb", ["status", "snapshot"])
def test_no_session_is_404(api: Api, verb: str) -> None:
    answer = api.get(f"/sessions/nobody/{verb}")
    assert answer.status_code == 404
    assert (answer.json()["code"], answer.json()["retryable"]) == ("NOT_FOUND", False)
    assert "nobody" not in answer.text


@case(53)
@row("G4")
def test_a_failed_run_tells_its_causes_scrubbed(api: Api, db: Door) -> None:
    stored = {**FAILED, "cause": {"message": "<b>password=hunter2</b>", "cause": "at /srv/app/x"}}
    db.drive(UUID(api.start("s1").json()["runId"])).finish("failed", error_detail=stored)
    shown = {
        **FAILED,
        "cause": {"message": "&lt;b&gt;password=[REDACTED]", "cause": "at [path]"},
    }
    assert status(api)["errorDetail"] == shown
    assert status(api)["error"] == "The model is away"
    said = snapshot(api)
    assert said["errorDetail"] == said["streamErrorDetail"] == shown
    assert said["error"] == said["streamError"] == "The model is away"
    (event,) = [event for event in api.events() if event.name == "fail"]
    assert event.data == {
        "error": "The model is away",
        "errorDetail": shown,
        "recoverable": False,
    }


@case(53)
@row("G5")
@pytest.mark.parametrize(
    ("raised", "code", "retryable"),
    [
        (StoreUnavailable(), "framework_store_unavailable", True),
        (RuleBroken("LG004"), "framework_store_corrupt", False),
        (
            EntryRefused("state_history_incomplete", "host=db lost 3"),
            "state_history_incomplete",
            True,
        ),
        (ValueError("Bearer abc.def"), "framework_internal_error", True),
    ],
)
def test_a_snapshot_that_cannot_be_read_is_500_and_keeps_its_code(
    api: Api, monkeypatch: pytest.MonkeyPatch, raised: Exception, code: str, retryable: bool
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise raised

    monkeypatch.setattr(api.runtime.database, "call", broken)
    answer = api.get("/sessions/s1/snapshot")
    assert answer.status_code == 500
    assert (answer.json()["code"], answer.json()["retryable"]) == (code, retryable)
    assert "abc.def" not in answer.text
    assert "=db" not in answer.text


@row("G7")
def test_a_keyed_run_shows_its_key(api: Api, db: Door) -> None:
    api.start("s1", key="k1")
    run = snapshot(api)["run"]
    assert run["requestKey"] == "k1"
    assert run["requestDigest"] == db.row("select * from lockgate_store.runs").request_digest
    api.start("s2")
    assert not {"requestKey", "requestDigest"} & set(snapshot(api, "s2")["run"])
