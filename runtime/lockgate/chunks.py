"""The chunks a drive puts on a stream: a closed set on our side, passed on unread by readers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockgate.strict_json import dumps

MAX_CHUNK = 1024 * 1024  # characters of its JSON as the database writes it


def is_too_large(chunk: str) -> bool:
    """Say whether a chunk's JSON is longer than may be, with the spaces that the database adds."""
    spaces = chunk.count(",") + chunk.count(":") if len(chunk) > MAX_CHUNK // 3 else 0
    return len(chunk) + spaces > MAX_CHUNK


@dataclass(frozen=True, slots=True)
class ChunkMaker:
    """Makes the chunks of one agent in one session."""

    agent_id: str
    agent_type: str

    def chunk(self, type_: str, step: int, **fields: Any) -> str:
        """Return one chunk as JSON text. `timestamp` is for people; nothing decides by it."""
        return dumps(
            {
                "type": type_,
                "agentId": self.agent_id,
                "agentType": self.agent_type,
                "timestamp": time.time_ns() // 1_000_000,
                "step": step,
                **fields,
            }
        )

    def text_delta(self, step: int, delta: str) -> str:
        """A piece of the reply's text."""
        return self.chunk("text_delta", step, delta=delta)

    def thinking(self, step: int, content: str, *, is_complete: bool) -> str:
        """A piece of the model's thinking."""
        return self.chunk("thinking", step, content=content, isComplete=is_complete)

    def call_start(self, step: int, call_id: str, tool_name: str) -> str:
        """The model begins to write a call's arguments."""
        return self.chunk("tool_arg_stream_start", step, toolCallId=call_id, toolName=tool_name)

    def call_delta(self, step: int, call_id: str, delta: str) -> str:
        """A piece of a call's arguments."""
        return self.chunk("tool_arg_stream_delta", step, toolCallId=call_id, delta=delta)

    def input_error(self, step: int, call: Mapping[str, Any], response: Mapping[str, Any]) -> str:
        """A call's arguments are unusable; its tool_end follows."""
        named = {name: call[name] for name in ("toolCallId", "toolName", "input")}
        return self.chunk("tool_input_error", step, **named, error=response["error"])

    def output_error(self, step: int, call: Mapping[str, Any], response: Mapping[str, Any]) -> str:
        """A body failed, or its result is not what its tool promises; its tool_end follows."""
        call_id = call["toolCallId"]
        return self.chunk("tool_output_error", step, toolCallId=call_id, error=response["error"])

    def custom(self, step: int, name: str, data: Any) -> str:
        """What a tool emits by itself."""
        return self.chunk("custom", step, eventName=name, data=data)
