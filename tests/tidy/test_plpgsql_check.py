"""plpgsql_check over every rule: wrong columns, unused variables, unreachable code."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, LentDatabase, running_cluster
from tests.support.connections import Connection

DEBIAN = Path("/usr/lib/postgresql/15/bin")
CONTROL = Path("/usr/share/postgresql/15/extension/plpgsql_check.control")
INSTALL = "apt-get install postgresql-15 postgresql-15-plpgsql-check"

CHECK = """
select p.proname || ':' || coalesce(c.lineno, 0) || ' ' || c.level || ': ' || c.message
         || coalesce(' (' || c.detail || ')', '') || coalesce(' ' || c.query, '')
  from pg_proc p
  join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql',
       lateral plpgsql_check_function_tb(
         p.oid, performance_warnings => true, security_warnings => true) c
 where p.pronamespace = 'lockgate'::regnamespace
 order by 1
"""


@pytest.fixture(scope="module")
def checked(cluster: Cluster) -> Iterator[Connection]:
    """A connection to installed rules, on a server that has the extension."""
    with ExitStack() as stack:
        lent = stack.enter_context(cluster.lend("real"))
        if not has_extension(lent):
            if not CONTROL.exists():
                pytest.skip(f"no plpgsql_check here: {INSTALL}")
            other = stack.enter_context(running_cluster(DEBIAN))
            lent = stack.enter_context(other.lend("real"))
        lent.warm.execute("create extension plpgsql_check")
        yield lent.warm


def has_extension(database: LentDatabase) -> bool:
    found = database.warm.execute(
        "select from pg_available_extensions where name = 'plpgsql_check'"
    ).fetchall()
    return bool(found)


def test_plpgsql_check_has_nothing_to_say(checked: Connection) -> None:
    assert [row[0] for row in checked.execute(CHECK).fetchall()] == []
