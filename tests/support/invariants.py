"""Runs `invariants.sql`: every sentence in one statement, and what breaks it."""

from functools import cache
from pathlib import Path
from typing import Any

from tests.support.connections import Connection

INVARIANTS_SQL = Path(__file__).with_name("invariants.sql")


def violations(connection: Connection) -> list[tuple[str, dict[str, Any]]]:
    """Return each broken sentence with a row that breaks it."""
    return [(sentence, row) for sentence, row in connection.execute(_statement()).fetchall()]


def broken_sentences(connection: Connection) -> set[str]:
    """Return the sentences that do not hold."""
    return {sentence for sentence, _ in violations(connection)}


@cache
def invariants() -> dict[str, str]:
    """Return the queries by their sentences, in the order of the file."""
    found = {}
    for block in INVARIANTS_SQL.read_text().split("\n\n"):
        title, _, query = block.partition("\n")
        if query.startswith("select"):
            found[title.removeprefix("-- ")] = query.strip().removesuffix(";")
    return found


@cache
def _statement() -> bytes:
    parts = [
        f"select {_quoted(sentence)} as sentence, to_jsonb(broken) from ({query}) broken"
        for sentence, query in invariants().items()
    ]
    return "\nunion all\n".join(parts).encode()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
