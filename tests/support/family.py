"""A parent whose step calls sub-agents, and its children: what their drives would send."""

from typing import Any
from uuid import UUID

from tests.support.door import Door, Drive, tool


def sub(call_id: str, **arguments: object) -> dict[str, Any]:
    """Return a call of a sub-agent, as a reply carries it."""
    return {**tool(call_id, "subagent__helper", **arguments), "kind": "subagent"}


def calling(db: Door, *call_ids: str, session_id: str = "parent", **more: Any) -> Drive:
    """Start a parent whose first step calls a sub-agent under each of these ids."""
    drive = db.driven(session_id, **more)
    drive.reply(1, "", *(sub(call_id) for call_id in call_ids))
    return drive


def address(drive: Drive) -> dict[str, object]:
    run = drive.door.run(drive.run_id)
    return {"session_id": run.session_id, "run_id": drive.run_id, "attempt": drive.attempt}


def begin(drive: Drive, call_id: str, **more: object) -> Any:
    """Start the child of a call; `more` are other arguments of start_child."""
    given = {"agent_type": "helper", "input": {"message": f"do {call_id}"}, **more}
    answer = drive.door.call("start_child", **address(drive), tool_call_id=call_id, **given)
    drive.head = answer.head_sequence or drive.head
    return answer


def born(drive: Drive, *call_ids: str, **more: object) -> list[Drive]:
    """Start the child of each call, and claim its run."""
    return [drive.door.drive(begin(drive, call_id, **more).child_run_id) for call_id in call_ids]


def suspend(drive: Drive, step: int = 1) -> Any:
    return drive.door.call("suspend_run", **address(drive), step=step)


def waiting(db: Door, *call_ids: str, **more: Any) -> tuple[Drive, list[Drive]]:
    """Suspend a parent over its children, and return both."""
    parent = calling(db, *call_ids, **more)
    children = born(parent, *call_ids)
    answer = suspend(parent)
    assert (answer.outcome, answer.run_status) == ("suspended", "suspended_awaiting_children")
    return parent, children


def end(child: Drive, status: str = "completed", output: object = None) -> Any:
    """End a child's run as its drive does."""
    more = {"output": {"said": output}} if output is not None else {}
    if status == "failed":
        more = {"error_detail": {"message": "the child broke", "code": "tool_execution_failed"}}
    return child.finish(status, **more)


def session_of(child: Drive) -> str:
    return str(child.door.run(child.run_id).session_id)


def records(db: Door, session_id: str = "parent") -> list[Any]:
    """Return what a parent has on record of its children."""
    return db.call_many("list_children", session_id=session_id)


def never_run(db: Door, child: Drive) -> str:
    """Make a child one whose session was made and whose first entry never came."""
    session_id = session_of(child)
    db.execute("delete from dbos.workflow_status where workflow_uuid = %s", str(child.drive_id))
    for table in ("runs", "streams", "stream_chunks", "messages", "settlements", "deliveries"):
        db.execute(f"delete from lockgate_store.{table} where session_id = %s", session_id)
    db.execute(
        "update lockgate_store.sessions set current_run_id = null, turn_count = 0,"
        " message_count = 0, first_run_due = true where session_id = %s",
        session_id,
    )
    return session_id


def continuation(db: Door, drive: Drive) -> Any:
    """Return the one run that goes on with a suspended one."""
    (run,) = db.rows(
        "select n.* from lockgate_store.runs r join lockgate_store.runs n"
        "    on n.tenant_id = r.tenant_id and n.session_id = r.session_id and n.turn = r.turn + 1"
        " where r.run_id = %s and n.drive = 'continue'",
        drive.run_id,
    )
    return run


def results(db: Door, session_id: str = "parent") -> dict[str, Any]:
    """Return the results in the parent's history, by the call's id."""
    return {
        part["toolCallId"]: {name: part.get(name) for name in ("success", "result", "error")}
        for message in db.messages(session_id)
        if message.role == "tool"
        for part in message.content
    }


def runs(db: Door, session_id: str = "parent") -> list[UUID]:
    """Return the session's runs in their order."""
    return [
        row.run_id
        for row in db.rows(
            "select run_id from lockgate_store.runs where session_id = %s order by turn", session_id
        )
    ]
