"""A caller makes a request inside his own transaction, whose n-th statement or commit fails.

His own effect belongs to the commit that the request takes effect in: who heard nothing asks once
more, and writes it only where he is told that this is the first time.
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import psycopg
import pytest

from tests.faults.conftest import Tries
from tests.faults.entries import ENTRIES, Entry
from tests.faults.place import Place
from tests.support.connections import Connection, connect
from tests.support.door import Door
from tests.support.nth_fault import nth_fault

STATEMENTS = 4  # begin, the rule, the caller's own, commit
REPEATS = 2


@pytest.fixture(scope="module", autouse=True)
def effects(place: Place) -> None:
    """The application's own table."""
    place.door.execute("create table effects (session_id text not null)")


@pytest.fixture(scope="module")
def near(place: Place) -> Iterator[Connection]:
    """A connection past the link that breaks, for whoever asks once more."""
    with closing(connect(place.scene.url, autocommit=False)) as connection:
        yield connection


def transacted(connection: Connection, entry: Entry, given: dict[str, Any]) -> str:
    """Make a request and write the effect of it, in one transaction."""
    answer = Door(connection).call(entry.rule, **given)
    if answer.outcome == entry.first:
        connection.execute("insert into effects values (%s)", [given["session_id"]])
    connection.commit()
    return str(answer.outcome)


def transacted_over_the_link(place: Place, entry: Entry, given: dict[str, Any]) -> str:
    with closing(connect(place.proxy.url, autocommit=False)) as connection:
        return transacted(connection, entry, given)


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "always"])
@pytest.mark.parametrize("how", ["before", "after", "40001"])
@pytest.mark.parametrize("commits", [False, True], ids=["statement", "commit"])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_what_the_caller_writes_beside_it_is_written_once(
    place: Place,
    near: Connection,
    until_none_is_hit: Tries,
    entry: Entry,
    commits: bool,
    how: str,
    lasts: bool,
) -> None:
    def broke_at(nth: int) -> bool:
        session_id = place.new_session()
        given = entry.arrange(place.door, session_id)
        fault = place.proxy.put(nth_fault(how, nth, lasts=lasts, commits=commits))
        for _ in range(REPEATS if lasts else 1):
            with suppress(psycopg.OperationalError):
                assert transacted_over_the_link(place, entry, given) in (entry.first, entry.again)
                break
        place.proxy.lift(fault)
        assert transacted(near, entry, given) in (entry.first, entry.again)
        assert transacted(near, entry, given) == entry.again
        written = place.door.rows("select from effects where session_id = %s", session_id)
        assert len(written) == 1
        return fault.hits > 0

    until_none_is_hit(broke_at, places=1 if commits else STATEMENTS)
    place.holds()
