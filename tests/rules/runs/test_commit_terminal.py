"""lockgate.commit_terminal: the session's end, written by a store client before the run's."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support import standings
from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import case, proves
from tests.support.standings import statuses, stepped
from tests.support.store_client import StoreClient


@pytest.fixture
def client(db: Door) -> StoreClient:
    return StoreClient(db)


@proves("commit_terminal.written")
@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
@pytest.mark.parametrize("standing", [standings.executing, standings.waiting, standings.answered])
def test_the_sessions_end_is_recorded_and_the_run_stays_as_it_is(
    db: Door, client: StoreClient, standing: Any, status: str
) -> None:
    run_id = standing(db)
    before, run_before = db.session(), db.run(run_id)
    answer = client.end(run_id, status, output={"n": 1}, error_detail={"message": "boom"})
    session, run = db.session(), db.run(run_id)

    assert (answer.outcome, answer.session_status) == ("written", status)
    assert (session.status, session.version) == (status, before.version + 1)
    assert (session.terminal_run_id, session.terminal_status) == (run_id, status)
    assert (session.output, session.error_detail) == ({"n": 1}, {"message": "boom"})
    assert (run.status, run.owner_id) == (run_before.status, run_before.owner_id)
    assert run.completed_at is None
    assert status not in statuses(db, run_id), "the run's status settles"


@case(3)
def test_nothing_of_its_drive_counts_any_more(db: Door, client: StoreClient) -> None:
    db.beat()
    drive = stepped(db)
    client.end(drive.run_id, "completed")
    with db.nothing_written():
        answers = drive.every_write()
        claim = db.claim(drive.run_id)

    assert {answer.outcome for _, answer in answers} == {"fenced"}
    assert claim.outcome == "over"


def test_a_run_that_no_worker_has_claimed_yet_is_claimed_no_more(
    db: Door, client: StoreClient
) -> None:
    run_id = standings.waiting(db)
    client.end(run_id, "interrupted")
    with db.nothing_written():
        assert db.claim(run_id).outcome == "over"


@pytest.mark.parametrize("finding", ["raised", "drained", "closed_owner", "owner_dead"])
def test_a_sweep_or_a_drive_that_comes_to_it_ends_the_run_as_it_says(
    db: Door, client: StoreClient, clock: Clock, finding: str
) -> None:
    """The store client died: what it had not written yet is written for it."""
    db.beat()
    drive = stepped(db)
    client.end(drive.run_id, "interrupted", output={"n": 1})
    if finding == "closed_owner":
        db.set_workflow(drive.run_id, status="SUCCESS")
    if finding == "owner_dead":
        clock.forward(seconds=60)
    answer = db.requeue(drive.run_id, finding)
    run, stream = db.run(drive.run_id), db.stream()

    assert (answer.outcome, answer.run_status) == ("ended", "interrupted")
    assert (run.status, run.output, run.owner_id) == ("interrupted", {"n": 1}, None)
    assert (stream.status, stream.final["status"]) == ("ended", "interrupted")
    assert statuses(db, drive.run_id) == ["interrupted"]
    assert db.session().output == {"n": 1}


def test_a_sweep_leaves_it_alone_while_its_owner_lives(db: Door, client: StoreClient) -> None:
    """Its client may be about to write the rest."""
    drive = standings.executing(db)
    client.end(drive, "completed")
    with db.nothing_written():
        assert db.requeue(drive, "closed_owner").outcome == "stale"


def test_the_next_entry_finishes_it(db: Door, client: StoreClient) -> None:
    run_id = standings.executing(db)
    client.end(run_id, "interrupted")
    answer = db.start(say="next")

    assert (answer.outcome, db.run(run_id).status) == ("started", "interrupted")
    assert statuses(db, run_id) == ["interrupted"]


def test_the_three_parts_together_are_an_end(db: Door, client: StoreClient) -> None:
    drive = stepped(db)
    client.end(drive.run_id, "failed", error_detail={"message": "boom"})
    client.set_run(drive.run_id, "failed")
    closed = client.close(drive.run_id, "failed")
    session, run, stream = db.session(), db.run(drive.run_id), db.stream()

    assert closed.outcome == "closed"
    assert (session.status, run.status, stream.status) == ("failed", "failed", "failed")
    assert run.error_detail == {"message": "boom"}, "what the terminal commit said"
    assert stream.final == {
        "status": "failed",
        "error": "boom",
        "errorDetail": {"message": "boom"},
    }
    assert db.retry().outcome == "resumed"


@proves("commit_terminal.unchanged")
@case(15)
def test_the_same_end_again_is_a_no_op(db: Door, client: StoreClient, clock: Clock) -> None:
    landed = standings.landed("completed", suspended=False)(db)
    ours = stepped(db, session_id="s2")
    ours.finish()
    clock.forward(seconds=1)
    with db.nothing_written():
        again = client.end(landed, "completed", output={"n": 2})
        after_ours = StoreClient(db, "s2").end(ours.run_id, "completed")

    assert (again.outcome, again.session_status) == ("unchanged", "completed")
    assert (after_ours.outcome, after_ours.session_status) == ("unchanged", "completed")


@proves("commit_terminal.refused")
@pytest.mark.parametrize("suspended", [False, True])
def test_another_end_is_refused(db: Door, client: StoreClient, suspended: bool) -> None:
    landed = standings.landed("completed", suspended=suspended)(db)
    with db.nothing_written():
        answer = client.end(landed, "failed")

    assert (answer.outcome, answer.session_status) == ("refused", "completed")


@proves("commit_terminal.refused")
@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_a_run_that_was_given_up_has_no_end_of_its_own(
    db: Door, client: StoreClient, status: str
) -> None:
    run_id = standings.superseded(db)
    with db.nothing_written():
        assert client.end(run_id, status).outcome == "refused"


def test_the_parts_in_the_wrong_order_still_meet(db: Door, client: StoreClient) -> None:
    """The run's status first: the session has followed it, and only learns whose end it was."""
    run_id = stepped(db).run_id
    client.set_run(run_id, "completed")
    with db.nothing_written():
        assert client.end(run_id, "failed").outcome == "refused"
    written = client.end(run_id, "completed", output={"n": 1})
    client.close(run_id, "ended")

    assert (written.outcome, db.session().output) == ("written", {"n": 1})


