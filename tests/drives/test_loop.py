"""The step loop beside its calls: state, usage, stops, replay, and the agent's hooks."""

from typing import Any

import pytest

from tests.support.answers import continued, results, submitted, suspended
from tests.support.crashes import CRASHED, Crash
from tests.support.scene import Scene, call
from tests.support.seen import seen
from tests.support.stage_usage import noting_store

DONE = {"say": "Done."}


def remember(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return call("remember", name=name, value=value, **more)


def chunks(scene: Scene, type_: str) -> list[dict[str, Any]]:
    return [chunk for chunk in scene.door.chunks() if chunk["type"] == type_]


def usage(scene: Scene) -> list[Any]:
    return scene.door.rows("select * from lockgate_store.usage order by entry")


def test_what_a_tool_changes_is_the_sessions_state_from_its_result_on(driven: Scene) -> None:
    turns = ({"calls": [remember("a/b", 1)]}, {"calls": [remember("c", [2])]}, DONE)
    driven.settled(driven.start("s1", *turns, state={"c": 0, "kept": True}))
    assert driven.door.session().state == {"a/b": 1, "c": [2], "kept": True}
    assert [c["patches"] for c in chunks(driven, "state_patch")] == [
        [{"op": "add", "path": "/a~1b", "value": 1}],
        [{"op": "add", "path": "/c", "value": [2]}],
    ]
    states = driven.door.rows(
        "select state from lockgate_store.checkpoints where session_id = 's1' order by step"
    )
    assert [row.state for row in states][:2] == [
        {"a/b": 1, "c": 0, "kept": True},
        {"a/b": 1, "c": [2], "kept": True},
    ]


def test_a_body_that_fails_changes_nothing(driven: Scene) -> None:
    calls = [remember("x", "raise"), remember("y", 1)]
    driven.settled(driven.start("s1", {"calls": calls}, DONE))
    assert driven.door.session().state == {"y": 1}
    failed, done = results(driven)
    assert (failed["code"], failed["error"]) == ("tool_execution_failed", "remembered and failed")
    assert done["success"]
    assert [c["error"] for c in chunks(driven, "tool_output_error")] == ["remembered and failed"]


def test_a_state_keeps_to_its_schema(driven: Scene) -> None:
    calls = [remember("n", "many"), remember("n", 5), remember("free", "text")]
    driven.settled(driven.start("s1", {"calls": calls}, DONE, agent_type="counter"))
    assert driven.door.session().state == {"n": 5, "free": "text"}
    assert [each["success"] for each in results(driven)] == [False, True, True]


def test_a_change_is_saved_with_its_own_result_and_not_with_anothers(scene: Scene) -> None:
    """A crash between two results keeps the one that is saved, and runs the other's body anew."""
    calls = [remember("first", 1), remember("second", 2, gate="later")]
    scene.crew.worker("A").ready()
    run = scene.start("s1", {"calls": calls}, DONE)
    seen(lambda: scene.door.calls(run.run_id)[:1] and scene.door.calls(run.run_id)[0].response)
    scene.stage.seen("remembered", name="second")
    scene.crew.close()
    assert scene.door.session().state == {"first": 1}
    scene.stage.open("later")
    scene.crew.worker("B").ready()
    assert scene.settled(run).status == "completed"
    assert scene.door.session().state == {"first": 1, "second": 2}
    assert len(scene.stage.notes("remembered", name="first")) == 1
    assert len(scene.stage.notes("remembered", name="second")) == 2


def test_a_suspended_step_keeps_its_state(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [remember("n", 1), call("pick")]}, DONE)
    (pick,) = suspended(driven, run)
    assert driven.door.session().state == {"n": 1}
    continued(driven, submitted(driven, pick, result=0).run_id)
    assert driven.door.session().state == {"n": 1}


