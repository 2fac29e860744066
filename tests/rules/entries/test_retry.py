"""lockgate.retry: how far back it goes, what it keeps, and that a refusal leaves nothing behind."""

from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.support import standings
from tests.support.door import Door, tool
from tests.support.proves import case, proves
from tests.support.standings import stepped
from tests.support.store_client import StoreClient

PARTIAL = Jsonb([{"type": "text", "text": "Hel"}])


def roles(db: Door) -> list[str]:
    return [message.role for message in db.messages()]


@proves("entry_outcome.resumed")
def test_a_failed_run_is_tried_again_from_its_last_committed_step(db: Door) -> None:
    drive = stepped(db)
    drive.reply(2, "", tool("call-2"))
    drive.finish("failed", error_detail={"message": "boom"}, partial=PARTIAL)
    assert roles(db) == ["user", "assistant", "tool", "assistant", "assistant", "tool"]
    answer = db.retry()
    run, session = db.run(answer.run_id), db.session()

    assert (answer.outcome, run.drive, run.turn) == ("resumed", "retry", 2)
    assert roles(db) == ["user", "assistant", "tool"]
    assert (session.status, session.message_count, session.error_detail) == ("active", 3, None)
    assert db.run(drive.run_id).error_detail == {"message": "boom"}, "how it ended stands"


def test_a_run_that_committed_no_step_keeps_its_input(db: Door) -> None:
    db.finished(say="one")
    drive = db.driven(
        say=[{"role": "user", "content": "two"}, {"role": "user", "content": "three"}]
    )
    drive.reply(1, "", tool("call-1"))
    drive.finish("failed", partial=PARTIAL)
    db.retry()

    assert roles(db) == ["user", "assistant", "user", "user"]


def test_a_run_that_failed_before_it_said_anything_loses_nothing(db: Door) -> None:
    db.driven().finish("failed")
    before = db.messages()
    db.retry()

    assert db.messages() == before


def test_what_a_superseded_run_left_behind_is_kept(db: Door) -> None:
    """Its calls were paired by the start of the run that failed, before that run's own input."""
    lost = db.driven(say="one")
    lost.reply(1, "", tool("call-1"))
    db.drive(db.start(say="two").run_id).finish("failed", partial=PARTIAL)
    db.retry()

    assert roles(db) == ["user", "assistant", "tool", "user"]


def test_a_message_is_added_to_the_input_that_failed(db: Door) -> None:
    db.driven(say="one").finish("failed", partial=PARTIAL)
    run_id = db.retry(message='"do it differently"').run_id
    first, second = db.messages()

    assert [m.content[0]["text"] for m in (first, second)] == ["one", "do it differently"]
    assert second.run_id == run_id


def test_a_retry_that_fails_too_is_tried_again_with_all_that_was_said(db: Door) -> None:
    db.driven(say="one").finish("failed", partial=PARTIAL)
    db.drive(db.retry(message='"two"').run_id).finish("failed", partial=PARTIAL)
    db.drive(db.retry(message='"three"').run_id).finish("failed")
    db.retry()

    assert [m.content[0]["text"] for m in db.messages()] == ["one", "two", "three"]


def test_a_named_checkpoint_takes_the_session_back_to_it(db: Door) -> None:
    drive = stepped(db)
    drive.reply(2, "more")
    drive.finish("failed")
    answer = db.retry(checkpoint_id=f"{drive.run_id}:1", message='"again"')

    assert answer.outcome == "resumed"
    assert roles(db) == ["user", "assistant", "tool", "user"]
    assert [c.step for c in db.rows("select step from lockgate_store.checkpoints")] == [1]


def test_a_terminal_commit_that_landed_is_retried_before_its_run_has_its_status(db: Door) -> None:
    run_id = standings.landed("failed", suspended=True)(db)
    answer = db.retry()

    assert (answer.outcome, db.run(run_id).status) == ("resumed", "failed")
    assert roles(db) == ["user", "assistant", "tool"]
    assert {call.status for call in db.calls(run_id)} == {"consumed", "abandoned"}


@proves("entry_outcome.not_resumable")
@case(14)
def test_only_a_failed_session_is_retried_and_none_is_interrupted_for_it(db: Door) -> None:
    run_id = standings.executing(db)
    with db.nothing_written():
        answer = db.retry(concurrent_entry="interrupt_previous")

    assert (answer.outcome, answer.run_id) == ("not_resumable", run_id)
    assert answer.detail == {
        "sessionStatus": "active",
        "awaitingToolCallIds": [],
        "retryable": False,
    }


HOSTILE = [
    "nonsense",
    "'; drop table lockgate_store.sessions; --",
    "{run}",
    "{run}:",
    "{run}:0",
    "{run}:01",
    "{run}:-1",
    "{run}:2",
    "{run}:999999999",
    "{run}:99999999999999999999",
    "{run}:1:1",
    "{run}:1 ",
    "{run}:1\n",
    "\n{run}:1",
    "{run}:\uff11",
    "{RUN}:1",
    "{{{run}}}:1",
    "00000000-0000-0000-0000-000000000000:1",
]


