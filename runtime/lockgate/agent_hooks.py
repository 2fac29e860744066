"""The hooks of an agent: what happens inside a run, told to whoever defined the agent.

They are called in the drive's own process and recorded nowhere, so after a crash one may be told
again, or not at all; a host's on_run_settled is the one that is delivered. A parent's hooks come
before those of its child.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import structlog

from lockgate.errors import error_detail, find_known
from lockgate.hooks import Identity, raised_by
from lockgate.messages import Message, Part

log = structlog.get_logger(__name__)

CompletionReason: TypeAlias = Literal["finished", "stop_when", "max_steps"]


@dataclass(frozen=True, slots=True)
class AgentHookContext:
    """Where a hook of an agent is called from; `aborted` is set when the attempt is halted."""

    session_id: str
    agent_type: str
    run_id: str
    step: int
    identity: Identity
    get_state: Callable[[], Mapping[str, Any]]
    emit: Callable[[str, Any], Awaitable[None]]
    aborted: asyncio.Event

    @property
    def state(self) -> Mapping[str, Any]:
        """The session's state, as get_state says it now."""
        return self.get_state()


@dataclass(frozen=True, slots=True)
class Started:
    """A run begins: its input is the last user message; told by its first attempt only."""

    agent: str
    input: Sequence[Part]
    initial_state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completed:
    """A run has ended completed, and its end is committed."""

    output: Any
    final_state: Mapping[str, Any]
    step_count: int
    duration_ms: int
    reason: CompletionReason


@dataclass(frozen=True, slots=True)
class Failed:
    """A run has ended failed, and its end is committed."""

    error_detail: Mapping[str, Any]
    step_count: int


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A model is about to be asked, with this history."""

    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """A model's reply is saved."""

    content: Sequence[Part]
    usage: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A body, or a sub-agent, is about to begin."""

    tool: str
    tool_call_id: str
    input: Any


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A call has its result, and it is saved; a sub-agent's child is started."""

    tool: str
    tool_call_id: str
    response: Mapping[str, Any]


Hook: TypeAlias = Callable[[AgentHookContext, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class AgentHooks:
    """An agent's hooks: each is an async function of (context, event), and each may be absent.

    on_agent_start                        Started
    on_agent_complete, on_agent_fail      Completed, Failed; after the commit of the end
    before_llm_call, after_llm_call       ModelAsked, ModelReplied
    before_tool, after_tool               ToolCalled, ToolAnswered
    before_sub_agent, after_sub_agent     ToolCalled, ToolAnswered with the child's start

    A raise is logged, and so is one that takes longer than thirty seconds. A typed error of
    Lockgate that a `before_…` raises stands: before a tool or sub-agent it is the call's answer and
    nothing is run, before a model call it ends the run.
    """

    on_agent_start: Hook | None = None
    on_agent_complete: Hook | None = None
    on_agent_fail: Hook | None = None
    before_llm_call: Hook | None = None
    after_llm_call: Hook | None = None
    before_tool: Hook | None = None
    after_tool: Hook | None = None
    before_sub_agent: Hook | None = None
    after_sub_agent: Hook | None = None


async def tell(
    hooks: Sequence[AgentHooks], name: str, context: AgentHookContext, event: Any
) -> None:
    """Call the hooks of a name, one after the other.

    Errors  the typed error that a `before_…` raises; every other raise is logged
    """
    for each in hooks:
        hook: Hook | None = getattr(each, name)
        if hook is None:
            continue
        error = await raised_by(hook, context, event)
        if error is None:
            continue
        if name.startswith("before_") and find_known(error) is error:
            raise error
        log.error("agent_hook.raised", hook=name, error=error_detail(error))
