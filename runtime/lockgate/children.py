"""Sub-agents: a call of a tool that another agent answers, in a session of its own.

A local child is started by a rule, in one commit with its record, and its end wakes its parent; the
parent waits for it without a drive. A child on another host is recorded first, then asked to start;
the parent's drive asks how it stands until it has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from lockgate.agent_hooks import AgentHooks
from lockgate.agents import Agent, AgentRegistry
from lockgate.definitions import Tool
from lockgate.errors import EntryRefused
from lockgate.host import Host
from lockgate.remote import ChildHost
from lockgate.remote_children import ChildCall, NewChild, refuse_taken, run_remote
from lockgate.rules import children as rules
from lockgate.schema import Schema, as_schema
from lockgate.scope import Scope
from lockgate.strict_json import dumps
from lockgate.worker_outcomes import StartChildResult

PREFIX = "subagent__"


class SubAgentInput(BaseModel):
    """What a sub-agent is told, where its tool has no input schema of its own."""

    model_config = ConfigDict(extra="forbid")

    message: str
    state: dict[str, Any] | None = None


def sub_agent(
    agent: Agent | str,
    *,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
    output_schema: Any = None,
    host: ChildHost | None = None,
) -> Tool:
    """Make a tool of an agent: a call runs it to its end, and its output is the call's result.

    agent          an agent, or the type of one that is registered, here or at `host`
    name           what the model calls it by, after `subagent__`; the agent's own by default
    input          a type of pydantic or a JSON Schema, of an object, which the child is told as
                   JSON; by default {message, state?}
    output_schema  of an agent that is known by its type only. A child has an output schema, else
                   the parent is not materialized: validation_error
    host           where the child lives, if it is not here
    """
    agent_type = agent if isinstance(agent, str) else agent.name
    known = None if isinstance(agent, str) else agent
    return Tool(
        name=PREFIX + (name or agent_type),
        description=description or (known.description if known else ""),
        arguments=as_schema(SubAgentInput if input is None else input) or Schema(SubAgentInput),
        kind="subagent",
        output_schema=as_schema(output_schema) or (known.output_schema if known else None),
        child_agent_type=agent_type,
        child_host=host,
    )


def without_output_schema(host: Host, agent: Agent) -> str | None:
    """Return the type of a sub-agent that says nowhere what its output looks like, if there is one.

    Of a local one that its tool knows by the type only, the registered definition says it.
    """
    for tool in agent.tools:
        if tool.child_agent_type is None or tool.output_schema is not None:
            continue
        child = None
        if tool.child_host is None and isinstance(host.agents, AgentRegistry):
            child = host.agents.defined(tool.child_agent_type)
        if child is None or child.output_schema is None:
            return tool.child_agent_type
    return None


def check_sub_agents(host: Host, agent: Agent) -> None:
    """Refuse an agent one of whose sub-agents has no output schema.

    Errors  EntryRefused validation_error
    """
    agent_type = without_output_schema(host, agent)
    if agent_type is not None:
        raise EntryRefused(
            "validation_error", f"The sub-agent {agent_type!r} has no output schema", field="tools"
        )


async def inherited_hooks(scope: Scope) -> tuple[AgentHooks, ...]:
    """Return the hooks of the agents that a child descends from, the root's first.

    Only agents that are defined outright have any to give: no factory runs for this.
    """
    registry = scope.around.host.agents
    if scope.identity.parent_session_id is None or not isinstance(registry, AgentRegistry):
        return ()
    ancestors = await scope.around.database.call(
        rules.list_ancestors,
        session_id=scope.session_id,
        tenant_id=scope.address["tenant_id"],
    )
    agents = [registry.defined(each.agent_type) for each in ancestors]
    return tuple(hooks for agent in agents if agent is not None for hooks in agent.hooks)


async def start_child(scope: Scope, call: Mapping[str, Any], tool: Tool) -> None:
    """Start the child of a call; its end is the call's answer, whoever tells of it.

    Errors  EntryRefused, which is the call's answer; RunSuperseded; StoreUnavailable
    """
    if tool.begin is not None:
        await tool.begin(call)
        return
    assert tool.child_agent_type is not None
    new = NewChild(tool.child_agent_type, child_input(call["input"]))
    if tool.child_host is None:
        await begin_local(scope, ChildCall.of(call), new)
    else:
        await run_remote(scope, tool.child_host, ChildCall.of(call), new)


def child_input(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a child is started with: arguments of another form are told as JSON."""
    message, state = arguments.get("message"), arguments.get("state")
    is_told = isinstance(message, str) and message and not arguments.keys() - {"message", "state"}
    if not is_told or not (state is None or isinstance(state, Mapping)):
        return {"message": dumps(arguments)}
    return {"message": message} if state is None else {"message": message, "state": state}


async def begin_local(scope: Scope, call: ChildCall, new: NewChild) -> StartChildResult:
    """Make a local child and start its run, once for each call. Errors  NameTaken"""
    recorded = await new.recorded(scope, call)
    answer = await scope.writer.beside(
        lambda: scope.around.database.call(rules.start_child, **recorded, input=dumps(new.given))
    )
    refuse_taken(answer, new.name)
    scope.around.hurry()
    return answer
