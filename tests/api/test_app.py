"""What an application is made of: its refusal to stand open, its health, its document."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from psycopg_pool import PoolTimeout

import lockgate_api
from lockgate import Runtime
from lockgate_api import Principal, create_app, health
from lockgate_api.answers import STATUS_OF_CODE
from lockgate_api.front import UnderWay
from tests.api.conftest import MakeApi
from tests.api.live import Live
from tests.api.rig import Api, Gate


def test_nothing_else_is_public() -> None:
    assert lockgate_api.__all__ == sorted(lockgate_api.__all__)
    assert all(hasattr(lockgate_api, name) for name in lockgate_api.__all__)


def test_it_does_not_stand_open_by_accident() -> None:
    with pytest.raises(ValueError, match="allow_unauthenticated"):
        create_app(Runtime())
    create_app(Runtime(), allow_unauthenticated=True)
    create_app(Runtime(), authenticate=lambda request: Principal())


@pytest.mark.parametrize("principal", [("t" * 129, None), ("", ""), ("", "u" * 257)])
def test_a_principal_that_no_session_could_have_is_refused(principal: Any) -> None:
    with pytest.raises(ValueError, match="characters"):
        Principal(*principal)


@pytest.mark.parametrize("is_async", [False, True])
def test_authenticate_may_be_plain_or_async(make_api: MakeApi, is_async: bool) -> None:
    def plain(request: Any) -> Principal:
        return Principal(user_id=request.headers["x-user"])

    async def waits(request: Any) -> Principal:
        await asyncio.sleep(0)
        return plain(request)

    api = make_api({"authenticate": waits if is_async else plain})
    assert api.start(headers={"x-user": "ann"}).status_code == 200
    assert api.get("/sessions/s1/status", headers={"x-user": "ann"}).status_code == 200
    assert api.get("/sessions/s1/status", headers={"x-user": "bob"}).status_code == 404


def test_no_environment_variable_opens_a_debugger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITESTAR_DEBUG", "1")
    monkeypatch.setenv("LITESTAR_PDB", "1")
    app = create_app(Runtime(), allow_unauthenticated=True)
    assert (app.debug, app.pdb_on_exception) == (False, False)


def test_health_and_readiness(make_api: MakeApi) -> None:
    api = make_api({"authenticate": lambda request: None})
    for path in ("/healthz", "/readyz"):
        answer = api.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("is_slow", [False, True])
def test_it_is_not_ready_while_postgres_is_away(
    api: Api, monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        if is_slow:
            await asyncio.Event().wait()
        raise PoolTimeout("host=10.0.0.5")

    monkeypatch.setattr(health, "READY_S", 0.05)
    monkeypatch.setattr(api.runtime.database, "call_once", away)
    answer = api.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {
        "error": "The database is not available.",
        "code": "framework_store_unavailable",
        "retryable": True,
    }
    assert api.get("/healthz").status_code == 200


def test_what_has_begun_is_waited_for_on_the_way_out() -> None:
    async def leave() -> None:
        under_way, gate, done = UnderWay(), Gate(), []

        async def write() -> None:
            await gate.passed()
            done.append(True)

        request = asyncio.create_task(under_way.finish(write()))
        await gate.reached.wait()
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        leaving = asyncio.create_task(under_way.close())
        await asyncio.sleep(0)
        assert not leaving.done()
        gate.opened.set()
        await leaving
        assert done == [True]
        await under_way.close()

    asyncio.run(leave())


def test_hooks_of_the_composition_root_are_called(make_unread: MakeApi) -> None:
    told: list[str] = []

    async def up() -> None:
        told.append("up")

    def down() -> None:
        told.append("down")

    api = make_unread({"on_startup": [up], "on_shutdown": [down]})

    async def live() -> None:
        async with api.app.lifespan():
            assert told == ["up"]

    api.run(live())
    assert told == ["up", "down"]


OUR_BODIES = ("Error", "InvalidResult")


def document(api: Api) -> Any:
    answer = api.get("/schema/openapi.json")
    assert answer.status_code == 200
    return answer.json()


def test_the_document_declares_our_error_body_everywhere(unread: Api) -> None:
    said = document(unread)
    assert set(said["paths"]) == {
        "/healthz",
        "/readyz",
        "/sessions",
        "/sessions/{session_id}/start",
        "/sessions/{session_id}/resume",
        "/sessions/{session_id}/retry",
        "/sessions/{session_id}/submit-tool-result",
        "/sessions/{session_id}/interrupt",
        "/sessions/{session_id}/abort",
        "/sessions/{session_id}/status",
        "/sessions/{session_id}/snapshot",
        "/sessions/{session_id}/usage",
        "/sessions/{session_id}/sse",
    }
    ours, of_a_submit = ({"$ref": f"#/components/schemas/{name}Body"} for name in OUR_BODIES)
    for path, operations in said["paths"].items():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if status >= "400":
                    schema = response["content"]["application/json"]["schema"]
                    is_submit = path.endswith("submit-tool-result") and status == "400"
                    assert schema == ({"oneOf": [ours, of_a_submit]} if is_submit else ours)
    body = said["components"]["schemas"]["ErrorBody"]
    assert set(body["properties"]) == {"error", "code", "retryable", "cause", "runId", "field"}
    assert set(body["required"]) == {"error", "code", "retryable"}


def test_the_document_says_what_a_route_reads(unread: Api) -> None:
    paths = document(unread)["paths"]
    start = paths["/sessions/{session_id}/start"]["post"]
    schema = start["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["required"]) == {"agentType", "input"}
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)
    assert {(p["in"], p["name"]) for p in start["parameters"]} == {
        ("path", "session_id"),
        ("header", "X-Helix-Request-Key"),
        ("header", "Idempotency-Key"),
    }
    resume = paths["/sessions/{session_id}/resume"]["post"]["requestBody"]["content"]
    options = resume["application/json"]["schema"]["properties"]["options"]["oneOf"]
    assert [set(shape["required"]) for shape in options] == [
        {"mode"},
        {"mode", "message"},
        {"mode", "checkpointId"},
    ]
    submit = paths["/sessions/{session_id}/submit-tool-result"]["post"]["requestBody"]["content"]
    assert [set(shape["required"]) for shape in submit["application/json"]["schema"]["oneOf"]] == [
        {"kind", "toolCallId", "result"},
        {"kind", "toolCallId", "error"},
        {"kind", "toolCallId", "approvalId", "approved"},
    ]
    stop = paths["/sessions/{session_id}/abort"]["post"]
    assert ("query", "wait") in {(p["in"], p["name"]) for p in stop["parameters"]}
    sse = paths["/sessions/{session_id}/sse"]["get"]
    assert list(sse["responses"]["200"]["content"]) == ["text/event-stream"]
    assert set(paths["/sessions"]["post"]["responses"]) >= {"200", "201", "409", "413"}


@pytest.mark.parametrize("page", ["swagger", "redoc", "scalar", "elements", "rapidoc"])
def test_no_page_asks_another_host_for_scripts(unread: Api, page: str) -> None:
    answer = unread.get(f"/schema/{page}")
    assert answer.status_code == 404
    assert "<script" not in answer.text


def test_every_status_of_a_code_is_declared_or_the_hosts(unread: Api) -> None:
    start = document(unread)["paths"]["/sessions/{session_id}/start"]["post"]
    assert {str(status) for status in STATUS_OF_CODE.values()} <= {*start["responses"], "429"}


def test_a_server_that_gives_no_raw_path(unread: Api) -> None:
    live = Live({})
    scope = live.scope(f"/sessions/{'x' * 257}/status")
    del scope["raw_path"]
    unread.run(unread.app(scope, live.receive, live.send))  # type: ignore[arg-type]
    assert (live.status, b'"field":"sessionId"' in unread.run(live.frame())) == (400, True)


def test_an_application_under_a_prefix(api: Api) -> None:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(api.app, root_path="/agents")  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://lockgate") as client:
            body = {"agentType": "support", "input": {"message": "hi"}}
            return await client.post("/agents/sessions/a%2Fb/start", json=body)

    assert api.run(ask()).json()["sessionId"] == "a/b"
