"""What a repeated request key gets, from the run that holds it."""

from typing import Any

import pytest

from tests.support.cluster import Database
from tests.support.door import Door
from tests.support.proves import case, proves

SAME: dict[str, Any] = {"say": "hi", "request_key": "k1"}
OTHER: dict[str, Any] = {"say": "something else", "request_key": "k1"}


@proves("start.attached")
@case(5, 18)
def test_a_key_whose_run_is_live_attaches_to_it(db: Door) -> None:
    first = db.start(**SAME)
    with db.nothing_written():
        again = db.start(**SAME)

    assert (again.outcome, again.run_id) == ("attached", first.run_id)
    assert (again.run_status, again.start_sequence) == ("running", 0)


@proves("start.attached")
@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_key_whose_run_ended_and_is_current_says_how_it_ended(db: Door, status: str) -> None:
    drive = db.driven(**SAME)
    drive.finish(status)
    with db.nothing_written():
        again = db.start(**SAME)

    assert (again.outcome, again.run_id, again.run_status) == ("attached", drive.run_id, status)


@proves("start.request_already_completed")
@case(23)
def test_a_key_whose_run_has_a_successor_is_over_also_while_that_one_executes(db: Door) -> None:
    first = db.finished(**SAME)
    db.beat()
    db.driven(say="next", request_key="k2")
    with db.nothing_written():
        again = db.start(**SAME)

    assert (again.outcome, again.run_id) == ("request_already_completed", first)


@proves("start.request_key_conflict")
@case(23)
def test_a_key_with_other_input_is_a_conflict_whatever_its_run_became(db: Door) -> None:
    db.beat()
    drive = db.driven(**SAME)
    answers = []
    with db.nothing_written():
        answers.append(db.start(**OTHER))
    drive.finish()
    with db.nothing_written():
        answers.append(db.start(**OTHER))
    db.finished(say="next")
    with db.nothing_written():
        answers.append(db.start(**OTHER))

    assert {(a.outcome, a.run_id) for a in answers} == {("request_key_conflict", drive.run_id)}
    assert [a.run_status for a in answers] == ["running", "completed", "completed"]


def test_a_superseded_run_still_holds_its_key(db: Door) -> None:
    first = db.driven(**SAME).run_id
    assert db.start(say="next").outcome == "started"
    with db.nothing_written():
        again = db.start(**SAME)

    assert (again.outcome, again.run_status) == ("request_already_completed", "superseded")
    assert again.run_id == first


@case(46)
def test_only_the_input_counts(db: Door) -> None:
    run_id = db.start(**SAME, user_id="ann", tags=["a"]).run_id
    for given in (
        {},
        {"input": {"message": "hi", "state": None}},
        {"input": {"message": "hi", "state": {}}},
        {"input": {"message": [{"role": "user", "content": "hi", "id": "client-1"}]}},
        {"input": {"message": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}},
        {"concurrent_entry": "interrupt_previous"},
        {"tags": ["b"], "metadata": {"a": "b"}},
        {"acting_user_id": "ann"},
        {"expect": {"currentRunId": None, "currentRunStatus": None, "sessionStatus": None}},
    ):
        with db.nothing_written():
            again = db.start(**{**SAME, **given})

        assert (again.outcome, again.run_id) == ("attached", run_id), given


@case(46)
@pytest.mark.parametrize(
    "given",
    [
        {"agent_type": "billing"},
        {"input": {"message": "hi", "state": {"a": None}}},
        {
            "input": {
                "message": [{"role": "user", "content": "hi"}, {"role": "user", "content": "x"}]
            }
        },
    ],
)
def test_agent_type_state_and_each_message_count(db: Door, given: dict[str, Any]) -> None:
    db.start(**SAME)
    with db.nothing_written():
        again = db.start(**{**SAME, **given})

    assert again.outcome == "request_key_conflict"


@case(47)
def test_a_key_is_of_its_session_and_tenant(db: Door) -> None:
    places = [("t1", "s1"), ("t1", "s2"), ("t2", "s1")]
    runs = [
        db.start(session_id, say, request_key="order-1", tenant_id=tenant_id)
        for say, (tenant_id, session_id) in zip("abc", places, strict=True)
    ]

    assert {run.outcome for run in runs} == {"started"}
    assert len({run.run_id for run in runs}) == 3


def test_key_and_digest_are_recorded_together_and_returned(db: Door) -> None:
    keyed = db.start("s1", request_key="k1").run_id
    bare = db.start("s2").run_id
    read = db.call("get_run", session_id="s1", run_id=keyed)

    assert read.request_key == "k1"
    assert len(read.request_digest) == 64
    assert db.call("snapshot", session_id="s1").request_digest == read.request_digest
    assert (db.run(bare).request_key, db.run(bare).request_digest) == (None, None)


def test_a_repeated_key_takes_no_lock_and_no_transaction_id(rules_db: Database, db: Door) -> None:
    db.start(**SAME)
    with rules_db.connect(autocommit=False) as reader, rules_db.connect(autocommit=False) as writer:
        writer.execute("select from lockgate_store.sessions for no key update")
        assert Door(reader).start(**SAME).outcome == "attached"
        assert Door(reader).start(**OTHER).outcome == "request_key_conflict"
        spent = reader.execute("select pg_current_xact_id_if_assigned()").fetchone()
        reader.rollback()
        writer.rollback()

    assert spent == (None,)
