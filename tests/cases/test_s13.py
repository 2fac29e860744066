"""S13: a stopped run leaves a tool call without a result."""

from typing import Any

import pytest

from tests.cases.conftest import Pair
from tests.support.clients import Client
from tests.support.proves import case
from tests.support.scene import call
from tests.support.seen import seen

ADD, PICK = call("add", a=1, b=2), call("pick")
HOLD = call("hold", gate="middle")


POINTS = pytest.mark.parametrize(
    ("turn", "results"),
    [
        ({"say": "One @hold:middle two."}, []),
        ({"calls": [HOLD, PICK]}, ["run_stopped", "client_tool_abandoned"]),
        ({"calls": [ADD, HOLD, PICK]}, [3, "run_stopped", "client_tool_abandoned"]),
    ],
    ids=["before any call", "before any result", "after one result"],
)


@case(13)
@pytest.mark.parametrize("verb", ["interrupt", "abort"])
@POINTS
def test_the_next_message_works_wherever_a_run_was_stopped(
    pair: Pair, verb: str, turn: Any, results: list[Any]
) -> None:
    run_id = pair.a.started("s1", turn)["runId"]
    pair.stage.seen("waits", gate="middle")
    if results[:1] == [3]:
        pair.stage.seen("tool", name="add")
    assert pair.b.stop(verb, "s1", run_id=run_id, wait=True).json()["status"] == "stopped"
    assert _results(pair) == results
    assert _says(pair.a, "next")
    assert _results(pair) == results


@case(13)
@POINTS
def test_the_next_message_works_where_a_recovery_was_given_up(
    split: Pair, turn: Any, results: list[Any]
) -> None:
    """Its worker dies, and the next one may try no more."""
    run_id = split.a.started("s1", turn)["runId"]
    split.stage.seen("waits", gate="middle")
    if results[:1] == [3]:
        _is_saved(split, run_id)
    split.members[1].kill()
    split.scene.crew.worker("C", max_attempts=1).ready()
    ended = split.a.settled("s1")
    assert (ended["status"], ended["runId"]) == ("failed", run_id)
    detail = split.door.session("s1").error_detail
    assert (detail["code"], detail["retryable"]) == ("framework_auto_resume_exhausted", True)
    assert _results(split) == results
    assert _says(split.a, "next")
    assert _results(split) == results


@case(13)
def test_the_next_message_works_while_a_run_is_suspended(pair: Pair) -> None:
    run_id = pair.a.started("s1", {"calls": [ADD, PICK, call("pay", amount=1, to="A")]})["runId"]
    pick, pay = pair.a.pending("s1", 2)
    assert pair.b.stop("abort", "s1", run_id=run_id).json()["status"] == "not_running"
    assert pair.b.stop("interrupt", "s1", run_id=run_id).status_code == 400
    assert pair.a.submit("s1", pay, approved=True).json()["runId"] is None
    assert _says(pair.a, "next")
    assert _results(pair) == [3, "client_tool_abandoned", "run_stopped"], "pay was approved"
    for client in (pair.a, pair.b):
        late = client.submit("s1", pick, result="red")
        assert (late.status_code, late.json()["cause"]) == (409, "run_ended")
        assert (late.json()["retryable"], late.json()["runId"]) == (False, run_id)
    assert pair.stage.notes("tool", name="pay") == []


def _is_saved(pair: Pair, run_id: str) -> None:
    """Wait until a run has the result of one of its calls."""
    saved = "select from lockgate_store.tool_calls where run_id = %s and status = 'answered'"
    seen(lambda: pair.door.rows(saved, run_id), "a result is saved")


def _says(client: Client, text: str) -> bool:
    """Say whether a new message is answered."""
    started = client.started("s1", {"say": f"Answer to {text}."})
    status = client.settled("s1")
    return (status["runId"], status["output"]) == (started["runId"], f"Answer to {text}.")


def _results(pair: Pair) -> list[Any]:
    """Hold that each call in history has one result, and return what each came to."""
    calls, results = [], {}
    for message in pair.door.messages("s1"):
        for part in message.content:
            if part["type"] == "tool_call":
                calls.append(part["toolCallId"])
            if part["type"] == "tool_result":
                assert part["toolCallId"] not in results
                results[part["toolCallId"]] = part.get("reason") or part.get("result")
    assert sorted(calls) == sorted(results)
    return [results[call] for call in calls]
