"""Which outcome wins: each pair of reasons at once gets the answer of the earlier one."""

from itertools import combinations
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest

from tests.support.door import Door
from tests.support.proves import case


class Reason(NamedTuple):
    """Why an entry is not simply started, and the arguments that make it so."""

    outcome: str
    given: dict[str, Any]


def reasons(first: UUID, current: UUID) -> list[Reason]:
    """Return every reason of this world in order of precedence.

    The world: a session of ann's with a completed first run (key k1, "one") and a second one
    that executes (key k2, "two").
    """
    plan = {
        "currentRunId": str(current),
        "currentRunStatus": "running",
        "sessionStatus": "paused",
    }
    return [
        Reason("invalid_request", {"user_id": ""}),
        Reason("session_not_found", {"acting_user_id": "eve"}),
        Reason("replayed", {"run_id": current, "say": "two", "request_key": "k2"}),
        Reason("rejected", {"run_id": first, "say": "new"}),
        Reason("request_key_conflict", {"request_key": "k2", "say": "other"}),
        Reason("attached", {"request_key": "k2", "say": "two"}),
        Reason("request_already_completed", {"request_key": "k1", "say": "one"}),
        Reason("already_running", {"concurrent_entry": "reject"}),
        Reason("agent_type_mismatch", {"agent_type": "billing"}),
        Reason("identity_mismatch", {"tags": ["other"]}),
        Reason("rejected", {"expect": plan}),
        Reason("interrupting", {"concurrent_entry": "interrupt_previous"}),
    ]


def can_meet(earlier: Reason, later: Reason) -> bool:
    """Say whether both can be true of one entry, without the later undoing the earlier."""
    clash = any(
        later.given[name] != earlier.given[name] for name in earlier.given & later.given.keys()
    )
    other_digest = "agent_type" in later.given and earlier.outcome in (
        "replayed",
        "attached",
        "request_already_completed",
    )
    return not clash and not other_digest


@case(22, 23)
def test_the_earlier_of_two_reasons_is_the_answer(db: Door, subtests: pytest.Subtests) -> None:
    first = db.finished(say="one", request_key="k1", user_id="ann")
    db.beat()
    current = db.driven(say="two", request_key="k2", run_id=uuid4()).run_id
    every = reasons(first, current)
    # What is not a reason by itself does not stand in the way of the one under test.
    neutral = {"say": "new", "concurrent_entry": "interrupt_previous"}
    pairs = [pair for pair in combinations(every, 2) if can_meet(*pair)]
    assert len(pairs) > 45

    for earlier, later in [*pairs, *((reason, reason) for reason in every)]:
        given = {**neutral, **later.given, **earlier.given}
        with subtests.test(earlier=earlier.outcome, later=later.outcome):
            if earlier.outcome == "interrupting":
                assert db.plan_start(**given).outcome == "interrupting"
                assert db.start(**given).outcome == "interrupting"
                continue
            with db.nothing_written():
                assert db.start(**given).outcome == earlier.outcome
                assert db.plan_start(**given).outcome == earlier.outcome


@case(22)
def test_whatever_refused_it_the_key_stays_free(db: Door) -> None:
    refused = db.finished("s1")
    for given in (
        {"agent_type": "billing"},
        {"tags": ["other"]},
        {"run_id": refused},
        {"acting_user_id": "eve"},
        {"expect": {"currentRunId": None, "currentRunStatus": None, "sessionStatus": None}},
    ):
        assert db.start("s1", "again", request_key="k1", **given).outcome != "started"

    assert db.start("s1", "again", request_key="k1").outcome == "started"
    assert [m.content[0]["text"] for m in db.messages() if m.role == "user"] == ["hi", "again"]


def test_a_new_session_meets_only_form_and_run_id(db: Door) -> None:
    taken = db.start("elsewhere").run_id
    plan = {"currentRunId": str(uuid4()), "currentRunStatus": None, "sessionStatus": None}
    with db.nothing_written():
        assert db.start("s1", run_id=taken, expect=plan).cause == "run_id_conflict"
        assert db.start("s1", expect=plan).cause == "current_run_changed"

    assert db.start("s1", concurrent_entry="interrupt_previous", tags=["a"]).outcome == "started"
