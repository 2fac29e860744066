"""How a run ends: read from its history and its agent, so that every attempt reads the same.

Also owns what the model is shown of results that clients have submitted: a submit made in SQL
checked no output schema, and the history that holds it cannot be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from lockgate.agent_hooks import CompletionReason
from lockgate.agents import Agent, StopContext
from lockgate.contained import called
from lockgate.definitions import Tool
from lockgate.errors import EntryRefused
from lockgate.judgement import has_output
from lockgate.materialize import Materialized
from lockgate.messages import Message, Part, output_of
from lockgate.tools import unfit_result


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt wants its run to end, or to be suspended in its open step.

    reason  why a run is complete; only hooks are told, for no row has a place for it
    """

    status: Literal["completed", "failed", "stopped", "suspended"]
    output: Any = None
    error_detail: Mapping[str, Any] | None = None
    partial: Any = None
    step: int = 0
    reason: CompletionReason = "finished"


def shown_history(history: Sequence[Message], ready: Materialized) -> list[Message]:
    """Return a history in which a client's result that does not fit its tool is a typed error.

    The stored history keeps what was submitted; it is judged at each look, by the agent as it is
    defined now, and so alike in every step and run.
    """
    clients = {name: each for name, each in ready.tools.items() if each.kind == "client"}
    if not any(each.output_schema or each.finish_with for each in clients.values()):
        return [*history]
    output = ready.agent.output_schema
    return [
        replace(message, content=[_checked(clients, part, output) for part in message.content])
        if message.role == "tool"
        else message
        for message in history
    ]


def _checked(clients: Mapping[str, Tool], part: Part, output: Any) -> Part:
    tool = clients.get(part["toolName"])
    if tool is None or not part["success"]:
        return part
    unfit = unfit_result(tool, part.get("result"), output)
    if unfit is None:
        return part
    named = {name: part[name] for name in ("type", "toolCallId", "toolName")}
    return cast("Part", {**named, **unfit})


def unfit_answers(shown: Sequence[Message], stored: Sequence[Message]) -> list[Part]:
    """Return the parts of the last message that are shown as errors and were submitted as none."""
    if not stored or stored[-1].role != "tool":
        return []
    pairs = zip(shown[-1].content, stored[-1].content, strict=True)
    return [part for part, kept in pairs if part["success"] is not kept["success"]]


def own_end(history: Sequence[Message], ready: Materialized, run_id: str) -> End | None:
    """Say whether a history has come to its run's end by itself: an answer, or a finished call."""
    last = history[-1] if history else None
    if last is None or last.role == "user":
        return None
    if last.role == "assistant":
        # Another run's may be a reply that a stop cut off: this run has its own to make.
        return _completed(last, ready.agent) if last.run_id == run_id else None
    reply = next((each for each in reversed(history) if each.role == "assistant"), None)
    if reply is not None and has_output(reply.content):
        return _completed(reply, ready.agent)
    for part in last.content:
        tool = ready.tools.get(part["toolName"])
        if tool is not None and tool.finish_with and part["success"]:
            return End("completed", output=part.get("result"))
    return None


def is_finished(history: Sequence[Message]) -> bool:
    """Say of a history that has come to its end whether a call or an output brought it there."""
    return history[-1].role == "tool" or has_output(history[-1].content)


def _completed(reply: Message, agent: Agent) -> End:
    """Complete a run with its last reply; an output that is not what was promised fails it."""
    output = output_of(reply)
    if has_output(reply.content) and agent.output_schema is not None:
        flaws = agent.output_schema.flaws(output)
        if flaws is not None:
            raise EntryRefused(
                "validation_error", f"The output does not fit the agent's schema: {flaws}"
            )
    return End("completed", output=output)


async def is_enough(history: Sequence[Message], agent: Agent, step: int, state: Any) -> bool:
    """Ask the agent whether to stop, after a step whose calls all have their results."""
    if agent.stop_when is None or not history or history[-1].role != "tool":
        return False
    return bool(
        await called(agent.stop_when, StopContext(step=step, messages=history, state=state))
    )


def stopped_early(history: Sequence[Message]) -> End:
    """Complete a run that its agent stops: its output is what the last reply said beside calls."""
    reply = next((each for each in reversed(history) if each.role == "assistant"), None)
    text = None if reply is None else reply.text() or None
    return End("completed", output=text, reason="stop_when")


def out_of_steps(agent: Agent) -> EntryRefused:
    """Fail a run that has no step left."""
    return EntryRefused(
        "framework_max_steps", f"The run did not end within {agent.max_steps} steps"
    )
