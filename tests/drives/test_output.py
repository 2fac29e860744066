"""How a run comes to its output: `__finish__`, tools that finish, stop_when, and the cap."""

from typing import Any

import pytest

from tests.support.answers import continued, results, submitted, suspended
from tests.support.crashes import CRASHED, Crash
from tests.support.scene import Scene, call

FINISH = call("__finish__", title="All of it")
ADD = call("add", a=1, b=2)
SUPERSEDED = "superseded_by_terminal_call"


def ran(scene: Scene, name: str) -> int:
    return len(scene.stage.notes("tool", name=name))


def test_finish_ends_the_run_with_its_arguments_as_the_type_has_them(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [FINISH]}, agent_type="reporter")
    row = driven.settled(run)
    assert (row.status, row.output) == ("completed", {"title": "All of it", "pages": 1})
    assert row.step_count == 1
    assert driven.stage.notes("model")[0]["offered"][-1] == "__finish__"
    assert results(driven) == [], "it is an output and no call"
    types = [chunk["type"] for chunk in driven.door.chunks()]
    assert types == ["output", "step_committed"]
    (reply,) = [m.content for m in driven.door.messages() if m.role == "assistant"]
    assert reply == [{"type": "output", "output": {"title": "All of it", "pages": 1}}]


def test_unusable_arguments_of_finish_are_an_error_that_the_model_sees(driven: Scene) -> None:
    wrong = call("__finish__", pages="many")
    run = driven.start("s1", {"calls": [wrong]}, {"calls": [FINISH]}, agent_type="reporter")
    assert driven.settled(run).output == {"title": "All of it", "pages": 1}
    (told,) = results(driven)
    assert (told["success"], told["code"]) == (False, "validation_error")
    assert "title" in told["error"]
    assert "pages" in told["error"]


def test_finish_is_no_tool_of_an_agent_without_an_output_schema(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [FINISH]}, {"say": "As text, then."})
    assert driven.settled(run).output == "As text, then."
    assert results(driven)[0]["error"] == "There is no tool named '__finish__'"


def test_the_siblings_of_finish_are_not_executed(driven: Scene) -> None:
    calls = [ADD, FINISH, call("pick"), call("pay", amount=1, to="me"), call("nobody")]
    run = driven.start("s1", {"calls": calls}, agent_type="reporter")
    row = driven.settled(run)
    assert (row.status, row.output) == ("completed", {"title": "All of it", "pages": 1})
    assert [each["reason"] for each in results(driven)] == [SUPERSEDED] * 4
    assert ran(driven, "add") == 0
    asked = [p["toolCallId"] for p in driven.door.messages()[1].content if "toolCallId" in p]
    told = [p["toolCallId"] for p in driven.door.messages()[2].content]
    assert asked == told


def test_a_tool_that_finishes_runs_first_and_its_result_is_the_output(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [ADD, call("hand_in", title="Mine")]}, {"say": "Never."})
    row = driven.settled(run)
    assert (row.status, row.output) == ("completed", {"title": "Mine", "pages": 1})
    assert ran(driven, "add") == 0
    superseded, handed_in = results(driven)
    assert superseded["reason"] == SUPERSEDED
    assert handed_in == {"success": True, "result": {"title": "Mine", "pages": 1}}
    assert len(driven.stage.notes("model")) == 1


def test_a_tool_that_fails_finishes_nothing(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("hand_in", title="raise")]}, {"say": "Without."})
    assert driven.settled(run).output == "Without."


def test_a_finishing_result_must_fit_the_agents_schema(driven: Scene) -> None:
    run = driven.start(
        "s1",
        {"calls": [call("hand_in", title="Mine", pages="many")]},
        {"calls": [call("hand_in", title="Mine", pages=3)]},
        agent_type="reporter",
    )
    assert driven.settled(run).output == {"title": "Mine", "pages": 3}
    assert [each["success"] for each in results(driven)] == [False, True]
    errors = [c for c in driven.door.chunks() if c["type"] == "tool_output_error"]
    assert len(errors) == 1


def test_an_output_of_the_provider_must_fit_the_agents_schema(driven: Scene) -> None:
    fits = driven.start("s1", {"output": {"title": "T", "pages": 2}}, agent_type="reporter")
    assert driven.settled(fits).output == {"title": "T", "pages": 2}
    wrong = driven.start("s2", {"output": {"pages": 2}}, agent_type="reporter")
    row = driven.settled(wrong)
    assert (row.status, row.error_detail["code"]) == ("failed", "validation_error")


