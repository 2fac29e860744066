"""POST /sessions, and sessions without a run: reference/http.md 12.3, E30 to E38."""

from typing import Any

import pytest

from lockgate import AgentContext, AgentRegistry, BeforeEntryContext, Hooks, Refuse
from tests.api.conftest import MakeApi
from tests.api.rig import Api, agent, as_user, error
from tests.api.test_start_refusals import IDENTITY, OTHER
from tests.support.door import AGENT, Door
from tests.support.rows import row

NEW = {"agentType": AGENT, "sessionId": "s1"}


@row("E30")
def test_a_session_is_made_without_a_run(api: Api, db: Door) -> None:
    answer = api.post("/sessions", {**NEW, **IDENTITY, "state": {"n": 1}})
    assert answer.status_code == 201
    assert answer.json() == {
        "sessionId": "s1",
        "agentType": AGENT,
        "status": "active",
        "created": True,
    }
    session = db.session()
    assert (session.current_run_id, session.state, session.tags) == (None, {"n": 1}, ["a", "b"])
    assert db.rows("select from lockgate_store.streams") == []


@row("E30")
@pytest.mark.parametrize("body", [{}, {"sessionId": None}])
def test_an_id_is_minted_where_none_is_given(api: Api, db: Door, body: dict[str, Any]) -> None:
    first = api.post("/sessions", {"agentType": AGENT, **body})
    second = api.post("/sessions/", {"agentType": AGENT, **body})
    assert first.status_code == second.status_code == 201
    assert first.json()["sessionId"] != second.json()["sessionId"]
    assert db.session(first.json()["sessionId"]).status == "active"


@row("E30")
def test_no_agent_is_resolved(api: Api) -> None:
    assert api.post("/sessions", {"agentType": "nobody"}).status_code == 201


@row("E31")
def test_the_same_again_changes_nothing(api: Api, db: Door) -> None:
    api.post("/sessions", {**NEW, **IDENTITY})
    with db.nothing_written():
        answer = api.post("/sessions", {**NEW, **IDENTITY})
    assert answer.status_code == 200
    assert (answer.json()["created"], answer.json()["status"]) == (False, "active")


@row("E32")
def test_another_agent_type_is_409(api: Api, db: Door) -> None:
    api.post("/sessions", NEW)
    with db.nothing_written():
        answer = api.post("/sessions", {**NEW, "agentType": "other"})
    assert error(answer) == (409, "state_agent_type_mismatch", False)


@row("E32")
@pytest.mark.parametrize("field", IDENTITY)
def test_another_identity_is_400(api: Api, db: Door, field: str) -> None:
    api.post("/sessions", {**NEW, **IDENTITY})
    with db.nothing_written():
        answer = api.post("/sessions", {**NEW, **IDENTITY, field: OTHER[field]})
    assert error(answer) == (400, "validation_error", False)
    assert answer.json()["field"] == field


@row("E33")
def test_the_id_of_another_users_session_is_409(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": as_user})
    assert api.post("/sessions", NEW, headers={"x-user": "ann"}).status_code == 201
    with db.nothing_written():
        answer = api.post("/sessions", NEW, headers={"x-user": "bob"})
    assert error(answer) == (409, "state_session_not_found", False)


@row("E34")
def test_a_session_without_a_run_starts(api: Api, db: Door) -> None:
    api.post("/sessions", {**NEW, "state": {"a": 1, "b": 1}})
    answer = api.start("s1", state={"b": 2})
    assert (answer.status_code, answer.json()["status"]) == (200, "started")
    assert db.session().state == {"a": 1, "b": 2}


class Flaky:
    """A factory that breaks as long as it is told to."""

    def __init__(self) -> None:
        self.breaks: Any = True

    def __call__(self, context: AgentContext) -> Any:
        if callable(self.breaks):
            self.breaks()
        if self.breaks:
            raise OSError("host=db password='a b' is away")
        return agent()

    def registry(self) -> AgentRegistry:
        registry = AgentRegistry([agent("other")])
        registry.register_factory(AGENT, self)
        return registry


@row("E35", "G3")
def test_a_first_entry_that_fails_is_recorded_on_the_session(make_api: MakeApi, db: Door) -> None:
    api = make_api(agents=Flaky().registry())
    api.post("/sessions", NEW)
    answer = api.start(key="k1")
    assert error(answer) == (503, "framework_agent_resolution_failed", True)
    session = db.session()
    assert session.status == "failed"
    assert session.error_detail["code"] == "framework_agent_resolution_failed"
    assert "a b" not in str(session.error_detail)
    for table in ("runs", "streams", "settlements", "messages"):
        assert db.rows(f"select from lockgate_store.{table}") == []

    snapshot = api.get("/sessions/s1/snapshot").json()
    assert (snapshot["status"], snapshot["sessionStatus"]) == ("failed", "failed")
    assert snapshot["errorDetail"] == session.error_detail
    assert snapshot["error"] == session.error_detail["message"]
    assert (snapshot["run"], snapshot["streamStatus"], snapshot["epoch"]) == (None, None, None)
    assert api.get("/sessions/s1/status").json()["errorDetail"] == session.error_detail


async def refuse(context: BeforeEntryContext) -> Refuse:
    return Refuse({"status": 402})


@row("E36")
@pytest.mark.parametrize(
    ("body", "status"),
    [({"agentType": "other"}, 409), ({"tags": ["x"]}, 400), ({"extra": 1}, 400), ({}, 402)],
)
def test_a_first_entry_that_is_refused_is_not_recorded(
    make_api: MakeApi, db: Door, body: dict[str, Any], status: int
) -> None:
    api = make_api(agents=[agent(), agent("other")], hooks=Hooks(before_entry=refuse))
    api.post("/sessions", NEW)
    with db.nothing_written():
        assert api.start(**body).status_code == status


@row("E37")
def test_a_later_start_clears_the_failure(make_api: MakeApi, db: Door) -> None:
    flaky = Flaky()
    api = make_api(agents=flaky.registry())
    api.post("/sessions", NEW)
    assert api.start(key="k1").status_code == 503
    flaky.breaks = False
    assert api.start(key="k1").json()["status"] == "started"
    session = db.session()
    assert (session.status, session.error_detail) == ("active", None)


@row("E38")
def test_a_run_that_commits_meanwhile_wins(make_api: MakeApi, db: Door) -> None:
    flaky = Flaky()
    api = make_api(agents=flaky.registry())
    api.post("/sessions", NEW)
    flaky.breaks = db.start
    assert error(api.start()) == (503, "framework_agent_resolution_failed", True)
    session = db.session()
    assert (session.status, session.error_detail, session.turn_count) == ("active", None, 1)
