"""A provider's model against a strict provider: what is sent, and what comes back."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any, cast

import pytest
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from lockgate.messages import Message, Part
from lockgate.models.choose import model_from
from lockgate.models.protocol import (
    Call,
    CallDelta,
    CallStart,
    Finished,
    Model,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
)
from lockgate.models.pydantic_ai import PydanticAIModel, read_arguments
from lockgate.models.scripted import ScriptedModel
from lockgate.strict_json import storable
from tests.support.fake_provider import Answer, FakeProvider, calls, text
from tests.support.provider_calls import (
    ADD,
    ask,
    collect,
    failure,
    provider_model,
    request_of,
    user,
)

PIXEL = "data:image/png;base64,iVBORw0KGgo="


def assistant(*parts: Part) -> Message:
    return Message("assistant", parts)


def call(call_id: str, given: Any) -> Part:
    return {"type": "tool_call", "toolCallId": call_id, "toolName": "add", "input": given}


def result(call_id: str, **response: Any) -> Part:
    part = {"type": "tool_result", "toolCallId": call_id, "toolName": "add", **response}
    return cast("Part", part)


def sent(provider: FakeProvider, *history: Message, **more: Any) -> Any:
    """Return the messages that the provider got for a history, which it accepted."""
    ask(provider_model(provider), *history, **more)
    return provider.requests[-1]["messages"]


def test_a_text_streams_in_its_pieces() -> None:
    with FakeProvider(text("Hel", "lo")) as provider:
        events = ask(provider_model(provider), user("hi"), system_prompt="Be kind.")
    usage = {"prompt": 11, "completion": 7, "total": 18}
    assert events == [TextDelta("Hel"), TextDelta("lo"), Finished(usage)]
    assert provider.requests[0]["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hi"},
    ]


def test_a_forced_completion_requires_a_call() -> None:
    with FakeProvider(calls(("c1", "add", ["{}"]))) as provider:
        model = provider_model(provider)
        ask(model, user("hi"), tools=[ADD], tool_choice="required", settings={"temperature": 0})
        assert PydanticAIModel(model).name == "openai:fake"
    assert provider.requests[0]["tool_choice"] == "required"
    assert provider.requests[0]["temperature"] == 0


def test_a_call_its_result_and_the_answer() -> None:
    answers = (calls(("c1", "add", ['{"a": 1.10,', ' "b": 2}'])), text("3.1"))
    with FakeProvider(*answers) as provider:
        model = provider_model(provider)
        first = ask(model, user("1.1 + 2?"), tools=[ADD])
        assert first[:-1] == [
            CallStart("c1", "add"),
            CallDelta("c1", '{"a": 1.10,'),
            CallDelta("c1", ' "b": 2}'),
            Call("c1", "add", {"a": Decimal("1.10"), "b": 2}),
        ]
        made = assistant(call("c1", {"a": Decimal("1.10"), "b": 2}))
        answered = Message("tool", [result("c1", success=True, result={"sum": Decimal("3.10")})])
        events = ask(model, user("1.1 + 2?"), made, answered, tools=[ADD], step=2)
    assert events[0] == TextDelta("3.1")
    (tool,) = provider.requests[0]["tools"]
    assert tool["function"]["name"] == "add"
    assert tool["function"]["description"] == "Add two numbers."
    assert set(tool["function"]["parameters"]["properties"]) == {"a", "b"}
    last = provider.requests[1]["messages"][-1]
    assert last == {"role": "tool", "tool_call_id": "c1", "content": '{"sum":3.10}'}


def test_interleaved_calls_come_out_whole_and_in_order() -> None:
    first, second = ("c1", "add", ['{"a"', ": 1}"]), ("c2", "add", ['{"b"', ": 2", "}"])
    with FakeProvider(calls(first, second, ("c3", "t", []))) as provider:
        events = ask(provider_model(provider), user("go"), tools=[ADD])
    made = [event for event in events if isinstance(event, Call)]
    assert made == [Call("c1", "add", {"a": 1}), Call("c2", "add", {"b": 2}), Call("c3", "t", {})]


def test_several_results_in_one_message_errors_among_them() -> None:
    history = (
        user("go"),
        assistant({"type": "text", "text": "Wait."}, call("c1", {}), call("c2", "{no json")),
        Message("tool", [result("c1", success=True, result="verbatim \n text")]),
        Message("tool", [result("c2", success=False, error="Not executed: run_stopped")]),
    )
    with FakeProvider() as provider:
        _, reply, first, second = sent(provider, *history)
    assert reply["content"] == "Wait."
    assert [each["id"] for each in reply["tool_calls"]] == ["c1", "c2"]
    assert reply["tool_calls"][1]["function"]["arguments"] == '{"INVALID_JSON":"{no json"}'
    assert first == {"role": "tool", "tool_call_id": "c1", "content": "verbatim \n text"}
    assert "Not executed: run_stopped" in second["content"]


def test_turns_alternate_whatever_the_history_says() -> None:
    history = (
        user("one"),
        assistant({"type": "thinking", "text": "hm"}),
        user("two", "three"),
        assistant({"type": "text", "text": "a"}),
        assistant({"type": "text", "text": ""}, {"type": "output", "output": {"n": 1}}),
        user("four"),
    )
    with FakeProvider() as provider:
        first, reply, last = sent(provider, *history)
    assert [part["text"] for part in first["content"]] == ["one", "two", "three"]
    assert (reply["role"], reply["content"]) == ("assistant", 'a\n\n{"n":1}')
    assert last == {"role": "user", "content": "four"}


def test_a_message_after_a_stopped_run_follows_its_results() -> None:
    stopped = Message("tool", [result("c1", success=False, error="Not executed: run_stopped")])
    with FakeProvider() as provider:
        messages = sent(provider, user("go"), assistant(call("c1", {})), stopped, user("next"))
    assert [each["role"] for each in messages] == ["user", "assistant", "tool", "user"]


def test_the_fake_is_strict() -> None:
    with FakeProvider() as provider:
        error = failure(provider_model(provider), user("go"), assistant(call("c1", {})))
        assert "tool calls without results: ['c1']" in str(error)
        assert (error.code, error.retryable) == ("provider_error", False)
        alone = Message("tool", [result("c9", success=True, result=1)])
        assert "a result without its call" in str(failure(provider_model(provider), alone))


def test_files_are_sent_by_url_or_in_the_message() -> None:
    parts: list[Part] = [
        {"type": "text", "text": "What is this?"},
        {"type": "file", "mediaType": "image/png", "url": "https://example.org/a"},
        {"type": "file", "mediaType": "image/png", "url": PIXEL},
    ]
    with FakeProvider() as provider:
        (message,) = sent(provider, Message("user", parts))
    said, linked, inline = message["content"]
    assert said["text"] == "What is this?"
    assert linked["image_url"]["url"] == "https://example.org/a"
    assert inline["image_url"]["url"] == PIXEL


def test_a_file_that_cannot_be_sent_is_no_weather() -> None:
    broken: Part = {"type": "file", "mediaType": "image/png", "url": "data:image/png,raw"}
    film: Part = {"type": "file", "mediaType": "video/mp4", "url": "https://example.org/a.mp4"}
    with FakeProvider() as provider:
        error = failure(provider_model(provider), Message("user", [broken]))
        assert (error.code, error.retryable) == ("validation_error", False)
        error = failure(provider_model(provider), Message("user", [film]))
        assert (error.code, error.retryable) == ("provider_error", False)
        assert provider.requests == []


def test_settings_are_passed_on_and_a_requests_own_win() -> None:
    with FakeProvider() as provider:
        model = PydanticAIModel(provider_model(provider), {"temperature": 0.5, "max_tokens": 9})
        asyncio.run(collect(model, request_of(user("hi"), settings={"temperature": 0.0}), []))
    body = provider.requests[0]
    assert body["temperature"] == 0.0
    assert 9 in (body.get("max_tokens"), body.get("max_completion_tokens"))


def test_thinking_streams_and_is_closed() -> None:
    deltas = [{"reasoning_content": "let me"}, {"reasoning_content": " see"}, {"content": "yes"}]
    with FakeProvider(Answer(deltas)) as provider:
        events = ask(provider_model(provider), user("hi"))
    thoughts = [event for event in events if isinstance(event, ThinkingDelta)]
    assert [each.text for each in thoughts if each.text] == ["let me", " see"]
    assert [each.done for each in thoughts] == [False, False, True]
    assert TextDelta("yes") in events


def test_an_emoji_split_over_two_deltas_can_be_joined() -> None:
    with FakeProvider(text("\ud83d", "\ude00")) as provider:
        events = ask(provider_model(provider), user("hi"))
    assert storable("".join(e.text for e in events if isinstance(e, TextDelta))) == "😀"


def test_a_model_serves_one_event_loop_after_another_and_many_calls_at_once() -> None:
    async def at_once(model: Model, count: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(collect(model, request_of(user("hi")), []))

    with FakeProvider() as provider:
        model = PydanticAIModel(provider_model(provider))
        for _ in range(2):
            asyncio.run(at_once(model, 5))
    assert len(provider.requests) == 10


def test_a_model_in_this_process_needs_no_end_mark() -> None:
    async def play(
        _: list[ModelMessage], __: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        yield "Adding. "
        yield {0: DeltaToolCall("add", '{"a": 1}', tool_call_id="c1")}

    events = ask(FunctionModel(stream_function=play), user("go"), tools=[ADD])
    assert [e for e in events if isinstance(e, TextDelta | Call)] == [
        TextDelta("Adding. "),
        Call("c1", "add", {"a": 1}),
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("", {}),
        ("  ", {}),
        ('{"a": 1.10, "b": 100000000000000000001}', {"a": Decimal("1.10"), "b": 10**20 + 1}),
        ('{"a": "\\ud83d\\ude00 \\ud83d \\u0000"}', {"a": "😀 \ufffd \ufffd"}),
        ('{"a": NaN}', {"a": None}),
        ("[1]", "[1]"),
        ('"text"', '"text"'),
        ('{"a": ', '{"a": '),
        ('{"a": 1e999}', '{"a": 1e999}'),
        ('{"a": 1e99999999999999999999}', '{"a": 1e99999999999999999999}'),
        ('{"a":' * 999 + "1" + "}" * 999, '{"a":' * 999 + "1" + "}" * 999),
        ('{"a":' * 99999, '{"a":' * 99999),
    ],
)
def test_arguments_are_an_object_or_the_text_itself(written: str, read: Any) -> None:
    assert read_arguments(written) == read


def test_a_model_by_its_name_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(text("by name")) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", provider.key)
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        model = model_from("openai-chat:a-model-of-this-test")
        assert model_from("openai-chat:a-model-of-this-test") is model
        events: list[ModelEvent] = []
        asyncio.run(collect(model, request_of(user("hi")), events))
    assert events[0] == TextDelta("by name")
    own = ScriptedModel()
    assert model_from(own) is own
