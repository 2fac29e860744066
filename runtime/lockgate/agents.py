"""Agents as an application defines them, and the resolver that finds one by its type."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from lockgate.agent_hooks import AgentHooks
from lockgate.definitions import Tool
from lockgate.errors import AgentResolutionError
from lockgate.hooks import DriveKind, Identity
from lockgate.messages import Message
from lockgate.models.protocol import Model
from lockgate.remote import ChildHost
from lockgate.schema import Schema, as_schema

MAX_AGENT_TYPE = 128  # characters: the type is indexed text
RETENTION_MS = 24 * 60 * 60 * 1_000  # a late duplicate of an answer is known for a day
MAX_RETENTION_MS = 100 * 365 * RETENTION_MS  # what is longer could not be added to a date


@dataclass(frozen=True, slots=True)
class StopContext:
    """What stop_when decides on, after a step whose calls all have their results."""

    step: int
    messages: Sequence[Message]
    state: Mapping[str, Any]


SystemPrompt: TypeAlias = str | Callable[[Mapping[str, Any]], str] | None
StopWhen: TypeAlias = Callable[[StopContext], bool | Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class PersistentAgent:
    """An agent that may live on beside its parent's runs, as a companion.

    agent  or the type of one that is registered, here or at `host`
    mode   blocking: a call that spawns it waits for what it finds; background: it answers at once
    host   where its sessions live, if not here
    """

    agent: Agent | str
    mode: Literal["blocking", "background"] = "background"
    description: str = ""
    host: ChildHost | None = None

    @property
    def agent_type(self) -> str:
        """The type by which a parent's model names it."""
        return self.agent if isinstance(self.agent, str) else self.agent.name


@dataclass(frozen=True, slots=True)
class Agent:
    """What drives a session: a model, what it is told, and what it may call."""

    name: str
    model: Model | str
    system_prompt: SystemPrompt = None
    tools: tuple[Tool, ...] = ()
    description: str = ""
    max_steps: float = 50
    settings: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Schema | None = None
    state_schema: Schema | None = None
    stop_when: StopWhen | None = None
    hooks: tuple[AgentHooks, ...] = ()
    persistent_agents: tuple[PersistentAgent, ...] = ()
    completed_tombstone_retention_ms: int = RETENTION_MS


def define_agent(
    name: str,
    *,
    model: Model | str,
    system_prompt: SystemPrompt = None,
    tools: Iterable[Tool] = (),
    description: str = "",
    max_steps: float = 50,
    settings: Mapping[str, Any] | None = None,
    output_schema: Any = None,
    state_schema: Any = None,
    stop_when: StopWhen | None = None,
    hooks: AgentHooks | None = None,
    persistent_agents: Iterable[PersistentAgent] = (),
    completed_tombstone_retention_ms: float = RETENTION_MS,
) -> Agent:
    """Define an agent.

    model           a Model, or a string such as `openai:gpt-4.1` (extra `llm`)
    system_prompt   a text, or a function of the session's state
    max_steps       at least 1, math.inf for no cap: with an output schema a run that needs more is
                    made to finish once, without one it ends failed
    output_schema   what a run's output must look like: a type of pydantic or a JSON Schema, of an
                    object. The model is offered `__finish__` then
    state_schema    what a tool's update_state must leave behind, in the same two forms
    stop_when       asked after each step that ran tools, before the cap: True ends the run
    persistent_agents
                    agents that its model may spawn as companions; one that is called as a tool, to
                    run to its end, is a tool of `sub_agent`
    completed_tombstone_retention_ms
                    how long a late duplicate of an answer is still known; 0 is not at all
    Errors          ValueError: an empty or overlong name, two tools of one name, a bad max_steps
                    or retention, a schema that is none
    """
    return _checked(
        Agent(
            name=name,
            model=model,
            system_prompt=system_prompt,
            tools=tuple(tools),
            description=description,
            max_steps=max_steps,
            settings=dict(settings or {}),
            output_schema=as_schema(output_schema),
            state_schema=as_schema(state_schema),
            stop_when=stop_when,
            hooks=() if hooks is None else (hooks,),
            persistent_agents=tuple(persistent_agents),
            completed_tombstone_retention_ms=_milliseconds(completed_tombstone_retention_ms),
        )
    )


