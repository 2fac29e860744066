"""Clients that go in the middle, and clients that come to another process."""

import asyncio
import json
from typing import Any

from tests.api.conftest import MakeApi
from tests.api.rig import (
    Api,
    until,
)
from tests.support.cluster import Database
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row


@case(54)
def test_no_process_remembers_what_another_has_finished(make_api: MakeApi, db: Door) -> None:
    here, there = make_api(), make_api()
    run_id = here.start("s1", key="k1").json()["runId"]
    db.beat()
    assert there.start("s1", key="k1").json()["status"] == "attached"
    drive = db.drive(db.row("select * from lockgate_store.runs").run_id)
    assert str(drive.run_id) == run_id
    assert there.start("s1").json()["code"] == "state_already_running"
    drive.finish()
    assert there.start("s1").json()["status"] == "started"
    assert there.get("/sessions/s1/status").json()["turn"] == 2


@case(38)
@row("E27")
def test_who_goes_while_the_entry_waits_stops_nothing(
    make_api: MakeApi, db: Door, clean_database: Database
) -> None:
    api = make_api()
    api.post("/sessions", {"agentType": AGENT, "sessionId": "s1"})

    async def leave() -> None:
        with clean_database.connect(autocommit=False) as holder:
            holder.execute("select from lockgate_store.sessions for no key update")
            request = asyncio.create_task(api.astart("s1"))
            await until(
                lambda: db.rows(
                    "select from pg_stat_activity where wait_event_type = 'Lock'"
                    " and application_name = 'lockgate'"
                )
            )
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
            assert db.rows("select from lockgate_store.runs") == []
        await until(lambda: db.rows("select from lockgate_store.runs"))

    api.run(leave())
    run = db.row("select * from lockgate_store.runs")
    assert (run.status, run.stop_kind) == ("running", None)
    db.drive(run.run_id).finish()
    assert api.get("/sessions/s1/status").json()["status"] == "completed"


@row("E26")
def test_who_goes_before_all_is_said_has_asked_nothing(unread: Api) -> None:
    sent: list[Any] = []
    messages = iter(
        [{"type": "http.request", "body": b'{"agentTy', "more_body": True}]
        + [{"type": "http.disconnect"}] * 3
    )

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/sessions/s1/start",
        "raw_path": b"/sessions/s1/start",
        "query_string": b"",
        "headers": [(b"host", b"x")],
        "root_path": "",
    }
    unread.run(unread.app(scope, receive, send))  # type: ignore[arg-type]
    assert json.loads(sent[1]["body"])["code"] == "framework_cancelled"
