"""Failed calls of a provider's model: which may be tried again, and what their errors may say."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from lockgate.errors import error_detail
from lockgate.models.choose import model_from
from lockgate.models.protocol import Call, Finished, ModelError, ModelEvent, TextDelta
from lockgate.models.pydantic_ai import PydanticAIModel
from tests.support.fake_provider import SEEN_WITHIN_S, Answer, FakeProvider, Refusal, calls, text
from tests.support.provider_calls import (
    ADD,
    ask,
    collect,
    failure,
    provider_model,
    request_of,
    user,
)


@pytest.mark.parametrize("ends", ["unmarked", "dropped"])
@pytest.mark.parametrize(
    ("interface", "answer"),
    [
        (OpenAIChatModel, text("Transferring 50,0")),
        (OpenAIChatModel, calls(("c1", "add", ['{"a": 5']))),
        (OpenAIResponsesModel, text("Transferring 50,0")),
    ],
)
def test_a_stream_without_its_end_mark_is_a_failure(
    interface: Any, answer: Answer, ends: Any
) -> None:
    events: list[ModelEvent] = []
    with FakeProvider(Answer(answer.deltas, ends=ends)) as provider:
        own = OpenAIProvider(base_url=provider.url, api_key=provider.key)
        model = PydanticAIModel(interface("fake", provider=own))
        with pytest.raises(ModelError) as caught:
            asyncio.run(collect(model, request_of(user("pay"), tools=[ADD]), events))
    assert events, "what came before the cut was streamed"
    assert not any(isinstance(event, Call | Finished) for event in events)
    assert (caught.value.code, caught.value.retryable) == ("provider_error", True)


def test_the_newer_interface_answers_too() -> None:
    with FakeProvider(text("Hel", "lo")) as provider:
        own = OpenAIProvider(base_url=provider.url, api_key=provider.key)
        events = ask(OpenAIResponsesModel("fake", provider=own), user("hi"))
    usage = {"prompt": 11, "completion": 7, "total": 18}
    assert events == [TextDelta("Hel"), TextDelta("lo"), Finished(usage)]


@pytest.mark.parametrize(
    ("refusal", "code", "retryable"),
    [
        (Refusal(429), "provider_rate_limited", True),
        (Refusal(429, "none left", "insufficient_quota"), "provider_error", False),
        (Refusal(500), "provider_error", True),
        (Refusal(503), "provider_error", True),
        (Refusal(408), "provider_error", True),
        (Refusal(400), "provider_error", False),
        (Refusal(403), "provider_error", False),
        (Refusal(404), "provider_error", False),
        (Refusal(422), "provider_error", False),
    ],
)
def test_a_refusal_says_whether_another_try_helps(
    refusal: Refusal, code: str, retryable: bool
) -> None:
    with FakeProvider(refusal) as provider:
        error = failure(provider_model(provider), user("hi"))
    assert (error.code, error.retryable) == (code, retryable)
    assert str(error) == f"The provider answered {refusal.status}: {refusal.message}"
    assert len(provider.requests) == 1, "one call is one request"


def test_a_provider_that_is_not_there_or_too_slow_is_weather() -> None:
    with FakeProvider() as provider:
        model = provider_model(provider)
    error = failure(model, user("hi"))
    assert (error.code, error.retryable) == ("provider_error", True)
    with FakeProvider(text("a", ends="held")) as provider:
        slow = PydanticAIModel(provider_model(provider), {"timeout": 0.1})
        with pytest.raises(ModelError) as caught:
            asyncio.run(collect(slow, request_of(user("hi")), []))
    assert caught.value.retryable


def test_a_filtered_reply_is_no_answer() -> None:
    with FakeProvider(Answer([{"content": "Sor"}], finish="content_filter")) as provider:
        error = failure(provider_model(provider), user("hi"))
    assert (error.code, error.retryable) == ("provider_error", False)


def shown(error: ModelError) -> str:
    """Return all that a log or a client may get to see of an error."""
    assert error.__suppress_context__
    return f"{error!r} {error.__cause__!r} {error_detail(error)}"


def test_no_error_tells_the_key() -> None:
    for answer in (Refusal(500, "{key} {key}"), Refusal(400, "x" * 240 + "{key}")):
        with FakeProvider(answer) as provider:
            assert provider.key not in shown(failure(provider_model(provider), user("hi")))
    with FakeProvider() as provider:
        error = failure(provider_model(provider, key="another-key"), user("hi"))
        assert "another-key" not in shown(error)
        assert "Incorrect API key" in str(error)
        wrong = [provider_model(provider, key=key) for key in ("first-key", "second-key")]
        told = shown(failure(FallbackModel(*wrong), user("hi")))
        assert not any(key in told for key in ("first-key", "second-key"))


def test_of_several_models_one_that_may_succeed_later_is_enough() -> None:
    with FakeProvider(Refusal(400), Refusal(429)) as provider:
        tried = FallbackModel(provider_model(provider), provider_model(provider))
        error = failure(tried, user("hi"))
    assert (error.code, error.retryable) == ("provider_rate_limited", True)


def test_a_cancelled_call_hangs_up() -> None:
    async def cancelled(provider: FakeProvider) -> None:
        model = PydanticAIModel(provider_model(provider))
        task = asyncio.create_task(collect(model, request_of(user("hi")), []))
        assert await asyncio.to_thread(provider.is_holding.wait, SEEN_WITHIN_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with FakeProvider(text("a", ends="held")) as provider:
        asyncio.run(cancelled(provider))
        assert provider.caller_has_gone.wait(SEEN_WITHIN_S)


@pytest.mark.parametrize("name", ["gpt-4.1", "no-such-provider:x", "openai-chat:x", ""])
def test_a_name_that_is_no_good_is_a_typed_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError) as caught:
        model_from(name)
    assert (caught.value.code, caught.value.retryable) == ("provider_error", False)


def run_python(*lines: str) -> Sequence[str]:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_a_missing_extra_names_its_install_line_and_costs_nothing_before() -> None:
    assert run_python(
        "import sys",
        "from lockgate.models.choose import model_from",
        "print('pydantic_ai' in sys.modules)",
        "sys.modules['pydantic_ai'] = None",
        "try: model_from('openai:gpt-4.1')",
        "except Exception as error: print(type(error).__name__, error, error.retryable)",
    ) == [
        "False",
        "ModelError Models of a provider need an extra: pip install 'lockgate[llm]' False",
    ]
