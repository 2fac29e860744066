"""The indexes of the tables, built and mended beside the work that goes on.

What each of them is stands in the SQL of the tables, and nowhere else. A fresh database builds them
with its tables; where a table stands already, a plain build would hold up every writer for as long
as it lasts, and `if not exists` would take an invalid leftover for the index itself. The unique
ones are guards: they stand behind the rules' promises, and nobody starts without them.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import psycopg

import lockgate_sql
from lockgate_ops.exits import announce
from lockgate_ops.refusals import FAILED, Refused

LONGEST_WAIT_S = 600.0  # for transactions that were open before, or for another installer
LEFTOVER_WAIT_S = 5.0  # for those whom the build has waited for in vain already
LOOK_EVERY_S = 1.0  # at the progress of a build
TURN_EVERY_S = 0.2
MOST_ROWS = 10

NO_TABLE, WHOLE, MISSING, INVALID = "no table", "whole", "missing", "invalid"
STATES = """
select g.name,
       case when t.oid is null then 'no table'
            when i.indexrelid is null then 'missing'
            when i.indisunique = g.is_guard and i.indisvalid and i.indisready then 'whole'
            else 'invalid' end as state
  from unnest(%s::text[], %s::text[], %s::boolean[])
         with ordinality g(name, of_table, is_guard, place)
  left join pg_catalog.pg_namespace n on n.nspname = 'lockgate_store'
  left join pg_catalog.pg_class t on t.relnamespace = n.oid and t.relname = g.of_table
  left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = g.name
  left join pg_catalog.pg_index i on i.indexrelid = c.oid and i.indrelid = t.oid
 order by g.place
"""
PROGRESS = """
select concat(p.phase,
         case when p.lockers_total > 0 then concat(', ', p.lockers_done, ' of ', p.lockers_total,
                ' transactions have ended, now that of pid ', p.current_locker_pid)
              when p.blocks_total > 0 then concat(', ', p.blocks_done, ' of ', p.blocks_total,
                ' blocks')
              when p.tuples_total > 0 then concat(', ', p.tuples_done, ' of ', p.tuples_total,
                ' rows') end)
  from pg_catalog.pg_stat_progress_create_index p
 where p.pid = %s
