"""Which session takes which drive: the table, and every cell of it under both policies."""

from collections.abc import Callable
from itertools import product
from typing import Any

import psycopg
import pytest

from tests.support import standings
from tests.support.cluster import LentDatabase
from tests.support.door import Door
from tests.support.proves import proves

DRIVES = ("start", "resume", "retry")
POLICIES = ("reject", "interrupt_previous")
BUSY, STOPS = "already_running", "interrupting"
NO, NOT_YET, NONE = "not_resumable", "not_resumable, for now", "session_not_found"
YES, GOES_ON = "started", "resumed"
LANDED = "its terminal commit landed"

# How the session stands; start, resume and retry, each under reject and interrupt_previous.
TABLE: dict[str, tuple[Callable[[Door], object], tuple[str, str, str, str, str, str]]] = {
    "none": (standings.no_session, (YES, YES, NONE, NONE, NONE, NONE)),
    "never run": (standings.never_run, (YES, YES, NO, NO, NO, NO)),
    "failed without a run": (standings.failed_without_run, (YES, YES, NO, NO, NO, NO)),
    "a run executes": (standings.executing, (BUSY, STOPS, BUSY, STOPS, BUSY, NO)),
    "a run waits": (standings.waiting, (BUSY, STOPS, BUSY, STOPS, BUSY, NO)),
    "started as paused": (standings.executing_as_paused, (BUSY, STOPS, BUSY, STOPS, BUSY, NO)),
    "nothing executes": (standings.stranded, (YES, YES, GOES_ON, GOES_ON, NO, NO)),
    "nothing executes a paused start": (
        standings.stranded_as_paused,
        (YES, YES, GOES_ON, GOES_ON, NO, NO),
    ),
    "calls awaited": (standings.awaiting_calls, (YES, YES, NOT_YET, NOT_YET, NO, NO)),
    "children awaited": (standings.awaiting_children, (YES, YES, NOT_YET, NOT_YET, NO, NO)),
    "batch complete": (standings.answered, (YES, YES, GOES_ON, GOES_ON, NO, NO)),
    "demoted": (standings.demoted, (YES, YES, GOES_ON, GOES_ON, NO, NO)),
    "interrupted": (standings.interrupted, (YES, YES, GOES_ON, GOES_ON, NO, NO)),
    "superseded": (standings.superseded, (YES, YES, GOES_ON, GOES_ON, NO, NO)),
    "completed": (standings.completed, (YES, YES, NO, NO, NO, NO)),
    "failed": (standings.failed, (YES, YES, NO, NO, GOES_ON, GOES_ON)),
    **{
        f"{before}, {LANDED}: {status}": (
            standings.landed(status, suspended=before == "suspended"),
            (YES, YES, resume, resume, retry, retry),
        )
        for before in ("running", "suspended")
        for status, resume, retry in (
            ("completed", NO, NO),
            ("failed", NO, GOES_ON),
            ("interrupted", GOES_ON, NO),
        )
    },
}
CELLS = [
    pytest.param(make, drive, policy, cells[place], id=f"{standing}-{drive}-{policy}")
    for standing, (make, cells) in TABLE.items()
    for place, (drive, policy) in enumerate(product(DRIVES, POLICIES))
]


def given(drive: str) -> dict[str, Any]:
    more = {"start": {"input": {"message": "next"}}, "resume": {"options": {"mode": "continue"}}}
    return {"session_id": "s1", "agent_type": "support", **more.get(drive, {})}


def told(answer: Any) -> str:
    """Return an answer in the words of the table."""
    later = answer.outcome == NO and answer.detail["retryable"]
    return NOT_YET if later else answer.outcome


@proves("entry_outcome.not_resumable", "entry_outcome.resumed")
@pytest.mark.parametrize(("make", "drive", "policy", "cell"), CELLS)
def test_a_cell_of_the_table(
    db: Door, make: Callable[[Door], Any], drive: str, policy: str, cell: str
) -> None:
    run_id = make(db)
    asked = {**given(drive), "concurrent_entry": policy}
    with db.nothing_written():
        assert told(db.call(f"plan_{drive}", **asked)) == cell
    if cell in (YES, GOES_ON):
        answer = db.call(drive, **asked)
        run = db.run(answer.run_id)

        assert (told(answer), run.drive, run.status) == (cell, drive, "running")
        assert db.session().current_run_id == answer.run_id
    elif cell == STOPS:
        answer = db.call(drive, **asked)

        assert (told(answer), answer.run_id) == (cell, run_id)
        assert db.run(run_id).stop_reason == "superseded_by_new_entry"
    else:
        with db.nothing_written():
            answer = db.call(drive, **asked)

        assert (told(answer), answer.run_id) == (cell, None if cell == NONE else run_id)


@pytest.mark.parametrize("drive", ["resume", "retry"])
def test_a_refusal_says_how_the_session_stands_and_what_is_awaited(db: Door, drive: str) -> None:
    run_id = standings.awaiting_calls(db)
    answer = db.call(drive, **given(drive))

    assert (answer.outcome, answer.run_id) == ("not_resumable", run_id)
    assert answer.detail == {
        "sessionStatus": "paused",
        "awaitingToolCallIds": ["call-c"],
        "retryable": drive == "resume",
    }


def test_each_standing_and_drive_has_one_row(db: Door) -> None:
    rows = db.rows("select standing, drive, verdict from lockgate.drive_admissions")
    standing = {row.standing for row in rows}
    source = db.row(
        "select prosrc from pg_proc where oid = 'lockgate.session_standing'::regproc"
    ).prosrc
    ends = {"completed", "failed", "interrupted", "superseded"}

    assert sorted((row.standing, row.drive) for row in rows) == sorted(product(standing, DRIVES))
    assert {row.verdict for row in rows} == {"admitted", "refused", "refused_for_now"}
    assert ends <= standing
    assert {word for word in standing - ends if f"'{word}'" not in source} == set()


def test_only_a_retry_of_a_failed_session_is_admitted(db: Door) -> None:
    rows = db.rows("select standing, verdict from lockgate.drive_admissions where drive = 'retry'")

    assert {row.standing: row.verdict for row in rows if row.verdict != "refused"} == {
        "failed": "admitted"
    }


def test_a_standing_that_no_row_knows_is_a_damaged_row(rules_db: LentDatabase) -> None:
    db = Door(rules_db.warm)
    standings.completed(db)
    db.execute(
        "alter table lockgate_store.runs drop constraint a_run_status_is_known,"
        " drop constraint completed_at_goes_with_a_terminal_status"
    )
    db.execute("update lockgate_store.sessions set terminal_run_id = null, terminal_status = null")
    db.execute("update lockgate_store.runs set status = 'lost'")
    with db.nothing_written():
        for drive in ("resume", "plan_resume", "retry", "plan_retry"):
            with pytest.raises(psycopg.DatabaseError) as refused:
                db.call(drive, **given(drive.removeprefix("plan_")))

            assert refused.value.sqlstate == "LG004"
            assert refused.value.diag.message_detail == '{"standing": "lost"}'
