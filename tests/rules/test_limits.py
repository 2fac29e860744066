"""A limit on everything: what one caller may make one rule do is bounded, and is answered."""

import json
from typing import Any

import pytest

from tests.support.door import Door


def messages(count: int) -> str:
    """Write an input of so many one-letter messages."""
    return json.dumps({"message": [{"role": "user", "content": "a"}] * count})


def start(db: Door, **given: Any) -> Any:
    """Start on a session of its own, with this and nothing else said."""
    return db.call("start", session_id="limits", agent_type="assistant", **given)


def test_a_thousand_messages_are_an_entry_and_one_more_is_none(db: Door) -> None:
    refused = start(db, input=messages(1001))
    accepted = start(db, input=messages(1000))

    assert (refused.outcome, refused.detail) == ("invalid_request", {"field": "input.message"})
    assert accepted.outcome == "started"


@pytest.mark.parametrize(
    "tags",
    [
        pytest.param([f"tag-{number}" for number in range(65)], id="sixty-five tags"),
        pytest.param(["a" * 257], id="a tag of 257 characters"),
        pytest.param(["a", None], id="a tag that is none"),
        pytest.param([["a"], ["b"]], id="a table of tags"),
    ],
)
def test_tags_are_few_and_short_texts(db: Door, tags: list[Any]) -> None:
    answer = start(db, input='{"message": "hi"}', tags=tags)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": "tags"})


def test_metadata_has_at_most_64_kilobytes(db: Door) -> None:
    answer = start(db, input='{"message": "hi"}', metadata=json.dumps({"k": "v" * 65_536}))

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": "metadata"})


def test_a_public_function_looks_for_nothing_in_the_callers_temporary_schema(db: Door) -> None:
    """Left unnamed, pg_temp comes first for types, and a caller could put his own code there."""
    paths = db.connection.execute(
        "select p.proname, p.proconfig from pg_proc p "
        "where p.pronamespace = 'lockgate'::regnamespace and p.prosecdef"
    ).fetchall()

    assert paths
    assert {name for name, config in paths if "search_path=pg_catalog, pg_temp" not in config} == (
        set()
    )
