"""S51: the last child finishes and nobody wakes the parent."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.door import Drive
from tests.support.family import born, calling, never_run, suspend
from tests.support.proves import case
from tests.support.scene import Scene, call, said, script
from tests.support.seen import seen

ROUNDS, AT_ONCE = 100, 10
CHILDREN = 4
DONE = {"say": "Four answers."}


@pytest.fixture
def two(scene: Scene) -> Scene:
    """A scene in which A and B drive; whatever fails once has failed."""
    for name in ("A", "B"):
        scene.crew.worker(name, max_attempts=1).ready()
    scene.listened_to(2)
    return scene


def waits(gate: str, *turns: dict[str, Any]) -> str:
    """Return a child's script that waits at a gate first."""
    return script({"calls": [call("hold", gate=gate)]}, *turns)


def brings(found: object) -> dict[str, Any]:
    return {"output": {"found": found}}


def begin(scene: Scene, session_id: str, *scripts: str) -> None:
    """Start a parent that calls a child for each script."""
    calls = [call("subagent__helper", message=each) for each in scripts]
    scene.start(session_id, {"calls": calls}, DONE, agent_type="parent")


def children(scene: Scene, session_id: str) -> list[str]:
    """Return the children's sessions, in the order of the calls, once all of them are there."""
    query = (
        "select k.child_session_id from lockgate_store.children k"
        "  join lockgate_store.tool_calls c using (tenant_id, session_id, tool_call_id)"
        " where k.session_id = %s order by c.ordinal"
    )
    found = seen(
        lambda: rows if len(rows := scene.door.rows(query, session_id)) == CHILDREN else [],
        f"the children of {session_id}",
    )
    return [row.child_session_id for row in found]


def is_suspended(scene: Scene, session_id: str) -> None:
    seen(lambda: scene.door.session(session_id).status == "paused", f"{session_id} is suspended")


def went_on_once(scene: Scene, session_id: str) -> list[Any]:
    """Hold that a parent continued exactly once, to its end; return the results it was given."""
    seen(lambda: scene.door.session(session_id).status == "completed", f"{session_id} is over")
    runs = scene.door.rows(
        "select drive, status from lockgate_store.runs where session_id = %s order by turn",
        session_id,
    )
    assert [(run.drive, run.status) for run in runs] == [
        ("start", "superseded"),
        ("continue", "completed"),
    ]
    parts = (p for m in scene.door.messages(session_id) if m.role == "tool" for p in m.content)
    return [part["result"] if part["success"] else part["error"] for part in parts]


@case(51)
def test_four_children_that_end_together_continue_their_parent_once(two: Scene) -> None:
    everyone = [{"found": n} for n in range(CHILDREN)]
    for first in range(0, ROUNDS, AT_ONCE):
        names = [f"s{n}" for n in range(first, first + AT_ONCE)]
        for name in names:
            begin(two, name, *(waits(f"g{first}", brings(n)) for n in range(CHILDREN)))
        for name in names:
            children(two, name)
            is_suspended(two, name)
        waiting = AT_ONCE * CHILDREN
        seen(lambda: len(two.stage.notes("waits", gate=f"g{first}")) == waiting, "all wait")  # noqa: B023 - looked at once
        two.stage.open(f"g{first}")
        for name in names:
            assert went_on_once(two, name) == everyone
    drivers = {note["pid"] for note in two.stage.notes("waits")}
    assert len(drivers) == 2, "the children ran over A and B"


def aborted(scene: Scene, child: str) -> None:
    assert scene.door.call("abort", session_id=child).outcome == "stopping"


def deleted(scene: Scene, child: str) -> None:
    assert scene.door.delete_session(child).outcome == "deleted"
    scene.wake()


def answered(scene: Scene, child: str) -> None:
    run_id = scene.door.session(child).current_run_id
    (pick,) = scene.door.calls(run_id)
    answer = {"kind": "client-tool-result", "result": "red"}
    named = {"session_id": child, "tool_call_id": pick.tool_call_id, "answer": answer}
    assert scene.door.call("submit_tool_result", **named).outcome == "accepted"
    scene.wake()


FAILS = {"fail": {"code": "provider_error", "retryable": False, "message": "no words"}}
WAYS: dict[str, tuple[str, Callable[[Scene, str], None] | None, str]] = {
    "fails": (script(FAILS), None, "no words"),
    "exhausts": (script({"say": "@raise:odd"}), None, "The run made no progress in 1 attempts"),
    "aborted": (waits("never"), aborted, "The run was cancelled"),
    "deleted": (waits("never"), deleted, "The session was deleted"),
}


@case(51)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_last", [True, False], ids=["last", "first"])
def test_a_child_that_ends_otherwise_is_an_answer_too(two: Scene, way: str, is_last: bool) -> None:
    played, ends, error = WAYS[way]
    others = [waits("others", brings(n)) for n in range(1, CHILDREN)]
    if is_last:
        two.stage.open("others")
    begin(two, "s1", played, *others)
    odd, *rest = children(two, "s1")
    for child in rest if is_last else ():
        seen(lambda child=child: two.door.session(child).status == "completed", child)  # type: ignore[misc]
    is_suspended_or_over(two, "s1")
    if ends is not None:
        ends(two, odd)
    two.stage.open("others")

    first, *found = went_on_once(two, "s1")
    assert error in first
    assert found == [{"found": n} for n in range(1, CHILDREN)]


def is_suspended_or_over(scene: Scene, session_id: str) -> None:
    """The child that fails by itself may have been the last one already."""
    seen(lambda: scene.door.session(session_id).status in ("paused", "completed"), session_id)


@case(51)
def test_a_child_that_pauses_first_is_waited_for(two: Scene) -> None:
    pauses = script({"calls": [call("pick")]}, brings("picked"))
    begin(two, "s1", pauses, *(script(brings(n)) for n in range(1, CHILDREN)))
    odd, *others = children(two, "s1")
    for child in others:
        seen(lambda child=child: two.door.session(child).status == "completed", child)  # type: ignore[misc]
    is_suspended(two, odd)
    is_suspended(two, "s1")
    assert two.door.session("s1").turn_count == 1
    answered(two, odd)

    assert went_on_once(two, "s1") == [
        {"found": "picked"},
        *({"found": n} for n in range(1, CHILDREN)),
    ]


@case(51)
def test_a_child_that_never_gets_a_run_is_an_answer_too(scene: Scene) -> None:
    """Its parent is driven by hand, since our own rule makes child and run in one commit."""
    names = [f"call-{n}" for n in range(CHILDREN)]
    calls = [call("subagent__helper", message="x") for _ in names]
    message = said({"calls": calls}, DONE)
    parent = calling(scene.door, *names, session_id="s1", say=message, agent_type="parent")
    odd, *others = born(parent, *names)
    assert suspend(parent).outcome == "suspended"
    session_id = never_run(scene.door, odd)
    for n, child in enumerate(others, start=1):
        ended(child, n)
    detail = {"message": "no such model", "code": "framework_agent_not_found"}
    named = {"session_id": session_id, "error_detail": detail}
    assert scene.door.call("fail_session_without_run", **named).outcome == "failed"
    for name in ("A", "B"):
        scene.crew.worker(name).ready()

    assert went_on_once(scene, "s1") == [
        "no such model",
        *({"found": n} for n in range(1, CHILDREN)),
    ]


def ended(child: Drive, found: int) -> None:
    assert child.finish("completed", output={"found": found}).outcome == "finished"
