"""The scripted model: its turns, where it stands in a script, and what it says to a mistake."""

import asyncio
import json
import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from lockgate.messages import Message, Part
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
from lockgate.models.scripted import CLOSING, EXPLANATION, FORM, ScriptedModel, words
from lockgate.scrub import scrub

MODEL: Model = ScriptedModel()
REPLY = Message("assistant", [{"type": "text", "text": "a turn"}])


def said(text: str) -> Message:
    return Message("user", [{"type": "text", "text": text}])


def script(*turns: object) -> Message:
    return said("script:" + json.dumps(turns))


def ask(*history: Message, step: int = 1) -> list[ModelEvent]:
    async def collect() -> list[ModelEvent]:
        return [event async for event in MODEL.stream(ModelRequest(history, None, (), step))]

    return asyncio.run(collect())


def text_of(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def failure(*history: Message) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(*history)
    return caught.value


def test_it_says_a_text_in_several_pieces() -> None:
    events = ask(script({"say": "Hello  you,\nthere "}))
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Hello  ", "you,\n", "there "]
    assert isinstance(events[-1], Finished)


@pytest.mark.parametrize("text", ["", " ", "a", " a b", "a\n\n b ", "… é 😀 x"])
def test_words_joined_again_are_the_text(text: str) -> None:
    assert "".join(words(text)) == text


def test_it_makes_calls_and_keeps_their_numbers_exact() -> None:
    calls = '[{"tool":"add","args":{"a":1.10,"b":12345678901234567890.5}},{"id":"mine","tool":"t"}]'
    events = ask(said(f'script: [{{"calls":{calls}}}]'), step=3)
    args = {"a": Decimal("1.10"), "b": Decimal("12345678901234567890.5")}
    assert events[:-1] == [
        CallStart("call_3_1", "add"),
        CallDelta("call_3_1", '{"a":1.10,"b":12345678901234567890.5}'),
        Call("call_3_1", "add", args),
        CallStart("mine", "t"),
        CallDelta("mine", "{}"),
        Call("mine", "t", {}),
    ]


def test_arguments_that_are_a_text_are_sent_as_they_are() -> None:
    events = ask(script({"calls": [{"tool": "add", "args": "{not json"}]}))
    assert Call("call_1_1", "add", "{not json") in events


def test_it_fails_as_it_is_told_and_fails_again() -> None:
    told = {"code": "provider_rate_limited", "retryable": True, "message": "slow down"}
    for _ in range(2):
        error = failure(script({"fail": told}))
        assert (error.code, error.retryable, str(error)) == (*list(told.values())[:2], "slow down")
    assert failure(script({"fail": {}})).retryable is False


def test_it_ends_with_an_output() -> None:
    assert ask(script({"output": {"n": [1, None]}}))[0] == Output({"n": [1, None]})
    assert ask(script({"output": None}))[0] == Output(None)


def test_it_thinks_before_it_speaks() -> None:
    events = ask(script({"think": "let me see", "say": "yes"}))
    assert events[:4] == [
        ThinkingDelta("let "),
        ThinkingDelta("me "),
        ThinkingDelta("see", done=True),
        TextDelta("yes"),
    ]


def test_it_waits_and_a_cancelled_wait_ends_at_once() -> None:
    began = time.monotonic()
    ask(script({"wait": 0.05, "say": "late"}))
    assert time.monotonic() - began >= 0.05

    async def cancelled() -> None:
        request = ModelRequest([script({"wait": 600, "say": "never"})], None, (), 1)
        async with asyncio.timeout(0.05):
            await anext(MODEL.stream(request))

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())


def test_the_turn_follows_from_the_history_alone() -> None:
    played = script({"say": "one"}, {"say": "two"}, {"say": "three"})
    results = Message("tool", [])
    assert text_of(ask(said("hi"), REPLY, played)) == "one"
    assert text_of(ask(played, REPLY)) == "two"
    assert text_of(ask(played, REPLY, results, REPLY, results)) == "three"
    assert text_of(ask(played, REPLY, said("go on"))) == "two"
    assert text_of(ask(played, REPLY, REPLY, script({"say": "anew"}))) == "anew"


def test_a_message_of_several_parts_may_hold_a_script() -> None:
    parts: list[Part] = [
        {"type": "text", "text": "script:"},
        {"type": "file", "mediaType": "image/png", "url": "https://example.org/a.png"},
        {"type": "text", "text": '[{"say": "both"}]'},
    ]
    assert text_of(ask(Message("user", parts))) == "both"


