"""An application whose entries go through a wrapper: reference/http.md 12.2, Q14."""

from typing import Any
from uuid import UUID

import pytest

from lockgate import ProxyExecutor, RunHandle, Stop, Submitted
from tests.api.conftest import MakeApi
from tests.support.door import Door
from tests.support.rows import row


class Traced(ProxyExecutor):
    """A wrapper as an application writes it: it counts, and passes everything on."""

    count = 0

    async def start(self, *args: Any, **given: Any) -> RunHandle:
        self.count += 1
        return await super().start(*args, **given)


class Forgetful(Traced):
    """A wrapper that has forgotten to say that keys are recorded behind it."""

    supports_request_key = False


@row("Q14")
def test_a_wrapper_that_drops_the_flag_warns_once_and_sends_keyless(
    make_api: MakeApi, db: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapper = Forgetful(make_api().runtime)
    api = make_api({"executor": wrapper})
    db.drive(UUID(api.start(key="k1").json()["runId"])).finish()
    again = api.start(key="k1").json()
    assert again["status"] == "started"
    assert [run.request_key for run in db.rows("select * from lockgate_store.runs")] == [None] * 2
    logged = capsys.readouterr().out
    assert logged.count("request_key.ignored") == 1
    assert "k1" not in logged
    assert wrapper.count == 2


@row("Q4")
def test_a_wrapper_that_passes_the_flag_on_dedupes(make_api: MakeApi, db: Door) -> None:
    wrapper = Traced(make_api().runtime)
    api = make_api({"executor": wrapper})
    first = api.start(key="k1").json()
    assert api.start(key="k1").json() == {**first, "status": "attached"}
    assert (wrapper.count, len(db.rows("select from lockgate_store.runs"))) == (2, 1)


class Watching(ProxyExecutor):
    """A wrapper that notes which verbs came through it."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.verbs: list[str] = []

    async def submit_tool_result(self, *args: Any, **given: Any) -> Submitted:
        self.verbs.append("submit")
        return await super().submit_tool_result(*args, **given)

    async def interrupt(self, *args: Any, **given: Any) -> Stop:
        self.verbs.append("interrupt")
        return await super().interrupt(*args, **given)

    async def abort(self, *args: Any, **given: Any) -> Stop:
        self.verbs.append("abort")
        return await super().abort(*args, **given)


def test_answers_and_stops_go_through_the_wrapper_too(make_api: MakeApi, db: Door) -> None:
    wrapper = Watching(make_api().runtime)
    api = make_api({"executor": wrapper})
    run_id = UUID(api.start().json()["runId"])
    for verb in ("interrupt", "abort"):
        assert api.post(f"/sessions/s1/{verb}", {}).json()["status"] == "stopping"
    answer = {"kind": "client-tool-result", "toolCallId": "none", "result": 1}
    assert api.post("/sessions/s1/submit-tool-result", answer).status_code == 409
    assert wrapper.verbs == ["interrupt", "abort", "submit"]
    assert db.run(run_id).stop_kind == "abort"