def test_usage_is_in_the_commit_of_what_used_it(driven: Scene) -> None:
    calls = [call("add", a=1, b=2), call("boom", message="no"), call("count", what="w", value=2)]
    driven.settled(driven.start("s1", {"calls": calls, "think": "a long thought"}, DONE))
    entries = usage(driven)
    tokens = [entry for entry in entries if entry.kind == "tokens"]
    assert [(entry.step, entry.source, entry.detail["model"]) for entry in tokens] == [
        (1, "agent", "StagedModel"),
        (2, "agent", "StagedModel"),
    ]
    assert tokens[0].detail["tokens"]["total"] > 0
    tools = {e.detail["tool"]: e.detail["success"] for e in entries if e.kind == "tool"}
    assert tools == {"add": True, "boom": False, "count": True}
    assert all(e.detail["durationMs"] >= 0 for e in entries if e.kind == "tool")
    (custom,) = [entry.detail for entry in entries if entry.kind == "custom"]
    assert custom == {"type": "w", "value": 2, "unit": "pieces"}
    rollup = driven.door.call("usage_rollup", session_id="s1").rollup
    assert rollup["toolStats"]["totalCalls"] == 3
    assert rollup["custom"] == {"w": 2}


def keeps_usage_elsewhere(scene: Scene) -> None:
    options = {"usage_store": noting_store, "env": str(scene.stage.folder)}
    scene.crew.worker(options=options).ready()
    scene.listened_to(1)


def test_a_store_of_the_applications_is_told_instead_of_our_rows(scene: Scene) -> None:
    keeps_usage_elsewhere(scene)
    run = scene.start("s1", {"calls": [call("count", what="w", value=2)]}, DONE)
    assert scene.settled(run).output == "Done."
    assert usage(scene) == []
    told = [note["entry"] for note in scene.stage.notes("used")]
    assert [(entry["kind"], entry["stepCount"]) for entry in told] == [
        ("tokens", 1),
        ("tool", 1),
        ("custom", 1),
        ("tokens", 2),
    ]
    assert [entry["id"].removeprefix(f"{run.run_id}:") for entry in told] == [
        *("1:reply:1", "1:1:1", "1:1:2", "2:reply:1"),
    ]
    assert {entry["sessionId"] for entry in told} == {"s1"}


def test_a_store_that_fails_in_a_drive_is_tried_again(scene: Scene) -> None:
    scene.stage.open("store fails")
    keeps_usage_elsewhere(scene)
    run = scene.start("s1", DONE)
    scene.stage.seen("store failed")
    scene.stage.close("store fails")
    assert scene.settled(run).output == "Done."
    assert [note["entry"]["kind"] for note in scene.stage.notes("used")] == ["tokens"]
    assert usage(scene) == []


def test_what_is_no_count_is_the_tools_mistake(driven: Scene) -> None:
    driven.settled(driven.start("s1", {"calls": [call("count", what="w", value="two")]}, DONE))
    assert results(driven)[0]["error"] == "a count is a finite number"
    assert [entry.kind for entry in usage(driven)] == ["tokens", "tool", "tokens"]


def test_a_result_that_is_not_what_was_promised_is_a_typed_error(driven: Scene) -> None:
    calls = [call("promised", given={"ok": 1}), call("promised", given=[])]
    driven.settled(driven.start("s1", {"calls": calls}, DONE))
    kept, broken = results(driven)
    assert kept == {"success": True, "result": {"ok": 1}}
    assert (broken["success"], broken["code"]) == (False, "validation_error")


def stopped(scene: Scene, run: Any) -> Any:
    assert scene.door.call("interrupt", session_id="s1").outcome == "stopping"
    return scene.settled(run)


def test_a_stop_does_not_wait_for_a_body_that_does_not_listen(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("stubborn"), call("add", a=1, b=1)]}, DONE)
    driven.stage.seen("tool", name="stubborn")
    seen(lambda: driven.door.calls(run.run_id)[1].response, "the other has its result")
    assert stopped(driven, run).status == "interrupted"
    assert driven.stage.notes("cancelled")[0]["aborted"] is True
    assert not driven.stage.is_open("stubborn"), "it is still at it"
    cut_off, done = results(driven)
    assert (cut_off["reason"], done["result"]) == ("run_stopped", 2)
    driven.stage.open("stubborn")
    again = driven.start("s1", DONE)
    assert driven.settled(again).output == "Done."
    assert len(results(driven)) == 2


