"""Looks on from a process of its own: every 50 ms for two live runs, every second at everything."""

import contextlib
import time

import psycopg

from tests.support.connections import Connection, connect
from tests.support.crew_parts import Part
from tests.support.invariants import violations
from tests.support.stage import Stage

EVERY_S = 0.05
ALL_EVERY_S = 1.0
OVER = "the-storm-is-over"
TWO_LIVE_RUNS = """
select session_id, count(*) from lockgate_store.runs
 where status = 'running' or status like 'suspended%'
 group by tenant_id, session_id having count(*) > 1
"""


def watch(part: Part, stage: Stage) -> None:
    """Note each broken sentence, and at the end how often it was looked."""
    looks, whole_looks, last_whole = 0, 0, 0.0
    print("ready", flush=True)  # noqa: T201 - who started it waits for this.
    while not stage.is_open(OVER):
        with contextlib.suppress(psycopg.OperationalError), connect(part.url) as connection:
            while not stage.is_open(OVER):
                began = time.monotonic()
                for row in connection.execute(TWO_LIVE_RUNS):
                    stage.note("broken", sentence="one live run a session", row=row)
                looks += 1
                if began - last_whole > ALL_EVERY_S:
                    _whole_look(connection, stage)
                    whole_looks, last_whole = whole_looks + 1, began
                time.sleep(max(0.0, began + EVERY_S - time.monotonic()))
        time.sleep(EVERY_S)
    stage.note("watched", looks=looks, whole_looks=whole_looks)


def _whole_look(connection: Connection, stage: Stage) -> None:
    for sentence, row in violations(connection):
        stage.note("broken", sentence=sentence, row=row)
