"""Each check of a chaos can fail: it is shown what must not be, beside what may."""

import asyncio
import dataclasses
import random
import threading
from typing import Any
from uuid import uuid4

import httpx
import pytest

from lockgate_ops.chaos.checks import (
    begun_again,
    begun_too_often,
    begun_twice,
    ended_otherwise,
    not_told,
)
from lockgate_ops.chaos.clients import Client, Sent, Stuck
from lockgate_ops.chaos.facts import Begun, Claim, Facts, Run
from lockgate_ops.chaos.forecast import POISON_MODEL
from lockgate_ops.chaos.ledger import Ledger, Rows
from lockgate_ops.chaos.places import Frozen
from lockgate_ops.chaos.readers import Ending, Reader
from lockgate_ops.chaos.report import longest_wait_s
from lockgate_ops.chaos.troubles import Bereaved
from lockgate_ops.chaos.watch import Watch
from lockgate_ops.chaos.ways import Answer, OverHttp, understood
from lockgate_ops.chaos.wishes import Wish

BODY = Begun("r", 1, 1, "note", 7, began_at=100.0, committed_at=None)
RUN = Run("r", "told-1", "start", "completed", None, None, None, attempt=2)
NO_STOPS: dict[str, set[str]] = {"interrupt": set(), "abort": set()}
TOKEN = "t-1"
WISH = Wish("s", "start", {"input": {"message": TOKEN}}, TOKEN, key="k")


def body(**other: Any) -> Begun:
    return dataclasses.replace(BODY, **other)


def run(**other: Any) -> Run:
    return dataclasses.replace(RUN, **other)


def test_what_was_begun_after_its_commit_is_told() -> None:
    assert list(begun_again([BODY, body(committed_at=100.5)], [])) == []
    (wrong,) = begun_again([body(committed_at=99.5)], [])
    assert "note was begun 0.500 s after its commit, by process 7" in wrong


@pytest.mark.parametrize(
    ("thaw", "is_told"),
    [(Frozen(7, 90.0, 99.9), False), (Frozen(8, 90.0, 99.9), True), (Frozen(7, 90.0, 98.0), True)],
)
def test_only_who_has_just_been_thawed_may_begin_late(thaw: Frozen, is_told: bool) -> None:
    assert bool([*begun_again([body(committed_at=99.5)], [thaw])]) is is_told


@pytest.mark.parametrize(("tool", "most"), [("once", 1), ("poison", 3)])
def test_a_body_that_ran_too_often_is_told(tool: str, most: int) -> None:
    bodies = [body(what=tool) for _ in range(most)]

    assert list(begun_twice(bodies)) == []
    assert len([*begun_twice([*bodies, body(what=tool)])]) == 1


@pytest.mark.parametrize(
    "fine",
    [
        run(),
        run(status="superseded"),
        run(status="failed", code="model_failed"),
        run(status="failed", code="framework_auto_resume_exhausted", session_id=POISON_MODEL),
        run(status="interrupted", stop_reason="superseded_by_new_entry"),
        run(status="interrupted", run_id="stopped"),
        run(status="failed", code="framework_cancelled", run_id="aborted"),
    ],
)
def test_an_end_that_was_asked_for_is_none_to_tell(fine: Run) -> None:
    assert list(ended_otherwise([fine], {"interrupt": {"stopped"}, "abort": {"aborted"}})) == []


@pytest.mark.parametrize(
    "odd",
    [
        run(status="running"),
        run(status="suspended_client_tool"),
        run(status="interrupted"),
        run(status="failed", code="framework_cancelled"),
        run(status="failed", code="framework_auto_resume_exhausted"),
        run(status="failed", code="provider_error"),
    ],
)
def test_a_run_without_an_end_or_with_another_is_told(odd: Run) -> None:
    assert len([*ended_otherwise([odd], NO_STOPS)]) == 1


