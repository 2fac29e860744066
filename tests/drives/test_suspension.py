"""Runs that wait for a client: what is announced, answered in any order, and gone on with."""

from typing import Any

import pytest

from tests.support.answers import continued, pending, results, submitted, suspended
from tests.support.proves import case
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.stage_agents import SCRIPTED

PICK = call("pick", options=["a", "b"])
DONE = {"say": "All is answered."}


def chunk_types(scene: Scene, session_id: str = "s1") -> list[str]:
    return [chunk["type"] for chunk in scene.door.chunks(session_id)]


def test_a_client_call_suspends_and_its_answer_goes_on(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("add", a=1, b=2), PICK]}, DONE)
    (pick,) = suspended(driven, run)

    row = driven.door.run(run.run_id)
    assert (row.status, row.step_count, row.owner_id) == ("suspended_client_tool", 0, None)
    assert driven.door.session().status == driven.door.stream().status == "paused"
    assert driven.settlements(run.run_id) == ["suspended_client_tool"]
    types = chunk_types(driven)
    assert types[-2:] == ["tool_start", "run_paused"]
    assert types.index("tool_end") < len(types) - 2, "what is ours was done before it paused"
    assert driven.returned(row.drive_id) == (
        '{"outcome":"suspended","runStatus":"suspended_client_tool"}'
    )

    answer = submitted(driven, pick, result={"index": 0})
    assert answer.outcome == "accepted"
    row = continued(driven, answer.run_id)
    assert (row.drive, row.status, row.output) == ("continue", "completed", "All is answered.")
    assert results(driven) == [
        {"success": True, "result": 3},
        {"success": True, "result": {"index": 0}},
    ]
    assert [note["messages"] for note in driven.stage.notes("model")] == [1, 3]
    assert len(driven.stage.notes("tool", name="add")) == 1


@pytest.mark.parametrize("result", [None, False, 0, ""])
def test_what_is_nothing_is_an_answer(driven: Scene, result: Any) -> None:
    run = driven.start("s1", {"calls": [PICK]}, DONE)
    (pick,) = suspended(driven, run)
    row = continued(driven, submitted(driven, pick, result=result).run_id)
    assert row.output == "All is answered."
    assert results(driven) == [{"success": True, "result": result}]


@case(9)
def test_a_batch_is_answered_in_any_order_and_keeps_the_order_of_its_calls(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [PICK, call("add", a=1, b=1), PICK, PICK]}, DONE)
    first, second, third = suspended(driven, run)
    answers = [
        submitted(driven, third, result=3),
        submitted(driven, first, error="nobody was there"),
        submitted(driven, second, result=2),
    ]
    assert [answer.run_id is None for answer in answers] == [True, True, False]
    assert continued(driven, answers[-1].run_id).output == "All is answered."
    assert results(driven) == [
        {"success": False, "error": "nobody was there"},
        {"success": True, "result": 2},
        {"success": True, "result": 2},
        {"success": True, "result": 3},
    ]


def test_a_run_may_suspend_again_and_again(driven: Scene) -> None:
    run_id = driven.start("s1", *[{"calls": [PICK]}] * 3, DONE).run_id
    for round_ in range(3):
        (pick,) = suspended(driven, run_id)
        run_id = submitted(driven, pick, result=round_).run_id
    assert continued(driven, run_id).output == "All is answered."
    assert [each["result"] for each in results(driven)] == [0, 1, 2]
    assert len(driven.stage.notes("model")) == 4


def test_unusable_arguments_of_a_client_call_are_answered_before_anything_is_awaited(
    driven: Scene,
) -> None:
    run = driven.start("s1", {"calls": [call("pick", options="no list")]}, DONE)
    assert driven.settled(run).output == "All is answered."
    (told,) = results(driven)
    assert (told["success"], told["code"]) == (False, "validation_error")
    assert "options" in told["error"]
    (chunk,) = [each for each in driven.door.chunks() if each["type"] == "tool_input_error"]
    assert chunk["toolName"] == "pick"
    assert chunk["error"] == told["error"]


