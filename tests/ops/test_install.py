"""An install ends in the same database whoever runs it, how often, and with what."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

import lockgate_sql
from lockgate_ops.binaries import find_bindir
from lockgate_ops.install import InstallSettings, install, install_rules, migrate_dbos
from tests.ops.databases import BareDatabase, bare_database, schema_dump
from tests.ops.processes import lockgate
from tests.support.cluster import Database
from tests.support.connections import connect
from tests.support.door import Door

AT_ONCE = 8
SQL = Path(lockgate_sql.__file__).parent


@pytest.fixture
def bindir(pytestconfig: pytest.Config) -> Path:
    """The programs that fit the server."""
    return find_bindir(pytestconfig.getoption("--pg-bin"))


@pytest.fixture
def migrated(bare: BareDatabase) -> BareDatabase:
    """A bare database with DBOS's tables."""
    migrate_dbos(bare.owner_url, "dbos")
    return bare


@pytest.fixture
def another(clean_database: Database) -> Iterator[BareDatabase]:
    """A second bare database, of another owner."""
    with bare_database(clean_database.url) as made:
        yield made


def _works(url: str) -> None:
    with connect(url) as conn:
        door = Door(conn)
        assert door.start().outcome == "started"
        assert door.row("select count(*) as runs from lockgate.run_ledger").runs == 1


def test_a_role_that_owns_nothing_but_its_database_installs_and_works(bare: BareDatabase) -> None:
    done = lockgate("install", database_url=bare.owner_url)
    assert done.returncode == 0, done.stderr
    assert "installed: Lockgate" in done.stdout
    _works(bare.owner_url)


def test_a_second_install_changes_nothing_and_keeps_the_rows(
    bindir: Path, bare: BareDatabase
) -> None:
    assert install(bare.owner_url) == []
    _works(bare.owner_url)
    first = schema_dump(bindir, bare.url)
    assert install(bare.owner_url) == []
    assert schema_dump(bindir, bare.url) == first
    with connect(bare.owner_url) as conn:
        assert Door(conn).start(request_key="k", session_id="s2").outcome == "started"
        assert len(Door(conn).rows("select * from lockgate_store.runs")) == 2


def test_installs_at_once_end_in_one(bare: BareDatabase) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = [*pool.map(install, [bare.owner_url] * AT_ONCE)]
    assert told == [[]] * AT_ONCE
    _works(bare.owner_url)


def test_a_guard_of_a_live_database_is_mended_before_the_rules_are_remade(
    bindir: Path, bare: BareDatabase
) -> None:
    install(bare.owner_url)
    _works(bare.owner_url)
    first = schema_dump(bindir, bare.url)
    with connect(bare.url) as conn:
        conn.execute(
            "update pg_index set indisvalid = false"
            " where indexrelid = 'lockgate_store.runs_one_live'::regclass"
        )
        conn.execute("drop index lockgate_store.runs_request_key_once")
    done = lockgate("install", database_url="postgresql://nowhere/", direct_url=bare.owner_url)
    assert done.returncode == 0, done.stderr
    told = [line.partition(", after")[0] for line in done.stdout.splitlines()]
    assert told[:-1] == [
        "runs_one_live is invalid: dropping it",
        "building runs_one_live on runs; runs go on meanwhile",
        "runs_one_live is whole",
        "building runs_request_key_once on runs; runs go on meanwhile",
        "runs_request_key_once is whole",
    ]
    assert told[-1].startswith("installed: Lockgate")
    assert schema_dump(bindir, bare.url) == first


def test_psql_alone_installs_what_python_does(
    bindir: Path, migrated: BareDatabase, another: BareDatabase
) -> None:
    psql = [str(bindir / "psql"), "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", migrated.owner_url]
    subprocess.run(
        [*psql, "-f", str(SQL / "install.sql")], check=True, stdout=subprocess.DEVNULL, cwd="/"
    )
    migrate_dbos(another.owner_url, "dbos")
    assert install_rules(another.owner_url, InstallSettings()) == []
    by_psql = schema_dump(bindir, migrated.url)
    by_python = schema_dump(bindir, another.url)
    assert by_psql.replace(migrated.owner, "owner") == by_python.replace(another.owner, "owner")
    assert "CREATE FUNCTION lockgate.start" in by_psql
    _works(migrated.owner_url)


def test_roles_that_may_not_be_made_are_told_and_the_rest_is_installed(
    bare: BareDatabase,
) -> None:
    done = lockgate("install", "--runtime-role", "their_app", database_url=bare.owner_url)
    assert done.returncode == 0, done.stderr
    assert "role their_app does not exist" in done.stdout
    assert "create role their_app nologin; then install again" in done.stdout
    _works(bare.owner_url)


def test_dbos_may_have_a_schema_of_another_name(bare: BareDatabase) -> None:
    assert install(bare.owner_url, InstallSettings(dbos_schema="Their DBOS")) == []
    _works(bare.owner_url)
    with connect(bare.owner_url) as conn:
        query = 'select count(*) as drives from "Their DBOS".workflow_status'
        assert Door(conn).row(query).drives == 1


def test_a_view_of_the_users_stops_an_install_that_names_it(bare: BareDatabase) -> None:
    install(bare.owner_url)
    with connect(bare.owner_url) as conn:
        conn.execute("create schema mine create view mine_v as select * from lockgate.run_ledger")
    done = lockgate("install", database_url=bare.owner_url)
    assert done.returncode == 1
    assert "mine.mine_v" in done.stderr
    assert done.stderr.count("\n") == 1
    _works(bare.owner_url)


def test_an_install_waits_a_bounded_time_for_a_live_systems_transaction(
    bare: BareDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(bare.owner_url)
    monkeypatch.setattr("lockgate_ops.install.LOCK_TIMEOUT_MS", 200)
    with connect(bare.owner_url, autocommit=False) as conn:
        conn.execute("select * from lockgate.run_ledger")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            install_rules(bare.owner_url, InstallSettings())
    _works(bare.owner_url)


def test_python_itself_is_quiet_about_what_it_imports() -> None:
    quiet = "import lockgate_ops.serve, lockgate_ops.work, lockgate_ops.doctor, lockgate_ops.demo"
    subprocess.run([sys.executable, "-W", "error", "-c", quiet], check=True)
