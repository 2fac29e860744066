"""What stands in history for a call that nobody answered: an error that says why."""

import pytest

from tests.support.door import Door


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
