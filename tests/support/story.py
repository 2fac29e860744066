"""A whole story, told over HTTP by the agents that come with Lockgate, and the processes in it.

A run adds, waits for two picks, a payment and a child that itself waits for a pick, and goes on.
Its worker can be made to die right after any one commit or body of the story. Each has a name and
no number, so that a row of deaths misses none: whose run, which of theirs, the rule, and where.
"""

import asyncio
import inspect
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import cycle
from typing import Any

import httpx

import lockgate_ops.command
from lockgate import Agent, Runtime, Tool, ToolContext
from lockgate.database import Database
from lockgate.rules import tool_calls
from lockgate.worker import Worker, WorkerSettings
from lockgate_ops.demo_agents import demo_agents
from tests.support.crashes import CRASHED, tell_commits
from tests.support.crew import Crew, Member
from tests.support.crew_parts import Part
from tests.support.door import Door
from tests.support.scene import call, script
from tests.support.seen import WITHIN_S
from tests.support.stage import Stage

SAID = "It is added, picked, paid and found."
FOUND = {"found": "by the child"}
ADD = call("add", a=1, b=2)
CHILD = ({"calls": [{**call("pick"), "id": "theirs"}, ADD]}, {"output": FOUND})
TURNS = (
    {
        "calls": [
            ADD,
            {**call("pick"), "id": "first"},
            {**call("pick", options=["a", "b"]), "id": "second"},
            {**call("pay", amount=40, to="Ada"), "id": "pay"},
            call("subagent__delegate", script=list(CHILD)),
        ]
    },
    {"say": SAID},
)
PICKED: dict[str, Any] = {"first": None, "second": {"option": ["b"]}, "theirs": 0}
ANSWERED = ("first", "second", "pay", "theirs")


class Teller:
    """A client of several server processes; each request goes to the next one."""

    def __init__(self, door: Door, addresses: Iterable[str]) -> None:
        self.door = door
        self._all = [httpx.Client(base_url=each, timeout=WITHIN_S) for each in addresses]
        self._clients = cycle(self._all)

    def close(self) -> None:
        for each in self._all:
            each.close()

    def start(self, session_id: str) -> None:
        given = {"agentType": "scripted", "input": {"message": script(*TURNS)}}
        answer = next(self._clients).post(f"/sessions/{session_id}/start", json=given)
        assert answer.json()["status"] == "started", answer.text

    def awaited(self, session_id: str) -> dict[str, dict[str, Any]]:
        """Return what the session and its child wait for now, by the calls' ids."""
        family = [session_id, *children_of(self.door, session_id)]
        shown = [next(self._clients).get(f"/sessions/{each}/snapshot") for each in family]
        found = [each for one in shown if one.is_success for each in one.json()["pending"]]
        return {each["toolCallId"]: each for each in found}

    def answer(self, session_id: str, asked: dict[str, Any]) -> httpx.Response:
        """Answer one call through the root session, whoever's it is; errors of httpx come out."""
        path = f"/sessions/{session_id}/submit-tool-result"
        return next(self._clients).post(path, json=answer_to(asked))


