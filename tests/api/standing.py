"""Sessions as they stand before a resume or a retry, made by the rules without a worker."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import httpx

from tests.api.rig import Api
from tests.support.door import AGENT, Door, Drive, tool
from tests.support.suspensions import delegated, subagent

CONTINUE = {"mode": "continue"}


def resume(api: Api, options: object = CONTINUE, **more: Any) -> httpx.Response:
    """Resume session s1; `more` are a key, headers, and fields of the body."""
    return _entry(api, "resume", {"options": options}, **more)


def retry(api: Api, **more: Any) -> httpx.Response:
    """Retry session s1; `more` are a key, headers, and fields of the body."""
    return _entry(api, "retry", {}, **more)


def _entry(
    api: Api,
    verb: str,
    given: Mapping[str, object],
    *,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
    **body: object,
) -> httpx.Response:
    keyed = {} if key is None else {"X-Helix-Request-Key": key}
    return api.post(
        f"/sessions/s1/{verb}",
        {"agentType": AGENT, **given, **body},
        headers={**keyed, **(headers or {})},
    )


def executing(api: Api, db: Door) -> Drive:
    """A run that executes, with one committed step behind it."""
    db.beat()
    drive = db.drive(UUID(api.start("s1", "hi").json()["runId"]))
    drive.reply(1, "Let me see.", tool())
    drive.result(1, 1)
    drive.step(1)
    return drive


def stranded(api: Api, db: Door) -> UUID:
    """A run that nothing executes any more: of its worker nothing is heard."""
    run_id = executing(api, db).run_id
    db.execute("update lockgate_store.workers set heartbeat_at = heartbeat_at - interval '1 day'")
    db.execute("update lockgate_store.runs set claimed_at = claimed_at - interval '1 day'")
    return run_id


def completed(api: Api, db: Door) -> UUID:
    drive = executing(api, db)
    drive.reply(2, "Done.")
    drive.finish()
    return drive.run_id


def failed(api: Api, db: Door) -> UUID:
    drive = executing(api, db)
    drive.finish("failed", error_detail={"message": "m"})
    return drive.run_id


def interrupted(api: Api, db: Door) -> UUID:
    executing(api, db)
    return _stands(db, "interrupted", "ended")


def paused(api: Api, db: Door) -> UUID:
    """A suspended run of which nothing is awaited."""
    executing(api, db)
    return _stands(db, "suspended_client_tool", "paused")


def awaiting(api: Api, db: Door) -> UUID:
    """A suspended run that waits for the answers to two client tools."""
    drive = executing(api, db)
    drive.reply(2, "", tool("call-b"), tool("call-c"))
    db.execute("update lockgate_store.tool_calls set kind = 'client' where step = 2")
    return _stands(db, "suspended_client_tool", "paused")


def awaiting_children(api: Api, db: Door) -> UUID:
    """A suspended run that waits for a sub-agent, which has not ended."""
    drive = executing(api, db)
    drive.reply(2, "", subagent("call-b"))
    delegated(db, drive, "call-b")
    assert drive.suspend(2).run_status == "suspended_awaiting_children"
    return drive.run_id


def never_run(api: Api, db: Door) -> None:
    db.create_session("s1")


def stop(db: Door) -> None:
    """End the current run interrupted."""
    _stands(db, "interrupted", "ended")


def _stands(db: Door, run_status: str, stream_status: str) -> UUID:
    """Bring the current run to a status as a runtime that is not ours does."""
    run_id: UUID = db.session().current_run_id
    written = db.call("update_run_status", session_id="s1", run_id=run_id, status=run_status)
    closed = db.call(
        "close_stream", session_id="s1", status=stream_status, expect_run_id=str(run_id)
    )
    assert (written.outcome, closed.outcome) == ("written", "closed")
    return run_id
