"""A row that came in without the session's lock: the unique indexes are the backstop.

Whoever is refused by one of them reads again and answers by what is there; never a raw violation,
never a half-written entry.
"""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.door import Door
from tests.support.proves import case
from tests.support.racers import BOUND_S, Caller, Racers
from tests.support.standings import failed, interrupted
from tests.support.store import dump
from tests.support.store_client import StoreClient

RAW = """
  insert into lockgate_store.runs (session_id, run_id, turn, drive, status, request_key,
      request_digest, start_digest, drive_id, dispatch_at, start_sequence, started_at,
      completed_at)
    values (%s, %s, 99, 'start', %s, %s, %s, 'raw', gen_random_uuid(), now(), 0, now(), %s)
"""


def insert_raw(
    caller: Caller,
    session_id: str = "s1",
    *,
    status: str = "running",
    key: str | None = None,
    digest: str | None = None,
    run_id: UUID | None = None,
) -> UUID:
    """Insert a run as a stranger would, without any lock."""
    run_id = run_id or uuid4()
    ended = None if status == "running" or status.startswith("suspended") else "now"
    caller.execute(RAW, session_id, run_id, status, key, digest, ended)
    return run_id


def digest_of(db: Door, say: str) -> str:
    digest: str = db.row(
        "select lockgate.request_digest('execute', 'support', lockgate.read_message(%s)) as it",
        f'"{say}"',
    ).it
    return digest


def without_places(db: Door) -> dict[str, list[str]]:
    return {
        table: sorted(row.split(" ", 1)[1] for row in rows)
        for table, rows in dump(db.connection).items()
    }


@pytest.fixture(params=["idle", "stranded"])
def session(request: pytest.FixtureRequest, db: Door) -> str:
    """A session with an ended run, or with a live one that nothing executes."""
    if request.param == "idle":
        db.finished("s1")
    else:
        db.driven("s1")
    return "s1"


ONE_LIVE = "a live run in the way"
RUN_ID = "a run id in the way"
KEY = "a key in the way"


@case(21)
@pytest.mark.parametrize(
    ("digest", "outcome"),
    [("same", "request_already_completed"), ("other", "request_key_conflict")],
)
def test_a_key_that_came_in_raw_decides_by_its_digest(
    racers: Racers, db: Door, session: str, digest: str, outcome: str
) -> None:
    stranger, starter = racers.callers(2)
    raw = insert_raw(
        stranger,
        status="completed",
        key="k1",
        digest=digest_of(db, "again") if digest == "same" else "0" * 64,
    )
    before = without_places(db)
    future = racers.waiting(starter, starter.start, session, "again", request_key="k1")
    stranger.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.run_id) == (outcome, raw)
    db.execute("delete from lockgate_store.runs where run_id = %s", raw)
    assert without_places(db) == before


@case(21)
def test_a_live_run_that_holds_the_key_is_attached_to(racers: Racers, db: Door) -> None:
    db.finished("s1")
    stranger, starter = racers.callers(2)
    raw = insert_raw(stranger, key="k1", digest=digest_of(db, "again"))
    future = racers.waiting(starter, starter.start, "s1", "again", request_key="k1")
    stranger.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.run_id) == ("attached", raw)
    db.execute("delete from lockgate_store.runs where run_id = %s", raw)


@case(21)
def test_a_live_run_that_came_in_raw_is_told_as_a_changed_run(racers: Racers, db: Door) -> None:
    db.finished("s1")
    stranger, starter = racers.callers(2)
    raw = insert_raw(stranger)
    before = without_places(db)
    future = racers.waiting(starter, starter.start, "s1", "again", request_key="k1")
    stranger.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.cause, answer.run_id) == ("rejected", "current_run_changed", raw)
    db.execute("delete from lockgate_store.runs where run_id = %s", raw)
    assert without_places(db) == before
    assert db.start("s1", "again", request_key="k1").outcome == "started"


@case(21)
def test_a_run_id_that_came_in_raw_elsewhere_is_a_conflict(
    racers: Racers, db: Door, session: str
) -> None:
    stranger, starter = racers.callers(2)
    run_id = insert_raw(stranger, "elsewhere", status="completed")
    before = without_places(db)
    future = racers.waiting(starter, starter.start, session, "again", run_id=run_id)
    stranger.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.cause, answer.run_id) == ("rejected", "run_id_conflict", None)
    db.execute("delete from lockgate_store.runs where run_id = %s", run_id)
    assert without_places(db) == before


@case(21)
@pytest.mark.parametrize("way", [KEY, ONE_LIVE, RUN_ID])
def test_what_rolls_back_was_never_in_the_way(racers: Racers, db: Door, way: str) -> None:
    db.finished("s1")
    stranger, starter = racers.callers(2)
    given: dict[str, Any] = {"request_key": "k1"}
    if way == KEY:
        insert_raw(stranger, status="completed", key="k1", digest="0" * 64)
    elif way == ONE_LIVE:
        insert_raw(stranger)
    else:
        given["run_id"] = insert_raw(stranger, "elsewhere", status="completed")
    future = racers.waiting(starter, starter.start, "s1", "again", **given)
    stranger.rollback()
    answer = future.result(BOUND_S)
    starter.commit()

    assert answer.outcome == "started"
    assert db.run(answer.run_id).request_key == "k1"


