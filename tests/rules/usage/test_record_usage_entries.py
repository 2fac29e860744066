"""lockgate.record_usage_entries: what an application counts itself, into its own session alone."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.door import Door
from tests.support.proves import proves

PAGES = {"kind": "custom", "source": "tool", "type": "pages", "value": 3}
ELSEWHERE = "00000000-0000-4000-8000-000000000000"


def record(db: Door, *entries: object, **more: object) -> Any:
    given = {"session_id": "s1", "entries": Jsonb([*entries]), **more}
    return db.call("record_usage_entries", **given)


def recorded(db: Door) -> list[Any]:
    return db.rows("select * from lockgate_store.usage order by entry")


@proves("record_usage_entries.recorded")
def test_entries_belong_to_the_run_they_name_or_to_the_current_one(db: Door) -> None:
    first = db.finished()
    current = db.driven()
    answer = record(
        db,
        {**PAGES, "runId": str(first).upper(), "stepCount": 2, "sessionId": "s1", "timestamp": 5},
        {"kind": "tokens", "source": "agent", "model": "m", "tokens": {"total": 1.5}, "note": [1]},
    )

    assert (answer.outcome, answer.recorded, answer.detail) == ("recorded", 2, None)
    pages, tokens = recorded(db)
    assert (pages.run_id, pages.step, pages.source, pages.kind) == (first, 2, "tool", "custom")
    assert pages.detail == {"type": "pages", "value": 3}
    assert (tokens.run_id, tokens.step) == (current.run_id, 0)
    assert tokens.detail == {"model": "m", "tokens": {"total": 1.5}, "note": [1]}


def test_an_id_counts_once(db: Door) -> None:
    db.driven()
    assert record(db, {**PAGES, "id": "1"}, {**PAGES, "id": "1", "value": 9}).recorded == 1
    with db.nothing_written():
        assert record(db, {**PAGES, "id": "1"}).recorded == 0
    assert record(db, PAGES, PAGES, {**PAGES, "id": "2"}, {**PAGES, "id": "1"}).recorded == 3
    assert [row.detail["value"] for row in recorded(db)] == [3, 3, 3, 3]
    db.driven("s2")
    assert record(db, {**PAGES, "id": "1"}, session_id="s2").recorded == 1


@proves("record_usage_entries.invalid_request")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"sessionId": "s2"}, "sessionId"),
        ({"sessionId": None}, "sessionId"),
        ({"runId": ELSEWHERE}, "runId"),
        ({"runId": "r1"}, "runId"),
        ({"runId": 5}, "runId"),
        ({"id": ""}, "id"),
        ({"id": "x" * 257}, "id"),
        ({"id": 5}, "id"),
        ({"stepCount": -1}, "stepCount"),
        ({"stepCount": 1e9}, "stepCount"),
        ({"stepCount": [1]}, "stepCount"),
        ({"source": "other"}, "source"),
        ({"source": None}, "source"),
        ({"kind": "other"}, "kind"),
        ({"kind": None}, "kind"),
        ({"type": None}, "type"),
        ({"value": "3"}, "value"),
        ({"kind": "tool"}, "tool"),
        ({"kind": "tool", "tool": "t", "durationMs": "3"}, "durationMs"),
        ({"kind": "subagent"}, "agentType"),
        ({"kind": "tokens"}, "tokens"),
        ({"kind": "tokens", "tokens": [1]}, "tokens"),
        ({"kind": "tokens", "tokens": {"total": "1"}}, "tokens"),
        ({"note": "x" * 8_192}, "entries"),
    ],
)
def test_an_entry_that_is_none_is_refused_with_all_the_others(
    db: Door, change: dict[str, object], field: str
) -> None:
    db.driven()
    db.driven("s2")
    with db.nothing_written():
        answer = record(db, PAGES, {**PAGES, **change})
    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})


@pytest.mark.parametrize("given", [None, {}, [], 5, [1], [None], [[]], [PAGES] * 1_001])
def test_what_is_no_list_of_entries_is_refused(db: Door, given: object) -> None:
    db.driven()
    with db.nothing_written():
        answer = record(db, entries=Jsonb(given) if given is not None else None)
    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": "entries"})


def test_another_sessions_run_is_none_of_this_one(db: Door) -> None:
    db.driven()
    other = db.driven("s2")
    with db.nothing_written():
        assert record(db, {**PAGES, "runId": str(other.run_id)}).detail == {"field": "runId"}


def test_a_session_without_a_run_has_nothing_to_count_for(db: Door) -> None:
    db.create_session()
    with db.nothing_written():
        assert record(db, PAGES).detail == {"field": "runId"}


@proves("record_usage_entries.session_not_found")
@pytest.mark.parametrize(
    "who",
    [{"session_id": "s9"}, {"session_id": None}, {"acting_user_id": "bob"}, {"tenant_id": "t"}],
)
def test_no_session_and_another_users_are_not_found(db: Door, who: dict[str, object]) -> None:
    db.driven(user_id="ann")
    with db.nothing_written():
        assert record(db, PAGES, **who).outcome == "session_not_found"
    assert record(db, PAGES, acting_user_id="ann").outcome == "recorded"


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        ("tokens", {"tokens": {"total": "many"}}),
        ("tokens", {"tokens": 7}),
        ("tool", {"durationMs": "long"}),
        ("subagent", {}),
        ("custom", {"value": {}}),
    ],
)
def test_an_odd_row_hides_no_other_from_the_rollup(
    db: Door, kind: str, detail: dict[str, object]
) -> None:
    """No rule writes one; a table that was restored or written by hand may have one."""
    drive = db.driven()
    db.execute(
        "insert into lockgate_store.usage"
        " (session_id, run_id, step, source, kind, detail, recorded_at)"
        " values ('s1', %s, 1, 'tool', %s, %s, lockgate.now())",
        drive.run_id,
        kind,
        Jsonb(detail),
    )
    record(db, PAGES)
    rollup = db.call("usage_rollup", session_id="s1").rollup
    assert (rollup["custom"]["pages"], rollup["tokens"]) == (3, {})


def test_the_rollup_says_whose_session_it_is(db: Door) -> None:
    db.start(user_id="ann", tags=["a"], metadata={"plan": "gold"})
    assert db.call("usage_rollup", session_id="s1").identity == {
        "userId": "ann",
        "tags": ["a"],
        "metadata": {"plan": "gold"},
        "parentSessionId": None,
        "rootSessionId": None,
    }
    for who in ({"session_id": "s9"}, {"session_id": "s1", "acting_user_id": "bob"}):
        answer = db.call("usage_rollup", **who)
        assert (answer.rollup, answer.identity) == (None, None)