@case(49)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_id_that_is_no_checkpoint_of_the_session_is_refused(db: Door, hostile: str) -> None:
    run_id = standings.failed(db)
    named = hostile.format(run=run_id, RUN=str(run_id).upper())
    with db.nothing_written():
        answers = [
            db.retry(checkpoint_id=named),
            db.call("plan_retry", session_id="s1", agent_type="support", checkpoint_id=named),
        ]

    for answer in answers:
        assert (answer.outcome, answer.detail) == ("invalid_request", {"field": "checkpointId"})


def test_a_checkpoint_of_another_session_or_tenant_is_none(db: Door) -> None:
    standings.failed(db)
    others = [stepped(db, session_id="s2"), stepped(db, session_id="s1", tenant_id="t2")]
    with db.nothing_written():
        for other in others:
            answer = db.retry(checkpoint_id=f"{other.run_id}:1")

            assert (answer.outcome, answer.detail) == ("invalid_request", {"field": "checkpointId"})


ILL_FORMED: list[tuple[dict[str, Any], str]] = [
    ({"checkpoint_id": ""}, "checkpointId"),
    ({"checkpoint_id": "x" * 257}, "checkpointId"),
    ({"checkpoint_id": "x" * 1_000_000}, "checkpointId"),
    ({"message": "5"}, "message"),
    ({"message": '""'}, "message"),
    ({"message": "[]"}, "message"),
    ({"message": '[{"role": "assistant", "content": "hi"}]'}, "message"),
    ({"request_key": "two words"}, "requestKey"),
    ({"session_id": None}, "sessionId"),
    ({"tenant_id": None}, "tenantId"),
    ({"agent_type": None}, "agentType"),
    ({"concurrent_entry": None}, "concurrentEntry"),
    ({"expect": "[]"}, "expect"),
]


@pytest.mark.parametrize(("wrong", "field"), ILL_FORMED)
def test_what_is_not_of_the_form_is_named_and_not_repeated(
    db: Door, wrong: dict[str, Any], field: str
) -> None:
    standings.failed(db)
    asked = {"session_id": "s1", "agent_type": "support", **wrong}
    with db.nothing_written():
        for function in ("retry", "plan_retry"):
            answer = db.call(function, **asked)

            assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})


@pytest.mark.parametrize(
    "unsaid", ["checkpoint_id", "message", "request_key", "run_id", "expect", "dispatch_limit_ms"]
)
def test_what_may_be_left_out_may_be_null(db: Door, unsaid: str) -> None:
    standings.failed(db)
    given: dict[str, Any] = {unsaid: None}

    assert db.retry(**given).outcome == "resumed"


@pytest.mark.parametrize("owner", ["ann", None])
def test_another_users_session_answers_like_none(db: Door, owner: str | None) -> None:
    drive = stepped(db, user_id=owner, request_key="k1")
    drive.finish("failed")
    for more in ({}, {"request_key": "k1"}, {"run_id": drive.run_id}, {"agent_type": "other"}):
        with db.nothing_written():
            answer = db.retry(acting_user_id="eve", **more)

        assert (answer.outcome, answer.run_id, answer.detail) == ("session_not_found", None, None)


@case(5)
def test_a_repeated_retry_is_attached_and_another_one_is_a_conflict(db: Door) -> None:
    failed = standings.failed(db)
    run_id = db.retry(request_key="k1").run_id
    with db.nothing_written():
        again = db.retry(request_key="k1", message="null")
        others = [
            db.retry(request_key="k1", message='"more"'),
            db.retry(request_key="k1", checkpoint_id=f"{failed}:1"),
            db.resume(request_key="k1"),
            db.start(request_key="k1"),
        ]

    assert (again.outcome, again.run_id) == ("attached", run_id)
    assert {(each.outcome, each.run_id) for each in others} == {("request_key_conflict", run_id)}


def test_a_run_id_of_ones_own_makes_a_repeat_harmless(db: Door) -> None:
    standings.failed(db)
    run_id = uuid4()
    assert db.retry(run_id=run_id).outcome == "resumed"
    with db.nothing_written():
        assert db.retry(run_id=run_id).outcome == "replayed"
        assert db.retry(run_id=run_id, message='"x"').cause == "run_id_conflict"


def test_results_written_again_at_a_cut_are_no_part_of_what_failed(db: Door) -> None:
    """A store client cut between calls and results; the input after them is tried again too."""
    drive = stepped(db)
    drive.finish("failed")
    started = StoreClient(db).start(drive="retry", keep_messages=2, messages='"two"')
    db.drive(started.run_id).finish("failed", partial=PARTIAL)
    db.retry()

    assert roles(db) == ["user", "assistant", "tool", "user"]
