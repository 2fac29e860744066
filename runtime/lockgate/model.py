"""One model call: stream it to the readers, join it to a reply, try again where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import structlog

from lockgate.chunks import ChunkMaker
from lockgate.definitions import FINISH
from lockgate.messages import Part
from lockgate.models.protocol import (
    Call,
    CallDelta,
    CallStart,
    Finished,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    Output,
    TextDelta,
    ThinkingDelta,
)
from lockgate.stream_writer import StreamWriter
from lockgate.strict_json import storable

RETRY_WAITS_S = (1.0, 2.0, 4.0)  # a retryable failure repeats the call so often, after these
MAX_ANNOUNCED = 256  # characters: an id longer than this is announced under one of ours

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Reply:
    """What a model has said so far, joined from its deltas."""

    content: list[Part] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)

    def say(self, kind: str, text: str) -> None:
        """Add text to the last part of its kind, or begin one."""
        if self.content and self.content[-1]["type"] == kind:
            self.content[-1]["text"] += text
        else:
            self.content.append({"type": kind, "text": text})  # type: ignore[typeddict-item]

    def text(self) -> str:
        """Return what the reply says aloud."""
        return "".join(part["text"] for part in self.content if part["type"] == "text")


class _Deltas:
    """Cleans text that comes in pieces: half of a surrogate pair waits for its other half."""

    def __init__(self) -> None:
        self._held = ""

    def clean(self, piece: str) -> str:
        text = self._held + piece
        self._held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return str(storable(text[: len(text) - len(self._held)]))

    def rest(self) -> str:
        held, self._held = self._held, ""
        return str(storable(held))


class ModelCall:
    """One step's call of the model. `reply` is what was said so far, also when it was cut off."""

    def __init__(
        self, model: Model, request: ModelRequest, writer: StreamWriter, chunks: ChunkMaker
    ):
        self._model = model
        self._request = request
        self._writer = writer
        self._chunks = chunks
        self._step = request.step
        # The calls whose arguments readers see grow; those of `__finish__` become the output.
        self._shown: set[str] = set()
        self.reply = Reply()

    async def run(self, resync: dict[str, Any]) -> Reply:
        """Ask, and ask again up to three times; each repeat tells readers to drop the text before.

        Errors  ModelError once no repeat is left; RunSuperseded, StoreUnavailable by the writer
        """
        for wait_s in (*RETRY_WAITS_S, None):
            try:
                return await self._once()
            except ModelError as error:
                if not error.retryable or wait_s is None:
                    raise
                log.warning("model.retry", code=error.code, wait_s=wait_s, step=self._step)
                await asyncio.sleep(wait_s)
                self.reply = Reply()
                await self._writer.put(self._chunks.chunk("stream_resync", self._step, **resync))
                await self._writer.drain()  # an attempt that is over asks no more
        raise AssertionError("unreachable: the last try returns or raises")

    async def _once(self) -> Reply:
        text, thought = _Deltas(), _Deltas()
        events = self._model.stream(self._request)
        try:
            async for event in events:
                if isinstance(event, Finished):
                    await self._say(text.rest())
                    await self._think(thought.rest(), done=False)
                    self.reply.usage = dict(event.usage)
                    return self.reply
                await self._take(event, text, thought)
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()  # whatever happened here: an open provider call costs money
        raise ModelError("The model's stream broke off before its end", retryable=True)

    async def _take(self, event: ModelEvent, text: _Deltas, thought: _Deltas) -> None:
        match event:
            case TextDelta():
                await self._say(text.clean(event.text))
            case ThinkingDelta():
                await self._think(thought.clean(event.text), done=event.done)
            case CallStart() if len(event.id) <= MAX_ANNOUNCED and event.tool != FINISH:
                self._shown.add(event.id)
                await self._writer.put(self._chunks.call_start(self._step, event.id, event.tool))
            case CallDelta() if event.id in self._shown:
                delta = str(storable(event.text))
                await self._writer.put(self._chunks.call_delta(self._step, event.id, delta))
            case Call():
                self.reply.calls.append(event)
            case Output():
                value = storable(event.value)
                self.reply.content.append({"type": "output", "output": value})
                await self._writer.put(self._chunks.chunk("output", self._step, output=value))

    async def _say(self, text: str) -> None:
        if text:
            self.reply.say("text", text)
            await self._writer.put(self._chunks.text_delta(self._step, text))

    async def _think(self, text: str, *, done: bool) -> None:
        if text:
            self.reply.say("thinking", text)
        if text or done:
            await self._writer.put(self._chunks.thinking(self._step, text, is_complete=done))
