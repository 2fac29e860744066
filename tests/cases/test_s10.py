"""S10: a late stop kills the next run. Left: a chat message as the entry that goes on."""

import pytest

from tests.cases.conftest import Pair
from tests.support.proves import case
from tests.support.scene import Turn, call
from tests.support.stage_agents import SCRIPTED

HELD = {"say": "One @hold:middle two."}
DONE = {"say": "Done."}


@case(10)
@pytest.mark.parametrize("verb", ["interrupt", "abort"])
def test_a_stop_that_was_held_up_stops_nothing_else(pair: Pair, verb: str) -> None:
    first = pair.a.started("s1", "hi")["runId"]
    pair.a.settled("s1")
    second = pair.a.started("s1", HELD)["runId"]
    pair.stage.seen("waits", gate="middle")
    before = pair.kept()
    late = pair.b.stop(verb, "s1", run_id=first).json()
    assert late == {"sessionId": "s1", "status": "not_running", "runId": first}
    assert pair.kept() == before
    pair.stage.open("middle")
    assert pair.a.settled("s1")["runId"] == second
    assert pair.a.status("s1")["status"] == "completed"


@case(10)
@pytest.mark.parametrize("entry", ["start", "resume", "retry", "recovery"])
def test_no_entry_after_a_stop_is_born_stopped(pair: Pair, entry: str) -> None:
    """Each of them goes on over an answer too, whose run is none of those that were stopped."""
    client, verb = pair.a, "abort" if entry == "retry" else "interrupt"
    pick = call("pick")
    turns: list[Turn] = [{"calls": [call("hold", gate="middle"), pick]}, {"calls": [pick]}, DONE]
    stopped = client.started("s1", *turns)["runId"]
    pair.stage.seen("waits", gate="middle")
    assert client.stop(verb, "s1", run_id=stopped, wait=True).json()["status"] == "stopped"
    pair.stage.open("middle")
    body = {"agentType": SCRIPTED}
    if entry == "start":
        client.started("s1", *turns)
    elif entry == "retry":
        assert client.http.post("/sessions/s1/retry", json=body).status_code == 200
    else:
        options = {**body, "options": {"mode": "continue"}}
        assert client.http.post("/sessions/s1/resume", json=options).status_code == 200
    if entry == "recovery":
        pair.members[0].kill()
        client = pair.b
    answered = 0
    while (status := client.settled("s1"))["status"] == "paused":
        (asked,) = client.pending("s1")
        assert client.submit("s1", asked, result="red").status_code == 200
        answered += 1
    assert (status["status"], status["output"], answered > 0) == ("completed", "Done.", True)
    later = "select from lockgate_store.runs where stop_kind is not null and run_id <> %s"
    assert pair.door.rows(later, stopped) == []
