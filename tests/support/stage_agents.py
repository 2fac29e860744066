"""The agents of tests that run in several processes: what they do is on a stage's ledger.

The model plays the script in the user's message, and knows some words in a `say` as directions:
  @hold:NAME   waits at a gate
  @break:NAME  ends the stream without its finish, the first time
  @raise:TEXT  fails in a way that nobody knows
  @raw:TEXT    one delta, in Python's escapes, so that it may hold what a script may not
  @die         kills the process, as a library does that runs out of memory
  @pace:S      that many seconds before each word from here on
  @first       from here on only for who asks first for this step; @later, for all others
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from typing import Any

from litestar import Response

from lockgate import (
    AfterEntryContext,
    Agent,
    AgentRegistry,
    BeforeEntryContext,
    Hooks,
    Refuse,
    RunSettledContext,
    Runtime,
    ToolContext,
    define_agent,
    tool,
)
from lockgate.models.protocol import ModelEvent, ModelRequest, TextDelta
from lockgate.models.scripted import ScriptedModel
from lockgate_api import Principal
from tests.support.stage import Stage
from tests.support.stage_children import family_agents
from tests.support.stage_hooks import noting_hooks
from tests.support.stage_tools import Report, answered_tools, lasting_tools

SCRIPTED = "scripted"
# What must never be read outside of the process, in the spellings of real accidents.
SECRET = "postgres://app:p%40ss/w:rd@10.0.0.5/db host=db password='a b' /srv/keys/app.pem"
ODD_RESULTS: dict[str, Any] = {
    "numbers": {"score": float("nan"), "ok": 1, "big": float("inf")},
    "nul": {"a\x00b": "c\x00d"},
    "nothing JSON knows": object(),
    "surrogate": "half \ud83d of it",
    "long": "€" * 7_000,
}


class StagedModel:
    """A scripted model whose calls are counted, and that can be held in the middle of a word."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Play the turn that the history has come to."""
        self._note(request)
        pace_s, is_said = 0.0, True
        async for event in ScriptedModel().stream(request):
            word = event.text.strip() if isinstance(event, TextDelta) else ""
            if word in ("@first", "@later"):
                is_said = self._is_first(request) == (word == "@first")
            elif word and not is_said:
                continue
            elif word.startswith("@break:"):
                if self._stage.opens(word.removeprefix("@break:")):
                    return
            elif word.startswith("@hold:"):
                await self._stage.passed(word.removeprefix("@hold:"))
            elif word.startswith("@raise:"):
                raise RuntimeError(word.removeprefix("@raise:"))
            elif word == "@die":
                os.kill(os.getpid(), signal.SIGKILL)
            elif word.startswith("@pace:"):
                pace_s = float(word.removeprefix("@pace:"))
            elif word.startswith("@raw:"):
                yield TextDelta(word.removeprefix("@raw:").encode().decode("unicode_escape"))
            else:
                if pace_s:
                    await asyncio.sleep(pace_s)
                yield event

    def _note(self, request: ModelRequest) -> None:
        self._stage.note(
            "model",
            run=_run_id(request),
            step=request.step,
            messages=len(request.messages),
            offered=[tool.name for tool in request.tools],
            choice=request.tool_choice,
            last=request.messages[-1].content,
            given=[[message.role, message.content] for message in request.messages],
        )

    def _is_first(self, request: ModelRequest) -> bool:
        """Say whether nobody has asked for this step before this call."""
        asked = self._stage.notes("model", run=_run_id(request), step=request.step)
        return len(asked) == 1


def _run_id(request: ModelRequest) -> str:
    return next(m.run_id for m in reversed(request.messages) if m.role == "user")


