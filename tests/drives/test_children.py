"""Sub-agents, driven: the parent waits without a drive, and goes on with what its child brings."""

from typing import Any

import pytest

from lockgate import EntryRefused
from tests.support.crashes import CRASHED, Crash
from tests.support.scene import Scene, call, said, script
from tests.support.seen import seen

DONE = {"say": "All is known."}


def helps(*turns: dict[str, Any]) -> dict[str, Any]:
    """Return a call of the sub-agent `helper`, which plays these turns."""
    return call("subagent__helper", message=script(*turns))


def brings(found: object) -> dict[str, Any]:
    return {"output": {"found": found}}


def begin(scene: Scene, session_id: str, *calls: dict[str, Any], **more: Any) -> Any:
    """Start a parent whose first step makes these calls."""
    given = {"agent_type": "parent", **more}
    return scene.start(session_id, {"calls": list(calls)}, DONE, **given)


def is_over(scene: Scene, session_id: str = "s1", status: str = "completed") -> Any:
    """Wait until a session has come to an end, and return it."""
    ends = (status, "failed", "completed", "interrupted")
    row: Any = seen(
        lambda: row if (row := scene.door.session(session_id)).status in ends else None,
        f"{session_id} is {status}",
    )
    assert row.status == status, row.error_detail
    return row


def results(scene: Scene, session_id: str = "s1") -> list[Any]:
    """Return the results in a session's history, in their order."""
    parts = (p for m in scene.door.messages(session_id) if m.role == "tool" for p in m.content)
    return [part["result"] if part["success"] else part["error"] for part in parts]


def children(scene: Scene, session_id: str = "s1") -> list[Any]:
    return scene.door.call_many("list_children", session_id=session_id)


def test_what_a_sub_agent_brings_is_the_result_of_its_call(driven: Scene) -> None:
    run = begin(driven, "s1", helps(brings(1)), call("add", a=1, b=2), helps(brings(2)))
    assert is_over(driven).output == "All is known."

    assert results(driven) == [{"found": 1}, 3, {"found": 2}]
    assert driven.settlements(run.run_id) == ["suspended_awaiting_children"]
    assert [child.status for child in children(driven)] == ["completed"] * 2
    types = [chunk["type"] for chunk in driven.door.chunks("s1")]
    assert types.count("subagent_start") == 2
    ends = [place for place, name in enumerate(types) if name == "subagent_end"]
    assert [types[place + 1] for place in ends] == ["tool_end"] * 2
    rollup = driven.door.call("usage_rollup", session_id="s1").rollup
    assert rollup["subAgentStats"] == {"totalCalls": 2, "byType": {"helper": 2}}


def test_a_child_that_fails_is_told_to_the_model(driven: Scene) -> None:
    fails = {"fail": {"code": "provider_error", "retryable": False, "message": "no words"}}
    begin(driven, "s1", helps(fails), helps(brings(2)))
    is_over(driven)

    broken, whole = results(driven)
    assert "no words" in broken
    assert whole == {"found": 2}


def test_a_child_that_waits_for_a_client_has_not_ended(driven: Scene) -> None:
    begin(driven, "s1", helps({"calls": [call("pick")]}, brings("picked")))
    (child,) = seen(lambda: children(driven), "the child is there")
    is_over(driven, child.child_session_id, "paused")
    is_over(driven, "s1", "paused")
    assert children(driven)[0].status == "running"

    (pick,) = driven.door.calls(driven.door.session(child.child_session_id).current_run_id)
    answer = {"kind": "client-tool-result", "result": "red"}
    named = {"session_id": "s1", "tool_call_id": pick.tool_call_id, "answer": answer}
    assert driven.door.call("submit_tool_result", **named).outcome == "accepted"
    driven.wake()
    is_over(driven)
    assert results(driven) == [{"found": "picked"}]
    assert results(driven, child.child_session_id) == ["red"]


def test_a_child_and_a_client_are_awaited_together(driven: Scene) -> None:
    run = begin(driven, "s1", call("pick"), helps(brings(1)))
    assert driven.settled(run).status == "suspended_client_tool"
    seen(lambda: [each for each in children(driven) if each.ended_at], "the child has ended")
    assert driven.door.session("s1").status == "paused"
    (pick,) = (c for c in driven.door.calls(run.run_id) if c.tool_name == "pick")
    answer = {"kind": "client-tool-result", "result": "blue"}
    named = {"session_id": "s1", "tool_call_id": pick.tool_call_id, "answer": answer}
    driven.door.call("submit_tool_result", **named)
    driven.wake()
    is_over(driven)
    assert results(driven) == ["blue", {"found": 1}]