def test_a_body_that_more_drives_had_than_there_were_attempts_is_told() -> None:
    handed_on_once = run(attempt=3)
    assert list(begun_too_often([BODY], [RUN])) == []
    assert list(begun_too_often([BODY, BODY], [handed_on_once])) == []
    assert len([*begun_too_often([BODY, BODY], [RUN])]) == 1
    assert len([*begun_too_often([BODY, BODY, BODY], [handed_on_once])]) == 1
    assert len([*begun_too_often([BODY], [run(run_id="other")])]) == 1


def told_facts() -> Facts:
    return Facts(settled={"a"}, marked={"a"}, hooked={"a"}, consumed=["a"])


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("marked", set()),
        ("hooked", set()),
        ("consumed", []),
        ("consumed", ["a", "a"]),
        ("hooked", {"a", "b"}),
    ],
)
def test_a_settlement_that_was_not_told_or_told_too_often_is_told(name: str, given: Any) -> None:
    assert list(not_told(told_facts())) == []
    assert len([*not_told(dataclasses.replace(told_facts(), **{name: given}))]) == 1


def reader(*sequences: int) -> Reader:
    made = Reader("s", [], random.Random(1), httpx.AsyncClient())
    made.chunks = [(sequence, "r", {"n": sequence}) for sequence in sequences]
    return made


STORED = [(1, "r", {"n": 1}), (2, "r", {"n": 2}), (3, "r", {"n": 3})]


def test_a_reader_who_has_each_chunk_once_is_content() -> None:
    assert reader(1, 2, 3).disagreements(STORED) == []


@pytest.mark.parametrize("read", [(1, 3), (1, 2, 2, 3), (2, 1, 3), (2, 3), (1, 2), (1, 2, 3, 4)])
def test_a_chunk_that_is_missing_doubled_or_out_of_order_is_told(read: tuple[int, ...]) -> None:
    assert len(reader(*read).disagreements(STORED)) == 1


def test_a_chunk_that_is_not_the_stored_one_is_told() -> None:
    other = [*STORED[:2], (3, "r", {"n": 4})]

    assert "from 3 on they differ" in reader(1, 2, 3).disagreements(other)[0]


@pytest.mark.parametrize("event", ["rewound", "truncated", "strange"])
def test_an_event_that_tells_of_a_loss_is_a_fault(event: str) -> None:
    made = reader()

    assert made._take(event, "", {"at": 1}) is None
    assert len(made.disagreements([])) == 1


def ledger(*answers: Answer, wish: Wish = WISH) -> Ledger:
    made = Ledger()
    for answer in answers:
        made.note("HTTP", wish, answer)
    return made


def rows(runs: dict[str, str | None], inputs: dict[str, list[str]]) -> Rows:
    """Return stored runs of the session by id, each with its key, and stored inputs."""
    return Rows(
        turns={run_id: turn for turn, run_id in enumerate(runs, start=1)},
        sessions=dict.fromkeys(runs, "s"),
        by_key={("s", key): run_id for run_id, key in runs.items() if key},
        inputs=inputs,
    )


def test_a_ledger_that_the_rows_confirm_disagrees_with_nothing() -> None:
    told = ledger(Answer("lost"), Answer("started", "r1"), Answer("attached", "r1"))

    assert list(told.disagreements(rows({"r1": "k"}, {TOKEN: ["r1"]}))) == []
    assert told.raw == []


@pytest.mark.parametrize(
    ("answers", "stored", "what"),
    [
        (["r1", "r2"], rows({"r1": "k", "r2": None}, {TOKEN: ["r1"]}), "named"),
        (["r1"], rows({}, {}), "there is no run"),
        (["r1"], rows({"r1": "k"}, {}), "is stored with []"),
        (["r1"], rows({"r1": "k"}, {TOKEN: ["r1", "r1"]}), "stored 2 times"),
        (["r1"], rows({"r1": "other"}, {TOKEN: ["r1"]}), "its name is of"),
        (["r1"], rows({"r1": "k"}, {TOKEN: ["r1"], "t-2": ["r1"]}), "nobody has sent"),
    ],
)
def test_a_ledger_that_the_rows_do_not_confirm_says_where(
    answers: list[str], stored: Rows, what: str
) -> None:
    told = ledger(*(Answer("started", run_id) for run_id in answers))

    assert any(what in line for line in told.disagreements(stored))


