"""The application under a real server, in a thread of its own, on a free port."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from lockgate import Runtime
from lockgate_api import create_app
from tests.api.live import WAIT_S
from tests.api.rig import agent
from tests.support.cluster import Database


class Server(uvicorn.Server):
    """A server that drains its streams before it waits for them, as ours will."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.drains:
            self.config.app.state.drain.begin()  # type: ignore[union-attr]
        await super().shutdown(sockets)

    drains = True


class Served:
    """A server that runs, and its clients."""

    def __init__(self, port: int, server: Server, client: httpx.Client) -> None:
        self.port = port
        self.server = server
        self.client = client

    def socket(self) -> socket.socket:
        """Open a bare connection, for what no client library would do."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)


@contextmanager
def serving(database: Database, **options: Any) -> Iterator[Served]:
    """Serve an application over a database for as long as the block lasts."""
    runtime = Runtime([agent()], **options.pop("runtime", {}))

    async def up() -> None:
        await runtime.open(database.url, pool_size=3)

    app = create_app(
        runtime, allow_unauthenticated=True, on_startup=[up], on_shutdown=[runtime.close], **options
    )
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="critical")
    server = Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=asyncio.run, args=[server.serve([listening])])
        thread.start()
        try:
            transport = httpx.HTTPTransport(retries=3)
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=WAIT_S
            ) as client:
                assert client.get("/readyz").status_code == 200
                yield Served(port, server, client)
        finally:
            server.should_exit = True
            thread.join(WAIT_S)
            assert not thread.is_alive(), "the server does not leave"