def test_a_child_is_told_json_where_its_arguments_are_of_another_form(driven: Scene) -> None:
    begin(driven, "s1", call("subagent__helper", message=""))
    (child,) = seen(lambda: children(driven), "the child is there")
    (told,) = (m for m in driven.door.messages(child.child_session_id) if m.role == "user")
    assert told.content[0]["text"] == '{"message":""}'


def test_arguments_that_do_not_fit_make_no_child(driven: Scene) -> None:
    begin(driven, "s1", call("subagent__helper", text="hi"))
    is_over(driven)
    assert children(driven) == []
    assert "message" in results(driven)[0]


def test_a_parents_hooks_come_before_its_childs(driven: Scene) -> None:
    begin(driven, "s1", call("companion__spawnAgent", agent="digger", name="d", initialMessage="x"))
    is_over(driven)
    (child,) = children(driven)
    run_id = driven.door.session(child.child_session_id).current_run_id
    told = [note["whose"] for note in driven.stage.notes("hook", name="on_agent_start", run=run_id)]
    assert told == ["parent", "digger"]


@pytest.mark.parametrize("session_id", ["s1"])
def test_an_agent_whose_sub_agent_has_no_output_schema_takes_no_entry(
    driven: Scene, session_id: str
) -> None:
    with pytest.raises(EntryRefused) as refused:
        driven.start(session_id, DONE, agent_type="childish")
    assert refused.value.code == "validation_error"
    assert driven.door.rows("select from lockgate_store.sessions") == []

    driven.door.start(session_id, said(DONE), agent_type="childish")
    driven.wake()
    assert is_over(driven, session_id, "failed").error_detail["code"] == "validation_error"


def test_a_companion_that_blocks_answers_its_spawn_and_takes_messages(driven: Scene) -> None:
    spawn = {"agent": "digger", "name": "d", "initialMessage": script({"say": "gold"})}
    send = {"name": "d", "message": script({"say": "silver"})}
    driven.start(
        "s1",
        {"calls": [call("companion__spawnAgent", **spawn)]},
        {"calls": [call("companion__sendMessage", **send)]},
        {"calls": [call("companion__waitForResult", name="d")]},
        {"calls": [call("companion__getChildStatus", name="d"), call("companion__listChildren")]},
        DONE,
        agent_type="parent",
    )
    is_over(driven)
    first, sent, waited, status, listed = results(driven)

    assert (first, sent, waited) == ("gold", {"delivered": True}, "silver")
    assert status == {"name": "d", "status": "completed", "output": "silver"}
    assert [(each["name"], each["status"]) for each in listed] == [("d", "completed")]


def test_a_companion_in_the_background_answers_at_once(driven: Scene) -> None:
    message = script({"say": "@hold:dig deep"}, brings("late"))
    spawn = {"agent": "helper", "name": "h", "initialMessage": message}
    begin(driven, "s1", call("companion__spawnAgent", **spawn))
    is_over(driven)
    (child,) = children(driven)
    assert (child.mode, child.status) == ("background", "running")
    assert results(driven)[0]["childSessionId"] == child.child_session_id
    driven.stage.open("dig")
    seen(lambda: children(driven)[0].status != "running", "it has ended, and is on record")


def test_a_wait_for_a_name_that_nobody_has_is_answered(driven: Scene) -> None:
    begin(driven, "s1", call("companion__waitForResult", name="nobody"))
    is_over(driven)
    assert "nobody" in results(driven)[0]


@pytest.mark.parametrize("tool", ["subagent__helper", "companion__spawnAgent"])
def test_a_crash_after_any_commit_leaves_each_call_one_child(scene: Scene, tool: str) -> None:
    """The worker that dies drives nothing but the parent's run: one slot, and no second look."""
    for n in range(1, 6):
        name = f"s{n}"
        message = script(brings(n)) if tool == "subagent__helper" else script({"say": f"dug {n}"})
        args = (
            {"message": message}
            if tool == "subagent__helper"
            else {"agent": "digger", "name": "d", "initialMessage": message}
        )
        begin(scene, name, call(tool, **args), call("add", a=n, b=1))
        crash = Crash(after=n)
        worker = scene.crew.worker(f"dies-{n}", crash=crash, concurrency=1, sweep_every_s=600)
        seen(lambda worker=worker: worker.has_ended, "it has died")  # type: ignore[misc]
        assert worker.ended() == CRASHED, worker.log.read_text()
    scene.crew.worker("survivor").ready()
    for n in range(1, 6):
        is_over(scene, f"s{n}")
        assert len(children(scene, f"s{n}")) == 1
        first = {"found": n} if tool == "subagent__helper" else f"dug {n}"
        assert results(scene, f"s{n}") == [first, n + 1]
