"""A model that needs no provider: it says what it was asked, and what Lockgate did with it.

For the demo agent, on a machine without keys or network. What it says follows from the history
alone, so a repeated call says the same. It calls no tool and knows nothing of the world.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from lockgate.messages import Message
from lockgate.models.protocol import Finished, ModelEvent, ModelRequest, TextDelta
from lockgate.models.scripted import estimated_usage, words

MAX_QUOTE = 160  # characters of the question that come back in the answer


class OfflineModel:
    """Answers in a few sentences, word by word."""

    name = "offline"

    def __init__(self, pace_s: float = 0.02) -> None:
        """pace_s  seconds before each word; 0 answers at once"""
        self._pace_s = pace_s

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream the answer to the last user message."""
        answer = _answer(request.messages)
        for word in words(answer):
            if self._pace_s:
                await asyncio.sleep(self._pace_s)
            yield TextDelta(word)
        yield Finished(estimated_usage(request, answer))


def _answer(history: Sequence[Message]) -> str:
    asked = [message for message in history if message.role == "user"]
    return " ".join(
        (
            f"This is turn {len(asked)} of our conversation, and {_question(asked)}",
            "I am an offline model, so I have no better answer than what just happened.",
            _earlier(len(asked) - 1),
            "Lockgate committed your message, this run and the work that drives it in one"
            " transaction; a worker claimed the run, and these words reach you as rows of its"
            " stream.",
            "If that worker dies now, another one takes the run over and you lose nothing.",
        )
    )


def _question(asked: Sequence[Message]) -> str:
    quote = " ".join(asked[-1].text().split()) if asked else ""
    if len(quote) > MAX_QUOTE:
        quote = f"{quote[:MAX_QUOTE].rstrip()}…"
    files = sum(part["type"] == "file" for part in asked[-1].content) if asked else 0
    said = f"you said: “{quote}”." if quote else "you said nothing in words."
    return f"{said} You sent {files} file{'s' * (files > 1)}." if files else said


def _earlier(turns: int) -> str:
    if turns < 1:
        return "Nothing came before it."
    return f"The {turns} earlier turn{'s' * (turns > 1)} I read from the same session's rows."
