"""What a step has used is recorded with it, and only what can be summed up."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.door import Door, tool

TOKENS = {"kind": "tokens", "source": "agent", "model": "m", "tokens": {"prompt": 3}}


def kinds(db: Door) -> list[tuple[str, int]]:
    rows = db.rows("select kind, step from lockgate_store.usage order by entry")
    return [(row.kind, row.step) for row in rows]


def test_entries_keep_their_order_and_what_else_they_say(db: Door) -> None:
    drive = db.driven()
    extra = {"kind": "custom", "source": "tool", "type": "pages", "note": {"a": [1, None]}}
    drive.reply(1, "hello", usage=Jsonb([TOKENS, extra]))
    _, custom = db.rows("select * from lockgate_store.usage order by entry")

    assert kinds(db) == [("tokens", 1), ("custom", 1)]
    assert custom.detail == {"type": "pages", "note": {"a": [1, None]}}


@pytest.mark.parametrize("nothing", [None, Jsonb([])])
def test_nothing_used_is_nothing_recorded(db: Door, nothing: Any) -> None:
    db.driven().reply(1, "hello", usage=nothing)

    assert kinds(db) == []


@pytest.mark.parametrize(
    "usage",
    [
        {},
        TOKENS,
        "tokens",
        [[TOKENS]],
        [TOKENS, None],
        [TOKENS, {}],
        [{**TOKENS, "kind": "other"}],
        [{**TOKENS, "source": None}],
        [{**TOKENS, "tokens": 3}],
        [{**TOKENS, "tokens": {"prompt": "3"}}],
        [{"kind": "tool", "source": "tool", "success": True}],
        [{"kind": "custom", "source": "tool", "type": "pages", "value": "many"}],
    ],
)
def test_what_cannot_be_summed_up_breaks_a_promise_and_saves_nothing(
    db: Door, usage: object
) -> None:
    drive = db.driven()
    with db.nothing_written(), pytest.raises(psycopg.DatabaseError) as broken:
        drive.reply(1, "hello", usage=Jsonb(usage))

    assert broken.value.sqlstate == "LG002"


def test_a_result_that_is_refused_for_its_usage_is_not_saved(db: Door) -> None:
    drive = db.driven()
    drive.reply(1, "", tool())
    with db.nothing_written(), pytest.raises(psycopg.DatabaseError):
        drive.result(1, 1, usage=Jsonb([{}]))

    assert drive.result(1, 1, usage=Jsonb([TOKENS])).outcome == "saved"
