"""Our history as pydantic_ai's messages, in an order that the strictest provider takes.

Imported with pydantic_ai only. What a provider may not see, or could only misread, is left out
here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from pydantic_ai import messages as theirs
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from lockgate.messages import Message, Part
from lockgate.models.protocol import ModelError, ToolSpec
from lockgate.strict_json import dumps


def provider_history(
    messages: Sequence[Message], system_prompt: str | None
) -> list[theirs.ModelMessage]:
    """Map a history so that turns alternate: what one side said in a row becomes one message.

    Thinking stays behind. A part keeps no provider's signature, and unsigned it would go back as
    the model's plain words, or as a user's.
    """
    told = [
        (message.role == "assistant", parts)
        for message in messages
        if (parts := [part for part in message.content if _is_told(part)])
    ]
    history: list[theirs.ModelMessage] = []
    for of_model, turns in groupby(told, key=lambda turn: turn[0]):
        parts = [part for _, parts in turns for part in parts]
        if of_model:
            history.append(theirs.ModelResponse([_response_part(part) for part in parts]))
        else:
            history.append(theirs.ModelRequest(_request_parts(parts), instructions=system_prompt))
    return history


def _is_told(part: Part) -> bool:
    return part["type"] != "thinking" and (part["type"] != "text" or bool(part["text"]))


def _response_part(part: Part) -> theirs.ModelResponsePart:
    if part["type"] == "tool_call":
        return theirs.ToolCallPart(part["toolName"], _text(part["input"]), part["toolCallId"])
    return theirs.TextPart(part["text"] if part["type"] == "text" else _text(part.get("output")))


def _request_parts(parts: Sequence[Part]) -> list[theirs.ModelRequestPart]:
    """Map what came between two replies: the results first, as providers demand, then the user."""
    request: list[theirs.ModelRequestPart] = [
        theirs.ToolReturnPart(
            part["toolName"],
            _text(part.get("result") if part["success"] else part.get("error")),
            part["toolCallId"],
            outcome="success" if part["success"] else "failed",
        )
        for part in parts
        if part["type"] == "tool_result"
    ]
    said = [_user_content(part) for part in parts if part["type"] != "tool_result"]
    if said:
        only = said[0]
        request.append(
            theirs.UserPromptPart(only if len(said) == 1 and isinstance(only, str) else said)
        )
    return request


def _user_content(part: Part) -> theirs.UserContent:
    if part["type"] != "file":
        return part["text"]
    url, media_type = part["url"], part["mediaType"]
    if url.startswith("data:"):
        try:
            return theirs.BinaryContent.from_data_uri(url)
        except ValueError:
            raise ModelError("A file's data URL is not base64.", code="validation_error") from None
    match media_type.partition("/")[0]:
        case "image":
            return theirs.ImageUrl(url, media_type=media_type)
        case "audio":
            return theirs.AudioUrl(url, media_type=media_type)
        case "video":
            return theirs.VideoUrl(url, media_type=media_type)
        case _:
            return theirs.DocumentUrl(url, media_type=media_type)


def _text(value: Any) -> str:
    """Write a value for the model; a text goes as it is, any other value exact to its digits."""
    return value if isinstance(value, str) else dumps(value)


def provider_parameters(tools: Sequence[ToolSpec]) -> ModelRequestParameters:
    """Say which tools the model may call."""
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.input_schema),
            )
            for tool in tools
        ]
    )
