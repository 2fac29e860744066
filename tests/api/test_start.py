"""POST /sessions/{id}/start, row by row: reference/http.md 12.3, E1 to E29."""

import asyncio
from typing import Any

import pytest
from litestar import Response

from lockgate import (
    AgentRegistry,
    BeforeEntryContext,
    DriveFactoryContext,
    EntryRefused,
    Hooks,
    Refuse,
)
from lockgate.rules import entries
from tests.api.conftest import MakeApi
from tests.api.rig import Api, agent, until
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row


def error(answer: Any) -> tuple[int, str, bool]:
    body = answer.json()
    return answer.status_code, body["code"], body["retryable"]


def current(db: Door, session_id: str = "s1") -> Any:
    return db.run(db.session(session_id).current_run_id)


@row("E1")
def test_a_new_session_is_started(api: Api, db: Door) -> None:
    answer = api.start("s1", "hello", state={"n": 1}, tags=["a"], metadata={"k": "v"})
    assert answer.status_code == 200
    run = current(db)
    assert answer.json() == {
        "sessionId": "s1",
        "streamId": "s1",
        "runId": str(run.run_id),
        "status": "started",
        "startSequence": 0,
    }
    session = db.session()
    assert (session.state, session.tags, session.metadata) == ({"n": 1}, ["a"], {"k": "v"})
    assert [message.content for message in db.messages()] == [[{"type": "text", "text": "hello"}]]
    assert db.workflow(run.drive_id).status == "ENQUEUED"


@row("E1")
def test_a_message_may_have_many_parts(api: Api, db: Door) -> None:
    file = {"type": "file", "mediaType": "image/png", "url": "https://x/y", "filename": "y.png"}
    message = [
        {"role": "user", "content": [{"type": "text", "text": "see"}, file], "id": "m1"},
        {"role": "user", "content": "and answer"},
    ]
    assert api.start("s1", message).status_code == 200
    assert [m.content for m in db.messages()] == [
        [{"type": "text", "text": "see"}, file],
        [{"type": "text", "text": "and answer"}],
    ]


def test_numbers_of_a_state_are_kept_exactly(api: Api) -> None:
    numbers = b'{"a":0.1000000000000000055511151231257827,"b":12345678901234567890123,"c":1E-300}'
    body = b'{"agentType":"support","input":{"message":"hi","state":' + numbers + b"}}"
    assert api.post("/sessions/s1/start", body).status_code == 200
    text = api.get("/sessions/s1/snapshot").text
    assert '"a":0.1000000000000000055511151231257827' in text
    assert '"b":12345678901234567890123' in text


@row("E2")
@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_an_idle_session_starts_its_next_run(api: Api, db: Door, status: str) -> None:
    api.start("s1", "one")
    drive = db.drive(current(db).run_id)
    drive.append("a", "b")
    if status == "interrupted":
        db.execute("update lockgate_store.runs set stop_kind = 'interrupt', stop_requested_at = now()")
        drive.finish("stopped")
    else:
        drive.finish(status, **({"error_detail": {"message": "m"}} if status == "failed" else {}))
    head = db.stream().head_sequence
    answer = api.start("s1", "two").json()
    assert (answer["status"], answer["startSequence"]) == ("started", head)
    assert db.session().turn_count == 2


@row("E4")
def test_a_live_run_that_nothing_executes_is_superseded(make_api: MakeApi, db: Door) -> None:
    api = make_api(dispatch_limit_ms=0)
    first = api.start("s1", "one").json()
    second = api.start("s1", "two").json()
    assert second["status"] == "started"
    assert db.row(
        "select status from lockgate_store.runs where run_id = %s", first["runId"]
    ).status == "superseded"


@row("E5")
def test_a_run_whose_terminal_commit_has_landed_gets_that_status(api: Api, db: Door) -> None:
    api.start("s1", "one")
    first = current(db)
    db.execute(
        "update lockgate_store.sessions set status = 'completed', terminal_run_id = current_run_id,"
        " terminal_status = 'completed'"
    )
    assert api.start("s1", "two").json()["status"] == "started"
    assert db.run(first.run_id).status == "completed"


@row("E6")
@pytest.mark.parametrize("claimed", [False, True])
def test_a_run_that_executes_is_busy(api: Api, db: Door, claimed: bool) -> None:
    api.start("s1", "one")
    if claimed:
        db.beat()
        db.drive(current(db).run_id)
    with db.nothing_written():
        answer = api.start("s1", "two")
    assert error(answer) == (409, "state_already_running", True)
    assert set(answer.json()) == {"error", "code", "retryable"}


