"""Wrappers around an executor: what they pass on, and what they say when they do not."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from lockgate import (
    ClientToolResult,
    Continue,
    ProxyExecutor,
    Resume,
    Retry,
    RunHandle,
    Runtime,
    Sender,
    Start,
    Stop,
    Submitted,
    ignored_request_key_warner,
)
from lockgate.requests import TRUSTED, Actor, EntryRequest

REQUESTS: list[EntryRequest] = [
    Start("s1", "support", "hi", state={"n": 1}, user_id="ann", request_key="k1"),
    Resume("s1", "support", Continue(), request_key="k1"),
    Retry("s1", "support", "r:1", "again", request_key="k1"),
]
SUBMITTED = Submitted("pick-1", "accepted", uuid4())
STOPPED = Stop("s1", "stopping", uuid4())


class Recorder:
    """An executor that keeps what it was asked, and says that its run was found."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    async def start(self, *args: Any, **given: Any) -> RunHandle:
        return self._answer("start", args, given)

    async def resume(self, *args: Any, **given: Any) -> RunHandle:
        return self._answer("resume", args, given)

    async def retry(self, *args: Any, **given: Any) -> RunHandle:
        return self._answer("retry", args, given)

    async def submit_tool_result(self, *args: Any, **given: Any) -> Submitted:
        self.asked.append(("submit_tool_result", args, given))
        return SUBMITTED

    async def interrupt(self, *args: Any, **given: Any) -> Stop:
        self.asked.append(("interrupt", args, given))
        return STOPPED

    async def abort(self, *args: Any, **given: Any) -> Stop:
        self.asked.append(("abort", args, given))
        return STOPPED

    def _answer(self, verb: str, args: Any, given: dict[str, Any]) -> RunHandle:
        self.asked.append((verb, args, given))
        return RunHandle("s1", uuid4(), 0, True, TRUSTED, _runtime=Runtime())


class Keeper(Recorder):
    supports_request_key = True


class Denier(Recorder):
    supports_request_key = False


def keys(executor: Recorder) -> list[Any]:
    return [given["request_key"] for _, _, given in executor.asked]


@pytest.mark.parametrize(
    ("executor", "supports"),
    [(Keeper(), True), (Denier(), False), (Recorder(), False), (Runtime(), True)],
)
def test_a_proxy_declares_what_is_behind_it(executor: Any, supports: bool) -> None:
    assert ProxyExecutor(executor).supports_request_key is supports
    assert ProxyExecutor(ProxyExecutor(executor)).supports_request_key is supports


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.drive)
def test_a_proxy_passes_a_request_on_and_its_handle_back(request_: EntryRequest) -> None:
    inner = Keeper()
    handle = asyncio.run(Sender(ProxyExecutor(inner)).send(request_, actor=Actor("ann")))
    ((verb, args, given),) = inner.asked
    assert handle.attached is True
    assert (verb, args[:2]) == (request_.drive, ("s1", "support"))
    assert (given["request_key"], given["actor"]) == ("k1", Actor("ann"))
    if isinstance(request_, Start):
        assert (args[2], given["state"], given["user_id"]) == ("hi", {"n": 1}, "ann")
    elif isinstance(request_, Resume):
        assert args[2] == Continue()
    else:
        assert (given["checkpoint_id"], given["message"]) == ("r:1", "again")


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("submit_tool_result", ("s1", "pick-1", ClientToolResult("red"))),
        ("interrupt", ("s1",)),
        ("abort", ("s1",)),
    ],
)
def test_a_proxy_passes_answers_and_stops_on(verb: str, args: tuple[Any, ...]) -> None:
    inner = Keeper()
    given: dict[str, Any] = {"actor": Actor("ann")}
    if len(args) == 1:
        given |= {"run_id": uuid4(), "reason": "enough", "wait": True}
    answer = asyncio.run(getattr(ProxyExecutor(ProxyExecutor(inner)), verb)(*args, **given))
    assert answer is (SUBMITTED if verb == "submit_tool_result" else STOPPED)
    assert inner.asked == [(verb, args, given)]


@pytest.mark.parametrize("executor", [Denier(), Recorder()])
def test_who_keeps_no_keys_is_sent_none_and_that_is_said_once(executor: Recorder) -> None:
    sender = Sender(executor)
    with capture_logs() as logs:
        for request in (Start("s1", "support", "hi"), *REQUESTS, *REQUESTS):
            asyncio.run(sender.send(request))
    assert keys(executor) == [None] * 7
    assert [(line["event"], line["log_level"]) for line in logs] == [
        ("request_key.ignored", "warning")
    ]
    assert "k1" not in str(logs)


def test_each_executor_warns_for_itself_and_only_of_a_key() -> None:
    first, second = (ignored_request_key_warner("theirs") for _ in range(2))
    with capture_logs() as logs:
        for key in (None, "k1", "k2"):
            first(key)
        second("k3")
    assert [line["runtime"] for line in logs] == ["theirs", "theirs"]
