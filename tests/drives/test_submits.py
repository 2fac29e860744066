"""Answers that an application gives through its own runtime, to runs that a worker drives."""

from collections.abc import Mapping
from typing import Any

import pytest

from lockgate import (
    Actor,
    ApprovalResponse,
    ClientToolError,
    ClientToolResult,
    EntryRefused,
    Submitted,
    ToolAnswer,
)
from tests.support.answers import continued, results, suspended
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.stage_agents import SCRIPTED

DONE = {"say": "Done."}


def submit(
    scene: Scene, call_id: str, answer: ToolAnswer | Mapping[str, Any], **more: Any
) -> Submitted:
    return scene.run(scene.own.submit_tool_result("s1", call_id, answer, **more))


def refused(scene: Scene, call_id: str, answer: Any, **more: Any) -> EntryRefused:
    """Submit what is refused, and hold that nothing was written."""
    before = scene.stored()
    with pytest.raises(EntryRefused) as error:
        submit(scene, call_id, answer, **more)
    assert scene.stored() == before
    return error.value


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (ClientToolResult(None), {"success": True, "result": None}),
        (ClientToolError("no camera"), {"success": False, "error": "no camera"}),
        ({"kind": "client-tool-result", "result": 0}, {"success": True, "result": 0}),
    ],
)
def test_an_answer_goes_on_at_once(driven: Scene, answer: Any, result: dict[str, Any]) -> None:
    run = driven.start("s1", {"calls": [call("pick")]}, DONE)
    (pick,) = suspended(driven, run)
    submitted = submit(driven, pick, answer)
    assert (submitted.status, submitted.tool_call_id) == ("accepted", pick)
    assert submitted.run_id is not None
    assert continued(driven, submitted.run_id).output == "Done."
    assert results(driven) == [result]
    again = submit(driven, pick, answer)
    assert (again.status, again.run_id) == ("already_completed", None)


@case(30)
def test_a_decision_is_taken_once(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("pay", amount=10, to="A")]}, DONE)
    (pay,) = suspended(driven, run)
    (asked,) = driven.door.calls(run.run_id)
    submitted = submit(driven, pay, ApprovalResponse(asked.approval_id, True))
    assert submitted.run_id is not None
    assert continued(driven, submitted.run_id).status == "completed"
    late = submit(driven, pay, ApprovalResponse(asked.approval_id, False, "wait"))
    assert (late.status, late.approved) == ("already_completed", True)
    assert len(driven.stage.notes("tool", name="pay")) == 1


def test_a_result_that_does_not_fit_leaves_the_call_pending(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("number")]}, DONE)
    (number,) = suspended(driven, run)
    error = refused(driven, number, ClientToolResult("seven"))
    assert (error.code, error.retryable) == ("INVALID_RESULT", False)
    assert str(error) == "The submitted result failed the tool output validation"
    assert (error.detail["toolName"], error.detail["toolCallId"]) == ("number", number)
    submitted = submit(driven, number, ClientToolResult(7))
    assert submitted.run_id is not None
    assert continued(driven, submitted.run_id).output == "Done."


def test_what_is_refused_is_typed(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("pick")]}, DONE, user_id="ann")
    (pick,) = suspended(driven, run)
    yes = ClientToolResult("yes")
    assert refused(driven, "other", yes).code == "unknown_tool_call"
    assert refused(driven, pick, yes, actor=Actor("bob")).code == "unknown_tool_call"
    assert refused(driven, pick, {"kind": "other"}).code == "invalid_payload"
    assert refused(driven, pick, ApprovalResponse("a", True)).code == "validation_error"
    newer = driven.run(driven.own.start("s1", SCRIPTED, "never mind"))
    driven.settled(newer)
    error = refused(driven, pick, yes)
    assert (error.code, error.retryable, error.cause) == (
        "state_not_resumable",
        False,
        "run_ended",
    )
    assert error.run_id == str(run.run_id)
