"""One step's reply: ask the model, judge what it calls, and save the reply before any body runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockgate.agent_hooks import ModelAsked, ModelReplied
from lockgate.call_usage import CallUsage, counts_of
from lockgate.finishing import End
from lockgate.judgement import Judged, finish_value, has_output, judge_all
from lockgate.materialize import Materialized
from lockgate.messages import Message, assistant_message
from lockgate.model import ModelCall, Reply
from lockgate.models.choose import model_name
from lockgate.models.protocol import Call, ModelRequest
from lockgate.rules import steps as rules
from lockgate.scope import Scope
from lockgate.strict_json import dumps, storable
from lockgate.tools import asks_for_approval
from lockgate.worker_outcomes import StepResult


async def ask(
    scope: Scope, ready: Materialized, history: Sequence[Message], step: int, *, forced: bool
) -> Reply | End:
    """Make one model call; a stop that cuts it off ends the run with what was said.

    forced  only what ends the run is offered, and one of it is to be called
    Errors  RunSuperseded, asking nobody: this worker's own promise was late, and the run is lost
    """
    prompt = ready.agent.system_prompt
    offered = [*ready.tools.values()]
    if forced:
        offered = [each for each in offered if each.kind == "finish" or each.finish_with]
    request = ModelRequest(
        messages=history,
        system_prompt=prompt(scope.state.seen()) if callable(prompt) else prompt,
        tools=[tool.spec() for tool in offered],
        step=step,
        settings=ready.agent.settings,
        tool_choice="required" if forced else "auto",
    )
    await scope.tell_hooks("before_llm_call", step, ModelAsked(history))
    await scope.hold_to_the_claim()
    call = ModelCall(ready.model, request, scope.writer, scope.chunks)
    resync = {
        "runId": str(scope.run_id),
        "attempt": scope.claim.attempt,
        "committedSequence": scope.committed,
    }
    if not await scope.finished_before_a_stop(call.run(resync)):
        await scope.writer.drain()
        return End("stopped", partial=call.reply.content or None)
    return call.reply


async def save(scope: Scope, ready: Materialized, step: int, reply: Reply) -> StepResult:
    """Save a reply: what it says, its output if `__finish__` brings one, and its other calls."""
    calls = await _take_output(scope, ready, step, reply)
    judged = judge_all(ready.tools, calls, has_output=has_output(reply.content))
    stored = [
        await _registered(scope, ready, step, ordinal, call, each)
        for ordinal, (call, each) in enumerate(zip(calls, judged, strict=True), start=1)
    ]
    answer = await scope.commit(
        rules.commit_reply,
        step=step,
        content=dumps(reply.content),
        calls=dumps(stored),
        usage=await scope.used(step, "reply", _usage(ready, reply)),
    )
    await scope.tell_hooks("after_llm_call", step, ModelReplied(reply.content, reply.usage))
    return answer


def saved_message(scope: Scope, step: int, reply: Reply, answer: StepResult) -> Message:
    """Return a saved reply as the message that its rule made of it."""
    return assistant_message(str(scope.run_id), step, reply.content, answer.calls)


async def _take_output(
    scope: Scope, ready: Materialized, step: int, reply: Reply
) -> list[dict[str, Any]]:
    """Turn a usable call of `__finish__` into the reply's output; return the calls that are left.

    An output is no call: nobody is to answer it, and no history holds it unanswered.
    """
    calls = [_cleaned(call) for call in reply.calls]
    for call in calls:
        value = finish_value(ready.tools, call["toolName"], call["input"])
        if value and not has_output(reply.content):
            reply.content.append({"type": "output", "output": value[0]})
            await scope.writer.put(scope.chunks.chunk("output", step, output=value[0]))
            return [each for each in calls if each["toolName"] != call["toolName"]]
    return calls


def _cleaned(call: Call) -> dict[str, Any]:
    return {
        "id": storable(call.id),
        "toolName": storable(call.tool),
        "input": storable(call.input),
    }


async def _registered(
    scope: Scope,
    ready: Materialized,
    step: int,
    ordinal: int,
    call: Mapping[str, Any],
    judged: Judged,
) -> dict[str, Any]:
    """Say of a call who is to answer it; what is unusable or superseded the drive answers."""
    if judged.answer is not None or judged.tool is None:
        return {**call, "kind": "server"}
    kind: str = judged.tool.kind_of(judged.arguments)
    if kind == "finish":
        return {**call, "kind": "server"}
    if kind == "server":
        named = {"ordinal": ordinal, "toolCallId": call["id"]}
        context = scope.tool_context(step, named, CallUsage().record)
        if await asks_for_approval(judged.tool, judged.arguments, context):
            kind = "approval"
        scope.state.drop(ordinal)  # Who is asked whether a call may run changes nothing.
    kept = {"retentionMs": ready.agent.completed_tombstone_retention_ms}
    return {**call, "kind": kind, **(kept if kind in ("client", "approval") else {})}


def _usage(ready: Materialized, reply: Reply) -> list[dict[str, Any]]:
    """Return what a reply has used: the model's tokens."""
    tokens = counts_of(reply.usage)
    if not tokens:
        return []
    named = ready.agent.model if isinstance(ready.agent.model, str) else model_name(ready.model)
    return [{"kind": "tokens", "source": "agent", "model": named, "tokens": tokens}]