@proves("commit_terminal.fenced")
def test_only_the_current_run_ends_the_session(db: Door, client: StoreClient) -> None:
    earlier = db.finished()
    db.finished(say="later")
    elsewhere = db.finished("s2")
    with db.nothing_written():
        answers = [client.end(run_id, "failed") for run_id in (earlier, elsewhere, uuid4())]

    assert {(each.outcome, each.session_status) for each in answers} == {("fenced", "completed")}


@proves("commit_terminal.session_not_found")
@pytest.mark.parametrize("owner", ["ann", None])
def test_no_session_and_another_users_answer_alike(
    db: Door, client: StoreClient, owner: str | None
) -> None:
    run_id = db.driven(user_id=owner).run_id
    with db.nothing_written():
        answers = [
            client.end(run_id, "failed", acting_user_id="eve"),
            client.end(run_id, "failed", session_id="nobody"),
            client.end(run_id, "failed", session_id=None),
            client.end(run_id, "failed", tenant_id="t2"),
            client.end(run_id, "failed", tenant_id=None),
        ]

    assert {(each.outcome, each.session_status) for each in answers} == {
        ("session_not_found", None)
    }


@proves("commit_terminal.invalid_request")
@pytest.mark.parametrize("status", [None, "", "running", "superseded", "suspended_client_tool"])
def test_an_end_is_one_of_three(db: Door, client: StoreClient, status: Any) -> None:
    run_id = db.driven().run_id
    with db.nothing_written():
        answer = client.end(run_id, status)

    assert (answer.outcome, answer.session_status) == ("invalid_request", None)


@proves("commit_terminal.invalid_request")
@pytest.mark.parametrize("standing", [standings.never_run, standings.completed])
def test_an_end_names_its_run(db: Door, client: StoreClient, standing: Any) -> None:
    standing(db)
    with db.nothing_written():
        answer = client.end(None, "completed")

    assert answer.outcome == "invalid_request"
