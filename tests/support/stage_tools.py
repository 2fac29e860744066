"""Tools of the staged agents that somebody else answers, that end a run, or that change a state."""

import asyncio
import time
from typing import Any

from pydantic import BaseModel

from lockgate import Tool, ToolContext, tool
from tests.support.stage import Stage


class Report(BaseModel):
    """What the agent `reporter` brings."""

    title: str
    pages: int = 1


def answered_tools(stage: Stage) -> list[Tool]:
    """Make the tools that wait for a client or a person: their bodies note when they run."""

    @tool(execute="client")
    def pick(options: list[str] | None = None) -> Any:
        """Let the user pick; any JSON is an answer."""

    @tool(execute="client", output_schema=int)
    def number(question: str = "") -> int:
        """Let the user say a number."""
        raise AssertionError("a client's tool has no body")

    @tool(execute="client", finish_with=True)
    def sign(title: str) -> Report:
        """Let the user sign a report, which ends the run."""
        raise AssertionError("a client's tool has no body")

    @tool(require_approval=True)
    def pay(amount: int, to: str, context: ToolContext) -> str:
        """Pay somebody."""
        stage.note("tool", run=context.run_id, name="pay", dedupe=context.dedupe_id)
        return f"paid {amount} to {to}"

    @tool(require_approval=True, replay="safe")
    def mail(to: str, context: ToolContext) -> str:
        """Send a mail that is the same at each try."""
        stage.note("tool", run=context.run_id, name="mail", dedupe=context.dedupe_id)
        return f"mailed {to}"

    def is_much(arguments: Any, context: ToolContext) -> bool:
        stage.note("asked", amount=arguments["amount"], dedupe=context.dedupe_id)
        if arguments["amount"] < 0:
            raise RuntimeError("who knows")
        return bool(arguments["amount"] > 100)

    @tool(require_approval=is_much)
    def spend(amount: int, context: ToolContext) -> str:
        """Spend what is little at once, and much when somebody says so."""
        stage.note("tool", run=context.run_id, name="spend", dedupe=context.dedupe_id)
        return f"spent {amount}"

    return [pick, number, sign, pay, mail, spend]


def lasting_tools(stage: Stage) -> list[Tool]:
    """Make the tools that change a state, count, end a run, or go on when they are told to stop."""

    def remember(name: str, value: Any, context: ToolContext, gate: str = "") -> str:
        """Change the state, in a thread; wait at a gate after it, if one is named."""
        context.update_state({name: value})
        stage.note("remembered", name=name, seen=context.state.get(name))
        while gate and not stage.is_open(gate):
            time.sleep(0.01)
        if value == "raise":
            raise RuntimeError("remembered and failed")
        return f"{name} is known"

    async def count(what: str, value: Any, context: ToolContext) -> str:
        """Count something."""
        context.record_usage(what, value, unit="pieces")
        return "counted"

    @tool(replay="never")
    async def once(gate: str, context: ToolContext) -> str:
        """Wait at a gate; never a second time."""
        stage.note("tool", run=context.run_id, name="once", dedupe=context.dedupe_id)
        await stage.passed(gate)
        return "done once"

    @tool(finish_with=True)
    def hand_in(title: str, pages: Any = 1) -> dict[str, Any]:
        """Hand in a report, and be done."""
        if title == "raise":
            raise RuntimeError("nothing was handed in")
        return {"title": title, "pages": pages}

    async def stubborn(context: ToolContext) -> str:
        """Go on whatever one is told."""
        stage.note("tool", run=context.run_id, name="stubborn", dedupe=context.dedupe_id)
        while not stage.is_open("stubborn"):
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                stage.note("cancelled", aborted=context.aborted.is_set())
        return "stubborn to the end"

    def listens(context: ToolContext) -> str:
        """Block in a thread until one is told to stop."""
        stage.note("tool", run=context.run_id, name="listens", dedupe=context.dedupe_id)
        while not context.aborted.is_set():
            time.sleep(0.01)
        stage.note("heard", run=context.run_id)
        return "heard"

    @tool(output_schema={"type": "object", "required": ["ok"]})
    def promised(given: Any) -> Any:
        """Return what is given, which may be other than promised."""
        return given

    return [tool(remember), tool(count), once, hand_in, tool(stubborn), tool(listens), promised]
