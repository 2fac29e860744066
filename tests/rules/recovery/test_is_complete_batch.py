"""lockgate.is_complete_batch: a paused session that waits for nothing any more, and is found."""

import pytest

from tests.rules.recovery.test_sweep import found, regular
from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves
from tests.support.store_client import StoreClient
from tests.support.suspensions import client, forget_to_continue, submit, suspended


@proves("sweep.batch_complete")
def test_a_paused_session_that_waits_for_nothing_is_found_where_it_is_asked_for(
    db: Door, clock: Clock
) -> None:
    runs = [suspended(db, client("a"), client("b"), session_id=name) for name in ("s1", "s2")]
    submit(db, "a")
    regular(db, clock)
    assert found(db) == []
    forget_to_continue(db, runs[0].run_id)

    assert found(db) == [("batch_complete", runs[0].run_id)]
    assert found(db, with_paused=False) == []
    db.call("continue_session", session_id="s1")
    assert found(db) == []


@pytest.mark.parametrize("how", ["not current", "ended", "partial"])
def test_what_nothing_would_go_on_with_is_not_found(db: Door, clock: Clock, how: str) -> None:
    drive = suspended(db)
    forget_to_continue(db, drive.run_id)
    regular(db, clock)
    if how == "not current":
        db.execute("update lockgate_store.sessions set current_run_id = gen_random_uuid()")
    if how == "ended":
        assert StoreClient(db).end(drive.run_id, "failed").outcome == "written"
    if how == "partial":
        db.execute("update lockgate_store.runs set status = 'suspended_step_partial'")

    assert found(db) == []
    db.execute("update lockgate_store.sessions set current_run_id = %s", drive.run_id)
    if how == "partial":
        db.execute("update lockgate_store.runs set status = 'suspended_client_tool'")
    left = "stale" if how == "ended" else "continued"
    assert db.call("continue_session", session_id="s1").outcome == left
