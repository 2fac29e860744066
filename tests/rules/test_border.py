"""What is not of the form is answered, or is a broken promise: never a raw error."""

from collections.abc import Callable
from typing import Any

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
