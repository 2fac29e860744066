"""S29: one of two pending calls is answered."""

from tests.cases.conftest import Pair
from tests.support.proves import case
from tests.support.scene import call
from tests.support.stage_agents import SCRIPTED

PICK = call("pick", options=["red", "blue"])


@case(29)
def test_each_pending_call_has_its_own_answer(pair: Pair) -> None:
    pair.a.started("s1", {"calls": [PICK, PICK]}, {"say": "Done."})
    first, second = pair.a.pending("s1", 2)
    assert first["toolCallId"] != second["toolCallId"]
    assert pair.b.submit("s1", second, result="blue").json()["runId"] is None
    status = pair.a.status("s1")
    assert (status["status"], status["awaitingToolCallIds"]) == ("paused", [first["toolCallId"]])
    resumed = pair.b.http.post(
        "/sessions/s1/resume", json={"agentType": SCRIPTED, "options": {"mode": "continue"}}
    )
    assert (resumed.status_code, resumed.json()["code"]) == (409, "state_not_resumable")
    assert resumed.json()["retryable"] is True
    assert resumed.json()["error"].startswith(first["toolCallId"])
    assert len(pair.stage.notes("model")) == 1
    run_id = pair.a.submit("s1", first, result="red").json()["runId"]
    assert pair.a.settled("s1")["output"] == "Done."
    assert pair.runs("s1") == 2
    model = pair.stage.notes("model")[-1]
    assert [part["result"] for part in model["last"]] == ["red", "blue"]
    assert str(pair.door.session("s1").current_run_id) == run_id
