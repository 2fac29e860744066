"""What a refusal by the gate means: not_resumable, in its two kinds."""

from typing import Any

import pytest

from lockgate import EntryRefused
from lockgate.answer import accepted
from lockgate.errors import error_detail
from lockgate.outcomes import EntryOutcome, EntryResult

AWAITED = [f"call_{'x' * 60}_{number}" for number in range(3)]


def answer(outcome: str, **detail: Any) -> EntryResult:
    return EntryResult(EntryOutcome(outcome), "s1", "s1", None, None, None, None, detail)


def refused(drive: str, **detail: Any) -> EntryRefused:
    with pytest.raises(EntryRefused) as found:
        accepted(answer("not_resumable", **detail), drive)
    return found.value


def test_awaited_calls_come_first_and_survive_the_cap() -> None:
    error = refused("resume", sessionStatus="paused", awaitingToolCallIds=AWAITED, retryable=True)
    assert (error.code, error.retryable) == ("state_not_resumable", True)
    assert error.detail == {"sessionStatus": "paused", "awaitingToolCallIds": AWAITED}
    assert len(", ".join(AWAITED)) > 200
    assert error_detail(error)["message"].startswith(", ".join(AWAITED))


@pytest.mark.parametrize("status", ["completed", "failed", "active"])
def test_a_session_that_is_over_is_named_by_its_status(status: str) -> None:
    error = refused("resume", sessionStatus=status, awaitingToolCallIds=[], retryable=False)
    assert (error.retryable, status in str(error)) == (False, True)
    assert error.detail == {"sessionStatus": status, "awaitingToolCallIds": []}


def test_a_retry_says_what_it_is_for_also_while_calls_are_awaited() -> None:
    error = refused("retry", sessionStatus="paused", awaitingToolCallIds=["c1"], retryable=False)
    assert str(error) == "retry is only for failed sessions, and this one is paused"
    assert (error.retryable, error.detail["awaitingToolCallIds"]) == (False, ["c1"])


@pytest.mark.parametrize("outcome", ["started", "resumed", "attached", "replayed"])
def test_what_names_a_run_of_this_request_is_accepted(outcome: str) -> None:
    assert accepted(answer(outcome)).outcome == outcome
