"""Runs that wait for somebody else, and the answers to them, as a test sends them."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.support.door import Door, Drive, tool


def client(model_id: str | None = "pick-1", **more: Any) -> dict[str, Any]:
    """Return a call of a tool that the client runs."""
    return {**tool(model_id, "pick"), "kind": "client", **more}


def approval(model_id: str | None = "pay-1", **more: Any) -> dict[str, Any]:
    """Return a call of a tool that waits for an approval."""
    return {**tool(model_id, "pay", amount=5), "kind": "approval", **more}


def subagent(model_id: str | None = "ask-1", **more: Any) -> dict[str, Any]:
    """Return a call of a sub-agent."""
    return {**tool(model_id, "delegate"), "kind": "subagent", **more}


def suspended(db: Door, *calls: dict[str, Any], session_id: str = "s1", **more: object) -> Drive:
    """Start a run that says something, makes these calls and waits; one client call by default."""
    return suspends(db.driven(session_id, **more), *calls)


def suspends(drive: Drive, *calls: dict[str, Any]) -> Drive:
    """Let a claimed run make these calls in its first step and wait for their answers."""
    drive.reply(1, "your turn", *(calls or (client(),)))
    assert drive.suspend().outcome == "suspended"
    return drive


def delegated(db: Door, parent: Drive, tool_call_id: str = "ask-1") -> Any:
    """Start the child that a sub-agent's call asks for."""
    run = db.run(parent.run_id)
    child = db.call(
        "start_child",
        session_id=run.session_id,
        run_id=parent.run_id,
        attempt=parent.attempt,
        tool_call_id=tool_call_id,
        agent_type="helper",
        input={"message": "do it"},
    )
    assert child.outcome == "started", child
    return child


def submit(db: Door, tool_call_id: object = "pick-1", result: object = "yes", **more: Any) -> Any:
    """Answer a client call with a result; `answer` in `more` replaces the whole answer."""
    return _ask(db, "submit_tool_result", tool_call_id, result, **more)


def plan(db: Door, tool_call_id: object = "pick-1", result: object = "yes", **more: Any) -> Any:
    """Ask what `submit` with the same arguments would say."""
    return _ask(db, "plan_submit", tool_call_id, result, **more)


def _ask(db: Door, function: str, tool_call_id: object, result: object, **more: Any) -> Any:
    answer = more.pop("answer", {"kind": "client-tool-result", "result": result})
    given = {"session_id": "s1", **more}
    return db.call(function, tool_call_id=tool_call_id, answer=Jsonb(answer), **given)


def forget_to_continue(db: Door, run_id: UUID) -> None:
    """Answer what a run still waits for, as somebody does who starts nothing after it."""
    db.execute(
        "update lockgate_store.tool_calls set status = 'answered', submitted_at = lockgate.now(),"
        """ response = '{"success": true, "result": "forgotten"}'"""
        " where run_id = %s and status = 'pending'",
        run_id,
    )


def failing(error: str = "no such shop") -> dict[str, Any]:
    return {"kind": "client-tool-result", "error": error}


def decision(db: Door, approved: bool, tool_call_id: str = "pay-1", **more: Any) -> dict[str, Any]:
    """Return the answer to an approval under its own approval id."""
    return {
        "kind": "approval-response",
        "approvalId": approval_id(db, tool_call_id),
        "approved": approved,
        **more,
    }


def approval_id(db: Door, tool_call_id: str = "pay-1") -> str:
    row = db.row(
        "select approval_id from lockgate_store.tool_calls where tool_call_id = %s", tool_call_id
    )
    return str(row.approval_id)


def results(db: Door, session_id: str = "s1") -> list[dict[str, Any]]:
    """Return the results in a session's history, in their order."""
    messages = db.messages(session_id)
    return [part for message in messages if message.role == "tool" for part in message.content]


def unpaired(db: Door, session_id: str = "s1") -> set[str]:
    """Return the ids of calls in a session's history that have no result behind them."""
    open_calls: set[str] = set()
    for message in db.messages(session_id):
        for part in message.content:
            if part["type"] == "tool_call":
                open_calls.add(part["toolCallId"])
            elif part["type"] == "tool_result":
                open_calls.remove(part["toolCallId"])
    return open_calls
