"""S21: the unique index fires inside the transaction."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

from tests.cases.conftest import Pair
from tests.support.connections import Connection
from tests.support.door import Door
from tests.support.proves import case
from tests.support.scene import script
from tests.support.seen import seen
from tests.support.stage_agents import SCRIPTED

HELLO = {"say": "Hello."}
RAW = """
  insert into lockgate_store.runs (session_id, run_id, turn, drive, status, request_key,
      request_digest, start_digest, drive_id, dispatch_at, start_sequence, started_at, completed_at)
    values ('s1', %s, 99, 'start', 'completed', 'k1', %s, 'raw', gen_random_uuid(), now(), 0,
      now(), now())
"""
WAITING = (
    "select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'lockgate'"
)


def digest(pair: Pair) -> str:
    row = pair.door.row(
        "select lockgate.request_digest('execute', %s, lockgate.read_message(to_jsonb(%s::text)))"
        " as it",
        SCRIPTED,
        script(HELLO),
    )
    return str(row.it)


@contextmanager
def raw_insert(pair: Pair, of: str) -> Iterator[tuple[Connection, str, "Future[Any]"]]:
    """Hold a run with the key in an open transaction, and have A start under the key."""
    run_id = str(uuid4())
    with (
        pair.scene.database.connect(autocommit=False) as stranger,
        ThreadPoolExecutor() as threads,
    ):
        stranger.execute(RAW, [run_id, of])
        answer = threads.submit(pair.a.start, "s1", HELLO, key="k1")
        seen(lambda: pair.door.rows(WAITING), "A waits for the index")
        yield stranger, run_id, answer


@pytest.fixture
def idle(pair: Pair) -> Pair:
    """A session with an ended run."""
    pair.a.started("s1", HELLO)
    pair.a.settled("s1")
    return pair


@case(21)
@pytest.mark.parametrize("is_same", [True, False])
def test_a_raw_run_that_commits_is_answered_by_its_digest(idle: Pair, is_same: bool) -> None:
    of = digest(idle) if is_same else "0" * 64
    with raw_insert(idle, of) as (stranger, run_id, answer):
        stranger.commit()
        body = answer.result(10).json()
    code = "state_request_already_completed" if is_same else "state_request_key_conflict"
    assert (body["code"], body["runId"], body["retryable"]) == (code, run_id, False)
    idle.door.execute("delete from lockgate_store.runs where run_id = %s", run_id)
    assert idle.runs("s1") == len(idle.inputs("s1")) == 1


@case(21)
def test_a_raw_run_that_rolls_back_was_never_there(idle: Pair) -> None:
    with raw_insert(idle, digest(idle)) as (stranger, _, answer):
        stranger.rollback()
        assert answer.result(10).json()["status"] == "started"
    assert idle.a.settled("s1")["status"] == "completed"
    assert idle.runs("s1") == 2


@case(21)
def test_a_session_that_goes_meanwhile_is_made_anew(idle: Pair) -> None:
    """A waits for the session's row while it is deleted with all its runs, the raw one too."""
    with (
        idle.scene.database.connect(autocommit=False) as stranger,
        ThreadPoolExecutor() as threads,
    ):
        stranger.execute(RAW, [str(uuid4()), digest(idle)])
        assert Door(stranger).delete_session("s1").outcome == "deleted"
        answer = threads.submit(idle.a.start, "s1", HELLO, key="k1")
        seen(lambda: idle.door.rows(WAITING), "A waits for the row")
        stranger.commit()
        assert answer.result(10).json()["status"] == "started"
    assert idle.a.settled("s1")["turn"] == 1
    assert idle.runs("s1") == len(idle.inputs("s1")) == 1
