"""What a model is: one streamed call, from a history to a reply.

A model keeps no state between calls: whatever it needs is in the request, so that another process
can ask again after a crash. Its stream ends with Finished; one that ends without it has broken off.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from lockgate.errors import LockgateError
from lockgate.messages import Message
from lockgate.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's thinking; `done` closes it."""

    text: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class CallStart:
    """The model begins to write the arguments of a call."""

    id: str
    tool: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a call's arguments, as text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call, complete. `input` is what the model wrote: a JSON object, or text that is none."""

    id: str
    tool: str
    input: Any


@dataclass(frozen=True, slots=True)
class Output:
    """A structured output: it ends the run with this value."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply is whole. `usage` counts tokens by kind, where the provider told."""

    usage: Mapping[str, int] = field(default_factory=dict)


ModelEvent: TypeAlias = TextDelta | ThinkingDelta | CallStart | CallDelta | Call | Output | Finished


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `input_schema` is a JSON Schema of an object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call: the whole history, what may be called, and which step this is.

    tool_choice  required: the reply is to call one of the tools
    """

    messages: Sequence[Message]
    system_prompt: str | None
    tools: Sequence[ToolSpec]
    step: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    tool_choice: Literal["auto", "required"] = "auto"


class Model(Protocol):
    """What answers a history."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream one reply. A failure is a ModelError; a cancelled task must stop the call."""
        ...


class ModelError(LockgateError):
    """A model call failed; `code` is provider_error, provider_rate_limited, or one of its own."""

    def __init__(
        self, message: str, *, code: str = "provider_error", retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
