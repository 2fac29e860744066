"""Connections as the tests use them: plain psycopg, rows as tuples."""

from typing import Any, TypeAlias

import psycopg

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


def connect(url: str, *, autocommit: bool = True) -> Connection:
    """Open a connection that says whose it is, and that no forgotten lock can hold for ever."""
    return psycopg.connect(
        url,
        autocommit=autocommit,
        application_name="lockgate-test",
        options="-c lock_timeout=15s",
    )
