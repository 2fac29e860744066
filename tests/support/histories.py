"""Stored histories as a provider is sent them: the strictest one must take each."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx
from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from lockgate.messages import Message
from lockgate.models.protocol import ModelError
from tests.support.door import Door
from tests.support.fake_provider import FakeProvider, completion, refused_because, text
from tests.support.provider_calls import ask, collect, provider_model, request_of

ASKS = Message("user", [{"type": "text", "text": "And?"}])


def accepted(door: Door, session_id: str = "s1") -> list[str]:
    """Send an idle session's history to the strict provider, and return the roles it was told."""
    with FakeProvider() as provider:
        ask(provider_model(provider), *history(door, "", session_id), ASKS)
    return [message["role"] for message in provider.requests[0]["messages"]]


def refused(door: Door) -> list[str]:
    """Return the histories that the strict provider refuses with one more message, and why.

    A session whose run lives is asked for nothing yet: its open calls are paired when it ends.
    """
    idle = door.rows(
        "select s.tenant_id, s.session_id from lockgate_store.sessions s"
        " where s.status in ('completed', 'failed', 'interrupted') and not exists ("
        # A store client's terminal commit may have landed before its run's end.
        "   select from lockgate_store.runs r"
        "    where r.run_id = s.current_run_id and lockgate.is_live(r.status)) and exists ("
        "   select from lockgate_store.messages m where m.role <> 'user'"
        "      and (m.tenant_id, m.session_id) = (s.tenant_id, s.session_id))"
    )
    named = {(each.tenant_id, each.session_id) for each in idle}
    return asyncio.run(_refused({name: history(door, *name) for name in named})) if named else []


def history(door: Door, tenant_id: str, session_id: str) -> list[Message]:
    """Return a session's stored messages as a drive reads them."""
    rows = door.rows(
        "select * from lockgate_store.messages where tenant_id = %s and session_id = %s"
        " order by seq",
        tenant_id,
        session_id,
    )
    return [Message(each.role, each.content, str(each.run_id), each.step) for each in rows]


async def _refused(histories: dict[Any, Sequence[Message]]) -> list[str]:
    """Ask by the provider's own client, whose requests are judged without a network."""
    from lockgate.models.pydantic_ai import PydanticAIModel

    found: list[str] = []
    async with httpx.AsyncClient(transport=httpx.MockTransport(_judged)) as http:
        given: Any = {"api_key": "none", "base_url": "http://strict/v1", "http_client": http}
        provider = OpenAIProvider(openai_client=AsyncOpenAI(**given))
        model = PydanticAIModel(OpenAIChatModel("fake", provider=provider))
        for name, messages in histories.items():
            try:
                await collect(model, request_of(*messages, ASKS), [])
            except ModelError as error:
                found.append(f"{name}: {error}")
    return found


def _judged(request: httpx.Request) -> httpx.Response:
    reason = refused_because(json.loads(request.content)["messages"])
    if reason is not None:
        return httpx.Response(400, json={"error": {"message": reason}})
    events = {"content-type": "text/event-stream"}
    return httpx.Response(200, headers=events, content=completion(text("ok")))
