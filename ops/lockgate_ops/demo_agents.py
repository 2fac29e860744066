"""The two agents that come with Lockgate: one that answers offline, one that plays scripts.

They need no key and no network. They define; serve.py and work.py decide where they run.
"""

import asyncio
from decimal import Decimal

from lockgate.agents import Agent, define_agent, tool
from lockgate.models.offline import OfflineModel
from lockgate.models.scripted import ScriptedModel

MAX_SLOW_S = 600.0  # as long as a scripted turn may wait


def demo_agents() -> tuple[Agent, ...]:
    """Define the agents `assistant` and `scripted`."""
    return (
        define_agent(
            "assistant",
            model=OfflineModel(),
            description="Answers offline, in a few sentences about what was asked.",
        ),
        define_agent(
            "scripted",
            model=ScriptedModel(),
            tools=(tool(add), tool(slow), tool(boom)),
            description="Plays the script in the user's message, with tools add, slow and boom.",
        ),
    )


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
