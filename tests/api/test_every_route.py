"""What all routes share: who may, what a body may be, how a failure answers. http.md 12.1."""

import asyncio
import json
from typing import Any

import psycopg
import pytest
from litestar import Response
from litestar.exceptions import PermissionDeniedException
from litestar.response.base import ASGIResponse
from psycopg_pool import PoolTimeout

from lockgate import EntryRefused, RuleBroken
from lockgate.rules import entries
from lockgate_api import Principal
from tests.api.conftest import MakeApi
from tests.api.rig import Api, until
from tests.support.cluster import Database
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row

ROUTES = [
    ("POST", "/sessions"),
    ("POST", "/sessions/s1/start"),
    ("GET", "/sessions/s1/status"),
    ("GET", "/sessions/s1/snapshot"),
    ("GET", "/sessions/s1/sse"),
]
GOOD = {"agentType": AGENT, "input": {"message": "hi"}}


def call(api: Api, method: str, path: str, **more: Any) -> Any:
    return api.post(path, GOOD, **more) if method == "POST" else api.get(path, **more)


@row("A1")
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_who_says_nothing_of_himself_is_401(
    make_api: MakeApi, db: Door, method: str, path: str
) -> None:
    api = make_api({"authenticate": lambda request: None})
    with db.nothing_written():
        answer = call(api, method, path)
    assert answer.status_code == 401
    assert answer.json() == {
        "error": "Credentials are missing or not valid",
        "code": "UNAUTHORIZED",
        "retryable": False,
    }


async def _refuse(request: Any) -> Any:
    raise PermissionDeniedException("the host's own words")


@row("A2")
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_whom_the_host_refuses_is_403(
    make_api: MakeApi, db: Door, method: str, path: str
) -> None:
    api = make_api({"authenticate": _refuse})
    with db.nothing_written():
        answer = call(api, method, path)
    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")


@row("A2")
@pytest.mark.parametrize(
    "response",
    [
        Response({"go": "away"}, status_code=418, headers={"x-host": "1"}),
        ASGIResponse(body=b'{"go":"away"}', status_code=418, headers={"x-host": "1"}),
        {"status": 418, "headers": {"x-host": "1"}, "body": {"go": "away"}},
    ],
)
def test_the_hosts_own_response_is_answered_as_it_is(
    make_api: MakeApi, db: Door, response: Any
) -> None:
    api = make_api({"authenticate": lambda request: response})
    with db.nothing_written():
        answer = api.start()
    assert answer.status_code == 418
    assert answer.json() == {"go": "away"}
    assert answer.headers["x-host"] == "1"


def test_a_response_that_is_none_is_a_typed_failure(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": lambda request: object()})
    with db.nothing_written():
        answer = api.start()
    assert (answer.status_code, answer.json()["code"]) == (500, "framework_hook_failed")


BAD_JSON = {
    "no JSON": b"{",
    "nothing": b"",
    "not UTF-8": b'{"agentType":"\xff"}',
    "a name twice": b'{"agentType":"support","agentType":"support"}',
    "201 deep": b'{"input":{"state":{"a":' + b"[" * 200 + b"]" * 200 + b"}}}",
    "NaN": b'{"input":{"state":{"a":NaN}}}',
    "Infinity": b'{"input":{"state":{"a":-Infinity}}}',
    "too large a number": b'{"input":{"state":{"a":1e309}}}',
    "too long a number": b'{"input":{"state":{"a":' + b"1" * 1001 + b"}}}",
}


@row("A3")
@pytest.mark.parametrize("path", ["/sessions", "/sessions/s1/start"])
@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON)
def test_a_body_that_is_no_strict_json_is_400(api: Api, db: Door, path: str, body: bytes) -> None:
    with db.nothing_written():
        answer = api.post(path, body)
    assert answer.status_code == 400
    assert answer.json()["code"] == "validation_error"
    assert answer.json()["error"] == "Invalid request body"


@case(25, 44)
@row("A4")
@pytest.mark.parametrize("bad", ["\\u0000", "\\ud83d", "\\udc88", "\\ude00 \\ud83d"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"agentType":"support","input":{"message":"a%s"}}', "input.message"),
        ('{"agentType":"support","input":{"message":"a","state":{"k":["%s"]}}}', "input.state.k[0]"),
        ('{"agentType":"support","input":{"message":"a","state":{"k%s":1}}}', "input.state.k"),
        ('{"agentType":"support","metadata":{"k":"%s"},"input":{"message":"a"}}', "metadata.k"),
    ],
)
def test_what_cannot_be_stored_is_400_and_named(
    api: Api, db: Door, bad: str, body: str, field: str
) -> None:
    with db.nothing_written():
        answer = api.post("/sessions/s1/start", (body % bad).encode())
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert answer.json()["field"].startswith(field)


