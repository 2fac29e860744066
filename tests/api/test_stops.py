"""POST interrupt and abort: reference/http.md 11 and 12.7."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from pydantic import TypeAdapter

from lockgate_api.documents import StopAnswer
from tests.api.conftest import MakeApi
from tests.api.pending import suspended
from tests.api.rig import Api, as_user, driven, error, until
from tests.support.door import Door
from tests.support.proves import case
from tests.support.rows import row

both = pytest.mark.parametrize("verb", ["interrupt", "abort"])
ENDS = {"interrupt": "interrupted", "abort": "failed"}


def stop(api: Api, verb: str, body: object = None, **more: Any) -> Any:
    """Ask for a stop; `more` are headers."""
    return api.post(f"/sessions/s1/{verb}", {} if body is None else body, **more)


def said(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    TypeAdapter(StopAnswer).validate_python(answer.json(), extra="forbid")
    return answer.json()


@both
@row("I1", "I7")
def test_a_run_that_executes_is_stopped_once(api: Api, db: Door, verb: str) -> None:
    drive = driven(api, db)
    stopping = {"sessionId": "s1", "status": "stopping", "runId": str(drive.run_id)}
    assert said(stop(api, verb, {"reason": "enough"})) == stopping
    run = db.run(drive.run_id)
    assert (run.stop_kind, run.stop_reason) == (verb, "enough")
    with db.nothing_written():
        assert said(stop(api, verb, {"reason": "really"})) == stopping
    assert drive.finish("stopped").run_status == ENDS[verb]


@row("I1")
def test_a_run_that_nobody_has_begun_is_stopped_too(api: Api, db: Door) -> None:
    run_id = api.start().json()["runId"]
    assert said(stop(api, "interrupt"))["runId"] == run_id
    db.drive(db.session().current_run_id).finish("stopped")


def test_an_abort_outranks_an_interrupt_and_not_the_other_way(api: Api, db: Door) -> None:
    drive = driven(api, db)
    for verb in ("interrupt", "abort", "interrupt"):
        said(stop(api, verb))
    assert db.run(drive.run_id).stop_kind == "abort"
    drive.finish("stopped")


@both
@row("I2")
def test_who_waits_is_told_the_end(api: Api, db: Door, verb: str) -> None:
    drive = driven(api, db)

    async def waits() -> Any:
        async def ends() -> bool:
            if db.run(drive.run_id).stop_kind is None:
                return False
            drive.finish("stopped")
            return True

        answer = api.apost(f"/sessions/s1/{verb}?wait=true", {})
        return (await asyncio.gather(answer, until(ends)))[0]

    assert said(api.run(waits())) == {
        "sessionId": "s1",
        "status": "stopped",
        "runId": str(drive.run_id),
        "runStatus": ENDS[verb],
    }


@both
@row("I3")
def test_who_waits_too_long_is_told_that_it_stands(make_api: MakeApi, db: Door, verb: str) -> None:
    api = make_api(concurrent_entry_timeout_ms=30)
    drive = driven(api, db)
    answer = api.post(f"/sessions/s1/{verb}?wait=true", {})
    assert said(answer)["status"] == "stopping"
    assert db.run(drive.run_id).stop_kind == verb
    drive.finish("stopped")


@case(11)
@row("I4")
def test_a_paused_session_takes_no_stop(api: Api, db: Door) -> None:
    drive = suspended(api, db, "pick")
    named = {"runId": str(drive.run_id)}
    with db.nothing_written():
        for body in ({}, named):
            assert error(stop(api, "interrupt", body)) == (400, "validation_error", False)
            not_running = {"sessionId": "s1", "status": "not_running", **named}
            assert said(stop(api, "abort", body)) == not_running
        assert said(api.post("/sessions/s1/abort?wait=true", {}))["status"] == "not_running"
    assert [call["status"] for call in api.get("/sessions/s1/snapshot").json()["pending"]] == [
        "pending"
    ]


@both
@row("I5")
def test_where_nothing_runs_nothing_is_written(api: Api, db: Door, verb: str) -> None:
    drive = driven(api, db)
    drive.finish()
    with db.nothing_written():
        over = {"sessionId": "s1", "status": "not_running", "runId": str(drive.run_id)}
        assert said(stop(api, verb)) == said(stop(api, verb, {"runId": over["runId"]})) == over
        stranger = str(uuid4())
        assert said(stop(api, verb, {"runId": stranger}))["runId"] == stranger
    db.create_session("s2")
    assert said(api.post(f"/sessions/s2/{verb}", {})) == {
        "sessionId": "s2",
        "status": "not_running",
    }


@both
@row("I6")
def test_no_session_is_409_and_so_is_another_users(make_api: MakeApi, db: Door, verb: str) -> None:
    api = make_api({"authenticate": as_user})
    assert error(stop(api, verb, headers={"x-user": "ann"})) == (
        409,
        "state_session_not_found",
        False,
    )
    api.start(headers={"x-user": "ann"})
    with db.nothing_written():
        refusals = [
            stop(api, verb, headers={"x-user": "bob"}),
            stop(api, verb, headers={"x-user": "ann", "x-tenant": "t2"}),
        ]
    assert [error(each)[:2] for each in refusals] == [(409, "state_session_not_found")] * 2
    assert said(stop(api, verb, headers={"x-user": "ann"}))["status"] == "stopping"
    db.drive(db.session().current_run_id).finish("stopped")


@case(10)
@both
@row("I8")
def test_a_late_stop_touches_no_later_run(api: Api, db: Door, verb: str) -> None:
    first = driven(api, db)
    first.finish()
    second = driven(api, db)
    with db.nothing_written():
        late = said(stop(api, verb, {"runId": str(first.run_id)}))
    assert (late["status"], late["runId"]) == ("not_running", str(first.run_id))
    assert second.finish().run_status == "completed"


@both
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"runId": "none"}, "runId"),
        ({"runId": 5}, "runId"),
        ({"reason": 5}, "reason"),
        ({"includeSuspended": True}, "includeSuspended"),
    ],
)
def test_a_stop_of_another_shape_is_refused(
    unread: Api, verb: str, body: object, field: str
) -> None:
    answer = stop(unread, verb, body)
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"] == field


@both
def test_wait_is_true_or_false(unread: Api, verb: str) -> None:
    answer = unread.post(f"/sessions/s1/{verb}?wait=1", {})
    assert (error(answer), answer.json()["field"]) == ((400, "validation_error", False), "wait")
