"""lockgate.start: each outcome, and that a refusal leaves nothing behind."""

from uuid import uuid4

import psycopg
import pytest

from tests.support.cluster import Database
from tests.support.door import WORKER, Door
from tests.support.proves import proves


@proves("start.started")
def test_a_start_on_no_session_makes_one(db: Door) -> None:
    answer = db.start("s1", "hi", request_key="k1", user_id="ann")

    assert answer.outcome == "started"
    assert (answer.session_id, answer.stream_id) == ("s1", "s1")
    assert (answer.run_status, answer.start_sequence) == ("running", 0)
    assert db.session().current_run_id == answer.run_id


@proves("start.started")
def test_a_start_on_an_ended_session_is_its_next_turn(db: Door) -> None:
    db.finished()
    answer = db.start(say="and now?")

    assert answer.outcome == "started"
    assert db.run(answer.run_id).turn == 2
    assert [m.role for m in db.messages()] == ["user", "assistant", "user"]


@proves("start.session_not_found")
@pytest.mark.parametrize("owner", ["ann", None])
def test_another_users_session_answers_like_none(db: Door, owner: str | None) -> None:
    run_id = db.start(user_id=owner, request_key="k1").run_id
    for given in ({}, {"request_key": "k1"}, {"run_id": run_id}, {"agent_type": "other"}):
        with db.nothing_written():
            answer = db.start(acting_user_id="eve", **given)

        assert answer.outcome == "session_not_found"
        assert (answer.run_id, answer.run_status, answer.detail) == (None, None, None)


def test_who_acts_for_himself_owns_what_he_starts(db: Door) -> None:
    db.start(acting_user_id="ann")

    assert db.session().user_id == "ann"
    assert db.start(acting_user_id="ann").outcome == "already_running"


@proves("start.already_running")
def test_a_run_that_executes_refuses_another(db: Door) -> None:
    db.beat()
    drive = db.driven()
    with db.nothing_written():
        answer = db.start(say="meanwhile")

    assert (answer.outcome, answer.run_id) == ("already_running", drive.run_id)


@proves("start.already_running")
def test_only_the_run_that_was_planned_against_is_interrupted(db: Door) -> None:
    db.beat()
    drive = db.driven()
    stale_plan = {
        "currentRunId": str(uuid4()),
        "currentRunStatus": "running",
        "sessionStatus": "active",
    }
    with db.nothing_written():
        answer = db.start(concurrent_entry="interrupt_previous", expect=stale_plan)

    assert (answer.outcome, answer.run_id) == ("already_running", drive.run_id)


@proves("start.interrupting")
def test_interrupt_previous_records_a_stop_and_nothing_else(db: Door) -> None:
    db.beat()
    drive = db.driven()
    before = db.session()
    answer = db.start(say="instead", concurrent_entry="interrupt_previous")
    run = db.run(drive.run_id)
    with db.nothing_written():
        again = db.start(say="instead", concurrent_entry="interrupt_previous")

    assert (answer.outcome, answer.run_id) == ("interrupting", drive.run_id)
    assert (run.status, run.stop_kind) == ("running", "interrupt")
    assert run.stop_reason == "superseded_by_new_entry"
    assert db.session() == before
    assert again.outcome == "interrupting"


@proves("start.interrupting", "start.started")
def test_after_the_stop_the_next_call_starts(db: Door) -> None:
    db.beat()
    drive = db.driven()
    db.start(say="instead", concurrent_entry="interrupt_previous")
    assert drive.finish("stopped").run_status == "interrupted"
    answer = db.start(say="instead", concurrent_entry="interrupt_previous")

    assert answer.outcome == "started"
    assert db.run(answer.run_id).stop_kind is None


@proves("start.agent_type_mismatch")
def test_the_sessions_agent_type_decides(db: Door) -> None:
    db.finished()
    with db.nothing_written():
        answer = db.start(agent_type="billing")

    assert answer.outcome == "agent_type_mismatch"


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_another_isolation_level_is_refused_before_anything_is_read(
    rules_db: Database, db: Door, level: str
) -> None:
    db.start("known", request_key="k1")
    with rules_db.connect(autocommit=False) as connection:
        for session_id in ("new", "known"):
            connection.execute(f"set transaction isolation level {level}".encode())
            with pytest.raises(psycopg.DatabaseError) as refused:
                Door(connection).start(session_id, request_key="k1")
            connection.rollback()

            assert refused.value.sqlstate == "LG001"
            assert refused.value.diag.message_detail == f'{{"isolation": "{level}"}}'


def test_a_rollback_leaves_neither_session_nor_run_nor_workflow(
    rules_db: Database, db: Door
) -> None:
    with db.nothing_written(), rules_db.connect(autocommit=False) as connection:
        assert Door(connection).start(request_key="k1").outcome == "started"
        connection.rollback()

    assert db.start(request_key="k1").outcome == "started"


def test_a_new_run_is_handed_to_the_queue_with_its_four_arguments(db: Door) -> None:
    run = db.run(db.start("s1", tenant_id="t1").run_id)
    workflow = db.workflow(run.drive_id)
    arguments = db.row(
        "select inputs::json -> 'positionalArgs' as four from dbos.workflow_input"
        " where workflow_uuid = %s",
        str(run.drive_id),
    )

    assert (workflow.name, workflow.queue_name) == ("drive_run", "lockgate_drives")
    assert (workflow.status, workflow.application_version) == ("ENQUEUED", "drive-1")
    assert workflow.application_name == "lockgate"
    assert arguments.four == ["t1", "s1", str(run.run_id), str(run.drive_id)]


def test_who_executes_it_is_no_matter_of_the_callers_rights(rules_db: Database, db: Door) -> None:
    with rules_db.connect() as connection:
        connection.execute("set role lockgate_runtime")
        stranger = Door(connection)
        assert stranger.start().outcome == "started"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.session()
    assert db.drive(db.session().current_run_id, worker_id=WORKER).attempt == 1
