"""Run one tool's body. Whatever it does, the answer is a response that can be stored."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any

import structlog

from lockgate.contained import called, contained
from lockgate.definitions import Tool, ToolContext
from lockgate.errors import error_detail, find_known
from lockgate.judgement import Response, unusable
from lockgate.schema import Schema
from lockgate.scrub import MODEL_LIMIT
from lockgate.strict_json import NotStorable, dumps, storable

MAX_RESULT = 1_000_000  # characters of JSON: history, stream and model all carry it

log = structlog.get_logger(__name__)


async def run_tool(
    tool: Tool, arguments: Any, context: ToolContext, output: Schema | None = None
) -> Response:
    """Run a body and return {success, result} or {success, error, code}; it never raises for it.

    output  what a result must look like beyond the tool's own schema, where it ends the run
    A cancelled drive is not the body's doing: that comes out as it is.
    """
    try:
        result = storable(await _body(tool, arguments, context))
        if len(dumps(result)) > MAX_RESULT:
            return _failed("The tool's result has more than 1 MB of JSON: return less of it")
    except NotStorable as error:
        return _failed(f"The tool's result cannot be stored: {error}")
    except asyncio.CancelledError as error:
        running = asyncio.current_task()
        if running is not None and running.cancelling():
            raise
        return failure(error)
    # SystemExit and KeyboardInterrupt, raised by a body, must not stop the worker.
    except BaseException as error:  # noqa: BLE001
        return failure(error)
    return unfit_result(tool, result, output) or {"success": True, "result": result}


def unfit_result(tool: Tool, result: Any, output: Schema | None = None) -> Response | None:
    """Answer for a result that is not what its tool promises, or nothing.

    output  as run_tool takes it
    """
    for schema in (tool.output_schema, output if tool.finish_with else None):
        flaws = None if schema is None else schema.flaws(result)
        if flaws is not None:
            return unusable(f"The tool's result does not fit its output schema: {flaws}")
    return None


def failure(error: BaseException) -> Response:
    """Answer a call with what its body raised; a typed error keeps its code, flag and cause."""
    detail = error_detail(error, MODEL_LIMIT)
    response = _failed(detail["message"])
    if isinstance(error, Exception) and find_known(error) is error:
        response |= {name: detail[name] for name in _TOLD if name in detail}
    return response


_TOLD = ("code", "retryable", "cause")


async def asks_for_approval(tool: Tool, arguments: Any, context: ToolContext) -> bool:
    """Say whether a call waits for a person first; a function that raises says that it does."""
    asked = tool.require_approval
    if not callable(asked):
        return asked
    try:
        return bool(await called(asked, named_arguments(arguments), context))
    except Exception as error:  # noqa: BLE001 - what is in doubt is asked for.
        log.error("require_approval.raised", tool=tool.name, error=error_detail(error))
        return True


def named_arguments(arguments: Any) -> dict[str, Any]:
    """Return a call's arguments by name, as their types were read."""
    if isinstance(arguments, Mapping):
        return dict(arguments)
    return {name: getattr(arguments, name) for name in type(arguments).model_fields}


async def _body(tool: Tool, arguments: Any, context: ToolContext) -> Any:
    if tool.execute is None:
        raise RuntimeError(f"nothing here executes the tool {tool.name!r}")
    named = named_arguments(arguments)
    if tool.takes_context:
        shown = tool.arguments.json_schema.get("properties", {})
        hidden = [name for name in inspect.signature(tool.execute).parameters if name not in shown]
        named |= dict.fromkeys(hidden, context)
    if inspect.iscoroutinefunction(tool.execute):
        return await tool.execute(**named)
    return await asyncio.to_thread(_in_a_thread, tool.execute, named)


def _in_a_thread(execute: Any, named: dict[str, Any]) -> Any:
    with contained():
        return execute(**named)


def _failed(text: str) -> Response:
    return {"success": False, "error": str(storable(text)), "code": "tool_execution_failed"}
