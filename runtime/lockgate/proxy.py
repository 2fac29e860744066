"""Around an executor: a wrapper to trace or to route, and a sender that knows who keeps keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import structlog

from lockgate.client_answers import Submitted
from lockgate.handle import Executor, RunHandle, Stop
from lockgate.hooks import Origin
from lockgate.requests import TRUSTED, Actor, EntryRequest, Resume, Retry, Start

log = structlog.get_logger(__name__)


def records_request_keys(executor: object) -> bool:
    """Say whether an executor declares that it records request keys."""
    return getattr(executor, "supports_request_key", False) is True


def ignored_request_key_warner(runtime_name: str) -> Callable[[str | None], None]:
    """Make what an executor without request keys calls with each key that it ignores.

    The first one is logged as `request_key.ignored`, and later ones are not: make one warner for
    each executor. The key itself is not logged.
    """
    has_warned = False

    def warn(request_key: str | None) -> None:
        nonlocal has_warned
        if request_key is None or has_warned:
            return
        has_warned = True
        log.warning("request_key.ignored", runtime=runtime_name)

    return warn


class ProxyExecutor:
    """Passes every verb on to another executor: override one to trace or to route it.

    What the other one declares and gives back is passed on too: whether it records request keys,
    and each handle as it is, with its `attached`.
    """

    def __init__(self, inner: Executor) -> None:
        self.inner = inner

    @property
    def supports_request_key(self) -> bool:
        """Whether the other one records request keys."""
        return records_request_keys(self.inner)

    async def start(self, *args: Any, **given: Any) -> RunHandle:
        """Start as the other one does."""
        return await self.inner.start(*args, **given)

    async def resume(self, *args: Any, **given: Any) -> RunHandle:
        """Resume as the other one does."""
        return await self.inner.resume(*args, **given)

    async def retry(self, *args: Any, **given: Any) -> RunHandle:
        """Retry as the other one does."""
        return await self.inner.retry(*args, **given)

    async def submit_tool_result(self, *args: Any, **given: Any) -> Submitted:
        """Answer a call as the other one does."""
        return await self.inner.submit_tool_result(*args, **given)

    async def interrupt(self, *args: Any, **given: Any) -> Stop:
        """Interrupt as the other one does."""
        return await self.inner.interrupt(*args, **given)

    async def abort(self, *args: Any, **given: Any) -> Stop:
        """Abort as the other one does."""
        return await self.inner.abort(*args, **given)


class Sender:
    """Sends requests through one executor, each with its key if the executor records keys.

    Otherwise a keyed request goes without its key, and the first one that does is logged.
    """

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self._warn = ignored_request_key_warner(type(executor).__name__)

    async def send(
        self, request: EntryRequest, *, actor: Actor = TRUSTED, origin: Origin | None = None
    ) -> RunHandle:
        """Send a request. Errors  as the executor's verbs."""
        request_key = request.request_key
        if not records_request_keys(self.executor):
            self._warn(request_key)
            request_key = None
        given: dict[str, Any] = {"request_key": request_key, "actor": actor, "origin": origin}
        match request:
            case Start():
                return await self.executor.start(
                    request.session_id,
                    request.agent_type,
                    request.message,
                    state=request.state,
                    **request.identity(),
                    **given,
                )
            case Resume():
                return await self.executor.resume(
                    request.session_id, request.agent_type, request.options, **given
                )
            case Retry():
                return await self.executor.retry(
                    request.session_id,
                    request.agent_type,
                    checkpoint_id=request.checkpoint_id,
                    message=request.message,
                    **given,
                )
            case _:
                assert_never(request)
