"""lockgate.list_usage_entries: what a session's runs have used, page by page, in its order."""

from typing import Any

import pytest

from tests.support.door import Door
from tests.support.proves import proves


def entries(db: Door, **more: object) -> Any:
    return db.call("list_usage_entries", **{"session_id": "s1", **more})


def custom(*values: int) -> str:
    said = ",".join(
        f'{{"kind":"custom","source":"tool","type":"pages","value":{value}}}' for value in values
    )
    return f"[{said}]"


@proves("list_usage_entries.page")
def test_pages_follow_the_last_entry_without_a_gap(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "hello", usage=custom(1, 2, 3, 4, 5))
    db.driven("s2").reply(1, "hello", usage=custom(9))
    seen: list[Any] = []
    while (page := entries(db, after=seen[-1]["entry"] if seen else 0, limit=2)).has_more:
        assert (page.outcome, len(page.items), page.total) == ("page", 2, 5)
        seen += page.items
    seen += page.items

    assert [item["value"] for item in seen] == [1, 2, 3, 4, 5]
    first = seen[0]
    assert (first["runId"], first["stepCount"]) == (str(drive.run_id), 1)
    assert (first["kind"], first["source"], first["type"]) == ("custom", "tool", "pages")
    now = db.row("select floor(extract(epoch from lockgate.now()) * 1000) as ms").ms
    assert first["timestamp"] == int(now)


def test_a_session_that_used_nothing_has_an_empty_page(db: Door) -> None:
    db.create_session()
    page = entries(db)
    assert (page.outcome, page.items, page.total, page.has_more) == ("page", [], 0, False)


@proves("list_usage_entries.session_not_found")
@pytest.mark.parametrize(
    "who", [{"session_id": "s9"}, {"acting_user_id": "bob"}, {"tenant_id": "t"}]
)
def test_no_session_and_another_users_are_not_found(db: Door, who: dict[str, object]) -> None:
    db.driven(user_id="ann").reply(1, "hello", usage=custom(1))
    assert (entries(db, **who).outcome, entries(db, **who).items) == ("session_not_found", [])
    assert len(entries(db, acting_user_id="ann").items) == 1


@proves("list_usage_entries.invalid_request")
@pytest.mark.parametrize(
    ("field", "value"),
    [("after", -1), ("after", None), ("limit", 0), ("limit", 1_001), ("limit", None)],
)
def test_a_page_that_is_none_is_refused(db: Door, field: str, value: int | None) -> None:
    answer = entries(db, **{field: value})
    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})
