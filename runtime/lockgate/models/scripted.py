"""A model that plays the script in the user's message: offline, free, and the same at every try.

It keeps no state. Which turn comes next is read from the history, so another process that asks
again after a crash gets the same turn. It refuses a script with a mistake anywhere before its
first turn is played.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lockgate.messages import Message
from lockgate.models.protocol import (
    Call,
    CallDelta,
    CallStart,
    Finished,
    ModelError,
    ModelEvent,
    ModelRequest,
    Output,
    TextDelta,
    ThinkingDelta,
)
from lockgate.strict_json import BadJson, dumps, loads_body

PREFIX = "script:"
MAX_WAIT_S = 600  # a turn may outlast any lease of a test; a forgotten one ends all the same
CHARACTERS_PER_TOKEN = 4  # what English text comes to with common tokenizers

# Short, for an error text is cut at 256 characters.
FORM = 'script: [{"calls": [{"tool": "add", "args": {"a": 1, "b": 2}}]}, {"say": "Done."}]'
EXPLANATION = f"I play scripts. Send me a message such as {FORM}"
CLOSING = "The script is over."

_KINDS = ("say", "calls", "fail", "output")
_WORD = re.compile(r"\s*\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class _Turn:
    """One model turn: `kind` is one of the four, and `value` what the script says for it."""

    kind: str
    value: Any
    think: str
    wait_s: float


class ScriptedModel:
    """Plays the script of the last user message that begins with `script:`.

    The script is a JSON list of turns, each one of
      {"say": text}          streamed word by word
      {"calls": [{"id"?, "tool", "args"?}]}   args is an object, or a text that is sent as it is
      {"fail": {"code"?, "retryable"?, "message"?}}
      {"output": value}
    and beside it "think": text, streamed first, and "wait": 0 to 600 seconds before the turn. A
    turn that fails leaves no message, so it fails again at the next try.
    """

    name = "scripted"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream the turn that the history has come to. Errors: ModelError, as the script says."""
        turn = _next_turn(request.messages)
        if turn.wait_s:
            await asyncio.sleep(turn.wait_s)
        thoughts = words(turn.think)
        for ordinal, word in enumerate(thoughts, start=1):
            yield ThinkingDelta(word, done=ordinal == len(thoughts))
        for event in _play(turn, request.step):
            yield event
        yield Finished(estimated_usage(request, dumps(turn.value), turn.think))


def words(text: str) -> list[str]:
    """Cut a text into its words, with their spaces: joined again they are the text."""
    return _WORD.findall(text)


def estimated_usage(request: ModelRequest, reply: str, thoughts: str = "") -> dict[str, int]:
    """Estimate what a call would have cost in tokens, from the lengths of its texts."""
    told = sum(len(dumps(message.content)) for message in request.messages)
    prompt = 1 + (told + len(request.system_prompt or "")) // CHARACTERS_PER_TOKEN
    reasoning = len(thoughts) // CHARACTERS_PER_TOKEN
    completion = 1 + reasoning + len(reply) // CHARACTERS_PER_TOKEN
    usage = {"prompt": prompt, "completion": completion, "total": prompt + completion}
    return {**usage, "reasoning": reasoning} if reasoning else usage


def _next_turn(history: Sequence[Message]) -> _Turn:
    """Find the script and how much of it is played: one assistant message for each turn."""
    played = 0
    for message in reversed(history):
        if message.role == "user" and message.text().startswith(PREFIX):
            break
        played += message.role == "assistant"
    else:
        return _Turn("say", EXPLANATION, "", 0.0)
    script = _read_script(message.text().removeprefix(PREFIX))
    if played < len(script):
        return script[played]
    # A later message that is no script is answered as one that never saw a script.
    asked = next(each for each in reversed(history) if each.role == "user")
    return _Turn("say", CLOSING if asked is message else EXPLANATION, "", 0.0)


