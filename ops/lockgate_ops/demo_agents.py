"""The agents that come with Lockgate: one answers offline, one plays scripts, one is its child.

They need no key and no network. They define; serve.py and work.py decide where they run.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from lockgate.agents import Agent, PersistentAgent, define_agent
from lockgate.children import sub_agent
from lockgate.definitions import ToolContext, tool
from lockgate.messages import Message
from lockgate.models.offline import OfflineModel
from lockgate.models.protocol import ModelEvent, ModelRequest
from lockgate.models.scripted import PREFIX, ScriptedModel

MAX_SLOW_S = 600.0  # as long as a scripted turn may wait
HANDED_OVER = '{"script":'  # how the arguments of `delegate` begin, as a child is told them


class Delegated(BaseModel):
    """What the tool `delegate` takes."""

    model_config = ConfigDict(extra="forbid")

    script: list[dict[str, Any]]


def demo_agents() -> tuple[Agent, ...]:
    """Define the agents `assistant`, `scripted`, and `scripted_child`, to whom it delegates."""
    assistant = define_agent(
        "assistant",
        model=OfflineModel(),
        description="Answers offline, in a few sentences about what was asked.",
    )
    own = (tool(add), tool(slow), tool(boom), pick, pay)
    child = define_agent(
        "scripted_child",
        model=DelegatedModel(),
        tools=own,
        output_schema={"type": "object"},
        description="Plays the script that it is handed; an object is its output.",
    )
    scripted = define_agent(
        "scripted",
        model=ScriptedModel(),
        tools=(*own, sub_agent(child, name="delegate", input=Delegated)),
        persistent_agents=(PersistentAgent(assistant), PersistentAgent(child, mode="blocking")),
        description="Plays the script in the user's message: tools add, slow, boom, pick, pay and "
        "subagent__delegate, and companions.",
    )
    return assistant, scripted, child


class DelegatedModel:
    """A scripted model that also takes a script as `delegate` hands it over: {"script": […]}."""

    name = "scripted"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream the turn that the history has come to."""
        told = [_as_script(message) for message in request.messages]
        async for event in ScriptedModel().stream(replace(request, messages=told)):
            yield event


def _as_script(message: Message) -> Message:
    text = message.text()
    if message.role != "user" or not text.startswith(HANDED_OVER):
        return message
    script = text.removeprefix(HANDED_OVER).removesuffix("}")
    return replace(message, content=[{"type": "text", "text": PREFIX + script}])


def add(a: int | Decimal, b: int | Decimal) -> int | Decimal:
    """Add two numbers."""
    return a + b


async def slow(seconds: float) -> str:
    """Sleep for some seconds, 600 at most."""
    slept = min(max(seconds, 0.0), MAX_SLOW_S)
    await asyncio.sleep(slept)
    return f"slept {slept:g} s"


def boom(message: str) -> str:
    """Fail with a message."""
    raise RuntimeError(message)


@tool(execute="client")
def pick(options: list[str] | None = None) -> Any:
    """Let the user pick; any JSON is an answer."""


# Run again after a crash: whoever moves the money would know the payment by its id.
@tool(require_approval=True, replay="safe")
def pay(amount: int | Decimal, to: str, context: ToolContext) -> dict[str, Any]:
    """Pay somebody, once a person has approved it."""
    return {"paid": amount, "to": to, "payment": context.dedupe_id}
