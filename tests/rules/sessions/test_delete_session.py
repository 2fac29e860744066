"""lockgate.delete_session: a session and all below it go, with all that names them."""

from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.connections import Connection
from tests.support.door import Door, Drive, tool
from tests.support.proves import case, proves
from tests.support.store import dump

NAMING = """
  select c.table_name
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
   where c.table_schema = 'lockgate_store' and c.column_name = 'session_id'
     and t.table_type = 'BASE TABLE'
"""


def rows(db: Door, session_id: str, tenant_id: str = "") -> dict[str, int]:
    """Count a session's rows in each table that has a place for its name."""
    return {
        table: db.row(
            f"select count(*) as n from lockgate_store.{table}"
            " where tenant_id = %s and session_id = %s",
            tenant_id,
            session_id,
        ).n
        for (table,) in db.connection.execute(NAMING).fetchall()
    }


def lived_in(db: Door, session_id: str, **more: object) -> Drive:
    """Make a session with a row in every table: an ended run, and one that was taken over."""
    first = db.driven(session_id, request_key="k1", **more)
    used = {"kind": "custom", "source": "agent", "type": "pages"}
    first.reply(1, "let me look", tool("a"), usage=Jsonb([used]))
    has_companion(first)
    first.result(1, 1)
    first.step(1)
    first.reply(2, "done")
    first.finish()
    second = db.driven(session_id, "next", request_key="k2", **more)
    second.append("a", "b")
    db.requeue(second.run_id, "raised", failure={"message": "boom"})
    return db.drive(second.run_id)


def has_companion(drive: Drive) -> None:
    """Start a child beside a drive's first call."""
    friend = {"mode": "background", "name": "friend", "input": {"message": "wait"}}
    answer = drive._call("start_child", tool_call_id="a", agent_type="helper", **friend)
    assert answer.outcome == "started"


@pytest.fixture
def told(db: Door) -> Door:
    """The rules, with a consumer to whom settlements are due."""
    db.call_many("claim_settlements", consumer="hook")
    return db


@proves("delete_session.deleted")
def test_every_row_that_names_the_session_goes_and_no_other(told: Door) -> None:
    other = lived_in(told, "s2")
    twin = lived_in(told, "s1", tenant_id="t2")
    stays = (rows(told, "s2"), rows(told, "s1", "t2"))
    lived_in(told, "s1")
    assert 0 not in rows(told, "s1").values(), "the session has a row in every table"
    answer = told.delete_session()

    assert (answer.outcome, answer.deleted_sessions) == ("deleted", 2), "its companion went along"
    assert set(rows(told, "s1").values()) == {0}
    assert (rows(told, "s2"), rows(told, "s1", "t2")) == stays
    assert (other.reply(1, "go on").outcome, twin.reply(1, "go on").outcome) == ("saved", "saved")


def test_nothing_of_dboss_is_touched(db: Door) -> None:
    lived_in(db, "s1")
    before = dump(db.connection)
    db.delete_session()
    after = dump(db.connection)

    for table in ("dbos.workflow_status", "dbos.workflow_input"):
        assert len(before[table]) == 4
        assert after[table] == before[table]


def test_a_drive_of_a_deleted_run_finds_that_it_is_over(db: Door) -> None:
    waiting = db.start("s2").run_id
    run = db.run(waiting)
    drive = db.driven()
    drive.append("so far")
    db.delete_session()
    db.delete_session("s2")

    with db.nothing_written():
        assert {name: answer.outcome for name, answer in drive.every_write()} == dict.fromkeys(
            dict(drive.every_write()), "fenced"
        )
        claimed = db.call(
            "claim_run",
            session_id="s2",
            run_id=waiting,
            drive_id=run.drive_id,
            worker_id="worker-1",
        )
        assert claimed.outcome == "over"
        requeued = db.call(
            "requeue_run",
            session_id="s1",
            run_id=drive.run_id,
            drive_id=drive.drive_id,
            finding="raised",
            worker_id="worker-1",
        )
        assert requeued.outcome == "stale"


def test_a_drive_of_an_earlier_life_writes_nothing_into_the_next(db: Door) -> None:
    drive = db.driven()
    drive.append("so far")
    db.delete_session()
    anew = db.driven()
    with db.nothing_written():
        assert {answer.outcome for _, answer in drive.every_write()} == {"fenced"}

    assert anew.reply(1, "hello").outcome == "saved"


@case(47)
def test_the_keys_are_free_again(db: Door) -> None:
    """The contract's scenario request-key.delete-frees."""
    first = db.finished(request_key="k1")
    assert db.start(say="hi", request_key="k1").outcome == "attached"
    db.delete_session()
    asked = {"session_id": "s1", "request_key": "k1"}
    assert db.call("get_run_by_request_key", **asked).run_id is None
    anew = db.start(say="something else", request_key="k1")

    assert anew.outcome == "started"
    assert anew.run_id != first
    assert db.call("get_run_by_request_key", **asked).run_id == anew.run_id


def test_a_run_id_is_free_again(db: Door) -> None:
    run_id = uuid4()
    db.start(run_id=run_id)
    db.delete_session()

    assert db.start(say="another input", run_id=run_id).outcome == "started"


