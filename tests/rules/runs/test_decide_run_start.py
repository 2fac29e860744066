"""lockgate.decide_run_start: seven causes in their order, each with its detail.

A refused start writes nothing and leaves its key free.
"""

from typing import Any
from uuid import uuid4

import pytest

from tests.support import standings
from tests.support.door import WORKER, Door
from tests.support.proves import case, proves
from tests.support.store_client import StoreClient

HI = '"hi"'


@pytest.fixture
def client(db: Door) -> StoreClient:
    return StoreClient(db)


def refused(db: Door, client: StoreClient, **given: Any) -> Any:
    """Commit a start that is refused, and hold that it writes nothing and leaves the key free."""
    keyed = {"request_key": "k9", "request_digest": "d9", **given}
    with db.nothing_written():
        answer = client.start(**keyed)
    found = db.call("get_run_by_request_key", session_id="s1", request_key="k9")
    assert found.run_id is None
    return answer


DIFFERENT: list[dict[str, Any]] = [
    {"messages": '"ho"'},
    {"messages": None},
    {"state": {"a": 1}},
    {"drive": "retry"},
    {"session_status": "paused"},
    {"request_key": "k2", "request_digest": "d1"},
    {"request_key": None, "request_digest": None},
    {"request_digest": "d2"},
    {"drive": "resume", "keep_messages": 0},
]


@proves("cause.run_id_conflict")
@pytest.mark.parametrize("other", DIFFERENT)
def test_another_start_under_the_runs_id_is_a_conflict(
    db: Door, client: StoreClient, other: dict[str, Any]
) -> None:
    db.create_session()
    asked: dict[str, Any] = {"messages": HI, "request_key": "k1", "request_digest": "d1"}
    run_id = client.start(**asked).run_id
    with db.nothing_written():
        answer = client.start(**{**asked, "run_id": run_id, **other})

    assert (answer.outcome, answer.cause) == ("rejected", "run_id_conflict")
    assert (answer.run_id, answer.detail) == (run_id, {"existingRunId": str(run_id)})


def test_a_cut_and_a_key_are_never_taken_for_each_other(db: Door, client: StoreClient) -> None:
    db.finished()
    run_id = uuid4()
    keyed: dict[str, Any] = {
        "run_id": run_id,
        "drive": "resume",
        "request_key": "1",
        "request_digest": "k/d",
    }
    assert client.start(**keyed).outcome == "started"
    cut = {**keyed, "keep_messages": 1, "request_key": "k", "request_digest": "d"}
    with db.nothing_written():
        assert client.start(**cut).cause == "run_id_conflict"


@proves("cause.run_id_conflict")
@pytest.mark.parametrize("elsewhere", [{"session_id": "s2"}, {"tenant_id": "t2"}])
def test_a_run_id_of_any_other_session_is_a_conflict_that_tells_nothing(
    db: Door, client: StoreClient, elsewhere: dict[str, str]
) -> None:
    taken = db.start(**{"session_id": "s1", **elsewhere}).run_id
    db.create_session()
    answer = refused(db, client, run_id=taken)

    assert (answer.cause, answer.run_id, answer.run_status) == ("run_id_conflict", None, None)
    assert answer.detail == {"existingRunId": str(taken)}, "which the caller named"


@proves("cause.request_key_taken")
@case(21)
@pytest.mark.parametrize("status", ["running", "completed", "superseded"])
def test_the_holder_of_the_key_is_named_whatever_its_status(
    db: Door, client: StoreClient, status: str
) -> None:
    db.create_session()
    asked: dict[str, Any] = {"messages": HI, "request_key": "k1", "request_digest": "d1"}
    holder = client.start(**asked).run_id
    if status == "completed":
        db.drive(holder).finish()
    if status == "superseded":
        client.start(messages=HI)
    stale = {"currentRunId": None, "currentRunStatus": None, "sessionStatus": None}
    for expect in (client.plan(), stale):
        with db.nothing_written():
            answer = client.start(**{**asked, "expect": expect})

        assert (answer.outcome, answer.cause) == ("rejected", "request_key_taken")
        assert (answer.run_id, answer.run_status) == (holder, status)
        assert answer.detail == {"existingRunId": str(holder)}


