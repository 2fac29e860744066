"""A reader of one session's stream: cut off again and again, it goes on from its cursor elsewhere.

It keeps all that it was sent, in the order in which it came. Whether that is each chunk once is
judged at the end, against what is stored.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import httpx

from lockgate_ops.chaos.places import Place
from lockgate_ops.chaos.ways import understood

SILENT_FOR_S = 8.0  # a server says something at least each 5 s
AGAIN_S = 0.1
LEAVES = 0.02  # after so many of all events a reader goes away by itself, as a phone does


@dataclass(frozen=True, slots=True)
class Ending:
    """How a stream ended for a reader: `end`, or `fail`, and what the event said."""

    event: str
    said: dict[str, Any]

    @property
    def status(self) -> str:
        """The status of its run, as the event tells it."""
        return "failed" if self.event == "fail" else str(self.said.get("status"))

    @property
    def code(self) -> str | None:
        """Why its run failed."""
        detail = self.said.get("errorDetail") or {}
        code = detail.get("code")
        return None if code is None else str(code)


@dataclass(slots=True)
class Reader:
    """One reader, and what it was sent.

    may_be_early  its session may have had no run yet
    chunks  sequence, run and chunk, in the order in which they came
    faults  what no reader may be told
    cuts    how often its response ended before the stream
    """

    session_id: str
    servers: list[Place]
    rng: random.Random
    client: httpx.AsyncClient
    may_be_early: bool = False
    chunks: list[tuple[int, str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    cuts: int = 0
    cursor: str | None = None

    async def follow(self) -> Ending:
        """Read from where it is until the stream ends, on however many servers that takes."""
        while True:
            try:
                ending = await self._read_on()
            except httpx.HTTPError:  # The server has gone, or says nothing.
                ending = None
            if ending is not None:
                return ending
            self.cuts += 1
            await asyncio.sleep(AGAIN_S)

    async def _read_on(self) -> Ending | None:
        """Read one response; None when it broke off before the stream's end."""
        url = f"{self.rng.choice(self.servers).said}/sessions/{self.session_id}/sse"
        headers = {} if self.cursor is None else {"Last-Event-ID": self.cursor}
        async with self.client.stream("GET", url, headers=headers, timeout=SILENT_FOR_S) as answer:
            if answer.status_code != 200:
                await answer.aread()
                refusal = understood(answer)
                is_known = self.cursor is not None or not self.may_be_early
                if refusal.raw is not None or (refusal.label == "NOT_FOUND" and is_known):
                    self.faults.append(f"{self.session_id}: {answer.status_code} {answer.text}")
                return None
            async with aclosing(_events(answer)) as events:
                async for name, cursor, data in events:
                    ending = self._take(name, cursor, data)
                    if ending is not None or self.rng.random() < LEAVES:
                        return ending
        return None

    def _take(self, name: str, cursor: str, data: Any) -> Ending | None:
        if name == "chunk":
            self.chunks.append((data["sequence"], data["runId"], data["chunk"]))
            self.cursor = cursor
        elif name == "end" or (name == "fail" and not data["recoverable"]):
            return Ending(name, data)
        elif name not in ("caught-up", "fail"):
            # Nothing is taken from these streams, and nothing committed is ever lost.
            self.faults.append(f"{self.session_id}: {name} {data}")
        return None

    def disagreements(self, stored: list[tuple[int, str, Any]]) -> list[str]:
        """Say where what was read is not what is stored, each chunk once and in order."""
        wrong = [*self.faults]
        sequences = [sequence for sequence, _, _ in self.chunks]
        if sequences != [*range(1, len(sequences) + 1)]:
            place = next(n for n, each in enumerate(sequences, start=1) if each != n)
            wrong.append(f"{self.session_id}: {sequences[place - 1]} was read in place of {place}")
        elif self.chunks != stored:
            wrong.append(
                f"{self.session_id}: of {len(stored)} stored chunks {len(self.chunks)} were read, "
                f"and from {_first_other(self.chunks, stored)} on they differ"
            )
        return wrong


def _first_other(read: Sequence[Any], stored: Sequence[Any]) -> int:
    """Return from which sequence on two lists of chunks differ."""
    pairs = enumerate(zip(read, stored, strict=False), start=1)
    return next((n for n, (mine, theirs) in pairs if mine != theirs), min(len(read), len(stored)))


async def _events(answer: httpx.Response) -> AsyncGenerator[tuple[str, str, Any], None]:
    """Yield a response's events: name, id, data. One that was cut off in its middle is none."""
    name = cursor = data = ""
    async for line in answer.aiter_lines():
        said, _, value = line.partition(": ")
        if said == "event":
            name = value
        elif said == "id":
            cursor = value
        elif said == "data":
            data = value
        elif not line and data:
            yield name, cursor, json.loads(data)
            name = cursor = data = ""
