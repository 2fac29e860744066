"""lockgate.check_installation: what is installed, for a process that must fit it."""

from tests.support.door import Door


def test_a_fresh_installation_is_whole(db: Door) -> None:
    seen = db.call("check_installation")

    assert (seen.drive_version, seen.dbos_schema, seen.broken) == ("drive-1", "dbos", [])
    assert len(seen.rules_digest) == 64


def test_a_missing_guard_is_named(db: Door) -> None:
    db.execute("drop index lockgate_store.runs_one_live")
    db.execute("drop function dbos.enqueue_workflow")

    assert db.call("check_installation").broken == ["runs_one_live", "dbos.enqueue_workflow"]


def test_an_edit_by_hand_shows(db: Door) -> None:
    before = db.call("check_installation").rules_digest
    db.execute(
        "create or replace function lockgate.consumers_lock() returns bigint language sql"
        " immutable as 'select 1::bigint'"
    )

    assert db.call("check_installation").rules_digest != before
