"""Which call a submit means, where it comes through the root of the call's session."""

from typing import Any

import pytest

from tests.support.clock import Clock
from tests.support.door import Door, Drive, tool
from tests.support.suspensions import (
    client,
    delegated,
    results,
    subagent,
    submit,
    suspended,
    suspends,
)


def child_of(db: Door, root: str, session_id: str, *calls: dict[str, Any]) -> Drive:
    more = {"parent_session_id": root, "root_session_id": root}
    return suspended(db, *calls, session_id=session_id, **more)


def test_the_root_answers_for_its_descendants(db: Door) -> None:
    db.create_session()
    drive = child_of(db, "s1", "child")
    answer = submit(db)

    assert (answer.outcome, answer.session_id) == ("accepted", "child")
    assert (answer.call_run_id, db.run(answer.run_id).session_id) == (drive.run_id, "child")
    assert results(db, "child")[0]["result"] == "yes"


def test_a_root_that_executes_answers_for_a_child_that_waits(db: Door) -> None:
    db.driven()
    child_of(db, "s1", "child")

    assert submit(db).session_id == "child"


def test_of_two_children_with_one_id_the_one_that_waits_is_meant(db: Door, clock: Clock) -> None:
    db.create_session()
    for name in ("b", "a", "c"):
        child_of(db, "s1", name)
        clock.forward(seconds=1)
    answers = [submit(db, session_id="b")]
    answers += [submit(db) for _ in range(3)]

    assert [answer.outcome for answer in answers] == ["accepted"] * 3 + ["already_completed"]
    assert sorted(answer.session_id for answer in answers[:3]) == ["a", "b", "c"]


def test_a_call_that_is_announced_comes_before_one_that_is_not(db: Door, clock: Clock) -> None:
    """Both are pending, and the newer one's run has not suspended yet."""
    db.create_session()
    child_of(db, "s1", "b")
    clock.forward(seconds=1)
    busy = db.driven("a", parent_session_id="s1", root_session_id="s1")
    busy.reply(1, "", client())

    assert submit(db).session_id == "b"
    assert submit(db).outcome == "not_pending_yet"
    busy.suspend()
    assert submit(db).session_id == "a"


def test_the_sessions_own_call_comes_first(db: Door) -> None:
    suspended(db, client(), client("pick-2"))
    child_of(db, "s1", "child")

    assert submit(db).session_id == "s1"
    assert submit(db).outcome == "already_completed", "a repeat never falls to somebody else"
    assert submit(db, session_id="child").outcome == "accepted"


@pytest.mark.parametrize("kind", ["server", "subagent"])
def test_a_call_that_no_client_answers_hides_none(db: Door, kind: str) -> None:
    """A scripted parent and its child name their calls alike."""
    drive = db.driven()
    if kind == "server":
        drive.reply(1, "", tool("pick-1"))
        drive.result(1, 1)
        drive.step(1)
        child_of(db, "s1", "child")
        owner = "child"
    else:
        drive.reply(1, "", subagent("pick-1"))
        child = delegated(db, drive, "pick-1")
        drive.suspend()
        owner = child.child_session_id
        suspends(db.drive(child.child_run_id))

    assert (submit(db).outcome, submit(db, "pick-1").session_id) == ("accepted", owner)


def test_a_child_does_not_answer_for_its_root_nor_for_its_sister(db: Door) -> None:
    suspended(db)
    child_of(db, "s1", "a", client("other"))
    child_of(db, "s1", "b", client("sister"))

    assert submit(db, "pick-1", session_id="a").outcome == "unknown_tool_call"
    assert submit(db, "sister", session_id="a").outcome == "unknown_tool_call"


def test_both_sessions_must_be_the_acting_users(db: Door) -> None:
    db.create_session(user_id="ann")
    child_of(db, "s1", "child")
    with db.nothing_written():
        assert submit(db, acting_user_id="ann").outcome == "unknown_tool_call", "it is nobody's"
        assert submit(db, acting_user_id="bob").outcome == "unknown_tool_call"

    assert submit(db).outcome == "accepted"


def test_another_tenants_root_is_another_root(db: Door) -> None:
    db.create_session(tenant_id="other")
    db.create_session()
    child_of(db, "s1", "child")

    assert submit(db, tenant_id="other").outcome == "unknown_tool_call"


def test_a_call_is_found_by_the_index_of_each_half(db: Door) -> None:
    """Where a tenant has many: by its id in its own session, and by its id under its root."""
    db.create_session()
    child_of(db, "s1", "child")
    db.execute(
        "insert into lockgate_store.tool_calls (session_id, run_id, step, ordinal, model_call_id,"
        " tool_call_id, tool_name, kind, input, status, response, root_session_id)"
        " select 'x' || n, c.run_id, 2, n, '', 'pick-1', 'pick', 'client', '{}', 'consumed', '{}',"
        " 'r' || n from lockgate_store.tool_calls c, generate_series(1, 5000) n"
    )
    db.execute("analyze lockgate_store.tool_calls")
    body = db.row("select prosrc from pg_proc where proname = 'find_call'").prosrc
    given = {"tenant_id": "", "session_id": "s1", "tool_call_id": "pick-1", "acting_user_id": "ann"}
    for name, value in given.items():
        body = body.replace(f"p_{name}", f"'{value}'")
    plan = "\n".join(row[0] for row in db.connection.execute(f"explain {body}".encode()))
    db.execute("delete from lockgate_store.tool_calls where step = 2")

    assert "Seq Scan on tool_calls" not in plan
    for index, column in (("announced_once", "session_id"), ("of_root", "root_session_id")):
        found = plan.partition(f"using tool_calls_{index} ")[2].partition("Index Cond: ")[2]
        assert f"({column} = 's1'::text)" in found.partition("\n")[0], plan


@pytest.mark.parametrize("acting_user_id", [None, "ann"])
def test_a_stranger_that_names_a_root_hides_nothing_of_it(
    db: Door, clock: Clock, acting_user_id: str | None
) -> None:
    """Whoever starts a session may name any session as its root, and its model any id."""
    family = {"parent_session_id": "s1", "root_session_id": "s1"}
    db.create_session(user_id="ann")
    suspended(db, session_id="child", user_id="ann", **family)
    clock.forward(seconds=1)
    suspended(db, session_id="strange", user_id="bob", **family)

    answer = submit(db, acting_user_id=acting_user_id)
    assert (answer.outcome, answer.session_id) == ("accepted", "child")
    with db.nothing_written():
        again = submit(db, acting_user_id=acting_user_id)
    assert (again.outcome, again.session_id) == ("already_completed", "child")


def test_a_root_on_another_host_hides_nothing_of_the_acting_users(db: Door, clock: Clock) -> None:
    family = {"parent_session_id": "far", "root_session_id": "far"}
    suspended(db, session_id="child", user_id="ann", **family)
    clock.forward(seconds=1)
    suspended(db, session_id="strange", user_id="bob", **family)

    answer = submit(db, session_id="far", acting_user_id="ann")
    assert (answer.outcome, answer.session_id) == ("accepted", "child")
