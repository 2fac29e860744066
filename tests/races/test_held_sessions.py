"""What recovers a session that somebody holds waits no longer than it is told to."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.support.door import Door
from tests.support.racers import Racers

REQUEUE = {"run_id": uuid4(), "drive_id": uuid4(), "finding": "unserved", "worker_id": "worker-1"}


@pytest.mark.parametrize("lock_timeout_ms", [0, 1])
@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("requeue_run", REQUEUE),
        ("continue_session", {}),
        ("complete_end", {}),
        ("fail_session_without_run", {"error_detail": {"message": "no model"}}),
    ],
)
def test_the_wait_for_a_lock_ends_when_it_is_told_to(
    racers: Racers, db: Door, rule: str, given: dict[str, Any], lock_timeout_ms: int
) -> None:
    db.create_session()
    holder, sweeper = racers.callers(2)
    holder.execute("select from lockgate_store.sessions for update")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        sweeper.call(rule, session_id="s1", lock_timeout_ms=lock_timeout_ms, **given)
    sweeper.rollback()
    holder.rollback()

    assert sweeper.row("show lock_timeout").lock_timeout == "15s", "as it was before"
    assert sweeper.call(rule, session_id="s1", **given).outcome in ("stale", "failed")
