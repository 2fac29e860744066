"""Request keys on POST start, row by row: reference/http.md 12.2."""

import asyncio
from typing import Any

import httpx
import pytest

from lockgate import (
    AgentResolutionError,
    BeforeEntryContext,
    DriveFactoryContext,
    Hooks,
    Refuse,
)
from tests.api.conftest import MakeApi
from tests.api.rig import GOOD, Api, agent, as_user
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row

NATIVE, ALIAS = "X-Helix-Request-Key", "Idempotency-Key"


def refused(answer: httpx.Response, code: str, run_id: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (409, code)
    assert answer.json()["runId"] == run_id
    assert answer.json()["retryable"] is False


def finish(db: Door, run_id: str, status: str = "completed") -> None:
    db.drive(db.row("select * from lockgate_store.runs where run_id = %s", run_id).run_id).finish(
        status, **({"error_detail": {"message": "m"}} if status == "failed" else {})
    )


@case(48)
@row("Q1")
@pytest.mark.parametrize("header", [NATIVE, ALIAS])
@pytest.mark.parametrize("key", ["", "k" * 129, "a b", "a/b", "k=1", '"', "x" * 3000, "a\xff"])
def test_a_malformed_key_is_400_and_not_repeated(unread: Api, header: str, key: str) -> None:
    answer = unread.start(headers={header: key.encode("latin-1")})
    assert answer.status_code == 400
    assert (answer.json()["code"], answer.json()["field"]) == ("validation_error", "requestKey")
    assert not key or key not in answer.json()["error"]


@case(48)
@row("Q3")
@pytest.mark.parametrize("key", ["k", "k" * 128, "AZaz09._:-"])
def test_a_key_of_the_form_lies_on_the_run(api: Api, db: Door, key: str) -> None:
    assert api.start(key=key).json()["status"] == "started"
    run = db.row("select * from lockgate_store.runs")
    assert run.request_key == key
    assert len(run.request_digest) == 64


@row("Q2")
@pytest.mark.parametrize(
    "lines",
    [
        [(NATIVE, "k1"), (ALIAS, "k2")],
        [(NATIVE, "k1"), (ALIAS, '"k2"')],
        [(NATIVE, "k1"), (NATIVE, "k2")],
        [(NATIVE, "k1"), (NATIVE, "k1")],
        [(ALIAS, "k1"), (ALIAS, "k1")],
        [(NATIVE, "k1, k1")],
    ],
)
def test_two_keys_are_400(unread: Api, lines: list[tuple[str, str]]) -> None:
    answer = unread.post("/sessions/s1/start", GOOD, headers=lines)
    assert (answer.status_code, answer.json()["field"]) == (400, "requestKey")


@row("Q2")
@pytest.mark.parametrize("alias", ["k1", '"k1"'])
def test_the_alias_is_bare_or_quoted_and_may_stand_beside(api: Api, alias: str) -> None:
    first = api.start(headers={ALIAS: alias})
    again = api.start(headers={ALIAS: alias, NATIVE: "k1"})
    assert first.json()["status"] == "started"
    assert again.json() == {**first.json(), "status": "attached"}
    assert api.start(headers={NATIVE: '"k1"'}).status_code == 400


@row("Q4")
def test_the_key_of_a_live_run_attaches(api: Api, db: Door) -> None:
    api.start("s1", "before")
    finish(db, api.get("/sessions/s1/status").json()["runId"])
    first = api.start(key="k1").json()
    with db.nothing_written():
        again = api.start(key="k1")
    assert again.status_code == 200
    assert again.json() == {**first, "status": "attached"}


@row("Q5")
@pytest.mark.parametrize("status", ["completed", "failed"])
def test_the_key_of_the_current_finished_run_attaches(api: Api, db: Door, status: str) -> None:
    first = api.start(key="k1").json()
    finish(db, first["runId"], status)
    with db.nothing_written():
        again = api.start(key="k1")
    assert again.json() == {**first, "status": "attached"}


@case(23)
@row("Q6")
def test_the_key_of_an_earlier_run_is_completed(api: Api, db: Door) -> None:
    first = api.start(key="k1").json()
    finish(db, first["runId"])
    api.start("s1", "later")
    with db.nothing_written():
        answer = api.start(key="k1")
    refused(answer, "state_request_already_completed", first["runId"])


@row("Q7")
@pytest.mark.parametrize("ended", [False, True])
def test_other_input_under_a_key_is_a_conflict(api: Api, db: Door, ended: bool) -> None:
    first = api.start(key="k1").json()
    if ended:
        finish(db, first["runId"])
    with db.nothing_written():
        answers = [api.start("s1", "other", key="k1"), api.start(state={"a": 1}, key="k1")]
    for answer in answers:
        refused(answer, "state_request_key_conflict", first["runId"])


@row("Q8")
def test_another_agent_type_under_a_key_is_a_conflict(make_api: MakeApi, db: Door) -> None:
    api = make_api(agents=[agent(), agent("other")])
    first = api.start(key="k1").json()
    with db.nothing_written():
        answer = api.start(key="k1", agentType="other")
    refused(answer, "state_request_key_conflict", first["runId"])


@row("Q9")
def test_a_held_key_is_never_busy(api: Api, db: Door) -> None:
    first = api.start(key="k1").json()
    finish(db, first["runId"])
    second = api.start("s1", "second", key="k2").json()
    refused(api.start(key="k1"), "state_request_already_completed", first["runId"])
    refused(api.start("s1", "x", key="k1"), "state_request_key_conflict", first["runId"])
    assert api.start("s1", "second", key="k2").json() == {**second, "status": "attached"}
    assert api.start("s1", "third", key="k3").json()["code"] == "state_already_running"


@case(5)
@row("Q10")
def test_twenty_at_once_under_one_key_are_one_run(api: Api, db: Door) -> None:
    async def race() -> list[httpx.Response]:
        return await asyncio.gather(*(api.astart(key="k1") for _ in range(20)))

    answers = [answer.json() for answer in api.run(race())]
    assert sorted(answer["status"] for answer in answers) == ["attached"] * 19 + ["started"]
    assert len({answer["runId"] for answer in answers}) == 1
    assert db.row("select count(*) as n from lockgate_store.messages").n == 1


@case(22)
@row("Q11")
def test_a_refused_request_leaves_its_key_free(make_api: MakeApi, db: Door) -> None:
    away = OSError("the config server is away")
    troubles = [away, away, away, AgentResolutionError.not_found(AGENT, [])]
    refusals = [Refuse({"status": 403, "body": {}})]

    def resolve(context: DriveFactoryContext) -> Any:
        if ready and troubles:
            raise troubles.pop(0)
        return agent()

    async def admit(context: BeforeEntryContext) -> Refuse | None:
        return refusals.pop() if ready and refusals else None

    ready: list[bool] = []
    api = make_api(agents=resolve, hooks=Hooks(before_entry=admit))
    finish(db, api.start("s1", "first").json()["runId"])
    ready.append(True)
    for status in (503, 503, 503, 404, 403):
        with db.nothing_written():
            assert api.start(key="k1").status_code == status
    assert api.start(key="k1").json()["status"] == "started"
    assert len(db.messages()) == 2


@case(22)
@row("Q11")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"agentType": "other"}, 409),
        ({"userId": "u2"}, 400),
        ({"extra": 1}, 400),
    ],
)
def test_the_corrected_request_starts_under_the_same_key(
    make_api: MakeApi, db: Door, body: dict[str, Any], status: int
) -> None:
    api = make_api(agents=[agent(), agent("other")])
    finish(db, api.start("s1", "first", userId="u1").json()["runId"])
    with db.nothing_written():
        assert api.start(key="k1", **body).status_code == status
    assert api.start(key="k1").json()["status"] == "started"
    assert len(db.messages()) == 2


