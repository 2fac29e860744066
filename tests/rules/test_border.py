"""What is not of the form is answered, or is a broken promise: never a raw error."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.door import Door, tool

# Random text of this length fits no index row; repetitive text would be compressed.
TOO_LONG = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(9000))

ILL_FORMED: dict[str, Callable[[Door], Any]] = {
    "a consumer's name has no cap": lambda db: db.call_many("claim_settlements", consumer=TOO_LONG),
    "a consumer without a name": lambda db: db.call_many("claim_settlements", consumer=None),
    "a worker's id has no cap": lambda db: db.beat(TOO_LONG),
    "a lease of nothing": lambda db: db.beat(lease_ms=0),
    "a wait of less than nothing": lambda db: db.start(concurrent_entry_timeout_ms=-1),
    "an end without a status": lambda db: db.driven().finish(None),  # type: ignore[arg-type]
    "a call without an input": lambda db: db.driven().reply(1, "", {"id": "a", "toolName": "t"}),
}


def raised(call: Callable[[Door], Any], db: Door) -> str | None:
    """Return the code of what a call raised."""
    try:
        call(db)
    except psycopg.DatabaseError as error:
        return error.sqlstate
    return None


@pytest.mark.parametrize("what", ILL_FORMED)
def test_an_ill_formed_argument_is_no_raw_error(db: Door, what: str) -> None:
    assert (raised(ILL_FORMED[what], db) or "LG").startswith("LG")


def test_a_step_out_of_order_is_a_broken_promise(db: Door) -> None:
    drive = db.driven()
    db.execute("begin")
    code = raised(lambda _: drive.reply(5, "out of order", tool()), db)
    db.execute("rollback")

    assert code == "LG002"


def test_a_run_born_this_moment_is_busy_whatever_limit_is_left_out(db: Door) -> None:
    db.start()

    assert db.start(say="next", dispatch_limit_ms=None).outcome != "started"


ENTRY = {"session_id": "s1", "agent_type": "support"}
EXPECT = {"currentRunId": None, "currentRunStatus": None, "sessionStatus": "active"}
JSON = ("null", "[]", "{}", "0", '"text"', "[[]]", '{"message": 5}')
# Every argument of the entries and of what is for store clients, as it may be.
WHOLE: dict[str, dict[str, Any]] = {
    "start": {**ENTRY, "input": {"message": "hi"}},
    "resume": {**ENTRY, "options": {"mode": "continue"}},
    "retry": {**ENTRY, "checkpoint_id": None, "message": None},
    "commit_run_start": {
        "session_id": "s1",
        "run_id": UUID(int=1),
        "drive": "start",
        "session_status": "active",
        "expect": EXPECT,
    },
    "commit_terminal": {"session_id": "s1", "run_id": UUID(int=1), "status": "completed"},
    "update_run_status": {"session_id": "s1", "run_id": UUID(int=1), "status": "completed"},
    "close_stream": {"session_id": "s1", "status": "ended", "expect_run_id": str(UUID(int=1))},
}


def parameters(db: Door, function: str) -> dict[str, str]:
    """Return a rule's parameters, without their `p_`, and their types."""
    (found,) = db.rows(
        "select p.proargnames as names, array(select format_type(t.oid, null)"
        "   from unnest(p.proargtypes) with ordinality t(oid, place) order by place) as types"
        "  from pg_proc p where p.oid = to_regproc('lockgate.' || %s)",
        function,
    )
    return {
        name.removeprefix("p_"): kind for name, kind in zip(found.names, found.types, strict=True)
    }


def standing(db: Door, is_running: bool) -> None:
    """Make session s1, never run or with a run that runs."""
    if is_running:
        db.start(run_id=UUID(int=1))
    else:
        db.create_session()


@pytest.mark.parametrize("is_running", [False, True])
@pytest.mark.parametrize("function", WHOLE)
def test_nothing_in_any_position_is_a_raw_error(
    db: Door, function: str, is_running: bool, subtests: pytest.Subtests
) -> None:
    standing(db, is_running)
    for name, kind in parameters(db, function).items():
        for value in (None, *{"jsonb": JSON, "text": ("",)}.get(kind, ())):
            asked = {**WHOLE[function], name: value}
            with subtests.test(f"{name} = {value}"):
                db.execute("begin")
                code = raised(partial(call, function, asked), db)
                db.execute("rollback")

                assert code is None or code.startswith("LG")


def call(function: str, asked: dict[str, Any], db: Door) -> Any:
    return db.call(function, **asked)
