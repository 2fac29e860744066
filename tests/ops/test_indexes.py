"""Indexes are built beside the work that goes on, or nothing changes and the rows are named."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from lockgate_ops import indexes as building
from lockgate_ops.binaries import find_bindir
from lockgate_ops.indexes import RowsInTheWay, build_indexes, indexes
from tests.ops.databases import BareDatabase, schema_dump
from tests.ops.processes import lockgate, wait_until
from tests.support.cluster import Database
from tests.support.connections import connect
from tests.support.door import Door
from tests.support.racers import BOUND_S

NAMES = [index.name for index in indexes()]
GUARDS = [index.name for index in indexes() if index.is_guard]
HARM = {
    "missing": "drop index lockgate_store.{}",
    "invalid": "update pg_index set indisvalid = false"
    " where indexrelid = 'lockgate_store.{}'::regclass",
    "not unique": "drop index lockgate_store.{0}; create index {0} on lockgate_store.{1} (step)",
}
# A second run like the first one, but for what the guard in question would have refused.
TWINS = {
    "runs_run_id_once": ("run_id, 'elsewhere', 'completed', now()", "run_id"),
    "runs_one_live": ("gen_random_uuid(), session_id, 'running', null", "session_id"),
    "runs_request_key_once": (
        "gen_random_uuid(), session_id, 'completed', now()",
        "request_key",
    ),
}
TWIN = """
  insert into lockgate_store.runs (run_id, session_id, status, completed_at, turn, drive,
      request_key, request_digest, drive_id, dispatch_at, start_sequence, started_at)
    select {}, turn + 1, drive, request_key, request_digest, gen_random_uuid(), dispatch_at,
           start_sequence, started_at
      from lockgate_store.runs
"""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads in which installers wait."""
    with ThreadPoolExecutor(4) as made:
        yield made


@pytest.fixture
def bindir(pytestconfig: pytest.Config) -> Path:
    """The programs that fit the server."""
    return find_bindir(pytestconfig.getoption("--pg-bin"))


def harm(database: Database, name: str, how: str = "missing") -> None:
    table = next(index.table for index in indexes() if index.name == name)
    with database.connect() as conn:
        conn.execute(HARM[how].format(name, table).encode())


def definitions(database: Database) -> dict[str, str]:
    """The indexes that are no primary keys, as they stand and only where they are whole."""
    with database.connect() as conn:
        return dict(
            conn.execute(
                "select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index"
                " join pg_class c on c.oid = indexrelid"
                " where c.relnamespace = 'lockgate_store'::regnamespace"
                " and not indisprimary and indisvalid and indisready"
            ).fetchall()
        )


def leftovers(database: Database) -> list[str]:
    with database.connect() as conn:
        rows = conn.execute(
            "select indexrelid::regclass::text from pg_index where not indisvalid"
        ).fetchall()
    return [row[0] for row in rows]


def is_building(database: Database) -> bool:
    with database.connect() as conn:
        query = "select from pg_stat_progress_create_index where datname = current_database()"
        return conn.execute(query).fetchone() is not None


def built(pool: ThreadPoolExecutor, database: Database, said: list[str]) -> "Future[list[str]]":
    """Build in a thread of its own; return once Postgres is seen at it."""
    future = pool.submit(build_indexes, database.url, said.append)
    wait_until(lambda: is_building(database) or future.done(), "the build goes on")
    return future


def test_the_indexes_are_those_that_the_tables_have(clean_database: Database) -> None:
    found = definitions(clean_database)
    assert sorted(found) == sorted(f"lockgate_store.{name}" for name in NAMES)
    unique = [name for name, definition in found.items() if " UNIQUE " in definition]
    assert sorted(unique) == sorted(f"lockgate_store.{name}" for name in GUARDS)


def test_start_up_asks_for_the_unique_ones(clean_database: Database) -> None:
    for name in NAMES:
        harm(clean_database, name)
    with clean_database.connect() as conn:
        assert sorted(Door(conn).call("check_installation").broken) == sorted(GUARDS)


def test_where_no_table_stands_nothing_is_built(bare: BareDatabase) -> None:
    said: list[str] = []
    assert build_indexes(bare.owner_url, said.append) == []
    assert said == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["missing", "invalid"])
def test_an_index_that_is_missing_or_invalid_is_built_as_its_table_says(
    clean_database: Database, name: str, how: str
) -> None:
    before = definitions(clean_database)
    harm(clean_database, name, how)
    said: list[str] = []
    assert build_indexes(clean_database.url, said.append) == [name]
    assert definitions(clean_database) == before
    assert leftovers(clean_database) == []
    assert [f"{name} is invalid: dropping it"] * (how == "invalid") == said[:-2]
    assert said[-2].startswith(f"building {name} on ")
    assert said[-1].startswith(f"{name} is whole, after ")
    assert build_indexes(clean_database.url, said.append) == []


def test_an_index_of_that_name_that_is_not_unique_is_no_guard(clean_database: Database) -> None:
    before = definitions(clean_database)
    harm(clean_database, "tool_calls_announced_once", "not unique")
    assert build_indexes(clean_database.url) == ["tool_calls_announced_once"]
    assert definitions(clean_database) == before


