"""POST submit-tool-result and the agent that is looked up for it: reference/http.md 12.6."""

from typing import Any

import pytest
from pydantic import BaseModel

from lockgate import AgentRegistry, LookupFactoryContext
from tests.api.conftest import MakeApi
from tests.api.pending import decision, failure, result, strict_agent, submit, suspended
from tests.api.rig import agent, error
from tests.support.door import AGENT, Door
from tests.support.rows import row

COLORS = {"type": "object", "properties": {"color": {"enum": ["red", "blue"]}}}


class Color(BaseModel):
    color: str


@row("U10")
def test_an_agent_that_is_gone_leaves_the_call_pending(make_api: MakeApi, db: Door) -> None:
    suspended(make_api(), db, "pick")
    api = make_api(agents=[agent("other")])
    with db.nothing_written():
        assert error(submit(api, result(1))) == (404, "framework_agent_not_found", False)
    assert submit(make_api(), result(1)).status_code == 200


@row("U11")
def test_a_factory_that_raises_leaves_the_call_pending(make_api: MakeApi, db: Door) -> None:
    told: list[Any] = []

    def factory(context: Any) -> Any:
        told.append(context)
        raise RuntimeError("password=hunter2")

    suspended(make_api(), db, "pick", userId="ann", metadata={"plan": "gold"})
    registry = AgentRegistry()
    registry.register_factory(AGENT, factory)
    api = make_api(agents=registry, env="the env")
    with db.nothing_written():
        answer = submit(api, result(1))
    assert error(answer) == (503, "framework_agent_resolution_failed", True)
    assert "hunter2" not in answer.text
    (context,) = told
    assert isinstance(context, LookupFactoryContext)
    assert (context.purpose, context.reason) == ("lookup", "submit_validation")
    assert (context.env, context.session_id, context.agent_type) == ("the env", "s1", AGENT)
    assert (context.identity.user_id, context.identity.metadata) == ("ann", {"plan": "gold"})
    assert not hasattr(context, "run_id")


def test_the_agent_is_that_of_the_calls_own_session(make_api: MakeApi, db: Door) -> None:
    asked: list[str] = []

    def factory(context: Any) -> Any:
        asked.append(f"{context.agent_type} of {context.session_id}")
        return agent(context.agent_type)

    plain = make_api(agents=[agent(), agent("child")])
    plain.start("root")
    given = {"agentType": "child", "parentSessionId": "root", "rootSessionId": "root"}
    suspended(plain, db, "pick", **given)
    registry = AgentRegistry()
    registry.register_factory("child", factory)
    answer = submit(make_api(agents=registry), result(1), session_id="root")
    assert (answer.status_code, asked) == (200, ["child of s1"])
    db.drive(db.session("root").current_run_id).finish()


@row("U12")
def test_a_usage_store_that_cannot_be_had_leaves_the_call_pending(
    make_api: MakeApi, db: Door
) -> None:
    purposes: list[str] = []

    def fails(context: Any) -> Any:
        purposes.append(context.purpose)
        raise RuntimeError("host=billing is away")

    suspended(make_api(), db, "pick")
    api = make_api(usage_store=fails)
    with db.nothing_written():
        answer = submit(api, result(1))
    assert error(answer) == (503, "framework_usage_store_unavailable", True)
    assert "billing" not in answer.text
    assert purposes == ["usage_read"]


@row("U13")
@pytest.mark.parametrize("schema", [COLORS, Color], ids=["JSON Schema", "pydantic"])
def test_a_result_that_does_not_fit_tells_nothing_of_the_schema(
    make_api: MakeApi, db: Door, schema: Any
) -> None:
    api = make_api(agents=[strict_agent(schema)])
    suspended(api, db, "pick")
    with db.nothing_written():
        answer = submit(api, result({"color": 5}))
    assert answer.status_code == 400
    assert answer.json() == {
        "error": "The submitted result failed the tool output validation",
        "code": "INVALID_RESULT",
        "toolName": "pick",
        "toolCallId": "call-1",
    }
    assert submit(api, result({"color": "red"})).status_code == 200


@row("U14")
def test_and_what_is_wrong_to_who_asks(make_api: MakeApi, db: Door) -> None:
    api = make_api({"verbose_validation_errors": True}, agents=[strict_agent(Color)])
    suspended(api, db, "pick")
    answer = submit(api, result({"color": 5})).json()
    assert (answer["code"], answer["toolName"], answer["toolCallId"]) == (
        "INVALID_RESULT",
        "pick",
        "call-1",
    )
    (issue,) = answer["issues"]
    assert issue.startswith("color: ")
    assert answer["error"] == f"The submitted result failed the tool output validation: {issue}"


def test_a_failure_and_a_decision_are_held_to_no_schema(make_api: MakeApi, db: Door) -> None:
    api = make_api(agents=[strict_agent(COLORS)])
    suspended(api, db, "pick", "pay")
    assert submit(api, failure("no camera")).status_code == 200
    assert submit(api, decision(db, True, "call-2")).status_code == 200
