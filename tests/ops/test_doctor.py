"""The doctor finds what is wrong, says what to do, and is content with what is well."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest

from lockgate_ops import doctor
from lockgate_ops.doctor import Finding, examine
from lockgate_ops.install import install
from lockgate_ops.settings import read_settings
from tests.ops.databases import BareDatabase
from tests.ops.processes import lockgate
from tests.support.cluster import Database
from tests.support.door import Door

LONG_LEASE_MS = 60_000  # a busy machine starts a doctor slowly


def _found(url: str, **given: Any) -> dict[str, Finding]:
    findings = asyncio.run(examine(read_settings(database_url=url, **given)))
    return {finding.check: finding for finding in findings}


def _levels(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.level for name, finding in found.items() if finding.level != "ok"}


def test_a_fresh_install_lacks_only_a_worker(clean_database: Database) -> None:
    found = _found(clean_database.url)
    assert _levels(found) == {"workers": "warn"}
    assert found["workers"].advice == "start one: lockgate work"


def test_all_is_well_where_a_worker_lives(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        Door(conn).beat(lease_ms=LONG_LEASE_MS)
    done = lockgate("doctor", "--json", database_url=clean_database.url)
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["ok"] is True
    assert {finding["level"] for finding in told["findings"]} == {"ok"}


def test_a_run_that_nobody_drives_is_bad(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        Door(conn).start()
    done = lockgate("doctor", database_url=clean_database.url)
    assert done.returncode == 1
    assert "bad   workers      0 alive" in done.stdout
    assert "1 runs wait" in done.stdout


def test_a_run_that_waits_long_asks_for_more_workers(
    clean_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with clean_database.connect() as conn:
        Door(conn).beat(lease_ms=LONG_LEASE_MS)
        Door(conn).start()
    assert _levels(_found(clean_database.url)) == {}
    monkeypatch.setattr(doctor, "LATE_S", 0.0)
    assert _levels(_found(clean_database.url)) == {"waiting": "warn"}


def test_a_dead_worker_with_runs_is_seen(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        door = Door(conn)
        door.driven()
        door.beat("worker-1", lease_ms=1)
        door.beat("worker-2", lease_ms=LONG_LEASE_MS)
    found = _found(clean_database.url)
    assert _levels(found) == {"workers": "warn"}
    assert "1 dead with runs" in found["workers"].said


def test_a_consumer_that_is_behind_is_named(
    clean_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "LAG_S", 0.0)
    with clean_database.connect() as conn:
        door = Door(conn)
        door.beat(lease_ms=LONG_LEASE_MS)
        door.call_many("claim_settlements", consumer="billing")
        assert _levels(_found(clean_database.url)) == {}
        door.finished()
    found = _found(clean_database.url)
    assert _levels(found) == {"settlements": "warn"}
    assert found["settlements"].said.startswith("billing is behind by 1")


def test_a_database_that_is_not_installed_is_not_looked_into_further(bare: BareDatabase) -> None:
    found = _found(bare.owner_url)
    assert found["installed"].level == "bad"
    assert found["installed"].advice == "run `lockgate install`"
    assert not {"indexes", "workers"} & set(found)


def test_another_isolation_level_is_bad(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        conn.execute(
            f"alter database {clean_database.name}"
            " set default_transaction_isolation = serializable".encode()
        )
    found = _found(clean_database.url)
    assert found["server"].level == "bad"
    assert "READ COMMITTED" in str(found["server"].advice)


def test_a_guard_that_does_not_guard_is_bad(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        conn.execute("drop index lockgate_store.runs_one_live")
        conn.execute(
            "update pg_index set indisvalid = false"
            " where indexrelid = 'lockgate_store.runs_request_key_once'::regclass"
        )
    found = _found(clean_database.url)
    assert found["installed"].level == "ok"
    assert found["indexes"].level == "bad"
    assert found["indexes"].said == "runs_one_live is missing; runs_request_key_once is invalid"
    assert "lockgate install" in str(found["indexes"].advice)
    assert "lockgate doctor --mend" in str(found["indexes"].advice)


def test_an_index_that_guards_nothing_is_only_missed(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        Door(conn).beat(lease_ms=LONG_LEASE_MS)
        conn.execute("drop index lockgate_store.deliveries_due")
    found = _found(clean_database.url)
    assert _levels(found) == {"indexes": "warn"}
    assert found["indexes"].said == "deliveries_due is missing"


def test_a_dbos_that_takes_no_drive_is_bad(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        conn.execute("drop function dbos.enqueue_workflow")
    found = _found(clean_database.url)
    assert found["installed"].level == "bad"
    assert found["installed"].said.endswith("without dbos.enqueue_workflow")
    assert found["installed"].advice == "run `lockgate install`"


def test_the_doctor_mends_a_guard_when_it_is_told_to(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        Door(conn).beat(lease_ms=LONG_LEASE_MS)
        conn.execute("drop index lockgate_store.runs_one_live")
    done = lockgate("doctor", "--mend", database_url=clean_database.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("building runs_one_live on runs; runs go on meanwhile\n")
    assert "ok    indexes      all " in done.stdout
    assert "building" not in lockgate("doctor", "--mend", database_url=clean_database.url).stdout


def test_what_is_mended_stands_beside_the_one_document(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        conn.execute("drop index lockgate_store.runs_one_live")
    done = lockgate("doctor", "--mend", "--json", database_url=clean_database.url)
    assert json.loads(done.stdout)["ok"] is True
    assert "lockgate: building runs_one_live on runs" in done.stderr


def test_a_guard_that_cannot_be_mended_is_refused_with_the_rows(clean_database: Database) -> None:
    with clean_database.connect() as conn:
        door = Door(conn)
        door.start("twice")
        door.execute("drop index lockgate_store.runs_one_live")
        door.execute(
            "insert into lockgate_store.runs (session_id, run_id, turn, drive, drive_id,"
            " dispatch_at, start_sequence, started_at) select session_id, gen_random_uuid(), 2,"
            " drive, gen_random_uuid(), dispatch_at, start_sequence, started_at"
            " from lockgate_store.runs"
        )
    done = lockgate("doctor", "--mend", database_url=clean_database.url)
    assert done.returncode == 1
    assert "lockgate: runs_one_live cannot be built" in done.stderr
    assert done.stderr.count("session_id='twice'") == 2
    assert _found(clean_database.url)["indexes"].said == "runs_one_live is missing"


def test_roles_that_are_missing_are_named_with_what_makes_them(clean_database: Database) -> None:
    name = f"nobody_{uuid4().hex[:8]}"
    found = _found(clean_database.url, dashboard_role=name)
    assert found["roles"].level == "warn"
    assert f'create role "{name}" nologin' in str(found["roles"].advice)


def test_a_direct_url_must_lead_to_the_same_database(
    clean_database: Database, bare: BareDatabase
) -> None:
    install(bare.owner_url)
    found = _found(clean_database.url, direct_url=clean_database.url)
    assert found["connection"].level == "ok"
    found = _found(clean_database.url, direct_url=bare.url)
    assert found["connection"].said == "the direct URL is another database"
    found = _found(clean_database.url, direct_url="postgresql://me:secret@127.0.0.1:1/x")
    assert found["connection"].level == "bad"
    assert "secret" not in found["connection"].said


def test_a_role_that_may_not_read_is_told_whose_member_it_must_be(
    clean_database: Database, bare: BareDatabase
) -> None:
    reader = bare.owner_of(clean_database.name)
    with clean_database.connect() as conn:
        conn.execute(f"grant lockgate_runtime to {bare.owner}".encode())
    found = _found(reader)
    assert found["work"].advice == (
        "grant it membership in lockgate_dashboard, or connect as the owner"
    )
    with clean_database.connect() as conn:
        conn.execute(f"grant lockgate_dashboard to {bare.owner}".encode())
    assert "work" not in _found(reader)


def test_a_database_that_is_away_is_one_finding() -> None:
    found = _found("postgresql://me:secret@127.0.0.1:1/app")
    assert list(found) == ["reachable"]
    assert found["reachable"].level == "bad"
    assert "secret" not in found["reachable"].said