def test_a_usable_call_beside_an_unusable_one_is_awaited_alone(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("pick", options=1), PICK]}, DONE)
    (pick,) = suspended(driven, run)
    continued(driven, submitted(driven, pick, result="b").run_id)
    assert [each["success"] for each in results(driven)] == [False, True]


def test_a_submitted_result_that_does_not_fit_is_an_error_that_the_model_sees(
    driven: Scene,
) -> None:
    """A submit in SQL checks no schema: the history keeps it, the model is told what is wrong."""
    run = driven.start("s1", {"calls": [call("number"), call("number")]}, DONE)
    fits, misfits = suspended(driven, run)
    submitted(driven, fits, result=7)
    row = continued(driven, submitted(driven, misfits, result="seven").run_id)
    assert row.output == "All is answered."
    assert [each["result"] for each in results(driven)] == [7, "seven"]
    good, bad = driven.stage.notes("model")[-1]["last"]
    assert (good["success"], good["result"]) == (True, 7)
    assert (bad["success"], bad["code"]) == (False, "validation_error")
    assert "result" not in bad
    (chunk,) = [each for each in driven.door.chunks() if each["type"] == "tool_output_error"]
    assert chunk["toolCallId"] == misfits
    later = driven.start("s1", DONE)
    assert driven.settled(later).status == "completed"


def test_a_message_over_a_pending_call_abandons_it(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [PICK]}, DONE)
    (pick,) = suspended(driven, run)
    other = driven.start("s1", {"say": "Something else."})
    assert driven.settled(other).output == "Something else."
    assert results(driven)[0]["reason"] == "client_tool_abandoned"
    assert submitted(driven, pick, result=1).outcome == "run_ended"


def test_a_stop_that_is_there_before_the_suspension_ends_the_run(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("hold", gate="body"), PICK]}, DONE)
    driven.stage.seen("waits", gate="body")
    assert driven.door.call("interrupt", session_id="s1").outcome == "stopping"
    row = driven.settled(run)
    assert row.status == "interrupted"
    assert [each["reason"] for each in results(driven)] == ["run_stopped", "client_tool_abandoned"]
    assert pending(driven, run.run_id) == []


def test_a_stop_on_a_suspended_run_ends_its_continuation_before_any_model_call(
    driven: Scene,
) -> None:
    run = driven.start("s1", {"calls": [PICK]}, DONE)
    (pick,) = suspended(driven, run)
    stopped = driven.door.call("interrupt", session_id="s1", include_suspended=True)
    assert stopped.outcome == "stopping"
    row = continued(driven, submitted(driven, pick, result=1).run_id)
    assert row.status == "interrupted"
    assert len(driven.stage.notes("model")) == 1


def test_the_retention_is_that_of_the_agent(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [PICK, call("add", a=1, b=1)]}, DONE)
    suspended(driven, run)
    kept = [each.retention_ms for each in driven.door.calls(run.run_id)]
    assert kept == [24 * 60 * 60 * 1000, None]


def test_an_entry_that_interrupts_finds_a_suspended_run_idle(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [PICK]}, DONE)
    suspended(driven, run)
    last_wins = driven.runtime(concurrent_entry="interrupt_previous")
    other = driven.run(last_wins.start("s1", SCRIPTED, "script: " + '[{"say": "New."}]'))
    assert driven.settled(other).output == "New."
    assert driven.door.run(run.run_id).status == "superseded"


def test_the_last_answer_while_the_run_is_suspending_continues_it(scene: Scene) -> None:
    """Nobody can answer before the announcement, which is the suspension itself."""
    scene.crew.worker().ready()
    scene.listened_to(1)
    run = scene.start("s1", {"calls": [{**PICK, "id": "p1"}]}, DONE)
    answers: list[Any] = []

    def is_answered() -> bool:
        answers.append(submitted(scene, "p1", result=1))
        return bool(answers[-1].outcome == "accepted")

    seen(is_answered, "the call is answerable")
    assert {a.outcome for a in answers[:-1]} <= {"unknown_tool_call", "not_pending_yet"}
    assert continued(scene, answers[-1].run_id).output == "All is answered."
    assert scene.door.run(run.run_id).status == "superseded"
    assert scene.settlements(run.run_id) == ["suspended_client_tool"]
