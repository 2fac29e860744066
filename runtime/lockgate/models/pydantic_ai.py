"""Any provider's model, through the one-call interface of pydantic_ai (extra `llm`).

Owns what their events are to us, when a reply is whole, and what a failed call means. It repeats
nothing: the drive has the only budget. pydantic_ai is imported when a model is made, for that
costs two seconds which a worker without providers need not pay.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from lockgate.models.protocol import (
    Call,
    CallDelta,
    CallStart,
    Finished,
    ModelError,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
)
from lockgate.scrub import scrub
from lockgate.strict_json import dumps, loads_stored, storable

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs
    from pydantic_ai.models import Model as ProviderModel
    from pydantic_ai.models import StreamedResponse
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RequestUsage

MISSING_EXTRA = "Models of a provider need an extra: pip install 'lockgate[llm]'"

# Its adapter sets a finish reason only where the provider sent one, and keeps no raw one.
_SETS_NO_RAW_REASON = frozenset({"xai"})


class PydanticAIModel:
    """A provider's model, by its name or ready-made."""

    def __init__(
        self, model: ProviderModel | str, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Find the model. Key and base URL come from where pydantic_ai looks for them.

        model     a text such as `openai:gpt-4.1`, or a Model of pydantic_ai
        settings  pydantic_ai's ModelSettings; those of a request win over them
        Errors    ModelError, not retryable: the extra is missing, no such model, no key
        """
        self._model = _provider_model(model) if isinstance(model, str) else model
        self._settings = dict(settings or {})
        if "max_retries" not in self._model.unsupported_settings:
            # The drive repeats a failed call, visibly and by one budget.
            self._settings.setdefault("max_retries", 0)

    @property
    def name(self) -> str:
        """The provider's name and the model's, as `openai:gpt-4.1`."""
        return f"{self._model.system}:{self._model.model_name}"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream one reply. A stream that breaks off is a retryable ModelError."""
        from pydantic_ai.direct import model_request_stream

        from lockgate.models.provider_history import provider_history, provider_parameters

        history = provider_history(request.messages, request.system_prompt)
        choice = {"tool_choice": "required"} if request.tool_choice == "required" else {}
        settings = cast("ModelSettings", {**self._settings, **request.settings, **choice})
        reply = _Reply()
        try:
            # Entering the model gives it a client of this event loop.
            async with (
                self._model,
                model_request_stream(
                    self._model,
                    history,
                    model_settings=settings,
                    model_request_parameters=provider_parameters(request.tools),
                ) as stream,
            ):
                async for event in stream:
                    for ours in reply.read(event):
                        yield ours
                _require_whole(stream)
                usage = _usage(stream.usage)
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails in a call is a ModelError.
            # Without its cause: that holds bodies and headers, and among them perhaps the key.
            raise _model_error(error, list(_keys(self._model))) from None
        for call in reply.calls():
            yield call
        yield Finished(usage)


@dataclass(slots=True)
class _OpenCall:
    id: str
    tool: str
    text: str = ""


@dataclass(slots=True)
class _Reply:
    """Reads a reply's events. Its calls are known only at the end, for they may be interleaved."""

    _calls: dict[int, _OpenCall] = field(default_factory=dict)

    def read(self, event: theirs.ModelResponseStreamEvent) -> Iterator[ModelEvent]:
        """Map one event of theirs to those of ours that can be told now."""
        if event.event_kind == "part_start":
            yield from self._start(event.index, event.part)
        elif event.event_kind == "part_delta":
            yield from self._delta(event.index, event.delta)
        elif (
            event.event_kind == "part_end"
            and event.part.part_kind == "thinking"
            and event.part.content
        ):
            yield ThinkingDelta("", done=True)

    def calls(self) -> Iterator[Call]:
        """Return the calls, complete, in the model's order."""
        for _, call in sorted(self._calls.items()):
            yield Call(call.id, call.tool, read_arguments(call.text))

    def _start(self, index: int, part: theirs.ModelResponsePart) -> Iterator[ModelEvent]:
        if part.part_kind == "text" and part.content:
            yield TextDelta(part.content)
        elif part.part_kind == "thinking" and part.content:
            yield ThinkingDelta(part.content)
        elif part.part_kind == "tool-call":
            self._calls[index] = _OpenCall(part.tool_call_id, part.tool_name)
            yield CallStart(part.tool_call_id, part.tool_name)
            yield from self._arguments(index, part.args)

    def _delta(self, index: int, delta: theirs.ModelResponsePartDelta) -> Iterator[ModelEvent]:
        if delta.part_delta_kind == "text" and delta.content_delta:
            yield TextDelta(delta.content_delta)
        elif delta.part_delta_kind == "thinking" and delta.content_delta:
            yield ThinkingDelta(delta.content_delta)
        elif delta.part_delta_kind == "tool_call" and index in self._calls:
            self._calls[index].tool += delta.tool_name_delta or ""
            yield from self._arguments(index, delta.args_delta)

    def _arguments(self, index: int, piece: str | Mapping[str, Any] | None) -> Iterator[ModelEvent]:
        call = self._calls[index]
        if isinstance(piece, Mapping):
            # Some providers send an object instead of its text, and always the whole one at once.
            piece = dumps(storable(piece))
        if piece:
            call.text += piece
            yield CallDelta(call.id, piece)


def read_arguments(text: str) -> Any:
    """Read a call's arguments, numbers exact; a text that is no object comes back as it is."""
    try:
        value = storable(loads_stored(text.strip() or "{}"))
    except (ValueError, ArithmeticError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def _require_whole(stream: StreamedResponse) -> None:
    """Refuse a reply that is no answer, above all one without the provider's own end mark."""
    reply = stream.get()
    if reply.finish_reason == "content_filter":
        raise ModelError("The provider's content filter stopped the reply.")
    if reply.finish_reason == "error":
        raise ModelError("The provider gave up on the reply.", retryable=True)
    # Where a provider sent no reason, pydantic_ai says `stop`; what was sent is in the details. A
    # model without a URL runs in this process, and has nothing to break off.
    marked = stream.provider_url is None or (
        reply.finish_reason is not None
        and (
            "finish_reason" in (reply.provider_details or {})
            or stream.provider_name in _SETS_NO_RAW_REASON
        )
    )
    if reply.state != "complete" or not marked:
        raise ModelError("The provider's stream ended without a finish reason.", retryable=True)


def _usage(usage: RequestUsage) -> dict[str, int]:
    counts = {
        "prompt": usage.input_tokens,
        "completion": usage.output_tokens,
        "reasoning": usage.details.get("reasoning_tokens", 0),
        "cached": usage.cache_read_tokens,
        "total": usage.total_tokens,
    }
    return {kind: count for kind, count in counts.items() if count}


def _provider_model(name: str) -> ProviderModel:
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ImportError:
        raise ModelError(MISSING_EXTRA) from None
    try:
        return infer_model(name)
    except (UserError, ValueError, ImportError) as error:
        # An ImportError is of a provider that our extra does not bring, and says what does.
        raise ModelError(scrub(str(error))) from None


def _model_error(error: Exception, keys: Sequence[str]) -> ModelError:
    """Say what a failed call means, without the key even where the provider quotes it."""
    if isinstance(error, ExceptionGroup):
        # Several models were tried in turn; the call may succeed later if one of them may.
        tried = [_model_error(each, keys) for each in error.exceptions]
        return next((each for each in tried if each.retryable), tried[-1])
    from pydantic_ai.exceptions import (
        ModelHTTPError,
        ModelQuotaExceededError,
        ModelRateLimitError,
    )

    status = error.status_code if isinstance(error, ModelHTTPError) else None
    text = _provider_text(error)
    for key in keys:
        text = text.replace(key, "[REDACTED]")
    message = scrub(f"The provider answered {status}: {text}" if status else text)
    limited = isinstance(error, ModelRateLimitError) or status == HTTPStatus.TOO_MANY_REQUESTS
    if limited and not isinstance(error, ModelQuotaExceededError):
        return ModelError(message, code="provider_rate_limited", retryable=True)
    return ModelError(message, retryable=_is_weather(error, status))


def _is_weather(error: Exception, status: int | None) -> bool:
    """Say whether the same call may succeed later."""
    from pydantic_ai import exceptions

    if isinstance(error, exceptions.ModelQuotaExceededError | exceptions.ContentFilterError):
        return False
    if status is not None:
        return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT
    if isinstance(error, exceptions.ModelRequestRejectedError):
        return False
    broken_off = (exceptions.ModelAPIError, exceptions.UnexpectedModelBehavior, OSError)
    # Some providers' clients let the errors of their HTTP library through, whichever that is.
    return isinstance(error, broken_off) or type(error).__module__.startswith("httpx")


def _provider_text(error: Exception) -> str:
    body = getattr(error, "body", None)
    told = body.get("error", body) if isinstance(body, Mapping) else None
    text = told.get("message") if isinstance(told, Mapping) else None
    return text if isinstance(text, str) and text else str(error) or type(error).__name__


def _keys(model: object) -> Iterator[str]:
    """Find the keys a model may send, also of one that wraps others."""
    client = getattr(model, "client", None)
    for key in (getattr(client, "api_key", None), getattr(client, "auth_token", None)):
        if isinstance(key, str) and key:
            yield key
    for inner in (getattr(model, "wrapped", None), *getattr(model, "models", ())):
        if inner is not None:
            yield from _keys(inner)
