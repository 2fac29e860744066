"""lockgate.list_checkpoints: the places to which a session can be taken back, newest first."""

from datetime import datetime
from typing import Any

import pytest

from tests.support.clock import Clock
from tests.support.door import Door
from tests.support.proves import proves


def checkpoints(db: Door, **more: object) -> Any:
    return db.call("list_checkpoints", **{"session_id": "s1", **more})


@proves("list_checkpoints.page")
def test_each_committed_step_is_one_and_the_newest_comes_first(db: Door, clock: Clock) -> None:
    first = db.driven()
    first.reply(1, "one")
    first.reply(2, "two")
    first.finish("failed")
    at = clock.forward(seconds=1)
    second = db.driven(say="next")
    second.reply(1, "three")
    page = checkpoints(db)

    assert (page.outcome, page.total, page.has_more) == ("page", 3, False)
    assert [(item["id"], item["stepCount"], item["status"]) for item in page.items] == [
        (f"{second.run_id}:1", 1, "running"),
        (f"{first.run_id}:2", 2, "failed"),
        (f"{first.run_id}:1", 1, "failed"),
    ]
    assert {*page.items[0]} == {"id", "stepCount", "status", "timestamp"}
    assert datetime.fromisoformat(page.items[0]["timestamp"]) == at
    assert page.items[0]["timestamp"].endswith("+00:00")


def test_pages_follow_one_another_without_a_gap(db: Door) -> None:
    drive = db.driven()
    for step in range(1, 6):
        drive.reply(step, "more")
    pages = [checkpoints(db, limit=2, offset=offset) for offset in (0, 2, 4, 6)]

    assert [[item["stepCount"] for item in page.items] for page in pages] == [
        [5, 4],
        [3, 2],
        [1],
        [],
    ]
    assert [page.has_more for page in pages] == [True, True, False, False]
    assert {page.total for page in pages} == {5}


def test_a_run_without_a_step_has_none(db: Door) -> None:
    db.start()
    page = checkpoints(db)

    assert (page.outcome, page.items, page.total, page.has_more) == ("page", [], 0, False)


@proves("list_checkpoints.session_not_found")
def test_no_session_and_another_users_are_not_found(db: Door) -> None:
    db.finished(user_id="ann")
    for asked in ({"session_id": "none"}, {"acting_user_id": "eve"}, {"tenant_id": "t2"}):
        answer = checkpoints(db, **asked)
        assert (answer.outcome, answer.items, answer.total) == ("session_not_found", [], 0)
    assert checkpoints(db, acting_user_id="ann").total == 1


@proves("list_checkpoints.invalid_request")
@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"limit": None}, "limit"),
        ({"offset": -1}, "offset"),
        ({"offset": None}, "offset"),
    ],
)
def test_a_page_out_of_range_is_refused_and_never_clamped(
    db: Door, asked: dict[str, int | None], field: str
) -> None:
    db.finished()
    answer = checkpoints(db, **asked)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})
    assert answer.items == []