@pytest.mark.parametrize("name", TWINS)
def test_rows_in_the_way_are_named_and_nothing_changes(
    bindir: Path, clean_database: Database, name: str
) -> None:
    harm(clean_database, name)
    with clean_database.connect() as conn:
        door = Door(conn)
        run_id = door.start(request_key="k1" if name == "runs_request_key_once" else None).run_id
        columns, shared = TWINS[name]
        door.execute(TWIN.format(columns))
    before = schema_dump(bindir, clean_database.url)
    with pytest.raises(RowsInTheWay, match=f"{name} cannot be built") as refused:
        build_indexes(clean_database.url)
    assert refused.value.guard == name
    assert len(refused.value.rows) == 2
    assert {"tenant_id", "session_id", "run_id", shared} <= set(refused.value.rows[0])
    assert run_id in [row["run_id"] for row in refused.value.rows]
    assert leftovers(clean_database) == []
    done = lockgate("install", database_url=clean_database.url)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "session_id='s1'" in done.stderr
    assert str(run_id) in done.stderr
    assert schema_dump(bindir, clean_database.url) == before


def test_starts_go_on_while_an_index_is_built(
    clean_database: Database, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "LOOK_EVERY_S", 0.02)
    harm(clean_database, "runs_one_live")
    said: list[str] = []
    with clean_database.connect(autocommit=False) as slow, clean_database.connect() as conn:
        Door(slow).start("slow")
        future = built(pool, clean_database, said)
        assert Door(conn).start("meanwhile").outcome == "started"
        pid = f"now that of pid {slow.info.backend_pid}"
        wait_until(lambda: any(pid in line for line in said), "who is waited for is told")
        assert not future.done()
        slow.commit()
        assert future.result(BOUND_S) == ["runs_one_live"]
        assert Door(conn).start("meanwhile").outcome == "already_running"
    assert "lockgate_store.runs_one_live" in definitions(clean_database)


def test_two_installers_at_once_end_in_one_whole_index(
    clean_database: Database, pool: ThreadPoolExecutor
) -> None:
    harm(clean_database, "runs_request_key_once", "invalid")
    said: list[str] = []
    with clean_database.connect(autocommit=False) as slow:
        Door(slow).start("slow")
        first = pool.submit(build_indexes, clean_database.url, said.append)
        wait_until(lambda: any("dropping" in line for line in said), "the first has its turn")
        second = pool.submit(build_indexes, clean_database.url, said.append)
        wait_until(lambda: any("another installer" in line for line in said), "the second waits")
        slow.commit()
    assert first.result(BOUND_S) == ["runs_request_key_once"]
    assert second.result(BOUND_S) == []
    assert "lockgate_store.runs_request_key_once" in definitions(clean_database)
    assert leftovers(clean_database) == []


def test_installs_at_once_mend_every_index_of_a_live_database(
    clean_database: Database, pool: ThreadPoolExecutor
) -> None:
    before = definitions(clean_database)
    with clean_database.connect() as conn:
        Door(conn).finished()
    for name in NAMES:
        harm(clean_database, name)
    installs = [pool.submit(lockgate, "install", database_url=clean_database.url) for _ in range(3)]
    done = [each.result(90) for each in installs]
    assert [each.returncode for each in done] == [0] * 3, done
    assert definitions(clean_database) == before
    assert sum(each.stdout.count("is whole") for each in done) == len(NAMES)


def test_starts_see_no_error_while_every_index_is_dropped_and_built_anew(
    clean_database: Database, pool: ThreadPoolExecutor
) -> None:
    for name in NAMES:
        harm(clean_database, name, "invalid")
    ended = threading.Event()

    def start_until_the_end() -> list[str]:
        outcomes = []
        with clean_database.connect() as conn:
            while not ended.is_set():
                outcomes.append(Door(conn).start(str(uuid4()), request_key="k").outcome)
        return outcomes

    starts = pool.submit(start_until_the_end)
    assert build_indexes(clean_database.url) == NAMES
    ended.set()
    outcomes = starts.result(BOUND_S)
    assert set(outcomes) == {"started"}
    assert leftovers(clean_database) == []


def test_a_build_that_waits_too_long_gives_up_and_the_next_one_mends_it(
    clean_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "LONGEST_WAIT_S", 0.2)
    monkeypatch.setattr(building, "LEFTOVER_WAIT_S", 0.2)
    harm(clean_database, "runs_one_live")
    said: list[str] = []
    with clean_database.connect(autocommit=False) as slow:
        Door(slow).start("slow")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            build_indexes(clean_database.url, said.append)
        assert said[-1].startswith("what is left of runs_one_live is dropped by the next install")
        assert leftovers(clean_database) == ["lockgate_store.runs_one_live"]
    assert build_indexes(clean_database.url, said.append) == ["runs_one_live"]
    assert leftovers(clean_database) == []


def test_a_build_that_is_cancelled_leaves_nothing(
    clean_database: Database, pool: ThreadPoolExecutor
) -> None:
    harm(clean_database, "runs_one_live")
    with clean_database.connect(autocommit=False) as slow, clean_database.connect() as conn:
        # A snapshot holds up the build, and not the drop of what is left of it.
        slow.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        slow.execute("select 1")
        future = built(pool, clean_database, [])
        conn.execute("select pg_cancel_backend(pid) from pg_stat_progress_create_index")
        with pytest.raises(psycopg.errors.QueryCanceled):
            future.result(BOUND_S)
        assert leftovers(clean_database) == []


def test_an_owner_of_other_things_may_not_mend(
    clean_database: Database, bare: BareDatabase
) -> None:
    harm(clean_database, "runs_one_live")
    with connect(clean_database.url) as conn:
        conn.execute(f"grant usage on schema lockgate_store to {bare.owner}".encode())
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="must be owner"):
        build_indexes(bare.owner_of(clean_database.name))
    with connect(clean_database.url) as conn:
        conn.execute(f"revoke usage on schema lockgate_store from {bare.owner}".encode())
