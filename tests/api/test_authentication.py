"""Who may: reference/http.md 12.1, A1, A2, A15 and A16."""

from typing import Any

import pytest
from litestar import Response
from litestar.exceptions import PermissionDeniedException
from litestar.response.base import ASGIResponse

from tests.api.conftest import MakeApi
from tests.api.rig import GOOD, ROUTES, as_user, call
from tests.support.door import AGENT, Door
from tests.support.rows import row


@row("A1")
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_who_says_nothing_of_himself_is_401(make_unread: MakeApi, method: str, path: str) -> None:
    api = make_unread({"authenticate": lambda request: None})
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
def test_whom_the_host_refuses_is_403(make_unread: MakeApi, method: str, path: str) -> None:
    api = make_unread({"authenticate": _refuse})
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
def test_the_hosts_own_response_is_answered_as_it_is(make_unread: MakeApi, response: Any) -> None:
    api = make_unread({"authenticate": lambda request: response})
    answer = api.start()
    assert answer.status_code == 418
    assert answer.json() == {"go": "away"}
    assert answer.headers["x-host"] == "1"


def test_a_response_that_is_none_is_a_typed_failure(make_unread: MakeApi) -> None:
    api = make_unread({"authenticate": lambda request: object()})
    answer = api.start()
    assert (answer.status_code, answer.json()["code"]) == (500, "framework_hook_failed")


def test_what_would_end_the_server_is_the_failure_of_one_request(make_unread: MakeApi) -> None:
    def leaves(request: Any) -> Any:
        raise SystemExit("no more")

    api = make_unread({"authenticate": leaves})
    answer = api.start()
    assert (answer.status_code, answer.json()["code"]) == (503, "framework_internal_error")


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