def test_plain_text_ends_a_run_that_has_an_output_schema(driven: Scene) -> None:
    run = driven.start("s1", {"say": "No report."}, agent_type="reporter")
    assert driven.settled(run).output == "No report."


def test_at_the_cap_the_model_is_made_to_finish_once(driven: Scene) -> None:
    run = driven.start(
        "s1", {"calls": [ADD]}, {"calls": [ADD]}, {"calls": [FINISH]}, agent_type="reporter"
    )
    row = driven.settled(run)
    assert (row.status, row.output["title"], row.step_count) == ("completed", "All of it", 3)
    notes = driven.stage.notes("model")
    assert [note["choice"] for note in notes] == ["auto", "auto", "required"]
    assert notes[-1]["offered"] == ["sign", "hand_in", "__finish__"]
    (forced,) = [c for c in driven.door.chunks() if c["type"] == "forced_completion"]
    assert forced["completionReason"] == "max_steps"


@pytest.mark.parametrize(
    "last", [{"say": "I will not."}, {"calls": [call("__finish__")]}, {"calls": [ADD]}]
)
def test_a_model_that_does_not_finish_when_it_must_fails_the_run(
    driven: Scene, last: dict[str, Any]
) -> None:
    turns = [{"calls": [ADD]}, {"calls": [ADD]}, last, {"calls": [FINISH]}]
    row = driven.settled(driven.start("s1", *turns, agent_type="reporter"))
    assert (row.status, row.error_detail["code"]) == ("failed", "framework_max_steps")
    assert len(driven.stage.notes("model")) == 3
    forced = [c for c in driven.door.chunks() if c["type"] == "forced_completion"]
    assert ["error" in chunk for chunk in forced] == [False, True]


def test_stop_when_ends_the_run_after_its_step(driven: Scene) -> None:
    turns = ({"calls": [ADD]}, {"say": "Never."})
    row = driven.settled(driven.start("s1", *turns, agent_type="stopper"))
    assert (row.status, row.output, row.step_count) == ("completed", None, 1)
    assert results(driven) == [{"success": True, "result": 3}]


def test_stop_when_makes_an_agent_with_an_output_schema_finish(driven: Scene) -> None:
    turns = ({"calls": [ADD]}, {"calls": [FINISH]})
    row = driven.settled(driven.start("s1", *turns, agent_type="reporter-stopper"))
    assert (row.status, row.output["title"]) == ("completed", "All of it")
    (forced,) = [c for c in driven.door.chunks() if c["type"] == "forced_completion"]
    assert forced["completionReason"] == "stop_when"


def test_a_clients_answer_may_be_what_ends_the_run(driven: Scene) -> None:
    """One that does not fit the agent's schema ends nothing: the model is told, and goes on."""
    turns = ({"calls": [call("sign", title="T")]}, {"say": "Not signed."})
    for session_id, result, output in (
        ("s1", {"title": "Signed", "pages": 2}, {"title": "Signed", "pages": 2}),
        ("s2", "no report", "Not signed."),
    ):
        run = driven.start(session_id, *turns, agent_type="reporter")
        (sign,) = suspended(driven, run)
        row = continued(driven, submitted(driven, sign, session_id, result=result).run_id)
        assert (row.status, row.output) == ("completed", output)


def test_a_run_that_continues_is_stopped_too(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("pick")]}, {"calls": [ADD]}, agent_type="stopper")
    (pick,) = suspended(driven, run)
    row = continued(driven, submitted(driven, pick, result=1).run_id)
    assert (row.status, row.output) == ("completed", None)
    assert ran(driven, "add") == 1


@pytest.mark.parametrize("calls", [[FINISH], [ADD, FINISH], [call("hand_in", title="Mine")]])
def test_an_end_is_found_again_after_a_crash_before_its_commit(
    scene: Scene, calls: list[dict[str, Any]]
) -> None:
    """The step is committed and the run has not ended: the next attempt reads its end from it."""
    lost = scene.crew.worker("A", crash=Crash(inside_end=True))
    run = scene.start("s1", {"calls": calls}, {"say": "Never."}, agent_type="reporter")
    assert lost.ended() == CRASHED
    assert scene.door.run(run.run_id).status == "running"
    assert scene.door.run(run.run_id).step_count == 1
    scene.crew.worker("B").ready()
    row = scene.settled(run)
    assert (row.status, row.output["pages"]) == ("completed", 1)
    assert len(scene.stage.notes("model")) == 1