def test_after_the_last_turn_it_closes() -> None:
    played = script({"calls": [{"tool": "add"}]})
    assert text_of(ask(played, REPLY, Message("tool", []))) == CLOSING
    assert text_of(ask(played, REPLY, said("and now?"))) == EXPLANATION


def test_without_a_script_it_explains_the_form_with_one_that_works() -> None:
    assert text_of(ask(said("hello"))) == EXPLANATION
    assert isinstance(ask(said(FORM))[0], CallStart)
    assert text_of(ask(said(FORM), REPLY)) == "Done."


def test_usage_grows_with_what_was_told_and_said() -> None:
    def usage(*history: Message) -> dict[str, int]:
        finished = ask(*history)[-1]
        assert isinstance(finished, Finished)
        return dict(finished.usage)

    short, long = usage(script({"say": "hi"})), usage(script({"say": "hi " * 99}))
    assert short["prompt"] < long["prompt"]
    assert short["completion"] < long["completion"]
    assert short["total"] == short["prompt"] + short["completion"]
    assert usage(script({"say": "hi", "think": "long enough"}))["reasoning"] > 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nonsense", "The script cannot be read: The text is not JSON."),
        ("", "The script cannot be read: The text is not JSON."),
        ('[{"say": "a", "wait": NaN}]', "at [0].wait: NaN and Infinity"),
        ('[{"say": "\\ud83d"}]', "at [0].say: A text holds NUL or half"),
        ('[{"say": "\ud83d"}]', "The script cannot be read: The text is not UTF-8."),
        ("{}", "The script is no list of turns."),
        ("[]", "The script is no list of turns."),
        ('[{"say": "a"}, 5]', "Turn 2 is no object."),
        ("[{}]", "Turn 1 needs exactly one of say, calls, fail, output."),
        ('[{"say": "a", "output": 1}]', "Turn 1 needs exactly one of"),
        ('[{"say": "a", "sya": 1}]', "Turn 1 has an unknown 'sya'."),
        ('[{"say": 5}]', 'Turn 1: "say" is no text.'),
        ('[{"say": "a", "think": 5}]', 'Turn 1: "think" is no text.'),
        ('[{"say": "a", "wait": "5"}]', 'Turn 1: "wait" is no number.'),
        ('[{"say": "a", "wait": true}]', 'Turn 1: "wait" is no number.'),
        ('[{"say": "a", "wait": 600.1}]', 'Turn 1: "wait" is not between 0 and 600 seconds.'),
        ('[{"say": "a", "wait": -1}]', 'Turn 1: "wait" is not between'),
        ('[{"calls": []}]', 'Turn 1: "calls" is no list of calls.'),
        ('[{"calls": {"tool": "a"}}]', 'Turn 1: "calls" is no list of calls.'),
        ('[{"calls": [{"tool": "a"}, 5]}]', "Turn 1, call 2 is no object."),
        ('[{"calls": [{"args": {}}]}]', 'Turn 1, call 1: "tool" is no text.'),
        ('[{"calls": [{"tool": "a", "id": ""}]}]', 'Turn 1, call 1: "id" is no text.'),
        ('[{"calls": [{"tool": "a", "args": [1]}]}]', 'Turn 1, call 1: "args" is no object.'),
        ('[{"calls": [{"tool": "a", "arg": 1}]}]', "Turn 1, call 1 has an unknown 'arg'."),
        ('[{"fail": "x"}]', 'Turn 1: "fail" is no object.'),
        ('[{"fail": {"retryable": 1}}]', 'Turn 1: "retryable" of "fail" is no bool.'),
        ('[{"fail": {"why": 1}}]', "Turn 1 has an unknown 'why'."),
    ],
)
def test_a_mistake_is_named_before_anything_is_played(text: str, told: str) -> None:
    error = failure(said(f"script:{text}"))
    assert told in str(error)
    assert str(error).endswith(FORM)
    assert (error.code, error.retryable) == ("validation_error", False)
    # It reaches the user whole: scrubbing changes nothing, and the cap cuts nothing.
    assert scrub(str(error)) == str(error)


def test_a_later_mistake_stops_the_first_turn() -> None:
    turns: list[Any] = [{"say": "fine"}, {"sing": "la"}]
    assert "Turn 2" in str(failure(script(*turns)))