@case(25)
def test_six_plain_characters_are_no_nul(api: Api, db: Door) -> None:
    plain, emoji = "\\u0000", "\U0001f600"
    assert api.start("s1", plain + emoji).status_code == 200
    assert db.messages()[0].content[0]["text"] == plain + emoji
    shown = api.get("/sessions/s1/snapshot").json()["messages"][0]["parts"][0]
    assert shown == {"type": "text", "text": plain + emoji}


@row("A5")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"extra": 1}, "extra"),
        ({"agentType": 7}, "agentType"),
        ({"agentType": ""}, "agentType"),
        ({"agentType": "x" * 129}, "agentType"),
        ({"input": None}, "input"),
        ({"input": {}}, "input.message"),
        ({"input": {"message": ""}}, "input.message"),
        ({"input": {"message": []}}, "input.message"),
        ({"input": {"message": 5}}, "input.message"),
        ({"input": {"message": {"str": "a"}}}, "input.message"),
        ({"input": {"message": "a", "more": 1}}, "input.more"),
        ({"input": {"message": "a", "state": []}}, "input.state"),
        ({"input": {"message": [{"role": "system", "content": "a"}]}}, "input.message[0].role"),
        ({"input": {"message": [{"role": "user"}]}}, "input.message[0].content"),
        (
            {"input": {"message": [{"role": "user", "content": [{"type": "text", "text": 1}]}]}},
            "input.message[0].content[0].text",
        ),
        (
            {"input": {"message": [{"role": "user", "content": [{"type": "file", "url": "u"}]}]}},
            "input.message[0].content[0].mediaType",
        ),
        (
            {"input": {"message": [{"role": "user", "content": [{"type": "x"}]}]}},
            "input.message[0].content[0].type",
        ),
        ({"userId": 5}, "userId"),
        ({"userId": "u" * 257}, "userId"),
        ({"tags": "a"}, "tags"),
        ({"tags": ["a", 1]}, "tags[1]"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"parentSessionId": "p" * 257}, "parentSessionId"),
        ({"rootSessionId": ""}, "rootSessionId"),
    ],
)
def test_a_body_of_another_shape_is_400_and_the_place_is_named(
    api: Api, db: Door, change: dict[str, Any], field: str
) -> None:
    with db.nothing_written():
        answer = api.post("/sessions/s1/start", {**GOOD, **change})
    assert answer.status_code == 400
    assert answer.json() == {
        "error": "Invalid request body",
        "code": "validation_error",
        "retryable": False,
        "field": field,
    }


@row("A5")
def test_what_is_wrong_is_told_only_when_asked_for(make_api: MakeApi) -> None:
    api = make_api({"verbose_validation_errors": True})
    answer = api.post("/sessions/s1/start", {**GOOD, "input": {"message": "a", "<b>": "secret"}})
    assert answer.json()["error"].startswith("Invalid request body: ")
    assert answer.json()["field"] == "input.&lt;b&gt;"
    assert "secret" not in answer.text
    assert ": " in api.post("/sessions/s1/start", b"{").json()["error"]


@case(48)
@row("A6")
@pytest.mark.parametrize(
    "session_id", ["", "x" * 257, "%00", "a%0Ab", "%ff", "%E2%80%A8"], ids=str.encode
)
@pytest.mark.parametrize("verb", ["start", "status", "snapshot", "sse"])
def test_a_session_id_that_is_none_is_400(
    api: Api, db: Door, session_id: str, verb: str
) -> None:
    method = "POST" if verb == "start" else "GET"
    with db.nothing_written():
        answer = call(api, method, f"/sessions/{session_id}/{verb}")
    assert answer.status_code == 400
    assert answer.json()["field"] == "sessionId"
    assert session_id not in answer.text or not session_id


@row("A6")
@pytest.mark.parametrize("session_id", ["", "x" * 257, "a\nb"])
def test_nor_is_one_made_of_it(api: Api, db: Door, session_id: str) -> None:
    with db.nothing_written():
        answer = api.post("/sessions", {"agentType": AGENT, "sessionId": session_id})
    assert (answer.status_code, answer.json()["field"]) == (400, "sessionId")


