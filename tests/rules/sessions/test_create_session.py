"""lockgate.create_session: a session without a run, its identity fixed."""

from typing import Any

import psycopg
import pytest

from tests.support.clock import START
from tests.support.cluster import Database
from tests.support.door import Door
from tests.support.proves import proves

IDENTITY: dict[str, Any] = {
    "user_id": "ann",
    "tags": ["a", "b"],
    "metadata": {"plan": "pro"},
    "parent_session_id": "p",
    "root_session_id": "r",
}


@proves("create_session.created")
def test_a_session_is_made_without_run_stream_or_message(db: Door) -> None:
    answer = db.create_session(state={"a": 1}, **IDENTITY)
    session = db.session()

    assert (answer.outcome, answer.session_id, answer.session_status) == (
        "created",
        "s1",
        "active",
    )
    assert (session.current_run_id, session.turn_count, session.version) == (None, 0, 1)
    assert (session.state, session.user_id, session.tags) == ({"a": 1}, "ann", ["a", "b"])
    assert session.first_run_due
    assert session.created_at == START
    for table in ("runs", "streams", "messages", "settlements"):
        assert db.rows(f"select * from lockgate_store.{table}") == []


@proves("create_session.existing")
def test_the_same_values_again_are_that_session(db: Door) -> None:
    db.create_session(**IDENTITY)
    with db.nothing_written():
        again = db.create_session(**IDENTITY)
        omitted = db.create_session()
    db.start(user_id="ann")
    with db.nothing_written():
        later = db.create_session(state={"b": 1})

    assert [a.outcome for a in (again, omitted, later)] == ["existing"] * 3
    assert later.session_status == "active"


@proves("create_session.identity_mismatch")
@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("userId", {"user_id": "eve"}),
        ("tags", {"tags": ["a"]}),
        ("metadata", {"metadata": {}}),
        ("parentSessionId", {"parent_session_id": "q"}),
        ("rootSessionId", {"root_session_id": "q"}),
    ],
)
def test_another_identity_is_refused_by_its_field(
    db: Door, field: str, other: dict[str, Any]
) -> None:
    db.create_session(**IDENTITY)
    with db.nothing_written():
        answer = db.create_session(**{**IDENTITY, **other})

    assert (answer.outcome, answer.detail) == ("identity_mismatch", {"field": field})


@proves("create_session.agent_type_mismatch")
def test_another_agent_type_comes_before_another_identity(db: Door) -> None:
    db.create_session(**IDENTITY)
    with db.nothing_written():
        answer = db.create_session(agent_type="billing", user_id="eve")

    assert answer.outcome == "agent_type_mismatch"


@proves("create_session.session_not_found")
def test_another_users_session_answers_like_none_before_all_else(db: Door) -> None:
    db.create_session(user_id="ann")
    with db.nothing_written():
        answer = db.create_session(agent_type="billing", acting_user_id="eve")

    assert (answer.outcome, answer.session_status) == ("session_not_found", None)
    assert db.create_session(acting_user_id="ann").outcome == "existing"


@proves("create_session.invalid_request")
@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("sessionId", {"session_id": ""}),
        ("agentType", {"agent_type": None}),
        ("tenantId", {"tenant_id": "t" * 129}),
        ("userId", {"user_id": ""}),
        ("metadata", {"metadata": {"a": 1}}),
        ("state", {"state": "[]"}),
        ("parentSessionId", {"parent_session_id": ""}),
        ("rootSessionId", {"root_session_id": ""}),
    ],
)
def test_what_is_not_of_the_form_is_named(db: Door, field: str, given: dict[str, Any]) -> None:
    with db.nothing_written():
        answer = db.create_session(**{"acting_user_id": "eve", **given})

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_another_isolation_level_is_refused(rules_db: Database, db: Door, level: str) -> None:
    with db.nothing_written(), rules_db.connect(autocommit=False) as connection:
        connection.execute(f"set transaction isolation level {level}".encode())
        with pytest.raises(psycopg.DatabaseError) as refused:
            Door(connection).create_session()
        connection.rollback()

    assert refused.value.sqlstate == "LG001"


def test_a_first_start_keeps_what_the_session_was_made_with(db: Door) -> None:
    db.create_session(state={"a": 1, "b": 1}, **IDENTITY)
    answer = db.start(input={"message": "hi", "state": {"b": 2}})
    session = db.session()

    assert answer.outcome == "started"
    assert (session.state, session.user_id) == ({"a": 1, "b": 2}, "ann")
    assert not session.first_run_due
