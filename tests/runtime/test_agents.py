"""Tools made of functions, agents made of tools, and the registry that finds them."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from lockgate.agents import (
    MAX_AGENT_TYPE,
    Agent,
    AgentRegistry,
    DriveFactoryContext,
    ToolContext,
    define_agent,
    tool,
)
from lockgate.errors import AgentResolutionError
from lockgate.hooks import Identity
from lockgate.models.scripted import ScriptedModel

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
    assert dict(arguments.model_validate({"amount": 5})) == {"amount": 5, "to": "savings"}
    for wrong in ({}, {"amount": "many"}, {"amount": 5, "from": "you"}):
        with pytest.raises(ValidationError):
            arguments.model_validate(wrong)


def test_the_context_is_not_shown_to_the_model() -> None:
    made = tool(look_up)
    assert made.takes_context
    assert list(made.spec().input_schema["properties"]) == ["key"]
    assert not tool(transfer).takes_context
    with pytest.raises(ValidationError):
        made.arguments.model_validate({"key": "a", "context": {}})


def test_an_untyped_parameter_takes_anything() -> None:
    made = tool(untyped)
    assert made.description == ""
    assert dict(made.arguments.model_validate({"anything": [1]})) == {"anything": [1]}


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
    async def make(context: DriveFactoryContext) -> Agent:
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
