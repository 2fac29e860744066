"""Tools made of functions, agents made of tools, and the registry that finds them."""

import asyncio
import math
from typing import Any

import pytest
from pydantic import BaseModel

from lockgate.agents import (
    MAX_AGENT_TYPE,
    MAX_RETENTION_MS,
    Agent,
    AgentContext,
    AgentRegistry,
    DriveFactoryContext,
    define_agent,
)
from lockgate.definitions import Tool, ToolContext, tool
from lockgate.errors import AgentResolutionError
from lockgate.hooks import Identity
from lockgate.models.scripted import ScriptedModel
from lockgate.schema import Unfit

MODEL = ScriptedModel()


def transfer(amount: int, to: str = "savings") -> str:
    """Transfer money.

    Only between own accounts.
    """
    return f"{amount} to {to}"


async def look_up(context: ToolContext, key: str) -> str:
    return f"{context.session_id}: {key}"


def untyped(anything):  # type: ignore[no-untyped-def]  # What an application may well pass.
    return anything


def context_for(agent_type: str) -> DriveFactoryContext:
    return DriveFactoryContext(
        env=None,
        session_id="s1",
        run_id="r1",
        drive="start",
        identity=Identity(),
        agent_type=agent_type,
    )


def test_a_tools_schema_comes_from_its_signature() -> None:
    spec = tool(transfer).spec()
    assert spec.name == "transfer"
    assert spec.description == "Transfer money.\n\nOnly between own accounts."
    properties = spec.input_schema["properties"]
    assert properties["amount"]["type"] == "integer"
    assert properties["to"]["default"] == "savings"
    assert spec.input_schema["required"] == ["amount"]
    assert spec.input_schema["additionalProperties"] is False


def test_arguments_are_checked_and_defaults_filled_in() -> None:
    arguments = tool(transfer).arguments
    assert dict(arguments.read({"amount": 5})) == {"amount": 5, "to": "savings"}
    for wrong in ({}, {"amount": "many"}, {"amount": 5, "from": "you"}):
        with pytest.raises(Unfit):
            arguments.read(wrong)


def test_the_context_is_not_shown_to_the_model() -> None:
    made = tool(look_up)
    assert made.takes_context
    assert list(made.spec().input_schema["properties"]) == ["key"]
    assert not tool(transfer).takes_context
    with pytest.raises(Unfit):
        made.arguments.read({"key": "a", "context": {}})


def test_an_untyped_parameter_takes_anything() -> None:
    made = tool(untyped)
    assert made.description == ""
    assert dict(made.arguments.read({"anything": [1]})) == {"anything": [1]}


def test_a_tool_may_be_made_with_options() -> None:
    made = tool(name="give", description="Give.", output_schema=int, replay="never")(transfer)
    assert isinstance(made, Tool)
    assert (made.name, made.description, made.kind, made.replay) == (
        "give",
        "Give.",
        "server",
        "never",
    )
    assert made.output_schema is not None
    assert made.output_schema.flaws("x") is not None
    assert tool(transfer).output_schema is None


def test_a_clients_tool_has_the_signature_and_no_body() -> None:
    made = tool(execute="client")(transfer)
    assert (made.kind, made.execute) == ("client", None)
    assert made.spec() == tool(transfer).spec()


def test_what_asks_for_approval_is_not_run_twice_unless_it_says_that_it_may() -> None:
    assert tool(transfer).replay == "safe"
    assert tool(require_approval=True)(transfer).replay == "never"
    assert tool(require_approval=lambda *_: False)(transfer).replay == "never"
    assert tool(require_approval=True, replay="safe")(transfer).replay == "safe"