@case(48)
@pytest.mark.parametrize(
    ("encoded", "session_id"),
    [
        ("x" * 256, "x" * 256),
        ("a%2Fb%2F", "a/b/"),
        ("%2F", "/"),
        ("a%20%25%3F%23b", "a %?#b"),
        ("gr%C3%BC%C3%9Fe", "grüße"),
        ("start", "start"),
        ("-", "-"),
        ("a+b", "a+b"),
    ],
)
def test_a_session_id_may_hold_whatever_is_printable(
    api: Api, db: Door, encoded: str, session_id: str
) -> None:
    assert api.start(encoded).json()["sessionId"] == session_id
    assert db.session(session_id).turn_count == 1
    for verb in ("status", "snapshot"):
        assert api.get(f"/sessions/{encoded}/{verb}").json()["sessionId"] == session_id


@row("A7")
def test_a_body_over_the_limit_is_413(make_api: MakeApi, db: Door) -> None:
    api = make_api({"max_body_bytes": 100})
    with db.nothing_written():
        answer = api.start("s1", "x" * 100)
    assert answer.status_code == 413
    assert answer.json()["code"] == "INVALID_REQUEST"
    assert api.start("s1", "x" * 20).status_code == 200


@row("A8")
def test_path_and_body_name_one_session(api: Api, db: Door) -> None:
    with db.nothing_written():
        answer = api.start("s1", sessionId="s2")
    assert (answer.status_code, answer.json()["field"]) == (400, "sessionId")
    assert api.start("s1", sessionId="s1").status_code == 200


