"""Submits that another host owns, against a fake peer: reference/http.md 7.4 and 12.6."""

import asyncio
from typing import Any

import pytest

from lockgate import Actor, PeerAnswer, Submit
from tests.api.conftest import MakeApi
from tests.api.pending import failure, result, submit, suspended
from tests.api.rig import Api, as_user, error
from tests.support.door import Door
from tests.support.rows import row


class Peer:
    """The host that owns what is unknown here: it answers as it is told to."""

    def __init__(self, status: int = 200, body: Any = None) -> None:
        self.answer: PeerAnswer | None = PeerAnswer(status, body)
        self.raises: Exception | None = None
        self.is_silent = False
        self.asked: list[Submit] = []

    async def __call__(self, submit: Submit) -> PeerAnswer | None:
        self.asked.append(submit)
        if self.is_silent:
            await asyncio.Event().wait()
        if self.raises is not None:
            raise self.raises
        return self.answer


RUN = "3f2c0f0e-6a3b-4f0e-9d59-0a4f0f3c2b1d"


def asking(make_api: MakeApi, peer: Peer, **more: Any) -> Api:
    return make_api(submit_forwarder=peer, **more)


@pytest.mark.parametrize(
    "body",
    [
        {"status": "accepted", "toolCallId": "call-1", "runId": RUN},
        {"status": "accepted", "toolCallId": "call-1", "runId": None},
        {"status": "already_completed", "toolCallId": "call-1", "approved": False},
    ],
)
def test_the_owners_success_is_ours(make_api: MakeApi, body: dict[str, Any]) -> None:
    peer = Peer(200, body)
    answer = submit(asking(make_api, peer), result({"a": 1}))
    assert (answer.status_code, answer.json()) == (200, body)
    (sent,) = peer.asked
    assert sent.wire() == {**result({"a": 1}), "sessionId": "s1"}


def test_who_asks_is_sent_along(make_api: MakeApi) -> None:
    peer = Peer(200, {"status": "accepted", "toolCallId": "call-1", "runId": None})
    api = make_api({"authenticate": as_user}, submit_forwarder=peer)
    headers = {"x-user": "ann", "x-tenant": "t1"}
    assert submit(api, failure("no camera"), headers=headers).status_code == 200
    assert peer.asked[0].actor == Actor("ann", "t1")


def test_what_is_known_here_is_not_sent_on(make_api: MakeApi, db: Door) -> None:
    peer = Peer(500)
    api = asking(make_api, peer)
    suspended(api, db, "pick")
    assert [submit(api, result("red")).json()["status"] for _ in range(2)] == [
        "accepted",
        "already_completed",
    ]
    assert peer.asked == []


def test_what_nobody_owns_is_unknown(make_api: MakeApi) -> None:
    peer = Peer()
    peer.answer = None
    assert error(submit(asking(make_api, peer), result(1))) == (404, "unknown_tool_call", False)


@row("U21")
@pytest.mark.parametrize("raises", [None, ConnectionRefusedError("10.0.0.5:80")])
def test_an_owner_that_does_not_answer_is_a_503(
    make_api: MakeApi, monkeypatch: pytest.MonkeyPatch, raises: Exception | None
) -> None:
    monkeypatch.setattr("lockgate.forwarding.EXTRA_S", 0.05)
    peer = Peer()
    peer.is_silent, peer.raises = raises is None, raises
    answer = submit(asking(make_api, peer, concurrent_entry_timeout_ms=10), result(1))
    assert error(answer) == (503, "transport_error", True)
    assert "10.0" not in answer.text


@row("U22")
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"error": "No such agent type.", "code": "framework_agent_not_found"}),
        (404, {"error": "No such call", "code": "unknown_tool_call", "retryable": False}),
        (503, {"error": "Away", "code": "framework_usage_store_unavailable", "retryable": True}),
        (
            409,
            {
                "error": "Over",
                "code": "state_not_resumable",
                "retryable": False,
                "cause": "run_ended",
                "runId": RUN,
            },
        ),
        (
            400,
            {"error": "Bad", "code": "INVALID_RESULT", "toolName": "pick", "toolCallId": "call-1"},
        ),
    ],
)
def test_the_owners_refusal_is_relayed_with_its_status(
    make_api: MakeApi, status: int, body: dict[str, Any]
) -> None:
    answer = submit(asking(make_api, Peer(status, body)), result(1))
    assert (answer.status_code, answer.json()) == (status, body)


def test_and_its_text_is_scrubbed(make_api: MakeApi) -> None:
    body = {"error": "postgres://app:hunter2@db/x", "code": "framework_internal_error"}
    answer = submit(asking(make_api, Peer(500, body)), result(1))
    assert (answer.status_code, answer.json()["error"]) == (500, "postgres://[REDACTED]")


@row("U23")
@pytest.mark.parametrize("body", [None, "<html>", {"code": "x"}, {"error": "Not Found"}])
def test_an_untyped_404_is_final(make_api: MakeApi, body: Any) -> None:
    answer = submit(asking(make_api, Peer(404, body)), result(1))
    assert error(answer) == (500, "transport_error", False)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (502, "<html>"),
        (200, None),
        (200, {"status": "accepted", "runId": "none"}),
        (204, None),
        (302, {"error": "Moved", "code": "moved"}),
        (999, {"error": "No number", "code": "none"}),
    ],
)
def test_any_other_word_that_nobody_understands_may_be_asked_again(
    make_api: MakeApi, status: int, body: Any
) -> None:
    answer = submit(asking(make_api, Peer(status, body)), result(1))
    assert error(answer) == (503, "transport_error", True)
