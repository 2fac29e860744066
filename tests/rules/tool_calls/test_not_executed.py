"""What stands in history for a call that nobody answered: an error that says why, no result."""

import pytest

from tests.support.door import Door, tool
from tests.support.suspensions import results


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("server", "run_stopped"),
        ("client", "client_tool_abandoned"),
        ("approval", "client_tool_abandoned"),
    ],
)
def test_a_call_that_was_not_executed_says_why(db: Door, kind: str, reason: str) -> None:
    result = db.row("select lockgate.not_executed(%s) as it", kind).it

    assert result == {"success": False, "error": f"Not executed: {reason}", "reason": reason}


def test_of_a_body_that_was_begun_nobody_says_that_it_was_not_executed(db: Door) -> None:
    """What a model reads as not executed it calls again, and a payment is made twice."""
    drive = db.driven()
    drive.reply(1, "", tool("begun"), tool("not-begun"))
    drive.begin(1, 1)
    db.call("interrupt", session_id="s1")
    drive.finish("stopped")

    begun, other = results(db)
    assert (begun["success"], begun["reason"]) == (False, "outcome_unknown")
    assert "had begun" in begun["error"]
    assert other["reason"] == "run_stopped"
