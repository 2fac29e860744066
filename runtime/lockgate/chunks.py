"""The chunks a drive puts on a stream: a closed set on our side, passed on unread by readers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from lockgate.strict_json import dumps


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

    def custom(self, step: int, name: str, data: Any) -> str:
        """What a tool emits by itself."""
        return self.chunk("custom", step, eventName=name, data=data)