def answer_to(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the body of the answer to a pending call."""
    call_id = asked["toolCallId"]
    if asked["kind"] == "approval":
        decision = {"approvalId": asked["approvalId"], "approved": True}
        return {"kind": "approval-response", "toolCallId": call_id, **decision}
    return {"kind": "client-tool-result", "toolCallId": call_id, "result": PICKED[call_id]}


def children_of(door: Door, session_id: str) -> list[str]:
    rows = door.call_many("list_children", session_id=session_id)
    return [row.child_session_id for row in rows]


def servers(crew: Crew, *names: str) -> list[Member]:
    """Start `lockgate serve` without a worker, as it comes, once for each name."""
    return [crew.act(name, serve) for name in names]


def serve(part: Part, stage: Stage) -> None:
    """Run the command itself, over the agents that it brings."""
    os.environ["LOCKGATE_DATABASE_URL"] = part.url
    sys.argv = ["lockgate", "serve", "--no-worker", "--allow-unauthenticated", "--port", "0"]
    lockgate_ops.command.main()


def serve_one_answer(part: Part, stage: Stage) -> None:
    """Serve, and die right after the commit that stores an answer."""
    call_once = Database.call_once

    async def last_call(self: Database, rule: Any, /, *args: Any, **given: Any) -> Any:
        answer = await call_once(self, rule, *args, **given)
        if rule is tool_calls.submit_tool_result:
            stage.note("stored", call=given["tool_call_id"], outcome=answer.outcome)
            os._exit(CRASHED)
        return answer

    Database.call_once = last_call  # type: ignore[method-assign]
    serve(part, stage)


def work(part: Part, stage: Stage, session_id: str = "", dies_after: str = "") -> None:
    """Drive runs, and die right after the commit or body of that name in that session's story."""
    names = _Names(stage, session_id, dies_after)
    tell_commits(names)
    asyncio.run(_work(part, names))


async def _work(part: Part, names: "_Names") -> None:
    own = await Runtime(noted_agents(names)).open(part.url, direct_url=part.url)
    sweeps_s = 600 if part.args else 0.2  # Who is to die looks after nobody else's runs.
    worker = Worker(own, WorkerSettings(lease_ms=part.lease_ms, sweep_every_s=sweeps_s))
    await worker.start()
    print("ready", worker.worker_id, flush=True)  # noqa: T201 - who started it waits for this.
    own.hurry()
    await asyncio.Event().wait()


def noted_agents(names: "_Names") -> list[Agent]:
    """Return the agents that come with Lockgate; whoever runs one of their bodies notes it."""
    return [
        replace(agent, tools=tuple(_noted(tool, names) for tool in agent.tools))
        for agent in demo_agents()
    ]


def _noted(tool: Tool, names: "_Names") -> Tool:
    body = tool.execute
    if body is None:
        return tool

    async def noting(*, noted: ToolContext, **given: Any) -> Any:
        result = body(**given)
        answer = await result if inspect.isawaitable(result) else result
        names.ran(tool.name, noted)
        return answer

    shown = [*inspect.signature(body).parameters.values()]
    own = inspect.Parameter("noted", inspect.Parameter.KEYWORD_ONLY)
    noting.__signature__ = inspect.Signature([*shown, own])  # type: ignore[attr-defined]
    return replace(tool, execute=noting, takes_context=True)


class _Names:
    """Notes each commit and each body by its name, and dies of one."""

    def __init__(self, stage: Stage, session_id: str, dies_after: str) -> None:
        self._stage = stage
        self._dies_after = dies_after
        self._family = {session_id: "root"}
        self._runs: dict[str, list[str]] = {}

    def committed(self, rule: str, given: dict[str, Any], answer: Any) -> None:
        """Note a commit, and die of it if it is the one."""
        run_id, who = str(given["run_id"]), self._family.get(given["session_id"])
        step, ordinal = given.get("step"), given.get("ordinal")
        if who == "root" and rule == "start_child":
            self._family[answer.child_session_id] = "child"
        runs = self._runs.setdefault(given["session_id"], [])
        runs += [run_id] if run_id not in runs else []
        name = f"{who} {runs.index(run_id) + 1} {rule} {step} {ordinal}" if who else ""
        self._stage.note("commit", run=run_id, rule=rule, step=step, ordinal=ordinal, name=name)
        self._die_of(name)

    def ran(self, tool: str, context: ToolContext) -> None:
        """Note a body that has run and whose result is not committed, and die if it is the one."""
        who = self._family.get(context.session_id)
        name = f"{who} body of {tool}" if who else ""
        self._stage.note("tool", run=context.run_id, dedupe=context.dedupe_id, tool=tool, name=name)
        self._die_of(name)

    def _die_of(self, name: str) -> None:
        if name and name == self._dies_after:
            os._exit(CRASHED)

    def ending(self) -> None:
        """Let the end of an attempt be: its commit is told of when it is there."""
