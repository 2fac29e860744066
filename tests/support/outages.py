"""A server of a test's own that is restarted in the middle of everything."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from lockgate_ops.embedded import EmbeddedPostgres

How = Literal["fast", "immediate"]


@contextmanager
def stopped(server: EmbeddedPostgres, how: How) -> Iterator[None]:
    """Stop a server for as long as the block lasts; it comes back at its old address.

    fast       each connection is told, and what is under way is rolled back
    immediate  nobody is told anything, as by a crash; the server recovers
    """
    halt(server, how)
    yield
    server._start_server()


def halt(server: EmbeddedPostgres, how: How) -> None:
    """Stop a server, and keep it for a later start."""
    code, said = server._run(server._program("pg_ctl", "-D", server.data, "-m", how, "-w", "stop"))
    assert code == 0, said