def staged_tools(stage: Stage) -> list[Any]:
    """Make the tools; each notes its call with the id to deduplicate on."""

    def add(a: int, b: int, context: ToolContext) -> int:
        """Add two numbers."""
        stage.note("tool", run=context.run_id, name="add", dedupe=context.dedupe_id)
        return a + b

    async def hold(gate: str, context: ToolContext) -> str:
        """Wait at a gate."""
        stage.note("tool", run=context.run_id, name="hold", dedupe=context.dedupe_id)
        await stage.passed(gate)
        stage.note("tool ended", run=context.run_id, name="hold", dedupe=context.dedupe_id)
        return f"passed {gate}"

    async def tell(name: str, context: ToolContext) -> str:
        """Put a chunk of one's own on the stream."""
        await context.emit(name, {"from": context.tool_call_id})
        return "told"

    def boom(message: str) -> str:
        """Fail with a message."""
        raise RuntimeError(message)

    def odd(kind: str) -> Any:
        """Return what is hard to store."""
        return ODD_RESULTS[kind]

    def leave(how: str) -> None:
        """Raise what would end a program."""
        raise {"exit": SystemExit, "key": KeyboardInterrupt, "cancel": asyncio.CancelledError}[how]

    async def stall(seconds: float) -> str:
        """Hold up the whole loop, as a careless application does."""
        stage.note("long", name="stall")
        time.sleep(seconds)  # noqa: ASYNC251 - that is the point.
        return "stalled"

    def sleep(seconds: float) -> str:
        """Hold up a thread."""
        stage.note("long", name="sleep")
        time.sleep(seconds)
        return "slept"

    def burn(seconds: float) -> str:
        """Keep the interpreter busy."""
        stage.note("long", name="burn")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            sum(range(1_000))
        return "burnt"

    own = [tool(each) for each in (add, hold, tell, boom, odd, leave, stall, sleep, burn)]
    return [*own, *answered_tools(stage), *lasting_tools(stage)]


def staged_agents(stage: Stage) -> list[Agent]:
    """Define the agent that plays scripts, and some like it.

    short     may take two steps only
    reporter  brings a Report, within two steps
    stopper   stops after its first step that ran tools; reporter-stopper brings a Report then
    hooked    has hooks that note what they are told
    counter   keeps a state with a whole number `n` in it
    """
    given: dict[str, Any] = {"model": StagedModel(stage), "tools": staged_tools(stage)}
    stops: dict[str, Any] = {"stop_when": lambda context: context.step >= 1}
    counted = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return [
        define_agent(SCRIPTED, **given),
        define_agent("short", max_steps=2, **given),
        define_agent("reporter", max_steps=2, output_schema=Report, **given),
        define_agent("stopper", **stops, **given),
        define_agent("reporter-stopper", output_schema=Report, **stops, **given),
        define_agent("hooked", hooks=noting_hooks(stage), **given),
        define_agent("counter", state_schema=counted, **given),
        *family_agents(stage, given),
    ]


def staged_hooks(stage: Stage, *, settled: bool, admits: bool) -> Hooks:
    """Make hooks that note what they are told. What they do follows from the session's id.

    settled  with on_run_settled; in a session called *throws* it throws, in *waits* it waits
    admits   with before_entry, which refuses while the gate `refuses` is open
    """

    async def before_entry(context: BeforeEntryContext) -> Refuse | None:
        stage.note("before_entry", session=context.session_id)
        if "throws" in context.session_id:
            raise RuntimeError(f"before_entry throws {SECRET}")
        if stage.is_open("refuses"):
            return Refuse(Response({"quota": 0}, status_code=403))
        return None

    async def after_entry(context: AfterEntryContext) -> None:
        stage.note("after_entry", run=context.run_id, drive=context.drive)
        if "throws" in context.session_id:
            raise RuntimeError("after_entry throws")

    async def on_run_settled(context: RunSettledContext) -> None:
        stage.note(
            "settled",
            run=context.run_id,
            status=context.status,
            drive=context.drive,
            delivery=context.delivery_id,
            result=context.result,
            error=context.error_detail,
        )
        if "waits" in context.session_id:
            await stage.passed(f"settled-{context.session_id}")
        if "throws" in context.session_id:
            raise RuntimeError("on_run_settled throws")

    return Hooks(
        before_entry=before_entry if admits else None,
        after_entry=after_entry,
        on_run_settled=on_run_settled if settled else None,
    )


def as_told(request: Any) -> Principal:
    """Authenticate by two headers: whose request it is, and of which tenant."""
    return Principal(request.headers.get("x-tenant", ""), request.headers.get("x-user"))


def staged_runtime(
    stage: Stage, *, settled: bool = False, admits: bool = False, **options: Any
) -> Runtime:
    """Make the runtime of a process on stage; `options` are those of Runtime."""
    agents = AgentRegistry(staged_agents(stage))

    def fails(context: Any) -> Agent:
        stage.note("factory", run=context.run_id, purpose=context.purpose, drive=context.drive)
        if stage.is_open("mended"):
            return staged_agents(stage)[0]
        raise RuntimeError(f"the factory fails {SECRET}")

    agents.register_factory("factory", fails)
    hooks = staged_hooks(stage, settled=settled, admits=admits)
    return Runtime(agents, hooks=hooks, **options)