def _play(turn: _Turn, step: int) -> Iterator[ModelEvent]:
    if turn.kind == "say":
        for word in words(turn.value):
            yield TextDelta(word)
    elif turn.kind == "calls":
        for ordinal, call in enumerate(turn.value, start=1):
            yield from _call(call, f"call_{step}_{ordinal}")
    elif turn.kind == "fail":
        raise ModelError(
            turn.value.get("message", "The script says to fail."),
            code=turn.value.get("code", "provider_error"),
            retryable=turn.value.get("retryable", False),
        )
    else:
        yield Output(turn.value)


def _call(call: Mapping[str, Any], own_id: str) -> Iterator[ModelEvent]:
    call_id, tool, args = call.get("id", own_id), call["tool"], call.get("args", {})
    yield CallStart(call_id, tool)
    yield CallDelta(call_id, args if isinstance(args, str) else dumps(args))
    yield Call(call_id, tool, args)


def _read_script(text: str) -> list[_Turn]:
    try:
        # A lone surrogate would fail in the encoder; passed on, the reader names it.
        script = loads_body(text.encode("utf-8", "surrogatepass"))
    except BadJson as error:
        place = f" at {error.field}" if error.field else ""
        raise _mistake(f"The script cannot be read{place}: {error.reason}.") from None
    if not isinstance(script, list) or not script:
        raise _mistake("The script is no list of turns.")
    return [_read_turn(turn, f"Turn {number}") for number, turn in enumerate(script, start=1)]


def _read_turn(turn: Any, name: str) -> _Turn:
    if not isinstance(turn, dict):
        raise _mistake(f"{name} is no object.")
    kinds = [kind for kind in _KINDS if kind in turn]
    if len(kinds) != 1:
        raise _mistake(f"{name} needs exactly one of {', '.join(_KINDS)}.")
    _require_known(turn, {kinds[0], "think", "wait"}, name)
    kind, think, wait_s = kinds[0], turn.get("think", ""), turn.get("wait", 0)
    if not isinstance(think, str):
        raise _mistake(f'{name}: "think" is no text.')
    if isinstance(wait_s, bool) or not isinstance(wait_s, int | Decimal):
        raise _mistake(f'{name}: "wait" is no number.')
    if not 0 <= wait_s <= MAX_WAIT_S:
        raise _mistake(f'{name}: "wait" is not between 0 and {MAX_WAIT_S} seconds.')
    _require_value(kind, turn[kind], name)
    return _Turn(kind, turn[kind], think, float(wait_s))


def _require_value(kind: str, value: Any, name: str) -> None:
    if kind == "say" and not isinstance(value, str):
        raise _mistake(f'{name}: "say" is no text.')
    if kind == "calls":
        if not isinstance(value, list) or not value:
            raise _mistake(f'{name}: "calls" is no list of calls.')
        for number, call in enumerate(value, start=1):
            _require_call(call, f"{name}, call {number}")
    if kind == "fail":
        if not isinstance(value, dict):
            raise _mistake(f'{name}: "fail" is no object.')
        _require_known(value, {"code", "retryable", "message"}, name)
        for key, kind_of in (("code", str), ("retryable", bool), ("message", str)):
            if not isinstance(value.get(key, kind_of()), kind_of):
                raise _mistake(f'{name}: "{key}" of "fail" is no {kind_of.__name__}.')


def _require_call(call: Any, name: str) -> None:
    if not isinstance(call, dict):
        raise _mistake(f"{name} is no object.")
    _require_known(call, {"id", "tool", "args"}, name)
    for key in ("tool", "id"):
        text = call.get(key, None if key == "tool" else "id")
        if not isinstance(text, str) or not text:
            raise _mistake(f'{name}: "{key}" is no text.')
    if not isinstance(call.get("args", {}), dict | str):
        raise _mistake(f'{name}: "args" is no object.')


def _require_known(value: Mapping[str, Any], known: set[str], name: str) -> None:
    unknown = next((key for key in value if key not in known), None)
    if unknown is not None:
        raise _mistake(f"{name} has an unknown {unknown[:32]!r}.")


def _mistake(what: str) -> ModelError:
    return ModelError(f"{what} The form is {FORM}", code="validation_error")
