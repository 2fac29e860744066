"""lockgate.claim_settlements: each consumer is offered what it has not marked, oldest first."""

from typing import Any

import psycopg
import pytest

from tests.support.clock import START, Clock
from tests.support.cluster import Database
from tests.support.door import Door

LEASE_S = 60.0


def claim(db: Door, consumer: str = "hook", **more: object) -> list[Any]:
    return db.call_many("claim_settlements", consumer=consumer, **more)


def mark(db: Door, delivery_id: str, consumer: str = "hook", **more: object) -> str:
    answer = db.call("mark_delivered", delivery_id=delivery_id, consumer=consumer, **more)
    outcome: str = answer.outcome
    return outcome


def test_a_settlement_is_offered_with_all_that_a_hook_is_told(db: Door) -> None:
    claim(db)
    run_id = db.finished("s1", user_id="ann", tags=["a"], metadata={"k": "v"}, tenant_id="t1")
    (due,) = claim(db)

    assert due.delivery_id == f"{run_id}:completed"
    assert (due.tenant_id, due.session_id, due.run_id, due.status) == (
        "t1",
        "s1",
        run_id,
        "completed",
    )
    assert (due.agent_type, due.drive) == ("support", "start")
    assert (due.user_id, due.tags, due.metadata) == ("ann", ["a"], {"k": "v"})
    assert (due.tries, due.settled_at) == (1, START)


def test_output_and_error_are_those_of_the_settled_status(db: Door) -> None:
    db.driven("s1").finish(output={"ok": True})
    db.driven("s2").finish("failed", error_detail={"message": "boom"})
    offered = {due.session_id: (due.output, due.error_detail) for due in claim(db)}

    assert offered == {"s1": ({"ok": True}, None), "s2": (None, {"message": "boom"})}


def test_each_consumer_is_offered_each_settlement_and_marks_its_own(db: Door) -> None:
    claim(db, "hook"), claim(db, "webhook:crm")
    run_id = db.finished()
    (due,) = claim(db, "hook")
    assert mark(db, due.delivery_id, "hook") == "marked"

    assert claim(db, "hook") == []
    assert [d.run_id for d in claim(db, "webhook:crm")] == [run_id]
    assert mark(db, due.delivery_id, "stranger") == "not_found"


def test_a_late_consumer_gets_the_whole_backlog_oldest_first(db: Door, clock: Clock) -> None:
    runs = []
    for number in range(5):
        runs.append(db.finished(f"s{number}"))
        clock.forward(seconds=1)
    first, rest = claim(db, "late", limit=2), claim(db, "late")

    assert [due.run_id for due in first + rest] == runs
    assert claim(db, "late") == []


def test_what_is_leased_is_not_offered_until_the_lease_ran_out(db: Door, clock: Clock) -> None:
    run_id = db.finished()
    (first,) = claim(db, lease_ms=int(LEASE_S * 1000))
    clock.forward(seconds=LEASE_S)
    assert claim(db) == []
    clock.forward(seconds=0.001)
    (second,) = claim(db)

    assert (first.run_id, first.tries, second.run_id, second.tries) == (run_id, 1, run_id, 2)


def test_two_claims_at_once_share_nothing(rules_db: Database, db: Door) -> None:
    for number in range(4):
        db.finished(f"s{number}")
    claim(db, limit=1)
    with rules_db.connect(autocommit=False) as one, rules_db.connect(autocommit=False) as other:
        mine, theirs = claim(Door(one), limit=2), claim(Door(other))
        one.commit()
        other.commit()

    assert (len(mine), len(theirs)) == (2, 1)
    assert {d.run_id for d in mine}.isdisjoint(d.run_id for d in theirs)


def test_effect_and_mark_in_one_transaction_happen_together(rules_db: Database, db: Door) -> None:
    db.execute("create table effects (delivery_id text)")
    db.finished()
    (due,) = claim(db)
    with rules_db.connect(autocommit=False) as connection:
        for end in (connection.rollback, connection.commit):
            connection.execute("insert into effects values (%s)", [due.delivery_id])
            assert mark(Door(connection), due.delivery_id) == "marked"
            end()

    assert [row.delivery_id for row in db.rows("select * from effects")] == [due.delivery_id]
    assert mark(db, due.delivery_id) == "unchanged"


def test_a_superseded_run_is_told_of_too(db: Door) -> None:
    lost = db.driven().run_id
    db.start(say="again")

    assert [(d.run_id, d.status) for d in claim(db)] == [(lost, "superseded")]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_another_isolation_level_is_refused(rules_db: Database, db: Door, level: str) -> None:
    db.finished()
    with db.nothing_written(), rules_db.connect(autocommit=False) as connection:
        connection.execute(f"set transaction isolation level {level}".encode())
        with pytest.raises(psycopg.DatabaseError) as refused:
            claim(Door(connection))
        connection.rollback()

    assert refused.value.sqlstate == "LG001"