@case(21, 22)
def test_a_new_session_is_not_left_behind_when_its_first_run_is_refused(
    racers: Racers, db: Door
) -> None:
    stranger, starter = racers.callers(2)
    run_id = insert_raw(stranger, "elsewhere", status="completed")
    future = racers.waiting(starter, starter.start, "new", run_id=run_id)
    stranger.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert answer.cause == "run_id_conflict"
    assert db.rows("select * from lockgate_store.sessions") == []
    db.execute("delete from lockgate_store.runs where run_id = %s", run_id)


@case(21)
def test_what_comes_in_raw_while_a_start_is_open_is_the_strangers_problem(
    racers: Racers, db: Door
) -> None:
    db.finished("s1")
    stranger, starter = racers.callers(2)
    started = starter.start("s1", "again")
    future = racers.waiting(stranger, insert_raw, stranger, "s1")
    starter.commit()
    with pytest.raises(Exception, match="runs_one_live"):
        future.result(BOUND_S)
    stranger.rollback()

    assert started.outcome == "started"


@case(21)
@pytest.mark.parametrize("status", ["completed", "failed", "interrupted", "superseded"])
def test_however_the_run_ended_that_holds_the_key_it_is_told(
    racers: Racers, db: Door, session: str, status: str
) -> None:
    stranger, starter = racers.callers(2)
    raw = insert_raw(stranger, status=status, key="k1", digest=digest_of(db, "again"))
    before = without_places(db)
    future = racers.waiting(starter, starter.start, session, "again", request_key="k1")
    stranger.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.run_id) == ("request_already_completed", raw)
    db.execute("delete from lockgate_store.runs where run_id = %s", raw)
    assert without_places(db) == before


@case(21)
@pytest.mark.parametrize("key", [None, "other"])
@pytest.mark.parametrize(
    "status",
    ["running", "suspended_client_tool", "suspended_awaiting_children", "suspended_step_partial"],
)
def test_a_raw_run_of_any_live_status_is_told_as_a_changed_run(
    racers: Racers, db: Door, status: str, key: str | None
) -> None:
    db.finished("s1")
    stranger, starter = racers.callers(2)
    raw = insert_raw(stranger, status=status, key=key, digest="0" * 64 if key else None)
    before = without_places(db)
    future = racers.waiting(starter, starter.start, "s1", "again", request_key="k1")
    stranger.commit()
    answer = future.result(BOUND_S)
    starter.commit()

    assert (answer.outcome, answer.cause, answer.run_id) == ("rejected", "current_run_changed", raw)
    db.execute("delete from lockgate_store.runs where run_id = %s", raw)
    assert without_places(db) == before


@case(21)
@pytest.mark.parametrize(
    ("way", "outcome"), [(KEY, "request_key_conflict"), (ONE_LIVE, "current_run_changed")]
)
@pytest.mark.parametrize("entry", ["retry", "resume"])
def test_an_entry_that_goes_back_takes_nothing_away_when_it_is_refused(
    racers: Racers, db: Door, entry: str, way: str, outcome: str
) -> None:
    run_id = failed(db) if entry == "retry" else interrupted(db)
    options = {"mode": "from_checkpoint", "checkpointId": f"{run_id}:1"}
    given = {"options": options} if entry == "resume" else {}
    stranger, caller = racers.callers(2)
    if way == KEY:
        raw = insert_raw(stranger, status="completed", key="k1", digest="0" * 64)
    else:
        raw = insert_raw(stranger)
    before = without_places(db)
    future = racers.waiting(caller, getattr(caller, entry), "s1", request_key="k1", **given)
    stranger.commit()
    answer = future.result(BOUND_S)
    caller.commit()

    assert (answer.cause or answer.outcome, answer.run_id) == (outcome, raw)
    db.execute("delete from lockgate_store.runs where run_id = %s", raw)
    assert without_places(db) == before


@case(21)
@pytest.mark.parametrize(
    ("way", "cause"),
    [
        (KEY, "request_key_taken"),
        (ONE_LIVE, "current_run_changed"),
        (RUN_ID, "run_id_conflict"),
    ],
)
def test_a_store_clients_run_start_is_refused_by_its_cause(
    racers: Racers, db: Door, way: str, cause: str
) -> None:
    db.finished("s1")
    stranger, caller = racers.callers(2)
    given: dict[str, Any] = {"request_key": "k1", "request_digest": "d1", "run_id": uuid4()}
    if way == KEY:
        raw = insert_raw(stranger, status="completed", key="k1", digest="d1")
    elif way == ONE_LIVE:
        raw = insert_raw(stranger)
    else:
        raw = insert_raw(stranger, "elsewhere", status="completed", run_id=given["run_id"])
    before = without_places(db)
    future = racers.waiting(caller, StoreClient(caller).start, **given)
    stranger.commit()
    answer = future.result(BOUND_S)
    caller.commit()

    assert (answer.outcome, answer.cause) == ("rejected", cause)
    db.execute("delete from lockgate_store.runs where run_id = %s", raw)
    assert without_places(db) == before
