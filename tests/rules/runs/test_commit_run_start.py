"""lockgate.commit_run_start: a store client's run start, refused by cause or written whole."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.support import standings
from tests.support.door import WORKER, Door, tool
from tests.support.proves import case, proves
from tests.support.standings import statuses, stepped
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


# What is accepted.


def test_a_first_run_is_written_whole(db: Door, client: StoreClient) -> None:
    db.create_session(state={"a": 1})
    answer = client.start(messages=HI, state={"b": 2}, request_key="k1", request_digest="d1")
    run, session, stream = db.run(answer.run_id), db.session(), db.stream()

    assert (answer.outcome, answer.run_status, answer.start_sequence) == ("started", "running", 0)
    assert (run.turn, run.drive, run.attempt, run.owner_id) == (1, "start", 1, None)
    assert (run.request_key, run.request_digest) == ("k1", "d1")
    assert (session.status, session.current_run_id) == ("active", run.run_id)
    assert (session.state, session.message_count) == ({"a": 1, "b": 2}, 1)
    assert (stream.status, stream.run_id, stream.attempt) == ("active", run.run_id, 1)
    assert db.workflow(run.drive_id).status == "ENQUEUED"


@pytest.mark.parametrize("status", ["active", "paused"])
def test_the_sessions_status_is_written_as_given(
    db: Door, client: StoreClient, status: str
) -> None:
    db.create_session()
    client.start(session_status=status, messages=HI)

    assert db.session().status == status


@pytest.mark.parametrize("drive", ["start", "resume", "retry", "continue"])
def test_the_drive_is_the_clients_to_say(db: Door, client: StoreClient, drive: str) -> None:
    db.finished()

    assert db.run(client.start(drive=drive).run_id).drive == drive


@pytest.mark.parametrize("standing", [standings.stranded, standings.answered, standings.demoted])
def test_a_live_run_is_superseded_and_told(db: Door, client: StoreClient, standing: Any) -> None:
    previous = standing(db)
    answer = client.start(messages=HI)
    run = db.run(previous)

    assert (answer.outcome, run.status, run.owner_id) == ("started", "superseded", None)
    assert run.completed_at is not None
    assert "superseded" in statuses(db, previous)


@pytest.mark.parametrize("drive", ["resume", "continue"])
def test_a_suspended_run_that_is_continued_settles_no_second_time(
    db: Door, client: StoreClient, drive: str
) -> None:
    previous = standings.answered(db)
    client.start(drive=drive)

    assert db.run(previous).status == "superseded"
    assert statuses(db, previous) == ["suspended_client_tool"]
    assert [part["result"] for part in db.messages()[-1].content] == ["yes", "yes"]


@pytest.mark.parametrize("suspended", [False, True])
@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_a_run_whose_terminal_commit_landed_is_finished_as_that_says(
    db: Door, client: StoreClient, status: str, suspended: bool
) -> None:
    """Its recorded owner lives, and does not block the next entry."""
    landed = standings.landed(status, suspended=suspended)(db)
    answer = client.start(finish_current={"runId": str(landed), "status": status}, messages=HI)

    assert (answer.outcome, db.run(landed).status) == ("started", status)
    assert status in statuses(db, landed)
    assert "superseded" not in statuses(db, landed)


def test_what_the_terminal_commit_said_stays_with_the_run(db: Door, client: StoreClient) -> None:
    """The session forgets it when the next run starts; a replay of a key reads it from the run."""
    for entry in ("commit_run_start", "start"):
        drive = stepped(db, session_id=entry)
        other = StoreClient(db, entry)
        other.end(drive.run_id, "failed", output={"n": 1}, error_detail={"message": "boom"})
        if entry == "start":
            db.start(entry)
        else:
            other.start(finish_current={"runId": str(drive.run_id), "status": "failed"})
        run = db.run(drive.run_id)

        assert (run.status, run.output) == ("failed", {"n": 1})
        assert run.error_detail == {"message": "boom"}
        assert (db.session(entry).output, db.session(entry).error_detail) == (None, None)


def test_without_finish_current_a_run_that_is_over_is_superseded(
    db: Door, client: StoreClient
) -> None:
    landed = standings.landed("completed", suspended=True)(db)
    client.start(messages=HI)

    assert db.run(landed).status == "superseded"


@pytest.mark.parametrize("displaced", [WORKER, None])
def test_an_owner_that_is_gone_or_displaced_stops_nobody(
    db: Door, client: StoreClient, displaced: str | None
) -> None:
    run_id = standings.executing(db) if displaced else standings.stranded(db)

    assert client.start(displace_owner=displaced).outcome == "started"
    assert db.run(run_id).status == "superseded"


# The same start again.


@proves("entry_outcome.replayed")
@case(1)
def test_a_repeat_is_a_no_op_whatever_became_of_the_run(db: Door, client: StoreClient) -> None:
    db.create_session()
    run_id = uuid4()
    asked = {"run_id": run_id, "messages": HI, "request_key": "k1", "request_digest": "d1"}
    client.start(**asked)
    drive = db.drive(run_id)
    for status in ("running", "completed"):
        with db.nothing_written():
            again = client.start(**asked)

        assert (again.outcome, again.run_id, again.run_status) == ("replayed", run_id, status)
        if status == "running":
            drive.reply(1, "done")
            drive.finish()
    db.start(say="later")
    with db.nothing_written():
        assert client.start(**asked).outcome == "replayed"


def test_what_is_expected_and_whom_it_displaces_is_no_part_of_it(
    db: Door, client: StoreClient
) -> None:
    db.create_session()
    run_id = client.start(messages=HI).run_id
    with db.nothing_written():
        again = client.start(
            run_id=run_id,
            messages='[{"role": "user", "content": "hi"}]',
            expect={"currentRunId": "x", "currentRunStatus": "y", "sessionStatus": "z"},
            displace_owner="w",
            finish_current={"runId": "x", "status": "failed"},
            state={},
        )

    assert again.outcome == "replayed"


# The causes, in their order.


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
    keyed = {"run_id": run_id, "drive": "resume", "request_key": "1", "request_digest": "k/d"}
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
    asked = {"messages": HI, "request_key": "k1", "request_digest": "d1"}
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

    assert (answer.outcome, answer.cause, answer.run_id) == ("rejected", "current_run_owned", run_id)
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


# Form and ownership.


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


ILL_FORMED: list[tuple[dict[str, Any], str]] = [
    ({"request_key": "two words", "request_digest": "d"}, "requestKey"),
    ({"request_key": "k1"}, "requestDigest"),
    ({"request_digest": "d1"}, "requestDigest"),
    ({"request_key": "k1", "request_digest": ""}, "requestDigest"),
    ({"request_key": "k1", "request_digest": "d" * 129}, "requestDigest"),
    ({"session_id": None}, "sessionId"),
    ({"session_id": ""}, "sessionId"),
    ({"tenant_id": None}, "tenantId"),
    ({"run_id": None}, "runId"),
    ({"drive": None}, "drive"),
    ({"drive": "recover"}, "drive"),
    ({"session_status": None}, "sessionStatus"),
    ({"session_status": "completed"}, "sessionStatus"),
    ({"expect": None}, "expect"),
    ({"expect": {}}, "expect"),
    ({"expect": {"currentRunId": None, "currentRunStatus": None}}, "expect"),
    ({"expect": '["currentRunId", "currentRunStatus", "sessionStatus"]'}, "expect"),
    ({"messages": "5"}, "messages"),
    ({"messages": '[{"role": "assistant", "content": "hi"}]'}, "messages"),
    ({"messages": '[{"role": "user", "content": ""}]'}, "messages"),
    ({"state": "[]"}, "state"),
    ({"drive": "resume", "keep_messages": -1}, "keepMessages"),
    ({"drive": "start", "keep_messages": 0}, "keepMessages"),
    ({"drive": "continue", "keep_messages": 0}, "keepMessages"),
    ({"finish_current": {}}, "finishCurrent"),
    ({"finish_current": "[]"}, "finishCurrent"),
    ({"finish_current": "null"}, "finishCurrent"),
    ({"finish_current": {"runId": "x", "status": "superseded"}}, "finishCurrent"),
    ({"finish_current": {"runId": "x", "status": "failed", "more": 1}}, "finishCurrent"),
    ({"finish_current": {"runId": None, "status": None}}, "finishCurrent"),
]


@proves("entry_outcome.invalid_request")
@pytest.mark.parametrize(("wrong", "field"), ILL_FORMED)
def test_what_is_not_of_the_form_is_named_and_not_repeated(
    db: Door, wrong: dict[str, Any], field: str
) -> None:
    db.finished()
    asked = {
        "session_id": "s1",
        "run_id": uuid4(),
        "drive": "start",
        "session_status": "active",
        "expect": StoreClient(db).plan(),
        **wrong,
    }
    with db.nothing_written():
        answer = db.call("commit_run_start", **asked)

    assert (answer.outcome, answer.detail) == ("invalid_request", {"field": field})


@pytest.mark.parametrize(
    "unsaid",
    ["messages", "keep_messages", "state", "request_key", "finish_current", "displace_owner"],
)
def test_what_may_be_left_out_may_be_null(db: Door, client: StoreClient, unsaid: str) -> None:
    db.finished()

    assert client.start(**{unsaid: None}).outcome == "started"


def test_a_thousand_messages_are_a_start_and_one_more_is_none(
    db: Door, client: StoreClient
) -> None:
    db.create_session()
    said = [{"role": "user", "content": "a"}] * 1001
    with db.nothing_written():
        refusal = client.start(messages=Jsonb(said))
    client.start(messages=Jsonb(said[1:]))

    assert refusal.detail == {"field": "messages"}
    assert db.session().message_count == 1000


def test_open_calls_are_abandoned_and_paired(db: Door, client: StoreClient) -> None:
    run_id = standings.awaiting_calls(db)
    client.start(messages=HI)
    results = db.messages()[-2].content

    assert [part.get("reason") for part in results] == [None, "client_tool_abandoned"]
    assert [call.status for call in db.calls(run_id)] == ["consumed", "consumed", "abandoned"]


def test_a_driven_run_may_be_continued_by_our_own_worker(db: Door, client: StoreClient) -> None:
    db.create_session()
    drive = db.drive(client.start(messages=HI).run_id)
    drive.reply(1, "", tool("a"))
    drive.result(1, 1)
    drive.step(1)

    assert drive.finish().run_status == "completed"
    assert isinstance(drive.run_id, UUID)
