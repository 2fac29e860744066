"""A call of a drive waits its turn at a busy pool; one that nobody's turn comes at is told so."""

import asyncio
from typing import Any

import pytest

import lockgate.database
from lockgate.database import Database
from lockgate.errors import StoreUnavailable
from lockgate.rules.call import Connection

TURN_S = 1.5
CALLS, CALL_S = 12, 0.3  # over one connection: more than one turn's time, and each far less


async def works(conn: Connection, seconds: float) -> str:
    await conn.execute("select pg_sleep(%s)", [seconds])
    return "done"


async def called(database: Database, patient: bool, *seconds: float) -> list[Any]:
    """Make calls of so many seconds at the same moment, and return what became of each."""
    one = Database(database.url, pool_size=1)
    await one.open()
    try:
        asked = one.patient() if patient else one
        await asked.call(works, 0)
        calls = [asked.call(works, each) for each in seconds]
        return await asyncio.gather(*calls, return_exceptions=True)
    finally:
        await one.close()


@pytest.fixture
def database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.setattr(lockgate.database, "POOL_WAIT_S", TURN_S)
    return Database(database_url)


def test_who_is_patient_waits_while_others_are_answered(database: Database) -> None:
    answers = asyncio.run(called(database, True, *[CALL_S] * CALLS))
    assert answers == ["done"] * CALLS


def test_who_is_not_is_told_in_time(database: Database) -> None:
    answers = asyncio.run(called(database, False, *[CALL_S] * CALLS))
    assert {type(each) for each in answers} == {str, StoreUnavailable}


def test_who_is_patient_is_told_where_nobody_is_answered(database: Database) -> None:
    answers = asyncio.run(called(database, True, 4 * TURN_S, 0))
    assert answers[0] == "done"
    assert isinstance(answers[1], StoreUnavailable)
