"""From an agent type to what can be driven: the agent, and its model. Each failure is typed."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from lockgate.agents import Agent, AgentRegistry, DriveFactoryContext
from lockgate.errors import AgentResolutionError, find_known
from lockgate.host import Host
from lockgate.models.choose import model_from
from lockgate.models.protocol import Model


@dataclass(frozen=True, slots=True)
class Materialized:
    """An agent that is ready to be driven."""

    agent: Agent
    model: Model


def needs_no_factory(host: Host, agent_type: str) -> bool:
    """Say whether this type is defined outright, so that materializing it cannot fail."""
    if not isinstance(host.agents, AgentRegistry):
        return False
    agent = host.agents.defined(agent_type)
    return agent is not None and not isinstance(agent.model, str)


async def materialize(host: Host, context: DriveFactoryContext) -> Materialized:
    """Resolve an agent and its model, before anything is written.

    Errors  AgentResolutionError, not found or failed with its cause's retryability; an error that
            is already typed as itself
    """
    try:
        resolved = host.agents(context)
        agent = await resolved if inspect.isawaitable(resolved) else resolved
        return Materialized(agent, model_from(agent.model))
    except Exception as error:
        if find_known(error) is error:
            raise
        raise AgentResolutionError(context.agent_type, error) from error