def _checked(agent: Agent) -> Agent:
    if not 1 <= len(agent.name) <= MAX_AGENT_TYPE:
        raise ValueError(f"an agent's name has 1 to {MAX_AGENT_TYPE} characters")
    if len({each.name for each in agent.tools}) < len(agent.tools):
        raise ValueError(f"agent {agent.name!r} has two tools of one name")
    most = agent.max_steps
    if not (most == math.inf or (most >= 1 and most == int(most))):
        raise ValueError("max_steps is a whole number, at least 1, or infinite")
    if agent.output_schema is not None and not agent.output_schema.is_of_an_object:
        raise ValueError("an output schema describes an object")
    return agent


def _milliseconds(retention: float) -> int:
    if isinstance(retention, bool) or not math.isfinite(retention) or retention < 0:
        raise ValueError("completed_tombstone_retention_ms is finite and at least 0")
    return min(int(retention), MAX_RETENTION_MS)


@dataclass(frozen=True, slots=True)
class DriveFactoryContext:
    """What a resolver is told when a run is about to be driven; only here there is a run id."""

    env: Any
    session_id: str
    run_id: str
    drive: DriveKind
    identity: Identity
    agent_type: str
    purpose: Literal["drive"] = "drive"


@dataclass(frozen=True, slots=True)
class LookupFactoryContext:
    """What a resolver is told when an agent is only looked at: nothing is driven, no run id."""

    env: Any
    session_id: str
    identity: Identity
    agent_type: str
    reason: Literal["submit_validation", "retention"] = "submit_validation"
    purpose: Literal["lookup"] = "lookup"


@dataclass(frozen=True, slots=True)
class UsageReadContext:
    """What a usage-store factory is told when usage is only read, or the store only looked for."""

    env: Any
    session_id: str
    identity: Identity
    purpose: Literal["usage_read"] = "usage_read"


# Narrow on `purpose` before you read `run_id`.
AgentContext: TypeAlias = DriveFactoryContext | LookupFactoryContext
AgentFactory: TypeAlias = Callable[[AgentContext], Agent | Awaitable[Agent]]
AgentResolver: TypeAlias = Callable[[AgentContext], Agent | Awaitable[Agent]]


class AgentRegistry:
    """Finds an agent by its type: defined ones, and factories that make one for each drive."""

    def __init__(self, agents: Iterable[Agent] = ()) -> None:
        self._defined: dict[str, Agent] = {}
        self._factories: dict[str, AgentFactory] = {}
        for agent in agents:
            self.register(agent)

    def register(self, agent: Agent, name: str | None = None) -> None:
        """Register a defined agent. ValueError: the name is taken."""
        self._defined[self._free(name or agent.name)] = agent

    def register_factory(self, name: str, factory: AgentFactory) -> None:
        """Register a function, plain or async, that makes the agent for each drive."""
        self._factories[self._free(name)] = factory

    def _free(self, name: str) -> str:
        if name in self._defined or name in self._factories:
            raise ValueError(f"an agent named {name!r} is registered already")
        return name

    def defined(self, agent_type: str) -> Agent | None:
        """Return the agent if it needs no factory."""
        return self._defined.get(agent_type)

    def __call__(self, context: AgentContext) -> Agent | Awaitable[Agent]:
        """Resolve a type, as an AgentResolver does."""
        agent = self._defined.get(context.agent_type)
        if agent is not None:
            return agent
        factory = self._factories.get(context.agent_type)
        if factory is None:
            available = sorted([*self._defined, *self._factories])
            raise AgentResolutionError.not_found(context.agent_type, available)
        return factory(context)
