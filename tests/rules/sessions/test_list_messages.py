"""lockgate.list_messages: a session's history, page by page, in its order."""

from typing import Any

import pytest

from tests.support.door import Door, tool
from tests.support.proves import proves


def messages(db: Door, **more: object) -> Any:
    return db.call("list_messages", **{"session_id": "s1", **more})


@proves("list_messages.page")
def test_the_whole_history_is_what_the_snapshot_has(db: Door) -> None:
    drive = db.driven(input={"message": [{"role": "user", "content": "hi", "id": "m1"}]})
    drive.reply(1, "let me look", tool("a"))
    drive.result(1, 1)
    drive.step(1)
    drive.reply(2, "done")
    drive.finish()
    page = messages(db)

    assert (page.outcome, page.total, page.has_more) == ("page", 4, False)
    assert [(m["seq"], m["role"]) for m in page.items] == [
        (1, "user"),
        (2, "assistant"),
        (3, "tool"),
        (4, "assistant"),
    ]
    assert page.items[0]["clientId"] == "m1"
    assert page.items == db.call("snapshot", session_id="s1").messages


def test_pages_follow_the_last_number_without_a_gap(db: Door) -> None:
    for number in range(5):
        db.finished(say=f"number {number}")
    seen: list[int] = []
    while (page := messages(db, after=seen[-1] if seen else 0, limit=3)).has_more:
        assert (len(page.items), page.total) == (3, 10)
        seen += [m["seq"] for m in page.items]
    seen += [m["seq"] for m in page.items]

    assert seen == list(range(1, 11))
    assert messages(db, after=10).items == []
    assert not messages(db, after=7, limit=3).has_more


def test_after_the_end_and_before_the_first_run_there_is_nothing(db: Door) -> None:
    db.create_session("new")
    db.finished()

    assert (messages(db, session_id="new").items, messages(db, session_id="new").total) == ([], 0)
    assert messages(db, after=2**31 - 1).items == []


@proves("list_messages.session_not_found")
def test_no_session_and_another_users_are_not_found(db: Door) -> None:
    db.start(user_id="ann")
    for asked in ({"session_id": "none"}, {"acting_user_id": "eve"}, {"tenant_id": "t2"}):
        answer = messages(db, **asked)
        assert (answer.outcome, answer.items, answer.total) == ("session_not_found", [], 0)
    assert messages(db, acting_user_id="ann").total == 1


@proves("list_messages.invalid_request")
@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"after": -1}, "after"),
        ({"after": None}, "after"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"limit": None}, "limit"),
    ],
)
def test_a_page_out_of_range_is_refused_and_never_clamped(
    db: Door, asked: dict[str, int | None], field: str
) -> None:
    db.start()
    answer = messages(db, **asked)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})
    assert answer.items == []
