"""Sessions whose run waits for a client, made by the rules without a worker, and their answers."""

from typing import Any
from uuid import UUID

import httpx

from lockgate import Agent, define_agent, tool
from lockgate.models.offline import OfflineModel
from tests.api.rig import Api
from tests.support.door import AGENT, Door, Drive
from tests.support.door import tool as called

KINDS = {"pick": "client", "pay": "approval", "look_up": "server", "delegate": "subagent"}


def suspended(api: Api, db: Door, *names: str, session_id: str = "s1", **more: Any) -> Drive:
    """Suspend a run on calls `call-1`, `call-2`, … of these tools; `more` as Api.start takes."""
    drive = waiting(api, db, *names, session_id=session_id, **more)
    suspend(drive)
    return drive


def waiting(api: Api, db: Door, *names: str, session_id: str = "s1", **more: Any) -> Drive:
    """Save a reply with these calls; none is announced to a client yet."""
    db.beat()
    drive = db.drive(UUID(api.start(session_id, **more).json()["runId"]))
    calls = [
        {**called(f"call-{number}", name, n=number), "kind": KINDS[name], "retentionMs": 60_000}
        for number, name in enumerate(names, start=1)
    ]
    drive.reply(1, "Your turn.", *calls)
    return drive


def suspend(drive: Drive) -> None:
    """Announce what is awaited, and pause."""
    answer = drive.door.call(
        "suspend_run",
        session_id=drive.door.run(drive.run_id).session_id,
        run_id=drive.run_id,
        attempt=drive.attempt,
        step=1,
    )
    assert answer.outcome == "suspended", answer


def submit(
    api: Api, body: object, *, session_id: str = "s1", headers: dict[str, str] | None = None
) -> httpx.Response:
    """Post an answer, whatever it is."""
    return api.post(f"/sessions/{session_id}/submit-tool-result", body, headers=headers or {})


def result(value: object, tool_call_id: str = "call-1", **more: object) -> dict[str, Any]:
    """Return the body of a client tool's result."""
    return {
        "kind": "client-tool-result", "toolCallId": tool_call_id, "result": value, **more
    }  # fmt: skip


def failure(error: object, tool_call_id: str = "call-1") -> dict[str, Any]:
    """Return the body of a client tool that failed."""
    return {"kind": "client-tool-result", "toolCallId": tool_call_id, "error": error}


def decision(
    db: Door, approved: bool, tool_call_id: str = "call-1", **more: object
) -> dict[str, Any]:
    """Return the body of a decision on an approval that was asked for."""
    asked = db.row(
        "select approval_id from lockgate_store.tool_calls where tool_call_id = %s", tool_call_id
    )
    return {
        "kind": "approval-response",
        "toolCallId": tool_call_id,
        "approvalId": asked.approval_id,
        "approved": approved,
        **more,
    }


def stored(db: Door, tool_call_id: str = "call-1") -> Any:
    """Read the row of a call."""
    return db.row("select * from lockgate_store.tool_calls where tool_call_id = %s", tool_call_id)


def continuation(db: Door, session_id: str = "s1") -> Any:
    """Read the current run, which goes on with a suspended one."""
    return db.run(db.session(session_id).current_run_id)


def strict_agent(schema: Any) -> Agent:
    """Define an agent whose `pick` must give what a schema asks for."""

    @tool(execute="client", output_schema=schema)
    def pick(n: int) -> Any:
        """Pick one."""

    return define_agent(AGENT, model=OfflineModel(), tools=[pick])
