"""GET usage, and stores of the application's own: reference/http.md 10, 12.3 and 12.8."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lockgate import EntryRefused
from tests.api.conftest import MakeApi
from tests.api.rig import Api, as_user, driven, error
from tests.support.door import Door
from tests.support.rows import row

TOKENS = {"kind": "tokens", "source": "agent", "model": "m", "tokens": {"total": 7}}


class Billing:
    """A usage store of an application's."""

    def __init__(self, raises: Exception | None = None) -> None:
        self.raises = raises
        self.told: list[Any] = []

    async def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        raise AssertionError("nothing is driven here")

    async def rollup(self) -> Mapping[str, Any]:
        if self.raises is not None:
            raise self.raises
        return {"tokens": {"total": 12}}

    def __call__(self, context: Any) -> "Billing":
        self.told.append(context)
        return self


def usage(api: Api, session_id: str = "s1", **more: Any) -> Any:
    return api.get(f"/sessions/{session_id}/usage", **more)


@row("G1")
def test_what_the_commits_have_recorded_is_summed_up(api: Api, db: Door) -> None:
    drive = driven(api, db)
    drive.reply(
        1,
        "hello",
        usage='[{"kind":"tokens","source":"agent","model":"m","tokens":{"prompt":3,"total":5}}]',
    )
    drive.finish()
    answer = usage(api)
    assert answer.status_code == 200
    assert answer.json() == {
        "sessionId": "s1",
        "rollup": {
            "tokens": {"prompt": 3, "total": 5},
            "tokensByModel": {"m": {"prompt": 3, "total": 5}},
            "toolStats": {
                "totalCalls": 0,
                "successCount": 0,
                "failureCount": 0,
                "totalDurationMs": 0,
                "byTool": {},
            },
            "subAgentStats": {"totalCalls": 0, "byType": {}},
            "custom": {},
        },
    }


@row("G2")
def test_no_session_has_no_usage(make_api: MakeApi) -> None:
    api = make_api({"authenticate": as_user})
    api.start(headers={"x-user": "ann"})
    assert error(usage(api, "nobody")) == (404, "NOT_FOUND", False)
    assert error(usage(api, headers={"x-user": "bob"})) == (404, "NOT_FOUND", False)
    assert usage(api, headers={"x-user": "ann"}).status_code == 200


def test_a_store_of_the_applications_is_the_only_one(make_api: MakeApi, db: Door) -> None:
    billing = Billing()
    api = make_api(usage_store=billing, env="the env")
    api.start(userId="ann")
    assert usage(api).json()["rollup"] == {"tokens": {"total": 12}}
    assert usage(api, "nobody").status_code == 404
    drive, read = billing.told
    assert (drive.purpose, drive.run_id) == ("drive", str(db.session().current_run_id))
    assert (read.purpose, read.env, read.session_id) == ("usage_read", "the env", "s1")
    assert read.identity.user_id == "ann"
    assert not hasattr(read, "run_id")
    with pytest.raises(EntryRefused) as refused:
        api.runtime.session_usage("s1")
    assert refused.value.code == "framework_not_supported"


@row("G6")
@pytest.mark.parametrize("is_factory", [True, False])
def test_a_store_that_fails_is_503_and_tells_nothing(
    make_api: MakeApi, db: Door, is_factory: bool
) -> None:
    make_api().start()

    async def away(context: Any) -> Any:
        raise RuntimeError("postgres://app:hunter2@billing/x")

    broken = Billing(RuntimeError("postgres://app:hunter2@billing/x"))
    answer = usage(make_api(usage_store=away if is_factory else broken))
    assert error(answer) == (503, "framework_usage_store_unavailable", True)
    assert "hunter2" not in answer.text


@row("E21")
def test_a_usage_store_that_cannot_be_had_stops_the_entry(make_api: MakeApi, db: Door) -> None:
    def away(context: Any) -> Any:
        raise RuntimeError("billing is away")

    api = make_api(usage_store=away)
    with db.nothing_written():
        answer = api.start(key="k1")
    assert error(answer) == (503, "framework_usage_store_unavailable", True)
    assert make_api().start(key="k1").json()["status"] == "started", "its key is free"


def test_the_built_in_store_is_bound_to_its_session(api: Api, db: Door) -> None:
    api.start("s1")
    other = driven(api, db, "s2")
    store = api.runtime.session_usage("s1")
    for foreign in ({**TOKENS, "sessionId": "s2"}, {**TOKENS, "runId": str(other.run_id)}):
        with db.nothing_written(), pytest.raises(EntryRefused) as refused:
            api.run(store.record([TOKENS, foreign]))
        assert (refused.value.code, refused.value.retryable) == ("validation_error", False)
    other.reply(1, "hello", usage='[{"kind":"custom","source":"tool","type":"pages","value":3}]')
    api.run(store.record([{**TOKENS, "id": "e1"}, {**TOKENS, "sessionId": "s1"}]))
    api.run(store.record([{**TOKENS, "id": "e1"}]))
    entries = api.run(store.entries())
    assert [(entry["kind"], entry["tokens"]) for entry in entries] == [("tokens", {"total": 7})] * 2
    assert {entry["runId"] for entry in entries} == {str(db.session("s1").current_run_id)}
    rollup = api.run(store.rollup())
    assert (rollup["tokens"], rollup["custom"]) == ({"total": 14}, {})


def test_a_store_of_no_session_takes_and_reads_nothing(api: Api, db: Door) -> None:
    store = api.runtime.session_usage("nobody")
    for work in (store.record([TOKENS]), store.entries(), store.rollup()):
        with pytest.raises(EntryRefused) as refused:
            api.run(work)
        assert refused.value.code == "state_session_not_found"