"""
# Tried, not waited for: who waits inside a statement holds a snapshot that the build waits for.
TAKE_TURN = "select pg_try_advisory_lock(hashtextextended('lockgate.indexes', 0))"
_STATEMENT = re.compile(
    r"^create (?P<unique>unique )?index if not exists (?P<name>\w+)\s+"
    r"on lockgate_store\.(?P<table>\w+) \((?P<columns>[\w, ]+)\)(?:\s+where (?P<where>.+?))?;",
    re.DOTALL | re.MULTILINE,
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Index:
    """One index, as the SQL of its table says it.

    is_guard  it is unique
    where     of the rows that it is about
    """

    name: str
    table: str
    is_guard: bool
    columns: tuple[str, ...]
    where: str
    statement: str

    @property
    def beside(self) -> str:
        """The same statement, for a table that is written meanwhile."""
        return self.statement.replace(" index if not", " index concurrently if not", 1)


class RowsInTheWay(Refused):
    """A guard cannot be built over rows that it would never have let in.

    rows  the first of them: tenant, session and run, and the columns that they share
    """

    def __init__(self, index: Index, rows: list[dict[str, Any]]) -> None:
        self.guard = index.name
        self.rows = rows
        shown = "; ".join(" ".join(f"{k}={str(v)!r}" for k, v in row.items()) for row in rows)
        super().__init__(
            f"{index.name} cannot be built: of rows with {index.where} that agree in "
            f"{', '.join(index.columns)} only one may stand, and here are {shown or 'some'}"
            f"{' and perhaps more' if len(rows) == MOST_ROWS else ''}: leave one of each, then "
            "try again",
            code=FAILED,
        )


@cache
def indexes() -> tuple[Index, ...]:
    """Return every index but those of the primary keys, in the order of the manifest."""
    return tuple(
        Index(
            name=found["name"],
            table=found["table"],
            is_guard=found["unique"] is not None,
            columns=tuple(found["columns"].split(", ")),
            where=" ".join((found["where"] or "true").split()),
            statement=found[0].removesuffix(";"),
        )
        for path in lockgate_sql.manifest()
        if path.startswith("tables/")
        for found in _STATEMENT.finditer(lockgate_sql.text(path))
    )


def asked_for() -> list[list[Any]]:
    """Return the values of STATES: the indexes' names, their tables', and which are guards."""
    return [
        [index.name for index in indexes()],
        [index.table for index in indexes()],
        [index.is_guard for index in indexes()],
    ]


def build_indexes(database_url: str, say: Say = announce) -> list[str]:
    """Build each index that is missing or invalid where its table stands; return their names.

    database_url  a direct connection, past any pooler
    Errors        RowsInTheWay, or another Refused; psycopg.Error. What is left of a build that
                  failed is dropped, by the next one at the latest
    """
    with psycopg.connect(
        database_url, autocommit=True, application_name="lockgate indexes", connect_timeout=5
    ) as conn:
        if not _broken(conn):
            return []
        _require_direct(conn)
        conn.execute("set statement_timeout = 0")
        _wait_at_most(conn, LONGEST_WAIT_S)
        _take_turn(conn, say)
        broken = _broken(conn)
        for index, state in broken:
            _build(conn, index, state, database_url, say)
        return [index.name for index, _ in broken]


def _states(conn: psycopg.Connection[Any]) -> dict[str, str]:
    return dict(conn.execute(STATES, asked_for()).fetchall())


def _broken(conn: psycopg.Connection[Any]) -> list[tuple[Index, str]]:
    states = _states(conn)
    return [
        (index, states[index.name])
        for index in indexes()
        if states[index.name] in (MISSING, INVALID)
    ]


def _require_direct(conn: psycopg.Connection[Any]) -> None:
    if conn.execute("select pg_backend_pid()").fetchone() != (conn.info.backend_pid,):
        raise Refused(
            "an index must be built, and a pooler lies between: name the same database past it "
            "(--direct-url, LOCKGATE_DIRECT_URL)"
        )


def _wait_at_most(conn: psycopg.Connection[Any], seconds: float) -> None:
    conn.execute(f"set lock_timeout = {round(seconds * 1000)}".encode())


def _take_turn(conn: psycopg.Connection[Any], say: Say) -> None:
    """Wait until no other installer builds; the end of the connection passes the turn on."""
    deadline = time.monotonic() + LONGEST_WAIT_S
    said = False
    while conn.execute(TAKE_TURN).fetchone() != (True,):
        if not said:
            say("another installer builds indexes: waiting for it")
            said = True
        if time.monotonic() > deadline:
            raise Refused("another installer still builds indexes: try again", code=FAILED)
        time.sleep(TURN_EVERY_S)


def _build(
    conn: psycopg.Connection[Any], index: Index, state: str, database_url: str, say: Say
) -> None:
    if state == INVALID:
        say(f"{index.name} is invalid: dropping it")
        _drop(conn, index)
    say(f"building {index.name} on {index.table}; runs go on meanwhile")
    began = time.monotonic()
    try:
        with _told(database_url, conn.info.backend_pid, index, say):
            conn.execute(index.beside.encode())
    except psycopg.errors.UniqueViolation:
        _drop_leftover(conn, index, say)
        raise RowsInTheWay(index, _rows_in_the_way(conn, index)) from None
    except psycopg.Error:
        _drop_leftover(conn, index, say)
        raise
    if (found := _states(conn)[index.name]) != WHOLE:
        _drop_leftover(conn, index, say)
        raise Refused(f"{index.name} was built and is {found}: try again", code=FAILED)
    say(f"{index.name} is whole, after {time.monotonic() - began:.1f} s")


def _drop(conn: psycopg.Connection[Any], index: Index) -> None:
    conn.execute(f"drop index concurrently if exists lockgate_store.{index.name}".encode())


def _drop_leftover(conn: psycopg.Connection[Any], index: Index, say: Say) -> None:
    if conn.closed:
        return
    _wait_at_most(conn, LEFTOVER_WAIT_S)
    try:
        if _states(conn)[index.name] == INVALID:
            _drop(conn, index)
            say(f"{index.name} could not be built: what was left of it is dropped")
    except psycopg.Error as error:
        say(f"what is left of {index.name} is dropped by the next install ({error.sqlstate})")


def _rows_in_the_way(conn: psycopg.Connection[Any], index: Index) -> list[dict[str, Any]]:
    columns = ", ".join(index.columns)
    shown = ", ".join(dict.fromkeys(["tenant_id", "session_id", *index.columns, "run_id"]))
    with conn.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        cursor.execute(
            f"""select {shown} from lockgate_store.{index.table}
              join (select {columns} from lockgate_store.{index.table} where {index.where}
                     group by {columns} having count(*) > 1
                     order by {columns} limit {MOST_ROWS}) alike using ({columns})
             where {index.where} order by {columns}, run_id limit {MOST_ROWS}""".encode()
        )
        return cursor.fetchall()


@contextmanager
def _told(database_url: str, pid: int, index: Index, say: Say) -> Iterator[None]:
    """Say how a build goes for as long as the block lasts, over a connection of its own."""
    ended = threading.Event()
    teller = threading.Thread(
        target=_tell, args=(database_url, pid, index, say, ended), daemon=True
    )
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _tell(database_url: str, pid: int, index: Index, say: Say, ended: threading.Event) -> None:
    if ended.wait(LOOK_EVERY_S):
        return
    try:
        with psycopg.connect(database_url, autocommit=True, connect_timeout=5) as conn:
            before = None
            while not ended.wait(LOOK_EVERY_S):
                row = conn.execute(PROGRESS, [pid]).fetchone()
                if row is not None and row != before:
                    say(f"  {index.name}: {row[0]}")
                before = row
    except psycopg.Error:
        return  # The build itself goes on, and tells its end.
