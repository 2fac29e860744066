"""Runs `invariants.sql`: every sentence in one statement, and what breaks it."""

from functools import cache
from typing import Any

from lockgate_ops.invariants import invariants, search_path_of
from tests.support.connections import Connection

SET_SEARCH_PATH = "select set_config('search_path', %s, false)"


def violations(connection: Connection) -> list[tuple[str, dict[str, Any]]]:
    """Return each broken sentence with a row that breaks it."""
    before = connection.execute("show search_path").fetchone()
    assert before is not None
    connection.execute(SET_SEARCH_PATH, [search_path_of("dbos")])
    broken = connection.execute(_statement()).fetchall()
    connection.execute(SET_SEARCH_PATH, before)
    return [(sentence, row) for sentence, row in broken]


def broken_sentences(connection: Connection) -> set[str]:
    """Return the sentences that do not hold."""
    return {sentence for sentence, _ in violations(connection)}


@cache
def _statement() -> bytes:
    parts = [
        f"select {_quoted(sentence)} as sentence, to_jsonb(broken) from ({query}) broken"
        for sentence, query in invariants().items()
    ]
    return "\nunion all\n".join(parts).encode()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
