"""The offline model and the demo agents: what they answer without any provider."""

import asyncio
import time
from decimal import Decimal
from typing import Any

import pytest

from lockgate.agents import Agent
from lockgate.messages import Message
from lockgate.models.offline import MAX_QUOTE, OfflineModel
from lockgate.models.protocol import Finished, Model, ModelEvent, ModelRequest, TextDelta
from lockgate.models.scripted import ScriptedModel
from lockgate_ops.demo_agents import demo_agents

FILE = Message("user", [{"type": "file", "mediaType": "text/plain", "url": "https://example.org"}])
REPLY = Message("assistant", [{"type": "text", "text": "a reply"}])


def said(text: str) -> Message:
    return Message("user", [{"type": "text", "text": text}])


def ask(*history: Message, pace_s: float = 0) -> list[ModelEvent]:
    model: Model = OfflineModel(pace_s)

    async def collect() -> list[ModelEvent]:
        return [event async for event in model.stream(ModelRequest(history, None, (), 1))]

    return asyncio.run(collect())


def answer(*history: Message) -> str:
    return "".join(event.text for event in ask(*history) if isinstance(event, TextDelta))


def agent(name: str) -> Agent:
    return next(each for each in demo_agents() if each.name == name)


def test_it_answers_word_by_word_and_says_what_it_cost() -> None:
    events = ask(said("What is a canal lock?"))
    assert all(isinstance(event, TextDelta) for event in events[:-1])
    assert len(events) > 20
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert finished.usage["total"] > 0


def test_it_quotes_the_question_and_counts_the_turns() -> None:
    first = answer(said("What is a\n canal lock?"))
    assert "turn 1 of our conversation" in first
    assert "“What is a canal lock?”" in first
    assert "Nothing came before it." in first
    third = answer(said("a"), REPLY, said("b"), REPLY, said("c"))
    assert "turn 3 of our conversation" in third
    assert "“c”" in third
    assert "The 2 earlier turns" in third


def test_it_says_the_same_at_every_try() -> None:
    assert ask(said("hi"), REPLY, said("you")) == ask(said("hi"), REPLY, said("you"))


def test_a_long_question_is_cut_and_files_are_counted() -> None:
    assert f"“{'x' * MAX_QUOTE}…”" in answer(said("x" * 999))
    assert "nothing in words. You sent 1 file." in answer(FILE)
    assert "turn 0" in answer()


def test_it_takes_its_time_and_can_be_stopped() -> None:
    began = time.monotonic()
    count = len(ask(said("hi"), pace_s=0.001))
    assert time.monotonic() - began >= 0.001 * (count - 1)

    async def stopped() -> None:
        async with asyncio.timeout(0.05):
            await anext(OfflineModel(600).stream(ModelRequest([said("hi")], None, (), 1)))

    with pytest.raises(TimeoutError):
        asyncio.run(stopped())


def test_the_demo_agents_need_no_provider() -> None:
    assert [each.name for each in demo_agents()] == ["assistant", "scripted", "scripted_child"]
    assert isinstance(agent("assistant").model, OfflineModel)
    assert isinstance(agent("scripted").model, ScriptedModel)


def test_the_scripted_agents_tools_do_what_they_say() -> None:
    tools: dict[str, Any] = {each.name: each for each in agent("scripted").tools}
    arguments = tools["add"].arguments.read({"a": Decimal("0.1"), "b": Decimal("0.2")})
    assert tools["add"].execute(**dict(arguments)) == Decimal("0.3")
    whole = tools["add"].arguments.read({"a": 2**60, "b": 1})
    assert tools["add"].execute(**dict(whole)) == 2**60 + 1
    assert asyncio.run(tools["slow"].execute(seconds=-5)) == "slept 0 s"
    with pytest.raises(RuntimeError, match="no luck"):
        tools["boom"].execute(message="no luck")
