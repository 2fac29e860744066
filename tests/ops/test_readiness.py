"""A process that does not fit its database does not start, and says which command mends it."""

import asyncio
from importlib.metadata import version

import pytest

import lockgate_sql
from lockgate.worker import DRIVE_VERSION
from lockgate_ops import readiness
from lockgate_ops.readiness import Ready, require_ready
from lockgate_ops.refusals import Refused
from tests.ops.databases import BareDatabase
from tests.ops.processes import lockgate
from tests.support.cluster import Database
from tests.support.door import Door

MENDED_BY = "run `lockgate install`"


def _refusal(url: str) -> str:
    with pytest.raises(Refused, match=MENDED_BY) as refused:
        asyncio.run(require_ready(url))
    assert refused.value.code == 1
    return str(refused.value)


def test_a_fresh_install_is_ready_and_says_what_it_found(clean_database: Database) -> None:
    found = asyncio.run(require_ready(clean_database.url))
    assert found == Ready(dbos_schema="dbos", is_direct=True)


def test_the_versions_in_sql_are_those_of_the_package(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        installed = Door(conn).call("check_installation")
    assert installed.package_version == version("lockgate")
    assert installed.drive_version == DRIVE_VERSION == readiness.DRIVE_VERSION
    assert installed.rules_digest == readiness.rules_digest()
    assert installed.broken == []


def test_every_function_of_the_rules_counts_in_their_digest(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        row = Door(conn).row(
            "select count(*) as functions from pg_proc p"
            " where p.pronamespace = 'lockgate'::regnamespace"
        )
    written = "".join(lockgate_sql.text(path) for path in lockgate_sql.rule_files())
    assert row.functions == len(readiness._FUNCTION.findall(written))


def test_a_database_without_lockgate_is_refused(bare: BareDatabase) -> None:
    assert "is not installed" in _refusal(bare.owner_url)


def test_rules_that_were_edited_by_hand_are_refused(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        conn.execute(
            "create or replace function lockgate.is_live(p_status text) returns boolean"
            " language sql immutable as 'select true'"
        )
    assert "are not those of this Lockgate" in _refusal(clean_database.url)


@pytest.mark.parametrize(
    ("ours", "drive_version"), [("0.2.0", DRIVE_VERSION), (version("lockgate"), "drive-2")]
)
def test_rules_of_another_release_are_refused_and_both_are_named(
    clean_database: Database, monkeypatch: pytest.MonkeyPatch, ours: str, drive_version: str
) -> None:
    monkeypatch.setattr(readiness, "version", lambda _name: ours)
    monkeypatch.setattr(readiness, "DRIVE_VERSION", drive_version)
    told = _refusal(clean_database.url)
    assert f"has Lockgate {version('lockgate')} ({DRIVE_VERSION})" in told
    assert f"this is {ours} ({drive_version})" in told


def test_a_newer_patch_release_starts_over_older_rules(
    clean_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "version", lambda _name: "0.1.99")
    monkeypatch.setattr(readiness, "rules_digest", lambda: "of other rules")
    assert asyncio.run(require_ready(clean_database.url)).is_direct


@pytest.mark.parametrize(
    ("harm", "lost"),
    [
        ("drop index lockgate_store.runs_one_live", "runs_one_live"),
        (
            "update pg_index set indisvalid = false"
            " where indexrelid = 'lockgate_store.runs_request_key_once'::regclass",
            "runs_request_key_once",
        ),
        ("drop index lockgate_store.runs_run_id_once", "runs_run_id_once"),
        ("drop index lockgate_store.tool_calls_announced_once", "tool_calls_announced_once"),
        ("drop function dbos.enqueue_workflow", "dbos.enqueue_workflow"),
    ],
)
def test_a_guard_that_does_not_guard_is_refused_by_its_name(
    clean_database: Database, harm: str, lost: str
) -> None:
    with clean_database.connect() as conn:
        conn.execute(harm.encode())
    told = _refusal(clean_database.url)
    assert told.startswith(f"missing or invalid in the database: {lost}: ")
    assert "`lockgate doctor` shows" in told
    assert "`lockgate doctor --mend` builds" in told


@pytest.mark.parametrize("command", [("serve", "--allow-unauthenticated"), ("work",)])
def test_serve_and_work_do_not_start_over_an_invalid_guard(
    clean_database: Database, command: tuple[str, ...]
) -> None:
    with clean_database.connect() as conn:
        conn.execute(
            "update pg_index set indisvalid = false"
            " where indexrelid = 'lockgate_store.runs_one_live'::regclass"
        )
    done = lockgate(*command, database_url=clean_database.url, port="0")
    assert done.returncode == 1
    assert "ready" not in done.stdout
    assert "missing or invalid in the database: runs_one_live: " in done.stderr


def test_a_role_without_rights_is_told_whose_member_it_must_be(
    clean_database: Database, bare: BareDatabase
) -> None:
    stranger = bare.owner_of(clean_database.name)
    with pytest.raises(Refused, match="membership in lockgate_runtime"):
        asyncio.run(require_ready(stranger))
    with clean_database.connect() as conn:
        conn.execute(f"grant lockgate_runtime to {bare.owner}".encode())
    assert asyncio.run(require_ready(stranger)).dbos_schema == "dbos"
