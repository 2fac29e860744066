"""lockgate.tell_parent: however a child ends, its parent is told in the commit that ends it."""

from collections.abc import Callable

import pytest

from tests.support.door import Door, Drive, tool
from tests.support.family import (
    begin,
    born,
    calling,
    continuation,
    end,
    never_run,
    records,
    results,
    runs,
    session_of,
    suspend,
    waiting,
)
from tests.support.proves import proves
from tests.support.store_client import StoreClient


def aborted(db: Door, child: Drive) -> None:
    assert db.call("abort", session_id=session_of(child)).outcome == "stopping"
    child.finish("stopped")


def exhausted(db: Door, child: Drive) -> None:
    assert db.requeue(child.run_id, "raised", max_attempts=1).outcome == "exhausted"


def cancelled(db: Door, child: Drive) -> None:
    db.set_workflow(child.run_id, status="CANCELLED")
    assert db.requeue(child.run_id, "raised").outcome == "ended"


def without_run(db: Door, child: Drive) -> None:
    detail = {"message": "no such model"}
    session_id = never_run(db, child)
    db.call("fail_session_without_run", session_id=session_id, error_detail=detail)


def deleted(db: Door, child: Drive) -> None:
    assert db.delete_session(session_of(child)).outcome == "deleted"


def superseded(db: Door, child: Drive) -> None:
    """Nobody alive drives it, so a new message replaces its run."""
    given = {"agent_type": "helper", "dispatch_limit_ms": 0}
    assert db.start(session_of(child), "again", **given).outcome == "started"


def written_by_a_store_client(db: Door, child: Drive) -> None:
    client = StoreClient(db, session_of(child))
    detail = {"message": "theirs broke"}
    assert client.end(child.run_id, "failed", error_detail=detail).outcome == "written"
    assert client.set_run(child.run_id, "failed").outcome == "written"
    client.close(child.run_id, "failed")


def half_written_by_a_store_client(db: Door, child: Drive) -> None:
    client = StoreClient(db, session_of(child))
    client.end(child.run_id, "failed", error_detail={"message": "theirs broke"})
    assert db.requeue(child.run_id, "raised").outcome == "ended"


def suspended_and_given_up(db: Door, child: Drive) -> None:
    child.reply(1, "", {**tool("pick"), "kind": "client"})
    assert suspend(child).outcome == "suspended"
    superseded(db, child)


ENDS: dict[Callable[[Door, Drive], None], str] = {
    lambda db, child: end(child, "failed") and None: "the child broke",
    aborted: "The run was cancelled",
    exhausted: "The run made no progress in 1 attempts",
    cancelled: "The workflow was cancelled",
    without_run: "no such model",
    deleted: "The session was deleted",
    superseded: "The sub-agent ended superseded",
    written_by_a_store_client: "theirs broke",
    half_written_by_a_store_client: "theirs broke",
    suspended_and_given_up: "The sub-agent ended superseded",
}


@pytest.mark.parametrize("ends", ENDS, ids=lambda ends: ends.__name__.strip("<>"))
@pytest.mark.parametrize("last", [True, False], ids=["last", "first"])
def test_the_parent_goes_on_once_whichever_way_a_child_ends(
    db: Door, ends: Callable[[Door, Drive], None], last: bool
) -> None:
    parent, (broken, whole) = waiting(db, "call-a", "call-b")
    for child in (whole, broken) if last else (broken, whole):
        assert len(runs(db)) == 1
        if child is broken:
            ends(db, child)
        else:
            end(child, output="yes")

    assert continuation(db, parent).status == "running"
    assert len(runs(db)) == 2
    found = results(db)
    assert list(found) == ["call-a", "call-b"], "the order of the calls, not of the ends"
    assert found["call-b"] == {"success": True, "result": {"said": "yes"}, "error": None}
    assert found["call-a"]["success"] is False
    assert ENDS[ends] == found["call-a"]["error"]


def test_a_child_that_pauses_has_not_ended(db: Door) -> None:
    parent, (child,) = waiting(db, "call-a")
    child.reply(1, "", {**tool("pick"), "kind": "client"})
    suspend(child)
    assert len(runs(db)) == 1
    assert records(db)[0].status == "running"

    given = {"session_id": "parent", "tool_call_id": "pick"}
    answer = {"kind": "client-tool-result", "result": 7}
    submitted = db.call("submit_tool_result", **given, answer=answer)
    assert submitted.outcome == "accepted"
    end(db.drive(submitted.run_id), output=7)
    assert continuation(db, parent).status == "running"
    assert results(db)["call-a"]["result"] == {"said": 7}


@proves("suspend_run.continued")
def test_children_that_end_before_their_parent_suspends_continue_it_then(db: Door) -> None:
    parent = calling(db, "call-a", "call-b")
    for child in born(parent, "call-a", "call-b"):
        end(child, output="early")
    assert len(runs(db)) == 1
    answer = suspend(parent)

    assert (answer.outcome, answer.run_id) == ("continued", continuation(db, parent).run_id)
    assert [each["result"] for each in results(db).values()] == [{"said": "early"}] * 2


def test_a_parent_that_went_on_without_it_is_told_and_nothing_starts(db: Door) -> None:
    _, (child,) = waiting(db, "call-a")
    assert db.start("parent", "never mind").outcome == "started"
    end(child, output="late")

    assert len(runs(db)) == 2
    assert (records(db)[0].status, records(db)[0].output) == ("completed", {"said": "late"})


def test_the_first_end_of_a_sub_agent_counts(db: Door) -> None:
    _, (child,) = waiting(db, "call-a")
    end(child, output="first")
    before = records(db)
    again = db.start(session_of(child), "more", agent_type="helper")
    end(db.drive(again.run_id), output="second")

    assert records(db) == before
    assert len(runs(db)) == 2


def test_the_last_end_of_a_companion_counts(db: Door) -> None:
    parent = calling(db, "call-a")
    (child,) = born(parent, "call-a", mode="background", name="scout")
    end(child, output="first")
    again = db.start(session_of(child), "more", agent_type="helper")
    end(db.drive(again.run_id), "failed")

    (record,) = records(db)
    assert (record.status, record.output) == ("failed", None)
    assert record.error_detail["message"] == "the child broke"


def test_a_deleted_tree_tells_nobody_but_its_own_parent(db: Door) -> None:
    grandparent, (child,) = waiting(db, "call-a")
    child.reply(1, "", {**tool("call-b"), "kind": "subagent"})
    begin(child, "call-b")
    assert suspend(child).outcome == "suspended"
    assert db.delete_session(session_of(child)).deleted_sessions == 2

    assert continuation(db, grandparent).status == "running"
    assert [row.session_id for row in db.rows("select * from lockgate_store.sessions")] == [
        "parent"
    ]


def test_nobody_is_told_of_a_session_that_only_names_him(db: Door) -> None:
    """Whoever names another session as its parent is not its child by that."""
    parent, (child,) = waiting(db, "call-a")
    stranger = db.driven("stranger", parent_session_id="parent")
    before = db.session("parent"), records(db)
    stranger.finish("completed")

    assert (db.session("parent"), records(db)) == before
    end(child)
    assert continuation(db, parent).status == "running"
