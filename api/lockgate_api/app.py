"""The HTTP application over a runtime. The caller opens and closes the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from litestar import Litestar
from litestar.datastructures import State
from litestar.types import LifeSpanReceive, LifeSpanScope, LifeSpanSend, Receive, Scope, Send

from lockgate import Executor, Runtime, Sender
from lockgate_api.answers import on_error
from lockgate_api.auth import Authenticate
from lockgate_api.documents import openapi
from lockgate_api.front import STATE_KEY, Front
from lockgate_api.health import health_routes
from lockgate_api.metrics import metrics_routes
from lockgate_api.native import native_routes
from lockgate_api.paths import routed

MAX_BODY_BYTES = 8 * 1024 * 1024
STANDS_OPEN = (
    "create_app needs authenticate=…, which says who a request comes from; to serve everyone who "
    "can reach the port, say allow_unauthenticated=True"
)

# Said outright, so that no environment variable can open a debugger or show a trace.
_SHUT: dict[str, Any] = {"debug": False, "pdb_on_exception": False, "logging_config": None}


def create_app(
    runtime: Runtime,
    *,
    executor: Executor | None = None,
    authenticate: Authenticate | None = None,
    allow_unauthenticated: bool = False,
    verbose_validation_errors: bool = False,
    metrics: bool = False,
    max_body_bytes: int = MAX_BODY_BYTES,
    on_startup: Sequence[Callable[..., Any]] = (),
    on_shutdown: Sequence[Callable[..., Any]] = (),
) -> Litestar:
    """Make the application that serves a runtime's sessions over HTTP.

    executor                   a wrapper around the runtime, to trace or to route: it takes entries,
                               answers and stops. One that records no request keys is sent none
    authenticate               given a request, plain or async: a Principal, None for 401, or the
                               host's own response, which is answered as it is
    allow_unauthenticated      serve without it, for whoever can reach the port
    verbose_validation_errors  say what is wrong with a body, not only where
    metrics                    serve GET /metrics too, without authentication: it names nobody
    on_startup, on_shutdown    plain or async; here the caller opens and closes the runtime
    Result                     its `state.drain` ends all open streams: `begin()` it before the
                               server is stopped, or the server waits for their readers
    Errors                     ValueError without `authenticate`
    """
    if authenticate is None and not allow_unauthenticated:
        raise ValueError(STANDS_OPEN)
    sender = Sender(runtime if executor is None else executor)
    front = Front(runtime, sender, authenticate, verbose_validation_errors, max_body_bytes)
    return _App(
        route_handlers=[native_routes(), health_routes(), *([metrics_routes()] if metrics else [])],
        exception_handlers={Exception: on_error},
        openapi_config=openapi(),
        on_startup=[*on_startup],
        on_shutdown=[front.under_way.close, *on_shutdown],
        state=State({STATE_KEY: front, "drain": front.drain}),
        **_SHUT,
    )


class _App(Litestar):
    """Litestar, but for session ids: they are read from the path as it was sent."""

    async def __call__(
        self,
        scope: Scope | LifeSpanScope,
        receive: Receive | LifeSpanReceive,
        send: Send | LifeSpanSend,
    ) -> None:
        await super().__call__(
            scope if scope["type"] == "lifespan" else routed(scope), receive, send
        )
