"""lockgate.resume: each mode, what it goes on from, and that a refusal leaves nothing behind."""

from typing import Any

import pytest

from tests.support import standings
from tests.support.cluster import Database
from tests.support.door import Door
from tests.support.proves import case, proves
from tests.support.standings import statuses, stepped
from tests.support.store_client import StoreClient

CONTINUE = {"mode": "continue"}
SPOKEN = {"mode": "with_message", "message": "go on"}


@proves("entry_outcome.resumed")
def test_an_interrupted_session_goes_on_in_a_run_of_its_own(db: Door) -> None:
    first = standings.interrupted(db)
    before, head = db.session(), db.stream().head_sequence
    answer = db.resume(request_key="k1")
    run, session, stream = db.run(answer.run_id), db.session(), db.stream()

    assert (answer.outcome, answer.session_id, answer.stream_id) == ("resumed", "s1", "s1")
    assert (answer.run_status, answer.start_sequence) == ("running", head)
    assert (run.drive, run.turn, run.attempt, run.request_key) == ("resume", 2, 1, "k1")
    assert run.start_sequence == head
    assert (session.status, session.current_run_id) == ("active", run.run_id)
    assert (session.turn_count, session.version) == (2, before.version + 1)
    assert (session.message_count, session.state) == (before.message_count, before.state)
    assert (session.output, session.error_detail) == (None, None)
    assert (stream.status, stream.run_id, stream.final) == ("active", run.run_id, None)
    assert db.workflow(run.drive_id).status == "ENQUEUED"
    assert db.run(first).status == "interrupted", "how it ended stands"


def test_a_message_comes_after_what_is_there(db: Door) -> None:
    standings.interrupted(db)
    run_id = db.resume(options=SPOKEN).run_id
    *_, last = db.messages()

    assert [m.role for m in db.messages()] == ["user", "assistant", "tool", "user"]
    assert (last.run_id, last.content) == (run_id, [{"type": "text", "text": "go on"}])
    assert db.claim(run_id).message_count == 4


def test_answers_are_drained_in_the_order_of_the_calls_and_before_the_message(db: Door) -> None:
    suspended = standings.answered(db)
    run_id = db.resume(options=SPOKEN).run_id
    results, message = db.messages()[-2:]

    assert [part["toolCallId"] for part in results.content] == ["call-b", "call-c"]
    assert [part["result"] for part in results.content] == ["yes", "yes"]
    assert (results.role, results.run_id, results.step) == ("tool", suspended, 2)
    assert (message.role, message.run_id) == ("user", run_id)
    assert [call.status for call in db.calls(suspended)] == ["consumed"] * 3
    assert db.claim(run_id).calls == []


@proves("entry_outcome.not_resumable")
@case(11)
def test_a_batch_that_is_not_complete_is_waited_for(db: Door) -> None:
    run_id = standings.awaiting_calls(db)
    for options in (CONTINUE, SPOKEN, from_checkpoint(db, run_id)):
        with db.nothing_written():
            answer = db.resume(options=options, request_key="k1")

        assert (answer.outcome, answer.run_id) == ("not_resumable", run_id)
        assert answer.detail["awaitingToolCallIds"] == ["call-c"]
        assert answer.detail["retryable"] is True
    standings.answer(db, "call-c")

    assert db.resume(request_key="k1").outcome == "resumed"


def test_a_suspended_run_that_is_continued_settles_no_second_time(db: Door) -> None:
    suspended = standings.answered(db)
    db.resume()

    assert db.run(suspended).status == "superseded"
    assert statuses(db, suspended) == ["suspended_client_tool"]


def test_a_run_that_was_left_behind_is_superseded_and_settles_as_that(db: Door) -> None:
    lost = stepped(db)
    assert db.resume().outcome == "resumed"

    assert db.run(lost.run_id).status == "superseded"
    assert statuses(db, lost.run_id) == ["superseded"]
    with db.nothing_written():
        assert {answer.outcome for _, answer in lost.every_write()} == {"fenced"}


@pytest.mark.parametrize(("kind", "ends"), [("interrupt", "interrupted"), ("abort", "failed")])
def test_a_stop_on_a_suspended_run_is_honoured_by_the_run_that_goes_on(
    db: Door, kind: str, ends: str
) -> None:
    suspended = standings.answered(db)
    stop(db, suspended, kind)
    run_id = db.resume().run_id
    run, claimed = db.run(run_id), db.claim(run_id)

    assert (run.stop_kind, run.stop_reason) == (kind, "enough")
    assert claimed.stop_kind == kind, "told before any model call"
    assert (
        db.call(
            "finish_run", session_id="s1", run_id=run_id, attempt=1, status="stopped"
        ).run_status
        == ends
    )


@pytest.mark.parametrize("entry", ["start", "resume"])
def test_no_other_entry_inherits_a_stop(db: Door, entry: str) -> None:
    """A start leaves a suspended run behind, and a resume one that nothing executes."""
    stopped = standings.answered(db) if entry == "start" else standings.stranded(db)
    stop(db, stopped, "interrupt")
    answer = db.start(say="new") if entry == "start" else db.resume()

    assert db.run(answer.run_id).stop_kind is None


