"""POST start refused, row by row: reference/http.md 12.3, E14 to E25."""

from typing import Any

import pytest

from lockgate import AgentContext, AgentRegistry, BeforeEntryContext, EntryRefused, Hooks
from lockgate.rules import entries
from tests.api.conftest import MakeApi
from tests.api.rig import Api, agent, as_user, error, refuse
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row


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
    def factory(context: AgentContext) -> Any:
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

    api = make_api({"authenticate": as_user})
    for tenant in ("", "t1"):
        answer = api.start("s1", headers={"x-tenant": tenant, "x-user": "ann"})
        assert answer.json()["status"] == "started"
    with db.nothing_written():
        answer = api.start("s1", headers={"x-tenant": "t1", "x-user": "bob"})
    assert error(answer) == (409, "state_session_not_found", False)
