"""Run one server tool. Whatever its body does, the answer is a response that can be stored."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from lockgate.agents import Agent, Tool, ToolContext
from lockgate.errors import error_detail
from lockgate.scrub import MODEL_LIMIT
from lockgate.strict_json import JsonValue, NotStorable, dumps, storable

MAX_RESULT = 1_000_000  # characters of JSON: history, stream and model all carry it

Response = dict[str, JsonValue]


async def run_tool(agent: Agent, tool_name: str, given: Any, context: ToolContext) -> Response:
    """Run a call's body and return {success, result} or {success, error}; it never raises for it.

    A cancelled drive is not the body's doing: that comes out as it is.
    """
    tool = next((each for each in agent.tools if each.name == tool_name), None)
    if tool is None:
        return _failed(f"There is no tool named {tool_name!r}")
    if not isinstance(given, Mapping):
        return _failed("The arguments are not a JSON object")
    try:
        arguments = tool.arguments.model_validate(given)
    except ValidationError as error:
        return _failed(f"The arguments do not fit the tool: {_flaws(error)}")
    try:
        result = storable(await _body(tool, arguments, context))
        if len(dumps(result)) > MAX_RESULT:
            return _failed("The tool's result has more than 1 MB of JSON: return less of it")
    except NotStorable as error:
        return _failed(f"The tool's result cannot be stored: {error}")
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _failed(error_detail(error, MODEL_LIMIT)["message"])
    # SystemExit and KeyboardInterrupt, raised by a body, must not stop the worker.
    except BaseException as error:  # noqa: BLE001
        return _failed(error_detail(error, MODEL_LIMIT)["message"])
    return {"success": True, "result": result}


async def _body(tool: Tool, arguments: Any, context: ToolContext) -> Any:
    named = {name: getattr(arguments, name) for name in type(arguments).model_fields}
    for name, parameter in inspect.signature(tool.execute).parameters.items():
        if tool.takes_context and name not in named:
            named[parameter.name] = context
    if inspect.iscoroutinefunction(tool.execute):
        return await tool.execute(**named)
    return await asyncio.to_thread(_contained, tool, named)


def _contained(tool: Tool, named: dict[str, Any]) -> Any:
    """Call a plain function; what would end a thread's process is an ordinary failure here."""
    try:
        return tool.execute(**named)
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"{type(error).__name__} was raised by the tool") from error


def _failed(text: str) -> Response:
    return {"success": False, "error": str(storable(text))}


def _flaws(error: ValidationError) -> str:
    """Tell the model what to mend; the values it sent are not repeated."""
    return "; ".join(
        f"{'.'.join(str(step) for step in flaw['loc']) or 'arguments'}: {flaw['msg']}"
        for flaw in error.errors(include_url=False, include_input=False)
    )