@case(53)
@row("A9")
def test_a_failure_that_nobody_knows_is_a_retryable_503_and_tells_nothing(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("postgres://app:hunter2@10.0.0.5/db")

    monkeypatch.setattr(api.runtime, "start", broken)
    monkeypatch.setattr(api.runtime, "status", broken)
    with db.nothing_written():
        answers = [api.start(), api.get("/sessions/s1/status")]
    for answer in answers:
        assert answer.status_code == 503
        assert answer.json() == {
            "error": "Internal server error",
            "code": "framework_internal_error",
            "retryable": True,
        }


@case(53)
@row("A9")
def test_an_authenticate_that_breaks_tells_nothing(
    make_api: MakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(request: Any) -> Any:
        raise ValueError("Bearer abc.def.ghi at /srv/app/x.py")

    answer = make_api({"authenticate": broken}).start()
    assert (answer.status_code, answer.json()["code"]) == (503, "framework_internal_error")
    logged = capsys.readouterr().out
    assert "request.failed" in logged
    for secret in ("abc.def", "/srv/app"):
        assert secret not in answer.text + logged


@row("A11")
def test_a_session_row_that_is_not_had_in_time_is_503(
    make_api: MakeApi, db: Door, clean_database: Database
) -> None:
    api = make_api(concurrent_entry_timeout_ms=50)
    assert api.post("/sessions", {"agentType": AGENT, "sessionId": "s1"}).status_code == 201
    with clean_database.connect(autocommit=False) as holder, db.nothing_written():
        holder.execute("select from lockgate_store.sessions for no key update")
        answer = api.start("s1")
    assert answer.status_code == 503
    assert answer.json()["code"] == "framework_store_unavailable"
    assert answer.json()["retryable"] is True


@row("A11")
@pytest.mark.parametrize(("method", "path"), [r for r in ROUTES if "snapshot" not in r[1]])
def test_a_database_that_is_away_is_503(
    api: Api, monkeypatch: pytest.MonkeyPatch, method: str, path: str
) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        raise PoolTimeout("couldn't get a connection to 10.0.0.5")

    monkeypatch.setattr("lockgate.database.FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(api.runtime.database, "call_once", away)
    body = {"agentType": AGENT} if path == "/sessions" else GOOD
    answer = api.post(path, body) if method == "POST" else api.get(path)
    assert answer.status_code == 503
    assert answer.json()["code"] == "framework_store_unavailable"
    assert answer.json()["retryable"] is True
    assert "10.0" not in answer.text


def lose_answers(api: Api, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the next starts commit, and lose what the database says of it."""
    call_once = api.runtime.database.call_once
    left = iter(range(times))

    async def lossy(rule: Any, *args: Any, **given: Any) -> Any:
        answer = await call_once(rule, *args, **given)
        if rule is entries.start and next(left, None) is not None:
            raise psycopg.OperationalError("the link is gone")
        return answer

    monkeypatch.setattr("lockgate.database.FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(api.runtime.database, "call_once", lossy)


@row("A12")
def test_a_lost_answer_is_read_back(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_answers(api, monkeypatch, times=1)
    answer = api.start()
    assert (answer.status_code, answer.json()["status"]) == (200, "started")
    assert answer.json()["runId"] == str(db.row("select * from lockgate_store.runs").run_id)


@row("A13")
def test_a_lost_answer_that_cannot_be_read_back_is_not_retryable(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_answers(api, monkeypatch, times=4)
    answer = api.start(key="k1")
    assert answer.status_code == 500
    assert answer.json()["code"] == "framework_store_unavailable"
    assert answer.json()["retryable"] is False
    monkeypatch.undo()
    assert api.start(key="k1").json()["status"] == "attached"
    assert db.row("select count(*) as n from lockgate_store.runs").n == 1


@row("A14")
def test_a_broken_store_is_500_and_not_wrapped(
    api: Api, db: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        try:
            raise RuleBroken("LG002", {"secret": "row"})
        except RuleBroken as error:
            raise EntryRefused("framework_hook_failed", retryable=True) from error

    monkeypatch.setattr(api.runtime, "start", broken)
    with db.nothing_written():
        answer = api.start()
    assert answer.status_code == 500
    assert answer.json()["code"] == "framework_store_corrupt"
    assert answer.json()["retryable"] is False


@row("A14")
def test_a_broken_promise_of_sql_comes_out_so(api: Api, db: Door) -> None:
    db.execute("alter database " + db.connection.info.dbname + " set default_transaction_isolation = 'repeatable read'")
    api.run(api.runtime.database.close())
    api.run(api.runtime.open(api.runtime.database.url))
    answer = api.start()
    assert (answer.status_code, answer.json()["code"]) == (500, "framework_store_corrupt")


def as_user(request: Any) -> Principal:
    """Authenticate by two headers: whose request it is, and of which tenant."""
    return Principal(request.headers.get("x-tenant", ""), request.headers.get("x-user"))


@row("A15", "G2", "W9")
def test_another_users_session_looks_like_none(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": as_user})
    assert api.start("s1", headers={"x-user": "ann"}).status_code == 200
    for verb in ("status", "snapshot", "sse"):
        others = api.get(f"/sessions/s1/{verb}", headers={"x-user": "bob"})
        missing = api.get(f"/sessions/s9/{verb}", headers={"x-user": "bob"})
        assert others.status_code == missing.status_code == 404
        assert others.json() == missing.json()
        assert others.json()["code"] == "NOT_FOUND"
    with db.nothing_written():
        others = api.start("s1", headers={"x-user": "bob"})
    assert (others.status_code, others.json()["code"]) == (409, "state_session_not_found")


@row("A16")
@pytest.mark.parametrize("path", ["/sessions", "/sessions/s1/start"])
def test_a_user_speaks_for_nobody_else(make_api: MakeApi, db: Door, path: str) -> None:
    api = make_api({"authenticate": as_user})
    body = {"agentType": AGENT} if path == "/sessions" else GOOD
    with db.nothing_written():
        answer = api.post(path, {**body, "userId": "bob"}, headers={"x-user": "ann"})
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert answer.json()["field"] == "userId"
    assert api.post(path, {**body, "userId": "ann"}, headers={"x-user": "ann"}).is_success
    assert db.row("select user_id from lockgate_store.sessions").user_id == "ann"


def test_a_trusted_backend_names_the_user(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": as_user})
    assert api.start("s1", userId="ann").status_code == 200
    assert api.start("s2", headers={"x-user": "bob"}).status_code == 200
    assert (db.session("s1").user_id, db.session("s2").user_id) == ("ann", "bob")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("GET", "/sessions/s1", 404, "NOT_FOUND"),
        ("GET", "/sessions/s1/nothing", 404, "NOT_FOUND"),
        ("DELETE", "/sessions/s1/start", 405, "INVALID_REQUEST"),
        ("GET", "/sessions/s1/start", 405, "INVALID_REQUEST"),
    ],
)
def test_what_the_framework_refuses_has_our_shape(
    api: Api, method: str, path: str, status: int, code: str
) -> None:
    answer = api.request(method, path)
    assert answer.status_code == status
    assert (answer.json()["code"], answer.json()["retryable"]) == (code, False)
    assert set(answer.json()) == {"error", "code", "retryable"}
    assert ("POST" in answer.headers.get("allow", "")) == (status == 405)


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
def test_who_goes_before_all_is_said_has_asked_nothing(api: Api, db: Door) -> None:
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
    with db.nothing_written():
        api.run(api.app(scope, receive, send))  # type: ignore[arg-type]
    assert json.loads(sent[1]["body"])["code"] == "framework_cancelled"
