"""lockgate.list_runs: a page of a session's runs, newest turn first."""

from datetime import datetime
from typing import Any

import pytest

from tests.support.clock import START
from tests.support.door import Door
from tests.support.proves import proves


def runs(db: Door, **more: object) -> Any:
    return db.call("list_runs", **{"session_id": "s1", **more})


@proves("list_runs.page")
def test_every_entry_is_one_run_and_the_newest_comes_first(db: Door) -> None:
    ids = [db.finished(say=f"number {number}") for number in range(5)]
    page = runs(db)

    assert (page.outcome, page.total, page.has_more, page.detail) == ("page", 5, False, None)
    assert [item["runId"] for item in page.items] == [str(run_id) for run_id in reversed(ids)]
    assert [item["turn"] for item in page.items] == [5, 4, 3, 2, 1]


def test_pages_follow_one_another_without_a_gap(db: Door) -> None:
    for number in range(5):
        db.finished(say=f"number {number}")
    pages = [runs(db, limit=2, offset=offset) for offset in (0, 2, 4, 6)]

    assert [[item["turn"] for item in page.items] for page in pages] == [[5, 4], [3, 2], [1], []]
    assert [page.has_more for page in pages] == [True, True, False, False]
    assert {page.total for page in pages} == {5}


def test_an_item_says_what_get_run_says(db: Door) -> None:
    db.execute("set timezone = 'Asia/Tokyo'")
    drive = db.driven(request_key="k1")
    drive.finish("failed", output={"a": [1, None]}, error_detail={"message": "boom"})
    (item,) = runs(db).items
    run = vars(db.call("get_run", session_id="s1", run_id=drive.run_id))

    assert item["output"] == {"a": [1, None]}
    assert item["startedAt"].endswith("+00:00")
    assert datetime.fromisoformat(item.pop("startedAt")) == run.pop("started_at") == START
    assert datetime.fromisoformat(item.pop("completedAt")) == run.pop("completed_at")
    run["run_id"] = str(run["run_id"])
    assert item == {camel(name): value for name, value in run.items()}


def test_a_session_that_never_ran_has_an_empty_page(db: Door) -> None:
    db.create_session()
    page = runs(db)

    assert (page.outcome, page.items, page.total, page.has_more) == ("page", [], 0, False)


@proves("list_runs.session_not_found")
def test_no_session_and_another_users_are_not_found(db: Door) -> None:
    db.start(user_id="ann")
    for asked in ({"session_id": "none"}, {"acting_user_id": "eve"}, {"tenant_id": "t2"}):
        answer = runs(db, **asked)
        assert (answer.outcome, answer.items, answer.total) == ("session_not_found", [], 0)
    assert runs(db, acting_user_id="ann").total == 1


@proves("list_runs.invalid_request")
@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"limit": -1}, "limit"),
        ({"limit": None}, "limit"),
        ({"offset": -1}, "offset"),
        ({"offset": None}, "offset"),
    ],
)
def test_a_page_out_of_range_is_refused_and_never_clamped(
    db: Door, asked: dict[str, int | None], field: str
) -> None:
    db.start()
    answer = runs(db, **asked)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})
    assert (answer.items, answer.total, answer.has_more) == ([], 0, False)


def test_the_widest_page_and_the_furthest_offset_are_answered(db: Door) -> None:
    db.start()

    assert len(runs(db, limit=200).items) == 1
    assert runs(db, offset=2**31 - 1).items == []


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
