"""lockgate.get_run_by_request_key: who holds a key, in its session and in no other."""

from typing import Any

import pytest

from tests.support.door import Door
from tests.support.proves import case

MANY = """
  insert into lockgate_store.runs (session_id, run_id, turn, drive, start_sequence, started_at,
      completed_at, status, drive_id, dispatch_at, request_key, request_digest)
    select 'many', gen_random_uuid(), n, 'start', 0, now(), now(), 'completed', gen_random_uuid(),
           now(), 'key-' || n, 'digest'
      from generate_series(1, 5000) n
"""


def holder(db: Door, key: object = "k1", **more: object) -> Any:
    return db.call("get_run_by_request_key", **{"session_id": "s1", "request_key": key, **more})


def test_a_key_finds_its_run_whatever_its_status_and_what_came_later(db: Door) -> None:
    drive = db.driven(request_key="k1")
    assert holder(db).run_id == drive.run_id
    drive.finish("failed")
    db.finished(say="next", request_key="k2")

    assert (holder(db).run_id, holder(db).status) == (drive.run_id, "failed")
    assert holder(db) == db.call("get_run", session_id="s1", run_id=drive.run_id)


@case(47)
def test_a_key_finds_no_run_of_another_session_or_tenant(db: Door) -> None:
    own = db.start("s1", request_key="k1").run_id
    other = db.start("s2", request_key="k1").run_id
    foreign = db.start("s1", request_key="k1", tenant_id="t2").run_id
    db.start("s3", request_key="only-here")

    assert holder(db).run_id == own
    assert holder(db, session_id="s2").run_id == other
    assert holder(db, tenant_id="t2").run_id == foreign
    assert holder(db, "only-here").run_id is None


@pytest.mark.parametrize("key", ["k2", "", "no key of the form", "k" * 129, None])
def test_what_no_run_holds_is_an_empty_row(db: Door, key: str | None) -> None:
    db.start(request_key="k1")
    db.start("s2")
    with db.nothing_written():
        assert set(vars(holder(db, key)).values()) == {None}


def test_another_users_session_is_an_empty_row(db: Door) -> None:
    db.start(request_key="k1", user_id="ann")

    assert holder(db, acting_user_id="ann").status == "running"
    assert set(vars(holder(db, acting_user_id="eve")).values()) == {None}


def test_it_reads_an_index_and_never_the_whole_table(db: Door) -> None:
    scans = "select pg_stat_get_xact_numscans('lockgate_store.runs'::regclass) as n"
    db.execute("begin")
    db.execute(MANY)
    db.execute("analyze lockgate_store.runs")
    before = db.row(scans).n
    for number in range(20):
        holder(db, f"key-{number}", session_id="many")
    after = db.row(scans).n
    db.execute("rollback")

    assert after == before
