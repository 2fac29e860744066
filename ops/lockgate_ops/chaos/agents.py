"""The agent of a chaos: it plays scripts, and notes each model call and each body at its beginning.

What `lockgate work --agents` loads. Two of its words are poison: they end the worker's process.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from lockgate import (
    Agent,
    AgentRegistry,
    Hooks,
    RunSettledContext,
    Runtime,
    ToolContext,
    define_agent,
    tool,
)
from lockgate.agents import AgentContext
from lockgate.models.protocol import ModelEvent, ModelRequest, TextDelta
from lockgate.models.scripted import ScriptedModel
from lockgate_ops.chaos.records import Records
from lockgate_ops.settings import read_settings

AGENT = "chaos"
LOADED = f"{__name__}:runtime"
DIE = "@die"  # said by the model, it ends the process
PACE = "@pace:"  # and that many seconds before each word from here on


class NotedModel:
    """A scripted model whose calls are noted."""

    name = "scripted"

    def __init__(self, records: Records, session_id: str, run_id: str) -> None:
        self._records = records
        self._session_id = session_id
        self._run_id = run_id

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream the turn that the history has come to."""
        await self._records.model_call(self._session_id, self._run_id, request.step)
        pace_s = 0.0
        async for event in ScriptedModel().stream(request):
            word = event.text.strip() if isinstance(event, TextDelta) else ""
            if word == DIE:
                die()
            if word.startswith(PACE):
                pace_s = float(word.removeprefix(PACE))
                continue
            if pace_s:
                await asyncio.sleep(pace_s)
            yield event


def noted_tools(records: Records) -> tuple[Any, ...]:
    """Make the tools; each notes its body before anything else."""

    @tool(replay="safe")
    async def note(text: str, seconds: float, context: ToolContext) -> str:
        """Take some time, and say a text."""
        await records.body(context.dedupe_id, context.session_id, "note")
        await asyncio.sleep(seconds)
        return text

    @tool(replay="never")
    async def once(text: str, context: ToolContext) -> str:
        """Say a text; a crash does not make it say it again."""
        await records.body(context.dedupe_id, context.session_id, "once")
        return text

    @tool(execute="client")
    def pick(options: list[str]) -> Any:
        """Let the user pick."""

    @tool(require_approval=True, replay="safe")
    async def pay(amount: int, context: ToolContext) -> dict[str, Any]:
        """Pay, once a person has approved it."""
        await records.body(context.dedupe_id, context.session_id, "pay")
        return {"paid": amount}

    @tool(replay="safe")
    async def poison(context: ToolContext) -> None:
        """End this process."""
        await records.body(context.dedupe_id, context.session_id, "poison")
        die()

    return note, once, pick, pay, poison


def die() -> NoReturn:
    """End this process as a crash does."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable: the signal cannot be caught")


def runtime() -> Runtime:
    """Make the runtime of one process, over the database that its environment names."""
    records = Records(read_settings().required_url())
    tools = noted_tools(records)

    async def made(context: AgentContext) -> Agent:
        run_id = ""
        if context.purpose == "drive":
            run_id = context.run_id
            await records.claim(run_id, context.drive)
        model = NotedModel(records, context.session_id, run_id)
        return define_agent(AGENT, model=model, tools=tools)

    async def on_run_settled(context: RunSettledContext) -> None:
        await records.hooked(context.delivery_id)

    agents = AgentRegistry()
    agents.register_factory(AGENT, made)
    return Runtime(agents, hooks=Hooks(on_run_settled=on_run_settled))