@row("E7")
def test_the_last_message_wins_where_the_host_says_so(make_api: MakeApi, db: Door) -> None:
    api = make_api(concurrent_entry="interrupt_previous")
    api.start("s1", "one")
    db.beat()
    drive = db.drive(current(db).run_id)

    async def overtake() -> Any:
        request = asyncio.create_task(api.astart("s1", "two"))
        await until(lambda: db.run(drive.run_id).stop_kind)
        drive.finish("stopped")
        return await request

    answer = api.run(overtake())
    assert (answer.status_code, answer.json()["status"]) == (200, "started")
    first = db.run(drive.run_id)
    assert (first.status, first.stop_reason) == ("interrupted", "superseded_by_new_entry")


@row("E8")
def test_a_run_that_does_not_settle_in_time_stays_asked_to(make_api: MakeApi, db: Door) -> None:
    api = make_api(concurrent_entry="interrupt_previous", concurrent_entry_timeout_ms=100)
    api.start("s1", "one")
    db.beat()
    drive = db.drive(current(db).run_id)
    answer = api.start("s1", "two")
    assert error(answer) == (409, "state_already_running", True)
    run = db.run(drive.run_id)
    assert (run.status, run.stop_kind) == ("running", "interrupt")
    assert len(db.messages()) == 1


async def refuse(context: BeforeEntryContext) -> Refuse | None:
    if context.body["input"]["message"] == "no":
        return Refuse(Response({"quota": 0}, status_code=402, headers={"x-quota": "0"}))
    return None


@row("E9")
@pytest.mark.parametrize(
    ("say", "body", "status"),
    [("no", {}, 402), ("two", {"agentType": "other"}, 409), ("two", {"tags": ["x"]}, 400)],
)
def test_a_refused_entry_interrupts_nobody(
    make_api: MakeApi, db: Door, say: str, body: dict[str, Any], status: int
) -> None:
    api = make_api(
        agents=[agent(), agent("other")],
        hooks=Hooks(before_entry=refuse),
        concurrent_entry="interrupt_previous",
    )
    api.start("s1", "one")
    with db.nothing_written():
        assert api.start("s1", say, **body).status_code == status
    assert current(db).stop_kind is None


@row("E10")
@pytest.mark.parametrize("branch", [{"fromSessionId": "s0"}, None])
def test_a_branch_is_not_supported(
    api: Api, monkeypatch: pytest.MonkeyPatch, branch: object
) -> None:
    def read(*_: Any, **__: Any) -> Any:
        raise AssertionError("nothing is read")

    monkeypatch.setattr(api.runtime.database, "call", read)
    assert error(api.start(branch=branch)) == (500, "framework_not_supported", False)


@row("E14")
def test_another_agent_type_is_409(make_api: MakeApi, db: Door) -> None:
    api = make_api(agents=[agent(), agent("other")], dispatch_limit_ms=0)
    api.start("s1")
    with db.nothing_written():
        answer = api.start("s1", agentType="other")
    assert error(answer) == (409, "state_agent_type_mismatch", False)


IDENTITY: dict[str, Any] = {
    "userId": "u1",
    "tags": ["a", "b"],
    "metadata": {"k": "v"},
    "parentSessionId": "p1",
    "rootSessionId": "r1",
}
OTHER: dict[str, Any] = {
    "userId": "u2",
    "tags": ["a"],
    "metadata": {},
    "parentSessionId": "p2",
    "rootSessionId": "r2",
}


@row("E15")
@pytest.mark.parametrize("field", IDENTITY)
def test_another_identity_is_400_and_named(make_api: MakeApi, db: Door, field: str) -> None:
    api = make_api(dispatch_limit_ms=0)
    api.start("s1", **IDENTITY)
    with db.nothing_written():
        answer = api.start("s1", **{**IDENTITY, field: OTHER[field]})
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"] == field


@row("E16")
@pytest.mark.parametrize("body", [{}, dict.fromkeys(IDENTITY), {**IDENTITY, "tags": ["b", "a"]}])
def test_an_identity_left_out_stays(make_api: MakeApi, db: Door, body: dict[str, Any]) -> None:
    api = make_api(dispatch_limit_ms=0)
    api.start("s1", **IDENTITY)
    assert api.start("s1", "two", **body).status_code == 200
    session = db.session()
    assert (session.user_id, session.tags) == ("u1", ["a", "b"])


@row("E17")
def test_an_unknown_agent_type_is_404_and_no_other_is_named(api: Api, db: Door) -> None:
    with db.nothing_written():
        answer = api.start("s1", agentType="nobody")
    assert error(answer) == (404, "framework_agent_not_found", False)
    assert AGENT not in answer.text
    assert "nobody" not in answer.text


