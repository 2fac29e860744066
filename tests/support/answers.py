"""Answers to pending calls, as a client submits them in a scene: by the rule itself."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from tests.support.scene import Scene
from tests.support.seen import seen


def submitted(scene: Scene, call_id: str, session_id: str = "s1", **answer: Any) -> Any:
    """Submit a client's answer, {result} or {error}, or a decision, {approved, reason?}."""
    if "approved" in answer:
        row = scene.door.row(
            "select approval_id from lockgate_store.tool_calls"
            " where session_id = %s and tool_call_id = %s",
            session_id,
            call_id,
        )
        given = {"kind": "approval-response", "approvalId": row.approval_id, **answer}
    else:
        given = {"kind": "client-tool-result", **answer}
    told = scene.door.call(
        "submit_tool_result", session_id=session_id, tool_call_id=call_id, answer=given
    )
    if told.run_id is not None:
        scene.wake()
    return told


def pending(scene: Scene, run_id: UUID) -> list[Any]:
    """Return the calls of a run that a client or a person is to answer, in their order."""
    return [
        call
        for call in scene.door.calls(run_id)
        if call.status == "pending" and call.kind in ("client", "approval")
    ]


def suspended(scene: Scene, run: Any, status: str = "suspended_client_tool") -> list[str]:
    """Wait until a run is suspended; return the ids of the calls that wait for an answer."""
    row = scene.settled(run)
    assert row.status == status, row.error_detail
    return [call.tool_call_id for call in pending(scene, row.run_id)]


def continued(scene: Scene, run_id: UUID) -> Any:
    """Wait until the run that goes on has settled, and return its row."""
    return seen(
        lambda: row if (row := scene.door.run(run_id)).status != "running" else None,
        "the continuation has settled",
    )


def results(scene: Scene, session_id: str = "s1") -> list[dict[str, Any]]:
    """Return the results in a session's history, without the names of their calls."""
    named = ("type", "toolCallId", "toolName")
    return [
        {name: value for name, value in part.items() if name not in named}
        for message in scene.door.messages(session_id)
        if message.role == "tool"
        for part in message.content
    ]


def kinds_of(chunks: Sequence[dict[str, Any]]) -> list[str]:
    """Return the types of chunks in their order."""
    return [chunk["type"] for chunk in chunks]
