"""The sentences that hold between any two commits, each with the query whose rows break it.

`invariants.sql` is their one place: the tests ask it after what they did, and `lockgate doctor
--invariants` asks it of a live database, all of it in one snapshot. It only reads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import psycopg

from lockgate_ops.exits import announce
from lockgate_ops.install import look_at_server
from lockgate_ops.readiness import NOT_INSTALLED, RUN_INSTALL
from lockgate_ops.refusals import FAILED, Refused, told
from lockgate_ops.settings import Settings

SENTENCES = "invariants.sql"
FIRST_ROWS = 3
LONGEST_ROW = 300  # a list of all of a session's turns may be as long as its life
SET = "select set_config(%s, %s, true)"


@dataclass(frozen=True, slots=True)
class Answer:
    """How one sentence stands. rows  the first of those that break it; why  it was not answered"""

    sentence: str
    state: Literal["ok", "broken", "unknown"]
    took_s: float
    rows: tuple[str, ...] = ()
    why: str | None = None


@cache
def invariants() -> dict[str, str]:
    """Return the queries by their sentences, in the order of the file.

    The tables of DBOS stand in them without a schema: whoever runs one sets `search_path_of`.
    """
    found = {}
    for block in files("lockgate_ops").joinpath(SENTENCES).read_text("utf-8").split("\n\n"):
        title, _, query = block.partition("\n")
        if query.startswith("select"):
            found[title.removeprefix("-- ")] = query.strip().removesuffix(";")
    return found


def search_path_of(dbos_schema: str) -> str:
    """Return the search path under which the queries find the tables of DBOS."""
    quoted = dbos_schema.replace('"', '""')
    return f'pg_catalog, "{quoted}", pg_temp'


def violations(connection: psycopg.Connection[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return each broken sentence with a row that breaks it, all of one look."""
    before = connection.execute("show search_path").fetchone()
    assert before is not None
    set_path = "select set_config('search_path', %s, false)"
    connection.execute(set_path, [search_path_of("dbos")])
    broken = connection.execute(_all_of_them()).fetchall()
    connection.execute(set_path, before)
    return [(sentence, row) for sentence, row in broken]


@cache
def _all_of_them() -> bytes:
    parts = []
    for sentence, query in invariants().items():
        quoted = sentence.replace("'", "''")
        parts.append(f"select '{quoted}' as sentence, to_jsonb(broken) from ({query}) broken")
    return "\nunion all\n".join(parts).encode()


def ask(settings: Settings, *, timeout_s: float = 0.0, as_json: bool = False) -> int:
    """Print how each sentence stands; returns 1 unless every one holds.

    timeout_s  give up a sentence after so long, and go on with the next; 0, never
    Errors     Refused, where this role cannot read the tables, or they are not there
    """
    url = settings.required_url()
    look_at_server(url)
    answers = []
    for sentence_or_answer in answered(url, settings.dbos_schema, timeout_s):
        if isinstance(sentence_or_answer, Answer):
            answers.append(sentence_or_answer)
        if not as_json:
            _print(sentence_or_answer)
    is_well = all(answer.state == "ok" for answer in answers)
    if as_json:
        announce(json.dumps({"ok": is_well, "invariants": [asdict(each) for each in answers]}))
    return 0 if is_well else 1


def answered(database_url: str, dbos_schema: str, timeout_s: float) -> Iterator[str | Answer]:
    """Yield each sentence before it is asked, and then its answer; all see the same snapshot."""
    with closing(
        psycopg.connect(
            database_url,
            application_name="lockgate doctor",
            connect_timeout=5,
            prepare_threshold=None,
        )
    ) as conn:
        conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        conn.read_only = True
        with conn.transaction():
            conn.execute(SET, ["search_path", search_path_of(dbos_schema)])
            conn.execute(SET, ["statement_timeout", str(round(timeout_s * 1000))])
            for sentence, query in invariants().items():
                yield sentence
                yield _answer(conn, dbos_schema, sentence, query)


def _answer(conn: psycopg.Connection[Any], dbos_schema: str, sentence: str, query: str) -> Answer:
    began = time.monotonic()
    try:
        # A savepoint: what gives up must not take the snapshot with it.
        with conn.transaction():
            rows = conn.execute(
                f"select left(to_jsonb(broken)::text, {LONGEST_ROW}) from ({query}) broken"
                f" limit {FIRST_ROWS}".encode()
            ).fetchall()
    except psycopg.errors.InsufficientPrivilege as error:
        raise Refused(
            f"this role may not read what the sentences are about ({error.diag.message_primary}): "
            "connect as the owner of Lockgate's tables",
            code=FAILED,
        ) from None
    except psycopg.Error as error:
        if error.sqlstate in NOT_INSTALLED:
            raise Refused(
                f"{error.diag.message_primary}: {RUN_INSTALL}, or name DBOS's schema, if it is not "
                f"{dbos_schema} (--dbos-schema, LOCKGATE_DBOS_SCHEMA)",
                code=FAILED,
            ) from None
        if conn.closed:
            raise
        return Answer(sentence, "unknown", _since(began), why=told(error)[0])
    state: Literal["ok", "broken"] = "broken" if rows else "ok"
    return Answer(sentence, state, _since(began), tuple(row[0] for row in rows))


def _print(told_of: str | Answer) -> None:
    if isinstance(told_of, str):
        announce(told_of)
        return
    announce(
        f"  {told_of.state}, {told_of.took_s:.1f} s" + (f": {told_of.why}" if told_of.why else "")
    )
    for row in told_of.rows:
        announce(f"    {row}")
    if len(told_of.rows) == FIRST_ROWS:
        announce("    and perhaps more")


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