class Permanent(Exception):
    retryable = False


@case(53)
@row("E18")
@pytest.mark.parametrize(
    ("raised", "status", "retryable"),
    [
        (OSError("password=hunter2 at 10.0.0.5"), 503, True),
        (Permanent("token=abc"), 500, False),
        (EntryRefused("framework_not_supported"), 500, False),
    ],
)
def test_a_resolver_that_raises_is_typed(
    make_api: MakeApi, db: Door, raised: Exception, status: int, retryable: bool
) -> None:
    def factory(context: DriveFactoryContext) -> Any:
        raise raised

    registry = AgentRegistry()
    registry.register_factory(AGENT, factory)
    api = make_api(agents=registry)
    with db.nothing_written():
        answer = api.start()
    code = getattr(raised, "code", "framework_agent_resolution_failed")
    assert error(answer) == (status, code, retryable)
    assert "hunter2" not in answer.text
    assert "10.0" not in answer.text


@row("E22")
@pytest.mark.parametrize("key", [None, "k1"])
def test_the_hooks_refusal_is_answered_as_it_is(
    make_api: MakeApi, db: Door, key: str | None
) -> None:
    api = make_api(hooks=Hooks(before_entry=refuse))
    with db.nothing_written():
        answer = api.start("s1", "no", key=key)
    assert (answer.status_code, answer.json()) == (402, {"quota": 0})
    assert answer.headers["x-quota"] == "0"
    assert api.start("s1", "yes", key=key).json()["status"] == "started"


def test_the_hook_is_given_the_request_and_the_body(make_api: MakeApi) -> None:
    told: list[BeforeEntryContext] = []

    async def listen(context: BeforeEntryContext) -> None:
        told.append(context)

    api = make_api(hooks=Hooks(before_entry=listen))
    api.start("s1", "hi", state={"a": 1}, tags=["x"], headers={"x-plan": "gold"})
    (context,) = told
    assert context.origin.route == "native"
    assert context.origin.request.headers["x-plan"] == "gold"
    assert context.body == {
        "agentType": AGENT,
        "input": {"message": "hi", "state": {"a": 1}},
        "tags": ["x"],
    }


@case(53)
@row("E23")
@pytest.mark.parametrize(
    ("raised", "status", "retryable"),
    [(OSError("Bearer abc.def"), 503, True), (EntryRefused("validation_error"), 500, False)],
)
def test_a_hook_that_raises_is_typed(
    make_api: MakeApi, db: Door, raised: Exception, status: int, retryable: bool
) -> None:
    async def break_down(context: BeforeEntryContext) -> None:
        raise raised

    api = make_api(hooks=Hooks(before_entry=break_down))
    with db.nothing_written():
        answer = api.start()
    assert error(answer) == (status, "framework_hook_failed", retryable)
    assert "abc.def" not in answer.text


@row("E24")
def test_who_loses_the_race_twice_is_told_why(
    make_api: MakeApi, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def admit(context: BeforeEntryContext) -> None:
        return None

    api = make_api(hooks=Hooks(before_entry=admit), dispatch_limit_ms=0)
    api.start("s1", "one")
    call, overtaken = api.runtime.database.call, []

    async def overtake(rule: Any, *args: Any, **given: Any) -> Any:
        if rule is entries.start:
            overtaken.append(db.start("s1", "overtakes", dispatch_limit_ms=0))
        return await call(rule, *args, **given)

    monkeypatch.setattr(api.runtime.database, "call", overtake)
    answer = api.start("s1", "late", key="k1")
    assert len(overtaken) == 2
    assert error(answer) == (409, "state_run_start_conflict", False)
    assert answer.json()["cause"] == "current_run_changed"
    assert "late" not in [m.content[0]["text"] for m in db.messages()]
    monkeypatch.undo()
    assert api.start("s1", "late", key="k1").json()["status"] == "started"


@row("E25")
def test_another_tenants_id_is_simply_free(make_api: MakeApi, db: Door) -> None:
    from tests.api.test_every_route import as_user

    api = make_api({"authenticate": as_user})
    for tenant in ("", "t1"):
        answer = api.start("s1", headers={"x-tenant": tenant, "x-user": "ann"})
        assert answer.json()["status"] == "started"
    with db.nothing_written():
        answer = api.start("s1", headers={"x-tenant": "t1", "x-user": "bob"})
    assert error(answer) == (409, "state_session_not_found", False)