def test_a_stop_reaches_a_body_in_a_thread_by_its_signal(driven: Scene) -> None:
    run = driven.start("s1", {"calls": [call("listens")]}, DONE)
    driven.stage.seen("tool", name="listens")
    assert stopped(driven, run).status == "interrupted"
    driven.stage.seen("heard")
    assert results(driven)[0]["reason"] == "run_stopped"


def hooks(scene: Scene) -> list[str]:
    return [note["name"] for note in scene.stage.notes("hook")]


def test_the_hooks_of_an_agent_are_told_in_order(driven: Scene) -> None:
    run = driven.start(
        "s1", {"calls": [call("add", a=1, b=2)]}, DONE, agent_type="hooked", state={"n": 1}
    )
    driven.settled(run)
    driven.stage.seen("hook", name="on_agent_complete")
    assert hooks(driven) == [
        "on_agent_start",
        *("before_llm_call", "after_llm_call", "before_tool", "after_tool"),
        *("before_llm_call", "after_llm_call", "on_agent_complete"),
    ]
    told = {note["name"]: note["told"] for note in driven.stage.notes("hook")}
    assert told["on_agent_start"]["initial_state"] == {"n": 1}
    assert told["after_tool"]["response"] == {"success": True, "result": 3}
    assert told["on_agent_complete"]["output"] == "Done."
    assert (told["on_agent_complete"]["step_count"], told["on_agent_complete"]["reason"]) == (
        2,
        "finished",
    )


def test_a_hook_that_raises_is_logged_and_nothing_else(driven: Scene) -> None:
    calls = {"calls": [call("add", a=1, b=2)]}
    run = driven.start("s-throws", calls, DONE, agent_type="hooked")
    assert driven.settled(run).output == "Done."
    assert results(driven, "s-throws") == [{"success": True, "result": 3}]


def test_a_typed_error_before_a_tool_is_the_calls_answer(driven: Scene) -> None:
    calls = {"calls": [call("add", a=1, b=2)]}
    run = driven.start("s-refuses-tool", calls, DONE, agent_type="hooked")
    assert driven.settled(run).output == "Done."
    (told,) = results(driven, "s-refuses-tool")
    assert (told["code"], told["error"]) == ("validation_error", "before_tool refuses")
    assert driven.stage.notes("tool") == []


def test_a_typed_error_before_a_model_call_ends_the_run(driven: Scene) -> None:
    run = driven.start("s-refuses-model", DONE, agent_type="hooked")
    row = driven.settled(run)
    assert (row.status, row.error_detail["code"]) == ("failed", "validation_error")
    assert driven.stage.notes("model") == []
    driven.stage.seen("hook", name="on_agent_fail")


@pytest.mark.parametrize("tool", ["once", "hold"])
def test_a_body_that_was_cut_off_runs_again_only_if_it_may(scene: Scene, tool: str) -> None:
    scene.crew.worker("A").ready()
    run = scene.start("s1", {"calls": [call(tool, gate="g")]}, DONE)
    scene.stage.seen("waits", gate="g")
    scene.crew.close()
    scene.stage.open("g")
    scene.crew.worker("B").ready()
    assert scene.settled(run).output == "Done."
    (told,) = results(scene)
    bodies = scene.stage.notes("tool", name=tool)
    assert {note["dedupe"] for note in bodies} == {f"{run.run_id}:1:1"}
    assert len(bodies) == (1 if tool == "once" else 2)
    assert told["success"] is (tool == "hold")


@pytest.mark.parametrize("inside", [True, False])
def test_a_kill_around_the_suspension_leaves_one_effect(scene: Scene, inside: bool) -> None:
    crash = Crash(inside_end=True) if inside else Crash(after_end=True)
    lost = scene.crew.worker("A", crash=crash)
    run = scene.start("s1", {"calls": [call("pick"), call("add", a=1, b=1)]}, DONE)
    assert lost.ended() == CRASHED
    assert (scene.door.run(run.run_id).status == "running") is inside
    scene.crew.worker("B").ready()
    scene.listened_to(1)
    (pick,) = suspended(scene, run)
    assert scene.settlements(run.run_id) == ["suspended_client_tool"]
    assert continued(scene, submitted(scene, pick, result=1).run_id).output == "Done."
    assert len(scene.stage.notes("tool", name="add")) == 1
    assert len(scene.stage.notes("model")) == 2
