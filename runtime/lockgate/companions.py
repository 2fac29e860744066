"""Companions: agents that live on beside their parent's runs, and the tools a parent has for them.

A message to a companion, and its end, are transactions of their own, never part of the parent's
step. What the companion's place answers becomes the tool's output by one table, wherever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from lockgate.agents import PersistentAgent
from lockgate.call_outcomes import ChildItem
from lockgate.children import begin_local
from lockgate.definitions import Tool, ToolContext, ToolKind
from lockgate.errors import EntryRefused
from lockgate.local_children import LocalChildren
from lockgate.materialize import Materialized
from lockgate.remote import ChildAddress, ChildBusy, ChildHost, ChildUnconfirmed
from lockgate.remote_children import (
    ChildCall,
    NewChild,
    begin_remote,
    end_remote,
    follow_remote,
    run_remote,
    start_request,
)
from lockgate.rules import children
from lockgate.schema import Schema
from lockgate.scope import Scope
from lockgate.worker_outcomes import AwaitChildOutcome

Name = Annotated[str, Field(min_length=1, max_length=128)]
Text = Annotated[str, Field(min_length=1)]


class Nothing(BaseModel):
    """No arguments."""

    model_config = ConfigDict(extra="forbid")


class Named(Nothing):
    """Which companion is meant."""

    name: Name


class Spawn(Named):
    """A companion to be made."""

    agent: str
    initialMessage: Text


class Message(Named):
    """What a companion is told."""

    message: Text


# Reading a type takes longer than all the rest of an attempt's tools.
_schema = cache(Schema)


class Companions:
    """The companions of one session, as the tools of one attempt reach them."""

    def __init__(self, scope: Scope, agents: tuple[PersistentAgent, ...]) -> None:
        self._scope = scope
        self._agents = {each.agent_type: each for each in agents}

    def tools(self) -> list[Tool]:
        """Return the tools; a wait is offered only where there is something to wait for."""
        offered = [
            self._tool("spawnAgent", SPAWN + self._listed(), Spawn, self._spawn, kind=self._kind),
            self._tool("sendMessage", SEND, Message, self._send),
            self._tool("listChildren", "List your companions.", Nothing, self._list),
            self._tool("getChildStatus", "Ask how a companion stands.", Named, self._status),
            self._tool("terminateChild", "End a companion's run.", Named, self._terminate),
        ]
        offered[0] = replace(offered[0], begin=self._begin_spawn)
        if any(each.mode == "blocking" for each in self._agents.values()):
            wait = self._tool("waitForResult", WAIT, Named, None, kind="subagent")
            offered.append(replace(wait, begin=self._begin_wait))
        return offered

    def _tool(
        self,
        name: str,
        description: str,
        arguments: type[BaseModel],
        execute: Callable[..., Any] | None,
        kind: ToolKind | Callable[[Any], ToolKind] = "server",
    ) -> Tool:
        # Another host knows no repeat of a message: whether a lost one was heard, nobody says.
        is_remote = any(each.host is not None for each in self._agents.values())
        return Tool(
            name=f"companion__{name}",
            description=description,
            arguments=_schema(arguments),
            execute=execute,
            takes_context=True,
            kind=kind,
            replay="never" if name == "sendMessage" and is_remote else "safe",
        )

    def _listed(self) -> str:
        return "".join(
            f"\n- {name} ({each.mode}): {each.description}" for name, each in self._agents.items()
        )

    def _kind(self, arguments: Spawn) -> ToolKind:
        known = self._agents.get(arguments.agent)
        return "subagent" if known is not None and known.mode == "blocking" else "server"

    async def _spawn(
        self, agent: str, name: str, initialMessage: str, context: ToolContext
    ) -> dict[str, Any]:
        """Make a companion in the background."""
        known = self._known(agent)
        new = NewChild(agent, {"message": initialMessage}, "background", name)
        _, step, ordinal = context.dedupe_id.rsplit(":", 2)
        call = ChildCall(context.tool_call_id, int(step), int(ordinal))
        if known.host is None:
            made = await begin_local(self._scope, call, new)
            return {"spawned": True, "name": name, "childSessionId": made.child_session_id}
        try:
            child = await begin_remote(self._scope, known.host, call, new)
        except ChildUnconfirmed:
            return {"spawned": False, "name": name, "reason": "child_start_unconfirmed"}
        return {"spawned": True, "name": name, "childSessionId": child.session_id}

    async def _begin_spawn(self, call: Mapping[str, Any]) -> None:
        """Make a companion whose first end answers the call."""
        told = call["input"]
        known = self._known(told["agent"])
        given = {"message": told["initialMessage"]}
        new = NewChild(told["agent"], given, "blocking", told["name"])
        if known.host is None:
            await begin_local(self._scope, ChildCall.of(call), new)
        else:
            await run_remote(self._scope, known.host, ChildCall.of(call), new)

    async def _begin_wait(self, call: Mapping[str, Any]) -> None:
        """Have the call wait for the end of a companion's run."""
        scope, name = self._scope, call["input"]["name"]
        record = await self._record(name)
        answer = await scope.writer.beside(
            lambda: scope.around.database.call(
                children.await_child, **scope.address, tool_call_id=call["toolCallId"], name=name
            )
        )
        if answer.outcome is AwaitChildOutcome.CHILD_NOT_FOUND:
            raise _no_companion(name)
        host = self._agents[record.agent_type].host if record.location == "remote" else None
        if host is not None and answer.outcome is not AwaitChildOutcome.ENDED:
            await follow_remote(scope, host, _address(record))

    async def _send(self, name: str, message: str, context: ToolContext) -> dict[str, Any]:
        """Deliver a message: a start on an idle companion, to any other a resume."""
        record = await self._record(name)
        host, child = self._host(record, context.dedupe_id), _address(record)
        try:
            status = await host.status(child)
            run_id = (
                await host.start(start_request(self._scope, child, {"message": message}))
                if status.is_idle
                else await host.resume(child, message)
            )
        except ChildBusy:
            return {"delivered": False, "reason": "child_busy"}
        except ChildUnconfirmed:
            return {"delivered": False, "reason": "child_start_unconfirmed"}
        await self._scope.record(
            children.record_child_running,
            child_session_id=child.session_id,
            child_run_id=UUID(run_id) if record.location == "local" else None,
        )
        return {"delivered": True}

    async def _list(self, context: ToolContext) -> list[dict[str, Any]]:
        return [
            {
                "name": each.name,
                "agent": each.agent_type,
                "mode": each.mode,
                "status": each.status,
                "childSessionId": each.child_session_id,
            }
            for each in await self._records()
        ]

    async def _status(self, name: str, context: ToolContext) -> dict[str, Any]:
        """Ask a companion's place; what a remote one has come to meanwhile is recorded."""
        record = await self._record(name)
        child = _address(record)
        status = await self._host(record, context.dedupe_id).status(child)
        if record.location == "remote" and status.is_idle:
            await end_remote(self._scope, child, status)
        told: dict[str, Any] = {"name": name, "status": status.status}
        if status.output is not None:
            told["output"] = status.output
        if status.error_detail is not None:
            told["error"] = status.error_detail.get("message")
        return told

    async def _terminate(self, name: str, context: ToolContext) -> dict[str, Any]:
        record = await self._record(name)
        return {"terminated": await self._host(record, context.dedupe_id).abort(_address(record))}

    def _known(self, agent: str) -> PersistentAgent:
        known = self._agents.get(agent)
        if known is None:
            raise EntryRefused("validation_error", f"There is no companion agent {agent!r}")
        return known

    def _host(self, record: ChildItem, message_id: str) -> ChildHost:
        if record.location == "local":
            return LocalChildren(self._scope, message_id)
        host = self._known(record.agent_type).host
        if host is None:
            raise EntryRefused("framework_not_supported", "The companion's host is not known here")
        return host

    async def _records(self) -> list[ChildItem]:
        found = await self._scope.around.database.call(
            children.list_children,
            session_id=self._scope.session_id,
            tenant_id=self._scope.address["tenant_id"],
        )
        return [each for each in found if each.name is not None]

    async def _record(self, name: str) -> ChildItem:
        for each in await self._records():
            if each.name == name:
                return each
        raise _no_companion(name)


SPAWN = "Make a companion, which works beside you and keeps what it learns. Agents:"
SEND = "Send a companion a message. {delivered: false, reason: child_busy}: try again later."
WAIT = "Wait until a companion's run has ended, and return what it found."


def with_companions(scope: Scope, ready: Materialized) -> Materialized:
    """Offer an agent that has companions the tools for them."""
    agents = ready.agent.persistent_agents
    if not agents:
        return ready
    made = Companions(scope, agents).tools()
    return replace(ready, tools={**ready.tools, **{tool.name: tool for tool in made}})


def _address(record: ChildItem) -> ChildAddress:
    return ChildAddress(record.child_session_id, record.agent_type)


def _no_companion(name: str) -> EntryRefused:
    return EntryRefused("validation_error", f"There is no companion named {name!r}")