def test_a_stop_that_landed_on_a_suspended_run_ends_it_so(db: Door) -> None:
    """The run-status write of a store client was lost: it is recorded as the end that landed."""
    suspended = standings.landed("interrupted", suspended=True)(db)
    answer = db.resume()

    assert answer.outcome == "resumed"
    assert db.run(suspended).status == "interrupted"
    assert statuses(db, suspended) == ["interrupted", "suspended_client_tool"]
    assert [part.get("reason") for part in db.messages()[-1].content] == [
        None,
        "client_tool_abandoned",
    ]


# Keys: a resume has the same answers as a start.


@case(5)
def test_a_repeated_resume_is_attached_whatever_became_of_its_run(db: Door) -> None:
    standings.interrupted(db)
    run_id = db.resume(options=SPOKEN, request_key="k1").run_id
    drive = db.drive(run_id)
    for status in ("running", "completed"):
        with db.nothing_written():
            again = db.resume(options=SPOKEN, request_key="k1")

        assert (again.outcome, again.run_id, again.run_status) == ("attached", run_id, status)
        if status == "running":
            drive.reply(1, "done")
            drive.finish()
    db.start(say="and now?")
    with db.nothing_written():
        assert db.resume(options=SPOKEN, request_key="k1").outcome == "request_already_completed"


@pytest.mark.parametrize(
    "other",
    [
        {"options": {"mode": "with_message", "message": "go on!"}},
        {"options": CONTINUE},
        {"agent_type": "billing"},
    ],
)
def test_another_resume_under_a_held_key_is_a_conflict(db: Door, other: dict[str, Any]) -> None:
    standings.interrupted(db)
    run_id = db.resume(options=SPOKEN, request_key="k1").run_id
    with db.nothing_written():
        answer = db.resume(**{"options": SPOKEN, "request_key": "k1", **other})

    assert (answer.outcome, answer.run_id) == ("request_key_conflict", run_id)


def test_a_start_and_a_retry_under_a_resumes_key_are_conflicts(db: Door) -> None:
    standings.interrupted(db)
    db.resume(options=SPOKEN, request_key="k1")
    with db.nothing_written():
        assert db.start(say="go on", request_key="k1").outcome == "request_key_conflict"
        assert db.retry(message='"go on"', request_key="k1").outcome == "request_key_conflict"


def test_the_same_resume_again_is_replayed_and_another_under_its_id_is_not(db: Door) -> None:
    standings.interrupted(db)
    run_id = db.row("select gen_random_uuid() as id").id
    assert db.resume(run_id=run_id).outcome == "resumed"
    with db.nothing_written():
        again = db.resume(run_id=run_id)
        other = db.resume(run_id=run_id, options=SPOKEN)
        start = db.start(run_id=run_id)

    assert (again.outcome, again.run_id) == ("replayed", run_id)
    assert {(each.outcome, each.cause) for each in (other, start)} == {
        ("rejected", "run_id_conflict")
    }


# Whose session it is.


@pytest.mark.parametrize("owner", ["ann", None])
def test_another_users_session_answers_like_none(db: Door, owner: str | None) -> None:
    run_id = db.driven(user_id=owner, request_key="k1").run_id
    StoreClient(db).suspend(run_id, "suspended_step_partial")
    for more in ({}, {"request_key": "k1"}, {"run_id": run_id}, {"agent_type": "other"}):
        with db.nothing_written():
            answer = db.resume(acting_user_id="eve", **more)

        assert answer.outcome == "session_not_found"
        assert (answer.run_id, answer.run_status, answer.detail) == (None, None, None)
    if owner:
        assert db.resume(acting_user_id=owner).outcome == "resumed"


def test_another_tenants_session_is_none(db: Door) -> None:
    db.finished(tenant_id="t1")
    with db.nothing_written():
        assert db.resume(tenant_id="t2").outcome == "session_not_found"
        assert db.resume().outcome == "session_not_found"


def test_a_rollback_leaves_the_session_as_it_was(rules_db: Database, db: Door) -> None:
    run_id = standings.answered(db)
    with db.nothing_written(), rules_db.connect(autocommit=False) as connection:
        answer = Door(connection).resume(options=from_checkpoint(db, run_id), request_key="k1")
        connection.rollback()

    assert answer.outcome == "resumed"
    assert db.resume(request_key="k1").outcome == "resumed"


def from_checkpoint(db: Door, run_id: object, step: int = 1) -> dict[str, str]:
    return {"mode": "from_checkpoint", "checkpointId": f"{run_id}:{step}"}


def stop(db: Door, run_id: object, kind: str) -> None:
    """Record a stop as interrupt and abort do."""
    db.execute(
        "update lockgate_store.runs set stop_kind = %s, stop_reason = 'enough',"
        " stop_requested_at = lockgate.now() where run_id = %s",
        kind,
        run_id,
    )
