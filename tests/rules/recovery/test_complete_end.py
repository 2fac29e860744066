"""lockgate.complete_end: what a store client has left of an end is written, once."""

import pytest

from tests.support import standings
from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.family import begin, calling
from tests.support.proves import case, proves
from tests.support.store_client import StoreClient
from tests.support.suspensions import client

ENDS = [("completed", "ended"), ("failed", "failed"), ("interrupted", "ended")]


def completed(db: Door, session_id: str = "s1", **more: object) -> tuple[str, str | None]:
    answer = db.call("complete_end", session_id=session_id, **more)
    return answer.outcome, answer.run_status


@proves("complete_end.ended")
@pytest.mark.parametrize(("status", "stream"), ENDS)
@pytest.mark.parametrize("suspended", [False, True])
def test_a_terminal_commit_that_landed_ends_its_run(
    db: Door, status: str, stream: str, suspended: bool
) -> None:
    run_id = standings.awaiting_calls(db) if suspended else standings.stepped(db).run_id
    StoreClient(db).end(run_id, status, output='"so"')
    assert completed(db) == ("ended", status)

    run, session = db.run(run_id), db.session()
    assert (run.status, run.output, session.status) == (status, "so", status)
    assert (db.stream().status, session.end_due) == (stream, False)
    settled = ["suspended_client_tool"] * suspended
    assert standings.statuses(db, run_id) == sorted([status, *settled])
    assert not db.rows("select from lockgate_store.tool_calls where status = 'pending'")


@proves("complete_end.closed")
@pytest.mark.parametrize(("status", "stream"), [*ENDS, ("suspended_client_tool", "paused")])
def test_the_stream_of_a_run_that_has_its_status_is_closed_and_nobody_is_told_again(
    db: Door, status: str, stream: str
) -> None:
    db.call("register_consumer", consumer="hook")
    drive = db.driven()
    drive.reply(1, "your turn", client())
    if status != "suspended_client_tool":
        StoreClient(db).end(drive.run_id, status)
    StoreClient(db).set_run(drive.run_id, status, output='"so"')
    settled = db.rows("select * from lockgate_store.deliveries")
    assert db.stream().status == "active"
    assert completed(db) == ("closed", status)

    assert (db.stream().status, db.session().end_due) == (stream, False)
    assert db.stream().attempt == db.run(drive.run_id).attempt
    assert db.rows("select * from lockgate_store.deliveries") == settled
    assert {answer.outcome for _, answer in drive.every_write()} == {"fenced"}


@proves("complete_end.stale")
def test_what_is_whole_is_left_as_it_is(db: Door, clock: Clock) -> None:
    db.create_session("never-run")
    db.driven("running")
    db.finished("over")
    drive = db.driven("s1")
    StoreClient(db).end(drive.run_id, "completed")
    StoreClient(db).set_run(drive.run_id, "completed")
    StoreClient(db).close(drive.run_id, "ended")
    with db.nothing_written():
        for name in ("never-run", "running", "over", "s1"):
            assert completed(db, name)[0] == "stale"
        for finding in db.call_many("sweep", worker_id="nobody"):
            raise AssertionError(finding)


@proves("complete_end.stale")
@case(8)
def test_a_client_that_comes_back_after_the_sweep_finds_its_end(db: Door) -> None:
    run_id = standings.stepped(db).run_id
    client = StoreClient(db)
    client.end(run_id, "completed")
    assert completed(db)[0] == "ended"
    with db.nothing_written():
        assert client.end(run_id, "completed").outcome == "unchanged"
        assert client.set_run(run_id, "completed").outcome == "unchanged"
        assert client.close(run_id, "ended").outcome == "unchanged"
        assert completed(db)[0] == "stale"


def test_the_next_entry_needs_no_sweep(db: Door) -> None:
    run_id = standings.stepped(db).run_id
    StoreClient(db).end(run_id, "interrupted")
    assert db.start(say="again").outcome == "started"
    assert db.run(run_id).status == "interrupted"
    with db.nothing_written():
        assert completed(db) == ("stale", "running")


def test_a_run_that_a_client_makes_run_again_is_not_taken_for_an_end(db: Door) -> None:
    run_id = standings.awaiting_calls(db)
    StoreClient(db).set_run(run_id, "running")
    assert not db.session().end_due
    with db.nothing_written():
        assert completed(db) == ("stale", "running")


@proves("complete_end.session_not_found")
def test_no_session_and_another_users_are_not_found(db: Door) -> None:
    run_id = standings.stepped(db, user_id="ann").run_id
    StoreClient(db).end(run_id, "completed")
    with db.nothing_written():
        assert completed(db, "none")[0] == "session_not_found"
        assert completed(db, acting_user_id="bob")[0] == "session_not_found"
    assert completed(db, acting_user_id="ann")[0] == "ended"


def test_the_parent_of_a_child_whose_end_was_left_goes_on(db: Door) -> None:
    parent = calling(db, "a")
    child = begin(parent, "a")
    parent.suspend()
    StoreClient(db, child.child_session_id).end(child.child_run_id, "completed", output='"found"')
    assert completed(db, child.child_session_id) == ("ended", "completed")
    assert db.run(parent.run_id).status == "superseded", "its continuation has begun"