@case(32)
def test_the_next_life_has_another_epoch_and_begins_at_one(db: Door) -> None:
    db.finished()
    old = db.stream()
    db.delete_session()
    assert db.call("read_stream", session_id="s1").outcome == "no_stream"
    anew = db.driven()
    anew.append("first")
    page = db.call("read_stream", session_id="s1", after=old.head_sequence, epoch=old.epoch)

    assert db.stream().epoch != old.epoch
    assert (page.outcome, db.run(anew.run_id).start_sequence) == ("rewound", 0)
    assert (db.run(anew.run_id).turn, len(db.messages())) == (1, 1)


def test_the_whole_tree_goes_whatever_its_shape(db: Door) -> None:
    for session_id, parent in (
        ("root", None),
        ("a", "root"),
        ("z", "root"),
        ("m", "a"),
        ("b", "m"),
        ("beside", None),
        ("above", "nobody"),
    ):
        db.start(session_id, parent_session_id=parent)
    answer = db.delete_session("root")

    assert (answer.outcome, answer.deleted_sessions) == ("deleted", 5)
    assert left(db) == ["above", "beside"]


def test_a_branch_goes_alone(db: Door) -> None:
    for session_id, parent in (("root", None), ("a", "root"), ("b", "a"), ("c", "root")):
        db.create_session(session_id, parent_session_id=parent)

    assert db.delete_session("a").deleted_sessions == 2
    assert left(db) == ["c", "root"]


@pytest.mark.parametrize("root", ["a", "b", "c"])
def test_a_circle_of_parents_ends(db: Door, root: str) -> None:
    for session_id, parent in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")):
        db.create_session(session_id, parent_session_id=parent)

    assert db.delete_session(root).deleted_sessions == 3
    assert db.delete_session("d").deleted_sessions == 1
    assert left(db) == []


def test_a_child_of_another_tenant_is_no_child(db: Door) -> None:
    db.create_session("root")
    db.create_session("child", parent_session_id="root", tenant_id="t2")

    assert db.delete_session("root").deleted_sessions == 1
    assert left(db) == ["child"]


def test_a_strangers_session_that_names_this_one_as_its_parent_stays(db: Door) -> None:
    db.create_session("mine", user_id="ann")
    db.create_session("my child", user_id="ann", parent_session_id="mine")
    db.create_session("a stranger's", user_id="eve", parent_session_id="mine")
    db.create_session("nobody's", parent_session_id="mine")
    db.create_session("below a stranger's", user_id="ann", parent_session_id="a stranger's")
    answer = db.delete_session("mine", acting_user_id="ann")

    assert (answer.outcome, answer.deleted_sessions) == ("deleted", 2)
    assert left(db) == ["a stranger's", "below a stranger's", "nobody's"]


def test_a_trusted_caller_deletes_every_users_children(db: Door) -> None:
    db.create_session("root", user_id="ann")
    db.create_session("child", user_id="eve", parent_session_id="root")
    db.create_session("grandchild", parent_session_id="child")

    assert db.delete_session("root").deleted_sessions == 3


@proves("delete_session.not_found")
def test_no_session_and_another_users_are_not_found(db: Door) -> None:
    db.start(user_id="ann")
    db.start("nobody's")
    with db.nothing_written():
        for asked in (
            {"session_id": "none"},
            {"session_id": ""},
            {"session_id": None},
            {"acting_user_id": "eve"},
            {"session_id": "nobody's", "acting_user_id": "eve"},
            {"tenant_id": "t2"},
        ):
            answer = db.call("delete_session", **{"session_id": "s1", **asked})
            assert (answer.outcome, answer.deleted_sessions) == ("not_found", 0)
    assert db.delete_session(acting_user_id="ann").outcome == "deleted"


def test_a_second_deletion_finds_nothing(db: Door) -> None:
    db.finished()

    assert [db.delete_session().outcome for _ in range(2)] == ["deleted", "not_found"]


def test_what_was_due_to_a_consumer_goes_with_the_session(told: Door) -> None:
    run_id = told.finished()
    (due,) = told.call_many("claim_settlements", consumer="hook")
    told.finished("s2")
    told.delete_session()

    marked = told.call("mark_delivered", delivery_id=due.delivery_id, consumer="hook")
    assert (due.run_id, marked.outcome) == (run_id, "not_found")
    offered = told.call_many("claim_settlements", consumer="hook")
    assert [left.session_id for left in offered] == ["s2"]
    assert told.call_many("claim_settlements", consumer="late")[0].session_id == "s2"


def test_a_sweep_finds_nothing_of_what_is_gone(db: Door) -> None:
    db.create_session("never ran")
    db.driven("s1")
    for session_id in ("never ran", "s1"):
        db.delete_session(session_id)

    assert db.rows("select from lockgate_store.runs") == []
    assert db.call_many("list_stops", worker_id="worker-1") == []


def test_another_isolation_level_is_refused(db: Door, connection: Connection) -> None:
    db.create_session()
    db.execute("begin isolation level repeatable read")
    with pytest.raises(psycopg.Error) as refused:
        db.delete_session()
    db.execute("rollback")

    assert refused.value.sqlstate == "LG001"
    assert left(db) == ["s1"]


def left(db: Door) -> list[str]:
    """List the sessions that are there, by their names."""
    return [
        row.session_id
        for row in db.rows("select session_id from lockgate_store.sessions order by session_id")
    ]
