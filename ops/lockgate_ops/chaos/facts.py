"""What is stored when a storm has passed, as far as it is judged; reading alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import class_row

RUNS = """
select r.run_id::text, r.session_id, r.drive, r.status, r.stop_kind, r.stop_reason,
       r.error_detail ->> 'code' as code, r.attempt
  from lockgate_store.runs r"""
BODIES = """
select run_id::text, step, ordinal, tool as what, pid, extract(epoch from began_at)::float
         as began_at, extract(epoch from committed_at)::float as committed_at
  from chaos.bodies"""
MODEL_CALLS = """
select run_id::text, step, 0 as ordinal, 'the model' as what, pid,
       extract(epoch from began_at)::float as began_at,
       extract(epoch from committed_at)::float as committed_at
  from chaos.model_calls"""
SETTLED = "select run_id || ':' || status from lockgate_store.settlements"
MARKED = """
select run_id || ':' || status from lockgate_store.deliveries
 where consumer = 'hook' and delivered_at is not null"""
CLAIMS = """
select run_id::text, drive, extract(epoch from began_at)::float as began_at from chaos.claims
 order by began_at"""
CHUNKS = """
select c.session_id, c.last_sequence - c.chunk_count + u.place as sequence, c.run_id::text, u.chunk
  from lockgate_store.stream_chunks c, unnest(c.chunks) with ordinality u(chunk, place)
 order by 1, 2"""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it ended.

    code     of its error, if it has one
    attempt  how often it was handed on or ended, and one more
    """

    run_id: str
    session_id: str
    drive: str
    status: str
    stop_kind: str | None
    stop_reason: str | None
    code: str | None
    attempt: int


@dataclass(frozen=True, slots=True)
class Begun:
    """A body, or a model call, that was begun.

    committed_at  when its result, or its reply, was committed, by the same clock as began_at; None
                  where it was not there when the beginning was noted
    """

    run_id: str
    step: int
    ordinal: int
    what: str
    pid: int
    began_at: float
    committed_at: float | None


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt that was begun; drive `recover` is one after the first."""

    run_id: str
    drive: str
    began_at: float


@dataclass(slots=True)
class Facts:
    """All of it.

    settled   delivery ids: what everybody is to be told of
    marked    those that are marked as told to the hook; hooked  those that it was told of
    consumed  those that the consumer was given, once for each time
    chunks    by session: sequence, run and chunk
    """

    runs: list[Run] = field(default_factory=list)
    bodies: list[Begun] = field(default_factory=list)
    model_calls: list[Begun] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)
    marked: set[str] = field(default_factory=set)
    hooked: set[str] = field(default_factory=set)
    consumed: list[str] = field(default_factory=list)
    chunks: dict[str, list[tuple[int, str, Any]]] = field(default_factory=lambda: defaultdict(list))


def read_facts(connection: psycopg.Connection[Any]) -> Facts:
    """Read them when nothing moves any more."""

    def firsts(query: str) -> list[str]:
        return [row[0] for row in connection.execute(query.encode())]

    def begun(query: str) -> list[Begun]:
        return connection.cursor(row_factory=class_row(Begun)).execute(query.encode()).fetchall()

    facts = Facts(
        runs=connection.cursor(row_factory=class_row(Run)).execute(RUNS.encode()).fetchall(),
        bodies=begun(BODIES),
        model_calls=begun(MODEL_CALLS),
        claims=connection.cursor(row_factory=class_row(Claim)).execute(CLAIMS.encode()).fetchall(),
        settled=set(firsts(SETTLED)),
        marked=set(firsts(MARKED)),
        hooked=set(firsts("select delivery_id from chaos.hooked")),
        consumed=firsts("select delivery_id from chaos.consumed"),
    )
    for session_id, *chunk in connection.execute(CHUNKS.encode()):
        facts.chunks[session_id].append((chunk[0], chunk[1], chunk[2]))
    return facts
