"""Rows that somebody has changed behind the rules' back, met by a drive."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.scene import Scene
from tests.support.seen import seen


@contextmanager
def without_a_message(scene: Scene) -> Iterator[None]:
    """Take the session's first message away, and bring it back."""
    (kept,) = scene.door.rows(
        "delete from lockgate_store.messages m where seq = 1 returning to_jsonb(m)::text as it"
    )
    yield
    scene.door.execute(
        "insert into lockgate_store.messages"
        " select * from jsonb_populate_record(null::lockgate_store.messages, %s::jsonb)",
        kept.it,
    )


def last_failure(scene: Scene) -> Any:
    """Return what a run's lost attempt has left as its failure, once there is one."""
    rows = scene.door.rows("select last_failure from lockgate_store.recoveries")
    return rows[0].last_failure if rows else None


def test_a_history_with_a_hole_is_read_again_later(driven: Scene) -> None:
    driven.settled(driven.start("s1", {"say": "One."}))
    with without_a_message(driven):
        run = driven.start("s1", {"say": "Two."})
        failure = seen(lambda: last_failure(driven), "an attempt has met the hole")
        assert (failure["code"], failure["retryable"]) == ("state_history_incomplete", True)
        assert driven.stage.notes("model", run=run.run_id) == []
    assert driven.settled(run).output == "Two."


@pytest.mark.parametrize(
    ("damage", "mend"),
    [
        (
            """update lockgate_store.messages set content = '[{"type": "odd"}]' where seq = 2""",
            """update lockgate_store.messages set content = '[{"type": "text", "text": "One."}]'"""
            " where seq = 2",
        ),
        (
            "alter table lockgate_store.messages drop constraint a_role_is_known;"
            " update lockgate_store.messages set role = 'odd' where seq = 2",
            "update lockgate_store.messages set role = 'assistant' where seq = 2",
        ),
    ],
    ids=["content", "role"],
)
def test_what_nobody_understands_ends_the_run_at_once(
    driven: Scene, damage: str, mend: str
) -> None:
    driven.settled(driven.start("s1", {"say": "One."}))
    driven.door.execute(damage)
    run = driven.start("s1", {"say": "Two."})
    row = driven.settled(run)
    assert (row.status, row.error_detail["code"]) == ("failed", "framework_store_corrupt")
    assert row.error_detail["retryable"] is False
    assert len(driven.stage.notes("after_entry", run=run.run_id)) == 1, "it is not tried again"
    assert driven.stage.notes("model", run=run.run_id) == []
    driven.door.execute(mend)
    assert driven.settled(driven.start("s1", {"say": "Three."})).output == "Three."


def test_a_run_that_no_drive_can_be_given_ends_too(driven: Scene) -> None:
    """The claim itself meets the damage: nobody owns the run, and its budget is not counted."""
    name = "lockgate.list_calls(lockgate_store.runs)"
    (sound,) = driven.door.rows(f"select pg_get_functiondef('{name}'::regprocedure) as it")
    driven.door.execute(
        "create or replace function lockgate.list_calls(p_run lockgate_store.runs) returns jsonb"
        " language plpgsql stable as $$ begin raise sqlstate 'LG004'; end $$"
    )
    run = driven.start("s1", {"say": "One."})
    row = driven.settled(run)
    assert (row.status, row.error_detail["code"]) == ("failed", "framework_store_corrupt")
    assert (row.attempt, driven.settlements(run.run_id)) == (2, ["failed"])
    driven.door.execute(sound.it.replace("%", "%%"))
    assert driven.settled(driven.start("s1", {"say": "Two."})).output == "Two."
