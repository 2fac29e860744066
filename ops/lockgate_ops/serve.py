"""The composition root of an API process: HTTP, and a worker beside it unless it is told not to.

Without a database URL it keeps a private Postgres in the user's data folder, installed and ready:
that is for trying Lockgate out on one's own machine, and the only case in which nobody has to say
who may call.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from collections.abc import Awaitable, Callable, Iterator

import uvicorn
from litestar import Litestar

from lockgate import Runtime
from lockgate.notifier import Notifier
from lockgate_api import create_app
from lockgate_ops.application import load_application
from lockgate_ops.door import door
from lockgate_ops.embedded import PASSWORD_FILE, EmbeddedPostgres
from lockgate_ops.exits import announce
from lockgate_ops.install import InstallSettings, install
from lockgate_ops.logs import configure_logs
from lockgate_ops.process import Leaving, run
from lockgate_ops.readiness import Ready, require_ready
from lockgate_ops.refusals import Refused
from lockgate_ops.settings import Settings
from lockgate_ops.work import opened, started_worker

STARTED_EVERY_S = 0.01


def serve(settings: Settings, *, with_worker: bool = True) -> int:
    """Serve the API until told to leave; returns the exit code.

    Prints `ready` and the address once requests are served.
    Errors  Refused
    """
    configure_logs(settings.log_level)
    application = load_application(settings.agents, settings.authenticate)
    authenticate = door(settings, application)
    listener = bound(settings.host, settings.port)
    with chosen_database(settings) as url:

        async def main(leaving: Leaving) -> None:
            ready = await require_ready(url)
            async with opened(application.runtime, url, settings, ready) as runtime:
                stop = await _hurry_on(runtime, settings, ready, with_worker=with_worker)
                app = create_app(
                    runtime,
                    authenticate=authenticate,
                    allow_unauthenticated=authenticate is None,
                    metrics=settings.metrics,
                )
                server = _Server(_uvicorn_config(app, settings))
                await _serve_http(app, server, listener, leaving, stop)

        return run(main, drain_s=settings.drain_s)


def bound(host: str, port: int) -> socket.socket:
    """Take the address, without listening yet. Errors  Refused"""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise Refused(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another with --host "
            "and --port, 0 for any free one"
        ) from None
    return listener


@contextlib.contextmanager
def chosen_database(settings: Settings) -> Iterator[str]:
    """Yield the URL that was given, or that of the user's private database, ready for use."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with EmbeddedPostgres(settings.data, settings.pg_bin) as server:
        install(server.url, InstallSettings())
        announce(f"database postgresql://postgres@127.0.0.1:{server.port}/postgres")
        announce(f"password in {server.data / PASSWORD_FILE}")
        yield server.url


async def _hurry_on(
    runtime: Runtime, settings: Settings, ready: Ready, *, with_worker: bool
) -> Callable[[], Awaitable[None]]:
    """Have committed drives started at once, here or elsewhere; returns what stops that."""
    if with_worker:
        worker = await started_worker(runtime, settings, ready)
        return worker.stop
    notifier = Notifier(runtime.database)
    runtime.kick = notifier.notify
    return notifier.close


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handlers: the process's life is process.py's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _uvicorn_config(app: Litestar, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="httptools",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, math.ceil(settings.drain_s)),
    )


async def _serve_http(
    app: Litestar,
    server: _Server,
    listener: socket.socket,
    leaving: Leaving,
    stop: Callable[[], Awaitable[None]],
) -> None:
    """Serve until told to leave, then let go of readers, entries and drives at the same time."""
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    told = asyncio.create_task(leaving.wait())
    try:
        while not (server.started or serving.done() or told.done()):
            await asyncio.sleep(STARTED_EVERY_S)
        if server.started:
            announce(f"ready {_address(listener)}")
        await asyncio.wait({serving, told}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        told.cancel()
        app.state.drain.begin()
        server.should_exit = True
        ended = await asyncio.gather(serving, stop(), return_exceptions=True)
    for failure in ended:
        if isinstance(failure, BaseException):
            raise failure


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
