"""How a failure answers: reference/http.md 12.1, A9 to A14."""

from typing import Any

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from lockgate import EntryRefused, RuleBroken
from lockgate.rules import entries
from tests.api.conftest import MakeApi
from tests.api.rig import ROUTES, Api, call, error
from tests.support.cluster import Database
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row


@case(53)
@row("A9")
def test_a_failure_that_nobody_knows_is_a_retryable_503_and_tells_nothing(
    unread: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("postgres://app:hunter2@10.0.0.5/db")

    monkeypatch.setattr(unread.runtime, "start", broken)
    monkeypatch.setattr(unread.runtime, "status", broken)
    answers = [unread.start(), unread.get("/sessions/s1/status")]
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
    make_unread: MakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(request: Any) -> Any:
        raise ValueError("Bearer abc.def.ghi at /srv/app/x.py")

    answer = make_unread({"authenticate": broken}).start()
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
    answer = call(api, method, path)
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
def test_a_lost_answer_is_read_back(api: Api, db: Door, monkeypatch: pytest.MonkeyPatch) -> None:
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
    unread: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        try:
            raise RuleBroken("LG002", {"secret": "row"})
        except RuleBroken as error:
            raise EntryRefused("framework_hook_failed", retryable=True) from error

    monkeypatch.setattr(unread.runtime, "start", broken)
    answer = unread.start()
    assert answer.status_code == 500
    assert answer.json()["code"] == "framework_store_corrupt"
    assert answer.json()["retryable"] is False


@row("A14")
def test_a_message_that_nobody_understands_is_500(api: Api, db: Door) -> None:
    api.start()
    db.execute("""update lockgate_store.messages set content = '[{"type": "odd"}]'""")
    answer = api.get("/sessions/s1/snapshot")
    assert error(answer) == (500, "framework_store_corrupt", False)
    assert api.get("/sessions/s1/status").status_code == 200, "what is whole can be read"


@row("A14")
@pytest.mark.parametrize("verb", ["status", "snapshot"])
def test_a_stored_status_that_nobody_knows_is_500(api: Api, db: Door, verb: str) -> None:
    api.start()
    db.execute("alter table lockgate_store.streams drop constraint a_stream_status_is_known")
    db.execute(
        "alter table lockgate_store.streams drop constraint a_final_goes_with_a_closed_stream"
    )
    db.execute("update lockgate_store.streams set status = 'odd'")
    answer = api.get(f"/sessions/s1/{verb}")
    assert error(answer) == (500, "framework_store_corrupt", False)
    db.execute("update lockgate_store.streams set status = 'active'")
    assert api.get(f"/sessions/s1/{verb}").status_code == 200


def test_a_history_with_a_hole_is_not_shown(api: Api, db: Door) -> None:
    api.start()
    (kept,) = db.rows("delete from lockgate_store.messages m returning to_jsonb(m)::text as it")
    answer = api.get("/sessions/s1/snapshot")
    assert error(answer) == (500, "state_history_incomplete", True)
    db.execute(
        "insert into lockgate_store.messages"
        " select * from jsonb_populate_record(null::lockgate_store.messages, %s::jsonb)",
        kept.it,
    )
    assert api.get("/sessions/s1/snapshot").status_code == 200


@row("A14")
def test_a_broken_promise_of_sql_comes_out_so(api: Api, db: Door) -> None:
    db.execute(
        "alter database "
        + db.connection.info.dbname
        + " set default_transaction_isolation = 'repeatable read'"
    )
    api.run(api.runtime.database.close())
    api.run(api.runtime.open(api.runtime.database.url))
    answer = api.start()
    assert (answer.status_code, answer.json()["code"]) == (500, "framework_store_corrupt")


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
    unread: Api, method: str, path: str, status: int, code: str
) -> None:
    answer = unread.request(method, path)
    assert answer.status_code == status
    assert (answer.json()["code"], answer.json()["retryable"]) == (code, False)
    assert set(answer.json()) == {"error", "code", "retryable"}
    assert ("POST" in answer.headers.get("allow", "")) == (status == 405)
