"""Looks on from two processes: every 50 ms for two live runs, every second at everything."""

import contextlib
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import psycopg

from tests.support.connections import Connection, connect
from tests.support.crew_parts import Part
from tests.support.invariants import violations
from tests.support.stage import Stage

Look: TypeAlias = Callable[[Connection], list[tuple[str, Any]]]
EVERY_S = 0.05
ALL_EVERY_S = 1.0
OVER = "the-storm-is-over"
TWO_LIVE_RUNS = """
select session_id, count(*) from lockgate_store.runs
 where status = 'running' or status like 'suspended%'
 group by tenant_id, session_id having count(*) > 1
"""


def watch_runs(part: Part, stage: Stage) -> None:
    """Look whether a session has two live runs."""
    _watch(part, stage, EVERY_S, _two_live_runs)


def watch_all(part: Part, stage: Stage) -> None:
    """Look at every invariant."""
    _watch(part, stage, ALL_EVERY_S, violations)


def _watch(part: Part, stage: Stage, every_s: float, look: Look) -> None:
    """Note each broken sentence, and at the end how often it was looked."""
    looks = 0
    print("ready to watch", flush=True)  # noqa: T201 - who started it waits for this.
    while not stage.is_open(OVER):
        with contextlib.suppress(psycopg.OperationalError), connect(part.url) as connection:
            while not stage.is_open(OVER):
                began = time.monotonic()
                for sentence, row in look(connection):
                    stage.note("broken", sentence=sentence, row=row)
                looks += 1
                time.sleep(max(0.0, began + every_s - time.monotonic()))
        time.sleep(EVERY_S)  # It comes back soon, where a kill has cut the link.
    stage.note("watched", who=part.name, looks=looks)


def _two_live_runs(connection: Connection) -> list[tuple[str, Any]]:
    return [("one live run a session", row) for row in connection.execute(TWO_LIVE_RUNS)]
