"""How long a killed worker's run waits for the next one: from the kill to the claim.

Both moments are the database's. Each kill has a pair of workers of its own.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg

from lockgate_ops.bench.rows import Row
from lockgate_ops.children import Children

BARS = {5_000: 10.0, 500: 1.0}  # seconds, by the lease in milliseconds; the first one is default
WAIT_S = 60.0
AGAIN_S = 0.01
SLOW = [{"calls": [{"tool": "slow", "args": {"seconds": 600}}]}]
START = """
select run_id
  from lockgate.start(p_session_id => %s, p_agent_type => 'scripted', p_input => %s)"""
REGULAR = """
select count(*) from lockgate_store.workers
 where not draining and regular_since + lease_ms * interval '1 millisecond' < clock_timestamp()"""
OWNER = "select owner_id from lockgate_store.runs where run_id = %s and owner_id is not null"
CLAIMED = """
select extract(epoch from claimed_at - %(killed)s)::float from lockgate_store.runs
 where run_id = %(run)s and owner_id <> %(dead)s and claimed_at > %(killed)s"""


def measure(url: str, *, quick: bool) -> Iterator[Row]:
    """Measure every row of this module."""
    for lease_ms, bar_s in BARS.items():
        waits = [_wait_s(url, lease_ms) for _ in range(1 if quick else 3)]
        worst = max(waits)
        yield Row(f"kill -9 to the next claim, lease {lease_ms} ms", statistics.median(waits), "s",
                  None, f"<= {bar_s:g} s", worst <= bar_s)  # fmt: skip


def _wait_s(url: str, lease_ms: int) -> float:
    with Children() as children, psycopg.connect(url, autocommit=True) as conn:
        conn.execute("delete from lockgate_store.workers")
        pair = [
            children.start(["work"], database_url=url, lease_ms=str(lease_ms), drain_s="1")
            for _ in range(2)
        ]
        workers = {child.ready(): child for child in pair}
        _until(conn, f"select from ({REGULAR}) w(n) where n = 2", [])
        message = json.dumps({"message": f"script: {json.dumps(SLOW)}"})
        session_id = f"killed-{uuid4()}"
        (run_id,) = _until(conn, START, [session_id, message])
        (owner,) = _until(conn, OWNER, [run_id])
        workers[owner].kill()
        (killed,) = _until(conn, "select clock_timestamp()", [])
        given = {"run": run_id, "dead": owner, "killed": killed}
        (wait_s,) = _until(conn, CLAIMED, given)
        conn.execute("select lockgate.abort(%s)", [session_id])
        return float(wait_s)


def _until(conn: psycopg.Connection[Any], query: str, given: Any) -> Any:
    """Ask until there is a row, and return it."""
    deadline = time.monotonic() + WAIT_S
    while (row := conn.execute(query.encode(), given).fetchone()) is None:
        if time.monotonic() > deadline:
            raise RuntimeError(f"a takeover was not seen within {WAIT_S:g} s")
        time.sleep(AGAIN_S)
    return row
