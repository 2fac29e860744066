"""lockgate.list_sessions: a page of the sessions that pass every filter given."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.clock import START, Clock
from tests.support.door import Door
from tests.support.proves import proves


def sessions(db: Door, **more: object) -> Any:
    return db.call("list_sessions", **more)


def ids(db: Door, **more: object) -> list[str]:
    """List the ids of the sessions that pass."""
    page = sessions(db, **more)
    assert page.outcome == "page", page
    assert page.total == len(page.items)
    return [item["sessionId"] for item in page.items]


@proves("list_sessions.page")
def test_the_newest_comes_first_and_one_moment_is_in_the_order_of_ids(
    db: Door, clock: Clock
) -> None:
    db.create_session("b")
    db.create_session("a")
    clock.forward(seconds=1)
    db.create_session("c")
    page = sessions(db)

    assert [item["sessionId"] for item in page.items] == ["c", "a", "b"]
    assert (page.total, page.has_more, page.detail) == (3, False, None)


def test_pages_follow_one_another_without_a_gap(db: Door) -> None:
    for number in range(5):
        db.create_session(f"s{number}")
    pages = [sessions(db, limit=2, offset=offset) for offset in (0, 2, 4, 6)]

    assert [[item["sessionId"] for item in page.items] for page in pages] == [
        ["s0", "s1"],
        ["s2", "s3"],
        ["s4"],
        [],
    ]
    assert [page.has_more for page in pages] == [True, True, False, False]
    assert {page.total for page in pages} == {5}


def test_fifty_are_a_page_where_nothing_is_said_and_two_hundred_the_most(db: Door) -> None:
    db.execute("select lockgate.create_session('s' || n, 'support') from generate_series(1, 201) n")

    assert (len(sessions(db).items), sessions(db).total) == (50, 201)
    assert (len(sessions(db, limit=200).items), sessions(db, limit=200).has_more) == (200, True)


def test_an_item_says_what_a_session_is_and_where_it_stands(db: Door) -> None:
    db.execute("set timezone = 'Asia/Tokyo'")
    run_id = db.finished(
        user_id="ann",
        tags=["b", "a"],
        metadata={"plan": "pro"},
        parent_session_id="p",
        root_session_id="r",
    )
    (item,) = sessions(db).items

    assert item == {
        "sessionId": "s1",
        "agentType": "support",
        "status": "completed",
        "userId": "ann",
        "tags": ["b", "a"],
        "metadata": {"plan": "pro"},
        "parentSessionId": "p",
        "rootSessionId": "r",
        "currentRunId": str(run_id),
        "turnCount": 1,
        "messageCount": 2,
        "version": db.session().version,
        "createdAt": "2030-01-01T00:00:00+00:00",
        "updatedAt": "2030-01-01T00:00:00+00:00",
        "expiresAt": None,
    }


def test_user_and_agent_type_are_exact(db: Door) -> None:
    db.create_session("s1", user_id="ann")
    db.create_session("s2", user_id="bob", agent_type="sales")
    db.create_session("s3")

    assert ids(db, user_id="ann") == ["s1"]
    assert ids(db, agent_type="sales") == ["s2"]
    assert ids(db, agent_type="support") == ["s1", "s3"]
    assert ids(db, user_id="ann", agent_type="sales") == []


def test_one_or_several_statuses_pass(db: Door) -> None:
    db.create_session("new")
    db.finished("done")
    db.driven("broken").finish("failed")

    assert ids(db, statuses=["completed"]) == ["done"]
    assert ids(db, statuses=["failed", "active"]) == ["broken", "new"]
    assert ids(db, statuses=["paused"]) == []


def test_children_of_one_parent_and_roots_only_are_two_questions(db: Door) -> None:
    db.create_session("root")
    db.create_session("child", parent_session_id="root")
    db.create_session("grandchild", parent_session_id="child")

    assert ids(db, parent_session_id="root") == ["child"]
    assert ids(db, roots_only=True) == ["root"]
    assert ids(db) == ["child", "grandchild", "root"]


def test_all_tags_and_all_metadata_must_match(db: Door) -> None:
    db.create_session("one", tags=["a"], metadata={"plan": "pro"})
    db.create_session("both", tags=["b", "a"], metadata={"plan": "pro", "region": "eu"})

    assert ids(db, tags=["a"]) == ["both", "one"]
    assert ids(db, tags=["a", "b"]) == ["both"]
    assert ids(db, tags=["a", "c"]) == []
    assert ids(db, tags=[]) == ["both", "one"]
    assert ids(db, metadata={"plan": "pro"}) == ["both", "one"]
    assert ids(db, metadata={"region": "eu", "plan": "pro"}) == ["both"]
    assert ids(db, metadata={"region": "us"}) == []


def test_a_range_of_dates_has_its_beginning_and_not_its_end(db: Door, clock: Clock) -> None:
    for number in range(3):
        db.create_session(f"s{number}")
        clock.forward(seconds=1)
    first, second, third = (START + timedelta(seconds=number) for number in range(3))

    assert ids(db, created_from=second) == ["s2", "s1"]
    assert ids(db, created_to=second) == ["s0"]
    assert ids(db, created_from=first, created_to=third) == ["s1", "s0"]
    assert ids(db, created_from=second, created_to=second) == []


def test_who_acts_for_a_user_sees_that_users_sessions_only(db: Door) -> None:
    db.create_session("s1", user_id="ann")
    db.create_session("s2", user_id="bob")
    db.create_session("s3")

    assert ids(db, acting_user_id="ann") == ["s1"]
    assert ids(db, acting_user_id="ann", user_id="bob") == []
    assert ids(db, acting_user_id="eve") == []


def test_another_tenants_sessions_are_in_no_list(db: Door) -> None:
    db.create_session("s1")
    db.create_session("s1", tenant_id="t2")
    db.create_session("s2", tenant_id="t2", parent_session_id="s1")

    assert ids(db) == ["s1"]
    assert ids(db, parent_session_id="s1") == []
    assert ids(db, tenant_id="t2") == ["s1", "s2"]


@proves("list_sessions.invalid_request")
@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"tenant_id": None}, "tenantId"),
        ({"tenant_id": "t" * 129}, "tenantId"),
        ({"user_id": ""}, "userId"),
        ({"user_id": "u" * 257}, "userId"),
        ({"agent_type": ""}, "agentType"),
        ({"agent_type": "a" * 129}, "agentType"),
        ({"statuses": []}, "status"),
        ({"statuses": ["running"]}, "status"),
        ({"statuses": ["active", None]}, "status"),
        ({"statuses": ["active"] * 6}, "status"),
        ({"parent_session_id": ""}, "parentSessionId"),
        ({"roots_only": None}, "rootsOnly"),
        ({"roots_only": True, "parent_session_id": "p"}, "rootsOnly"),
        ({"tags": ["a", None]}, "tags"),
        ({"tags": ["a"] * 65}, "tags"),
        ({"metadata": {"plan": 1}}, "metadata"),
        ({"metadata": '["plan"]'}, "metadata"),
        ({"created_from": START, "created_to": START - timedelta(seconds=1)}, "dateRange"),
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"limit": None}, "limit"),
        ({"offset": -1}, "offset"),
        ({"offset": None}, "offset"),
    ],
    ids=str,
)
def test_what_is_not_of_the_form_is_refused_by_its_field(
    db: Door, asked: dict[str, object], field: str
) -> None:
    db.create_session()
    answer = sessions(db, **asked)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})
    assert (answer.items, answer.total, answer.has_more) == ([], 0, False)


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ({"acting_user_id": "u7"}, "sessions_of_user"),
        ({"parent_session_id": "p7"}, "sessions_of_parent"),
        ({"created_from": START + timedelta(seconds=4990)}, "sessions_by_age"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_names_few_sessions_reads_an_index(
    db: Door, asked: dict[str, object], index: str
) -> None:
    scans = (
        "select pg_stat_get_xact_numscans('lockgate_store.sessions'::regclass) as whole,"
        " pg_stat_get_xact_numscans(%s::regclass) as by_index"
    )
    db.execute("begin")
    db.execute(
        "insert into lockgate_store.sessions (session_id, agent_type, user_id,"
        " parent_session_id, created_at, updated_at)"
        " select 's' || n, 'support', 'u' || mod(n, 500), 'p' || mod(n, 500),"
        " %s::timestamptz + n * interval '1 second', now() from generate_series(1, 5000) n",
        START,
    )
    db.execute("analyze lockgate_store.sessions")
    before = db.row(scans, f"lockgate_store.{index}")
    assert sessions(db, **asked).total in (10, 11)
    after = db.row(scans, f"lockgate_store.{index}")
    db.execute("rollback")

    assert (after.whole, after.by_index) == (before.whole, before.by_index + 1)