@proves("cause.current_run_changed")
def test_another_current_run_than_the_plan_saw(db: Door, client: StoreClient) -> None:
    db.finished()
    plan = client.plan()
    later = db.finished(say="later")
    for seen in (plan, {**plan, "currentRunId": None}, {**plan, "currentRunId": 7}):
        answer = refused(db, client, expect=seen)

        assert (answer.outcome, answer.cause) == ("rejected", "current_run_changed")
        assert (answer.run_id, answer.detail) == (later, {"currentRunId": str(later)})


def test_a_session_that_never_ran_has_no_run_to_expect(db: Door, client: StoreClient) -> None:
    db.create_session()
    answer = refused(db, client, expect={**client.plan(), "currentRunId": str(uuid4())})

    assert (answer.cause, answer.run_id) == ("current_run_changed", None)
    assert answer.detail == {"currentRunId": None}


@proves("cause.current_run_status_changed")
def test_another_status_of_the_run_than_the_plan_saw(db: Door, client: StoreClient) -> None:
    drive = db.driven()
    plan = client.plan()
    drive.finish()
    answer = refused(db, client, expect=plan)

    assert (answer.outcome, answer.cause) == ("rejected", "current_run_status_changed")
    assert answer.detail == {
        "currentRunId": str(drive.run_id),
        "currentRunStatus": "completed",
    }


@proves("cause.finish_current_invalid")
@pytest.mark.parametrize(
    ("standing", "run", "status"),
    [
        (standings.stranded, "this", "completed"),  # it has not landed
        (standings.landed("failed", suspended=False), "this", "completed"),  # as another
        (standings.landed("failed", suspended=False), "other", "failed"),  # of another run
        (standings.completed, "this", "completed"),  # the run is not live
        (standings.never_run, "other", "completed"),  # there is none
    ],
)
def test_an_end_that_has_not_landed_finishes_nothing(
    db: Door, client: StoreClient, standing: Any, run: str, status: str
) -> None:
    current = standing(db)
    named = str(current if run == "this" else uuid4())
    answer = refused(db, client, finish_current={"runId": named, "status": status})

    assert (answer.outcome, answer.cause) == ("rejected", "finish_current_invalid")
    assert answer.detail == {"currentRunId": str(current) if current else None}


@proves("cause.current_run_owned")
@pytest.mark.parametrize("displaced", [None, "worker-2"])
def test_a_run_that_a_living_worker_has_is_its_own(
    db: Door, client: StoreClient, displaced: str | None
) -> None:
    run_id = standings.executing(db)
    answer = refused(db, client, displace_owner=displaced)

    assert (answer.outcome, answer.cause, answer.run_id) == (
        "rejected",
        "current_run_owned",
        run_id,
    )
    assert answer.detail == {"currentRunId": str(run_id), "ownerId": WORKER}


@proves("cause.session_status_changed")
def test_another_status_of_the_session_than_the_plan_saw(db: Door, client: StoreClient) -> None:
    db.finished()
    answer = refused(db, client, expect={**client.plan(), "sessionStatus": "active"})

    assert (answer.outcome, answer.cause) == ("rejected", "session_status_changed")
    assert answer.detail == {"sessionStatus": "completed"}


def test_a_session_that_is_being_finished_is_terminal_by_then(
    db: Door, client: StoreClient
) -> None:
    landed = standings.landed("completed", suspended=False)(db)
    finish = {"runId": str(landed), "status": "completed"}
    answer = refused(
        db, client, finish_current=finish, expect={**client.plan(), "sessionStatus": "active"}
    )

    assert answer.cause == "session_status_changed"


@pytest.mark.parametrize("owner", ["ann", None])
def test_no_session_and_another_users_answer_alike(
    db: Door, client: StoreClient, owner: str | None
) -> None:
    run_id = db.finished(user_id=owner, request_key="k1")
    with db.nothing_written():
        answers = [
            client.start(acting_user_id="eve"),
            client.start(acting_user_id="eve", run_id=run_id),
            client.start(acting_user_id="eve", request_key="k1", request_digest="d"),
            StoreClient(db, "nobody").start(),
            StoreClient(db, "s1", tenant_id="t2").start(),
        ]

    assert {(each.outcome, each.run_id, each.detail) for each in answers} == {
        ("session_not_found", None, None)
    }
