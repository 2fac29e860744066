"""A reply's calls, judged before anything of them is executed: who answers each, if anybody.

What is judged here follows from the reply and the agent alone, so an attempt that goes on after a
crash comes to the same judgement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockgate.definitions import Tool
from lockgate.messages import Part
from lockgate.schema import Unfit
from lockgate.strict_json import JsonValue, NotStorable, storable

Response = dict[str, JsonValue]

SUPERSEDED = "superseded_by_terminal_call"
INTERRUPTED = "outcome_unknown"


@dataclass(frozen=True, slots=True)
class Judged:
    """One call: its tool, its arguments as the tool reads them, or why nobody may execute it.

    answer  what the drive answers at once, for a call that is unusable or was superseded
    """

    tool: Tool | None
    arguments: Any = None
    answer: Response | None = None


def judge(tools: Mapping[str, Tool], tool_name: str, given: Any) -> Judged:
    """Find a call's tool and read its arguments."""
    tool = tools.get(tool_name)
    if tool is None:
        return Judged(None, answer=unusable(f"There is no tool named {tool_name!r}"))
    if not isinstance(given, Mapping):
        return Judged(tool, answer=unusable("The arguments are not a JSON object"))
    try:
        return Judged(tool, arguments=tool.arguments.read(given))
    except Unfit as unfit:
        return Judged(tool, answer=unusable(f"The arguments do not fit the tool: {unfit}"))


def judge_all(
    tools: Mapping[str, Tool], calls: Sequence[Mapping[str, Any]], *, has_output: bool
) -> list[Judged]:
    """Judge the calls of one reply, in their order.

    A call that ends the turn, and an output that the reply holds, leave its siblings unexecuted.
    """
    judged = [judge(tools, call["toolName"], call["input"]) for call in calls]
    winner = next((place for place, each in enumerate(judged) if _ends_the_turn(each)), None)
    if winner is None and not has_output:
        return judged
    return [
        each if place == winner and not has_output else Judged(each.tool, answer=superseded())
        for place, each in enumerate(judged)
    ]


def _ends_the_turn(judged: Judged) -> bool:
    return judged.answer is None and judged.tool is not None and judged.tool.finish_with


def finish_value(tools: Mapping[str, Tool], tool_name: str, given: Any) -> list[JsonValue]:
    """Return the output that a call of `__finish__` brings, in a list; an empty one if none."""
    tool = tools.get(tool_name)
    if tool is None or tool.kind != "finish" or not isinstance(given, Mapping):
        return []
    try:
        return [tool.arguments.checked(given)]
    except (Unfit, NotStorable):
        return []


def has_output(content: Sequence[Part]) -> bool:
    """Say whether a reply holds the output that ends its run."""
    return any(part["type"] == "output" for part in content)


def unusable(text: str) -> Response:
    """Answer a call that cannot be executed as the model wrote it."""
    return {"success": False, "error": str(storable(text)), "code": "validation_error"}


def superseded() -> Response:
    """Answer the sibling of a call that ended the turn."""
    return {"success": False, "error": f"Not executed: {SUPERSEDED}", "reason": SUPERSEDED}


def interrupted() -> Response:
    """Answer a call whose body was begun, and whose outcome nobody will learn."""
    return {
        "success": False,
        "error": "Interrupted: the tool had begun, and whether it did its work is unknown",
        "reason": INTERRUPTED,
    }