@pytest.mark.parametrize(
    "options",
    [
        {"execute": "server"},
        {"execute": "client", "require_approval": True},
        {"execute": "client", "replay": "safe"},
        {"replay": "sometimes"},
        {"name": "__finish__"},
        {"name": "subagent__x"},
        {"name": "companion__x"},
        {"output_schema": {"type": "nothing"}},
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        tool(**options)(transfer)


def test_a_clients_tool_takes_no_context() -> None:
    with pytest.raises(ValueError, match="no context"):
        tool(execute="client")(look_up)


class Report(BaseModel):
    title: str


def test_an_agent_has_its_schemas_in_either_form() -> None:
    as_dict = {"type": "object", "properties": {"n": {"type": "integer"}}}
    agent = define_agent("bank", model=MODEL, output_schema=Report, state_schema=as_dict)
    assert agent.output_schema is not None
    assert agent.output_schema.checked({"title": "T"}) == {"title": "T"}
    assert agent.state_schema is not None
    assert agent.state_schema.flaws({"n": "x"}) is not None


@pytest.mark.parametrize("retention", [0, 1.5, 10**18])
def test_a_retention_is_a_finite_time(retention: float) -> None:
    agent = define_agent("bank", model=MODEL, completed_tombstone_retention_ms=retention)
    assert agent.completed_tombstone_retention_ms == min(int(retention), MAX_RETENTION_MS)
    assert define_agent("bank", model=MODEL).completed_tombstone_retention_ms == 86_400_000


@pytest.mark.parametrize("retention", [-1, math.inf, math.nan, True])
def test_a_retention_of_no_finite_time_is_refused(retention: float) -> None:
    with pytest.raises(ValueError, match="finite and at least 0"):
        define_agent("bank", model=MODEL, completed_tombstone_retention_ms=retention)


def test_an_agent_keeps_what_it_was_given() -> None:
    settings = {"temperature": 0}
    agent = define_agent("bank", model=MODEL, tools=[tool(transfer)], settings=settings)
    settings["temperature"] = 1
    assert agent.settings == {"temperature": 0}
    assert [each.name for each in agent.tools] == ["transfer"]
    assert (agent.max_steps, agent.system_prompt, agent.description) == (50, None, "")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": ""}, "1 to 128 characters"),
        ({"name": "x" * (MAX_AGENT_TYPE + 1)}, "1 to 128 characters"),
        ({"tools": [tool(transfer), tool(transfer)]}, "two tools of one name"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": 1.5}, "max_steps"),
        ({"max_steps": math.nan}, "max_steps"),
        ({"output_schema": list[int]}, "an object"),
        ({"output_schema": {"type": "array"}}, "an object"),
        ({"state_schema": {"type": "nothing"}}, "no JSON Schema"),
    ],
)
def test_a_wrong_definition_is_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        define_agent(**{"name": "bank", "model": MODEL, **changed})


def test_the_registry_finds_defined_agents_also_under_another_name() -> None:
    agent = define_agent("bank", model=MODEL)
    registry = AgentRegistry([agent])
    registry.register(agent, "teller")
    assert registry(context_for("bank")) is agent
    assert registry(context_for("teller")) is agent
    assert registry.defined("bank") is agent


def test_a_factory_is_told_for_which_drive_it_makes_its_agent() -> None:
    async def make(context: AgentContext) -> Agent:
        return define_agent(f"for {context.session_id}", model=MODEL)

    registry = AgentRegistry()
    registry.register_factory("made", make)

    async def resolve() -> Agent:
        made = registry(context_for("made"))
        assert not isinstance(made, Agent)
        return await made

    assert asyncio.run(resolve()).name == "for s1"
    assert registry.defined("made") is None


def test_an_unknown_type_is_a_typed_error_that_names_no_other_type() -> None:
    registry = AgentRegistry([define_agent("secret-agent", model=MODEL)])
    registry.register_factory("made", lambda _: define_agent("made", model=MODEL))
    with pytest.raises(AgentResolutionError) as caught:
        registry(context_for("unknown"))
    error = caught.value
    assert (error.code, error.retryable) == ("framework_agent_not_found", False)
    assert error.agent_type == "unknown"
    assert error.available_types == ("made", "secret-agent")
    assert "secret" not in str(error)