def test_an_input_that_was_refused_and_stored_is_told() -> None:
    told = ledger(Answer("already_running", "r9"))
    stored = rows({"r9": None}, {TOKEN: ["r9"]})

    assert any("it was refused" in line for line in told.disagreements(stored))


@pytest.mark.parametrize("answer", [Answer("strange"), Answer("lost", raw="of one that lives")])
def test_an_answer_that_nobody_may_be_told_is_kept(answer: Answer) -> None:
    assert len(ledger(answer).raw) == 1


@pytest.mark.parametrize(
    ("status", "told", "is_fine"),
    [
        (200, {"status": "started", "runId": "r"}, True),
        (409, {"code": "state_already_running", "retryable": True}, True),
        (503, {"code": "framework_store_unavailable", "retryable": True}, True),
        (500, {"code": "framework_store_unavailable", "retryable": False}, True),
        (500, {"code": "framework_internal_error", "retryable": True}, False),
        (409, {"code": "framework_internal_error", "retryable": True}, False),
        (500, {"code": "framework_store_corrupt", "retryable": False}, False),
        (500, {}, False),
        (404, {"code": "of nobody"}, False),
    ],
)
def test_a_response_without_a_type_is_no_answer(
    status: int, told: dict[str, Any], is_fine: bool
) -> None:
    assert (understood(httpx.Response(status, json=told)).raw is None) is is_fine


def test_a_response_that_is_no_json_is_no_answer() -> None:
    assert understood(httpx.Response(500, text="Internal Server Error")).raw is not None


def client(answer: Answer) -> Client:
    class Way(OverHttp):
        async def ask(self, wish: Wish) -> Answer:
            return answer

    way = Way([], random.Random(1))
    return Client("s", way, reader(), random.Random(1), Ledger(), Sent())


@pytest.mark.parametrize(
    ("ending", "is_fine"),
    [
        (Ending("end", {"status": "completed", "output": "yes"}), True),
        (Ending("end", {"status": "completed", "output": "no"}), False),
        (Ending("end", {"status": "interrupted"}), False),
        (Ending("fail", {"errorDetail": {"code": "provider_error"}}), False),
    ],
)
def test_a_run_that_ends_otherwise_than_its_client_knows_is_told(
    ending: Ending, is_fine: bool
) -> None:
    made = client(Answer("started", "r"))
    made.expect("a tale", ending, "completed", "yes")

    assert (made.sent.wrong == []) is is_fine


def test_a_client_who_is_refused_what_must_be_accepted_is_stuck() -> None:
    with pytest.raises(Stuck):
        asyncio.run(client(Answer("already_running", "r")).start(TOKEN, {"say": TOKEN}))


def test_a_look_that_finds_something_or_fails_is_told(database_url: str) -> None:
    over = threading.Event()

    def look(_connection: Any) -> list[tuple[str, Any]]:
        over.set()
        return [("a sentence", 1)]

    def fails(_connection: Any) -> list[tuple[str, Any]]:
        raise ValueError

    found, failed = Watch("a", database_url, look, 1.0), Watch("b", database_url, fails, 1.0)
    found.run(over)
    failed.run(threading.Event())

    assert (found.looks, found.broken, found.failure) == (1, ["a sentence 1"], None)
    assert isinstance(failed.failure, ValueError)


def test_the_longest_wait_is_that_of_the_next_claim_after_a_kill() -> None:
    lost, ended = uuid4(), uuid4()
    claims = [Claim(str(lost), "recover", at) for at in (9.0, 13.5, 20.0)]

    assert longest_wait_s([Bereaved(10.0, frozenset({lost, ended}))], claims) == 3.5
