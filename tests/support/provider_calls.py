"""One call of a provider's model, as a test makes it: a history goes in, our events come out."""

import asyncio
from typing import Any

import pytest
from pydantic_ai.models import Model as ProviderModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from lockgate.messages import Message
from lockgate.models.protocol import Model, ModelError, ModelEvent, ModelRequest, ToolSpec
from lockgate.models.pydantic_ai import PydanticAIModel
from tests.support.fake_provider import FakeProvider

ADD = ToolSpec("add", "Add two numbers.", {"type": "object", "properties": {"a": {}, "b": {}}})


def user(*texts: str) -> Message:
    """Make a user's message, one part a text."""
    return Message("user", [{"type": "text", "text": each} for each in texts])


def provider_model(provider: FakeProvider, key: str | None = None) -> OpenAIChatModel:
    """Make pydantic_ai's model of the fake, with its key or a wrong one."""
    own = OpenAIProvider(base_url=provider.url, api_key=key or provider.key)
    return OpenAIChatModel("fake", provider=own)


def request_of(*history: Message, **more: Any) -> ModelRequest:
    """Make the request for a history; `more` are other fields of it."""
    return ModelRequest(history, **{"system_prompt": None, "tools": (), "step": 1, **more})


async def collect(model: Model, request: ModelRequest, into: list[ModelEvent]) -> None:
    """Make the call, and keep what was streamed also if it fails."""
    async for event in model.stream(request):
        into.append(event)


def ask(model: ProviderModel, *history: Message, **more: Any) -> list[ModelEvent]:
    """Make a call that succeeds, in an event loop of its own."""
    events: list[ModelEvent] = []
    asyncio.run(collect(PydanticAIModel(model), request_of(*history, **more), events))
    return events


def failure(model: ProviderModel, *history: Message) -> ModelError:
    """Make a call that fails."""
    with pytest.raises(ModelError) as caught:
        ask(model, *history)
    return caught.value
