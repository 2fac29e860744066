"""From an agent type to what can be driven: agent, model, usage store. Each failure is typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.agent_hooks import AgentHooks
from lockgate.agents import Agent, AgentContext, AgentRegistry, UsageReadContext
from lockgate.children import check_sub_agents, without_output_schema
from lockgate.contained import called
from lockgate.definitions import Tool, finish_tool
from lockgate.errors import AgentResolutionError, find_known
from lockgate.host import Host
from lockgate.models.choose import model_from
from lockgate.models.protocol import Model
from lockgate.usage import StrictStore, store_from


@dataclass(frozen=True, slots=True)
class Materialized:
    """An agent that is ready to be driven.

    tools        all that its model is offered, by their names
    hooks        the agent's own, after those of a parent
    usage_store  the application's, which is told what was used before the commit that used it; None
                 where the commits keep it themselves, in rows
    """

    agent: Agent
    model: Model
    usage_store: StrictStore | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    hooks: tuple[AgentHooks, ...] = ()


def needs_no_factory(host: Host, agent_type: str) -> bool:
    """Say whether this type is defined outright, so that materializing it cannot fail."""
    if host.usage_store is not None or not isinstance(host.agents, AgentRegistry):
        return False
    agent = host.agents.defined(agent_type)
    return (
        agent is not None
        and not isinstance(agent.model, str)
        and without_output_schema(host, agent) is None
    )


async def materialize(host: Host, context: AgentContext) -> Materialized:
    """Resolve an agent, its model and its usage store, before anything is written.

    A look-up starts nothing: of the usage store it only asks whether it could be had.
    Errors  AgentResolutionError, not found or failed with its cause's retryability; an error that
            is already typed as itself; EntryRefused framework_usage_store_unavailable, or
            validation_error for a sub-agent without an output schema
    """
    agent, model = await _resolved(host, context)
    check_sub_agents(host, agent)
    used = (
        context
        if context.purpose == "drive"
        else UsageReadContext(context.env, context.session_id, context.identity)
    )
    store = await store_from(host.usage_store, used)
    return Materialized(agent, model, store, offered_tools(agent), agent.hooks)


def offered_tools(agent: Agent) -> dict[str, Tool]:
    """Return what an agent's model may call, by name: its tools, and how it ends its run."""
    tools = [*agent.tools]
    if agent.output_schema is not None:
        tools.append(finish_tool(agent.output_schema))
    return {tool.name: tool for tool in tools}


async def _resolved(host: Host, context: AgentContext) -> tuple[Agent, Model]:
    try:
        agent: Agent = await called(host.agents, context)
        return agent, model_from(agent.model)
    except Exception as error:
        if find_known(error) is error:
            raise
        raise AgentResolutionError(context.agent_type, error) from error