@case(22)
@row("Q11")
def test_a_busy_session_leaves_the_key_free(api: Api, db: Door) -> None:
    first = api.start("s1", "first").json()
    with db.nothing_written():
        assert api.start(key="k1").status_code == 409
    finish(db, first["runId"])
    assert api.start(key="k1").json()["status"] == "started"


@case(47)
@row("Q13")
def test_a_key_belongs_to_its_tenant_and_session(make_api: MakeApi, db: Door) -> None:
    api = make_api({"authenticate": as_user})
    names = [("t1", "s1"), ("t2", "s1"), ("t1", "s2"), ("t2", "s2")]
    answers = [
        api.start(session_id, f"{tenant} {session_id}", key="order-1", headers={"x-tenant": tenant})
        for tenant, session_id in names
    ]
    assert [answer.json()["status"] for answer in answers] == ["started"] * 4
    assert len({answer.json()["runId"] for answer in answers}) == 4
    shown = api.get("/sessions/s1/snapshot", headers={"x-tenant": "t2"}).json()["messages"]
    assert [message["parts"][0]["text"] for message in shown] == ["t2 s1"]


@row("Q12")
def test_a_key_is_free_once_its_session_is_deleted(api: Api, db: Door) -> None:
    first = api.start("s1", "hi", key="k1").json()["runId"]
    assert db.delete_session("s1").outcome == "deleted"
    answer = api.start("s1", "something else", key="k1").json()
    assert (answer["status"], answer["runId"] != first) == ("started", True)


@row("Q7")
def test_a_conflict_carries_no_byte_of_the_other_request(api: Api) -> None:
    api.start("s1", "the first secret", key="k1")
    answer = api.start("s1", "the second secret", key="k1")
    assert "secret" not in answer.text
    assert AGENT not in answer.text
