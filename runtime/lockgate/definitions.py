"""Tools as an application defines them: what the model is told, who executes, and on whose word.

Owns what a typed function says of itself. It runs nothing: that is `tools.py`.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_type_hints, overload

from pydantic import ConfigDict, create_model

from lockgate.hooks import Identity
from lockgate.models.protocol import ToolSpec
from lockgate.remote import ChildHost
from lockgate.schema import Schema, as_schema

# Who answers a call: the drive by a body, a client, a child session, or the call is the answer.
ToolKind: TypeAlias = Literal["server", "client", "subagent", "finish"]
Replay: TypeAlias = Literal["safe", "never"]

FINISH = "__finish__"
RESERVED = ("__", "subagent__", "companion__")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool body is given: who calls, and the id to deduplicate on outside.

    dedupe_id     the same for every try of this very call, also after a crash: run, step, ordinal
    emit          put a custom chunk on the stream: emit(name, data)
    get_state     the session's state, with what this step's tools have changed so far
    update_state  merge an object into the state, name by name; it is saved with the call's result.
                  Errors ValueError: it has no JSON form, or does not fit the agent's state schema
    record_usage  count something of one's own: record_usage(type, value); saved with the result
                  Errors ValueError: no name, no number, or more than 2,000 characters of JSON
    aborted       set when a stop, or the loss of the run, halts this attempt: a body that cannot
                  be cancelled looks at it
    """

    session_id: str
    agent_type: str
    run_id: str
    tool_call_id: str
    dedupe_id: str
    identity: Identity
    emit: Callable[[str, Any], Awaitable[None]]
    get_state: Callable[[], Mapping[str, Any]]
    update_state: Callable[[Mapping[str, Any]], None]
    record_usage: Callable[..., None]
    aborted: asyncio.Event

    @property
    def state(self) -> Mapping[str, Any]:
        """The session's state, as get_state says it now."""
        return self.get_state()


Approval: TypeAlias = bool | Callable[[Mapping[str, Any], ToolContext], bool | Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: `arguments` validates what the model wrote, `kind` says who answers a call.

    kind              or a function of the arguments, read, that says it for each call
    execute           the body, of a server tool only
    takes_context     whether a parameter of the body is a ToolContext
    output_schema     what a result must look like, also one that a client submits
    require_approval  whether a call waits for a person first, or a function of (arguments, context)
    replay            never: a body whose outcome is unknown is not run again
    finish_with       a result of it ends the run, as its output
    child_agent_type  of a sub-agent's tool: which agent the child session is driven by
    child_host        where the child lives, if it is not here
    begin             of a sub-agent's tool that does not make one child for each call: what a call
                      does instead, so that the end of some child answers it
    """

    name: str
    description: str
    arguments: Schema
    execute: Callable[..., Any] | None = None
    takes_context: bool = False
    kind: ToolKind | Callable[[Any], ToolKind] = "server"
    output_schema: Schema | None = None
    require_approval: Approval = False
    replay: Replay = "safe"
    finish_with: bool = False
    child_agent_type: str | None = None
    child_host: ChildHost | None = None
    begin: Callable[[Mapping[str, Any]], Awaitable[None]] | None = None

    def spec(self) -> ToolSpec:
        """Return what a model is told of it."""
        return ToolSpec(self.name, self.description, self.arguments.json_schema)

    def kind_of(self, arguments: Any) -> ToolKind:
        """Say who answers a call with these arguments."""
        return self.kind(arguments) if callable(self.kind) else self.kind


def finish_tool(output: Schema) -> Tool:
    """Make the tool by which a model ends its run with an output."""
    return Tool(
        name=FINISH,
        description="End the turn with the final answer, once it is complete.",
        arguments=output,
        kind="finish",
    )


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = ...,
    description: str | None = ...,
    output_schema: Any = ...,
    execute: Literal["client"] | None = ...,
    require_approval: Approval = ...,
    replay: Replay | None = ...,
    finish_with: bool = ...,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, **options: Any
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function: name, docstring and signature are what the model sees.

    A parameter annotated ToolContext is filled in by the drive and not shown to the model. A plain
    function may block: it runs off the event loop.

    name, description  instead of the function's own
    output_schema      a type of pydantic or a JSON Schema: what a result must look like
    execute            'client': the function's body is never run, a client answers the call
    require_approval   True, or a function of (arguments, context), plain or async; one that raises
                       asks for approval
    replay             'safe': a body that a crash cut off runs again, under the same dedupe id;
                       'never': the call is answered as interrupted. A tool that may require
                       approval is 'never' unless it says 'safe'
    finish_with        True: a result of this tool ends the run, as its output
    Errors             TypeError: *args, **kwargs, or a name that pydantic keeps for itself;
                       ValueError: options that exclude each other, a schema that is none
    """
    if function is not None:
        return _made(function, **options)
    return lambda given: _made(given, **options)


def _made(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    output_schema: Any = None,
    execute: str | None = None,
    require_approval: Approval = False,
    replay: Replay | None = None,
    finish_with: bool = False,
) -> Tool:
    arguments, takes_context = _signature(function)
    asks = require_approval is not False
    if execute not in (None, "client"):
        raise ValueError("execute is 'client', or left out")
    if execute == "client" and (asks or replay is not None or takes_context):
        raise ValueError("a client's tool has no body: no approval, no replay, no context")
    if replay not in (None, "safe", "never"):
        raise ValueError("replay is 'safe' or 'never'")
    return Tool(
        name=_name_of(name or function.__name__),
        description=inspect.getdoc(function) or "" if description is None else description,
        arguments=arguments,
        execute=None if execute == "client" else function,
        takes_context=takes_context,
        kind="client" if execute == "client" else "server",
        output_schema=as_schema(output_schema),
        require_approval=require_approval,
        replay=replay or ("never" if asks else "safe"),
        finish_with=finish_with,
    )


def _name_of(name: str) -> str:
    if name.startswith(RESERVED):
        raise ValueError(f"a tool's name does not begin with {', '.join(RESERVED)}: {name!r}")
    return name


def _signature(function: Callable[..., Any]) -> tuple[Schema, bool]:
    """Read a function's parameters: those that the model fills in, and whether one is a context."""
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
        model = create_model(
            f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid"), **fields
        )
    return Schema(model), takes_context
