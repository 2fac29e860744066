"""Agents and tools as an application defines them, and the resolver that finds an agent by type."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from lockgate.errors import AgentResolutionError
from lockgate.hooks import DriveKind, Identity
from lockgate.models.protocol import Model, ToolSpec

MAX_AGENT_TYPE = 128  # characters: the type is indexed text


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool body is given: who calls, and the id to deduplicate on outside.

    dedupe_id   the same for every try of this very call, also after a crash: run, step, ordinal
    emit        put a custom chunk on the stream: emit(name, data)
    """

    session_id: str
    run_id: str
    tool_call_id: str
    dedupe_id: str
    identity: Identity
    state: Mapping[str, Any]
    emit: Callable[[str, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that runs on the server. `arguments` validates what the model wrote."""

    name: str
    description: str
    arguments: type[BaseModel]
    execute: Callable[..., Any]
    takes_context: bool

    def spec(self) -> ToolSpec:
        """Return what a model is told of it."""
        return ToolSpec(self.name, self.description, self.arguments.model_json_schema())


def tool(function: Callable[..., Any]) -> Tool:
    """Make a tool of a typed function: name, docstring and signature are what the model sees.

    A parameter annotated ToolContext is filled in by the drive and not shown to the model. A plain
    function may block: it runs off the event loop.
    Errors  TypeError: *args, **kwargs, or a name that pydantic keeps for itself
    """
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    takes_context = False
    for name, parameter in inspect.signature(function).parameters.items():
        if hints.get(name) is ToolContext:
            takes_context = True
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or (
            name.startswith(("_", "model_"))
        ):
            raise TypeError(f"tool {function.__name__!r}: the model cannot be shown {name!r}")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (hints.get(name, Any), default)
    with warnings.catch_warnings():
        # `schema` and `json` are good names for arguments, whatever pydantic once called so.
        warnings.filterwarnings("ignore", message=".*shadows an attribute.*")
        arguments = create_model(
            f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid"), **fields
        )
    return Tool(
        name=function.__name__,
        description=inspect.getdoc(function) or "",
        arguments=arguments,
        execute=function,
        takes_context=takes_context,
    )


@dataclass(frozen=True, slots=True)
class Agent:
    """What drives a session: a model, what it is told, and what it may call."""

    name: str
    model: Model | str
    system_prompt: str | Callable[[Mapping[str, Any]], str] | None = None
    tools: tuple[Tool, ...] = ()
    description: str = ""
    max_steps: int = 50
    settings: Mapping[str, Any] = field(default_factory=dict)


def define_agent(
    name: str,
    *,
    model: Model | str,
    system_prompt: str | Callable[[Mapping[str, Any]], str] | None = None,
    tools: Iterable[Tool] = (),
    description: str = "",
    max_steps: int = 50,
    settings: Mapping[str, Any] | None = None,
) -> Agent:
    """Define an agent.

    model           a Model, or a string such as `openai:gpt-4.1` (extra `llm`)
    system_prompt   a text, or a function of the session's state
    max_steps       at least 1: a run that needs more ends failed
    Errors          ValueError: an empty or overlong name, two tools of one name, a bad max_steps
    """
    given = tuple(tools)
    if not 1 <= len(name) <= MAX_AGENT_TYPE:
        raise ValueError(f"an agent's name has 1 to {MAX_AGENT_TYPE} characters")
    if len({each.name for each in given}) < len(given):
        raise ValueError(f"agent {name!r} has two tools of one name")
    if max_steps < 1:
        raise ValueError("max_steps is at least 1")
    return Agent(name, model, system_prompt, given, description, max_steps, dict(settings or {}))


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


AgentFactory: TypeAlias = Callable[[DriveFactoryContext], Agent | Awaitable[Agent]]
AgentResolver: TypeAlias = Callable[[DriveFactoryContext], Agent | Awaitable[Agent]]


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

    def __call__(self, context: DriveFactoryContext) -> Agent | Awaitable[Agent]:
        """Resolve a type, as an AgentResolver does."""
        agent = self._defined.get(context.agent_type)
        if agent is not None:
            return agent
        factory = self._factories.get(context.agent_type)
        if factory is None:
            available = sorted([*self._defined, *self._factories])
            raise AgentResolutionError.not_found(context.agent_type, available)
        return factory(context)
