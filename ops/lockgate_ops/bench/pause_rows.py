"""Rounds of suspend and answer in one session: the hundredth costs what the tenth did.

A claim returns the whole history, for that is what the next model call is made of: it is measured
apart, and has no bar. The model names its call alike in each round, as a scripted one does.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from lockgate_ops.bench.rows import Row

ROUNDS = 100
NEAR = 3  # A round is told as the median of it, of as many on each side, and of all sessions.
SESSIONS = 4
TEXT = "I have looked at all that is there, and now it is for you to pick one of the three."
CALLS = '[{"id": "call_1_1", "toolName": "pick", "input": {"from": 3}, "kind": "client"}]'
REPLY = f'[{{"type": "text", "text": "{TEXT}"}}]'
ANSWER = '{"kind": "client-tool-result", "result": {"picked": 2}}'
START = """select run_id from lockgate.start(p_session_id => %(session)s,
  p_agent_type => 'assistant', p_input => '{"message": "Let us pick."}')"""
DRIVE = "select drive_id from lockgate_store.runs where run_id = %(run)s"
CLAIM = """select c.attempt, octet_length(c.messages::text)
  from lockgate.claim_run(%(session)s, %(run)s, %(drive)s, 'bench') c"""
SAVE = """select (r.calls -> 0) ->> 'toolCallId' from lockgate.commit_reply(
  %(session)s, %(run)s, 1, 1, %(reply)s, %(calls)s) r"""
SUSPEND = "select outcome from lockgate.suspend_run(%(session)s, %(run)s, 1, 1)"
SUBMIT = "select run_id from lockgate.submit_tool_result(%(session)s, %(call)s, %(answer)s)"


@dataclass(frozen=True, slots=True)
class Round:
    """What one round has cost: its three writes, its claim, and what the claim returned."""

    writes_s: float
    wal: float
    claim_s: float
    history: int


def measure(url: str, *, quick: bool) -> Iterator[Row]:
    """Measure every row of this module."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("alter system set full_page_writes = off")
        conn.execute("select pg_reload_conf(), pg_sleep(0.2)")
        names = [f"pause-{number}" for number in range(1 if quick else SESSIONS)]
        rounds = [list(_rounds(conn, name)) for name in names]
        conn.execute("alter system reset full_page_writes")
        conn.execute("select pg_reload_conf()")
    for name, unit, scale in (("writes_s", "ms", 1000), ("wal", "bytes", 1)):
        what = "suspend and answer" if name == "writes_s" else "WAL of suspend and answer"
        early, late = (_median(rounds, place, name) * scale for place in (10, ROUNDS - NEAR))
        yield Row(f"{what}, round 10", early, unit)
        yield Row(f"{what}, round {ROUNDS}", late, unit, late / early, "<= 1.50",
                  late <= 1.5 * early)  # fmt: skip
    for name, unit, scale in (("claim_s", "ms", 1000), ("history", "bytes", 1)):
        what = "claim with its history" if name == "claim_s" else "history that a claim returns"
        early, late = (_median(rounds, place, name) * scale for place in (10, ROUNDS - NEAR))
        yield Row(f"{what}, round {ROUNDS}", late, unit, late / early)


def _rounds(conn: psycopg.Connection[Any], session: str) -> Iterator[Round]:
    """Suspend and answer a hundred times in one session."""
    given: dict[str, Any] = {"session": session, "reply": REPLY, "calls": CALLS, "answer": ANSWER}

    def ask(statement: str) -> Any:
        return conn.execute(statement.encode(), given).fetchone()

    given["run"] = _only(ask(START), UUID)
    for _ in range(ROUNDS):
        given["drive"] = _only(ask(DRIVE), UUID)
        began = time.perf_counter()
        _, history = ask(CLAIM)
        claimed = time.perf_counter()
        before = _only(ask("select pg_current_wal_insert_lsn()::text"), str)
        resumed = time.perf_counter()
        given["call"] = _only(ask(SAVE), str)
        ask(SUSPEND)
        given["run"] = _only(ask(SUBMIT), UUID)
        done = time.perf_counter()
        given["before"] = before
        wal = ask("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %(before)s)")
        yield Round(done - resumed, float(wal[0]), claimed - began, history)


def _only(row: Any, kind: type[Any]) -> Any:
    """Return the one field of a row, which must be there."""
    if row is None or not isinstance(row[0], kind):
        raise RuntimeError(f"a round was answered {row}")
    return row[0]


def _median(rounds: list[list[Round]], place: int, name: str) -> float:
    near = (each[place - 1 - NEAR : place + NEAR] for each in rounds)
    return float(statistics.median(getattr(one, name) for session in near for one in session))
