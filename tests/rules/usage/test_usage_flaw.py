"""lockgate.usage_flaw: what a tool's body may count is never more than an entry may say."""

import math
from decimal import Decimal
from typing import Any

import pytest

from lockgate.call_usage import MAX_ENTRY, CallUsage
from lockgate.strict_json import dumps
from tests.support.door import Door

ALMOST = MAX_ENTRY - len('{"note":"","kind":"custom","source":"tool","type":"refunded","value":1}')
LONG = "\u00e9" * (ALMOST // len("\\u00e9"))
MANY = {f"n{n}": [n % 10, {}] for n in range(130)}


def flaw(db: Door, entry: dict[str, Any]) -> Any:
    return db.row("select lockgate.usage_flaw(%s::jsonb, 's1') as it", dumps(entry)).it


@pytest.mark.parametrize(
    ("value", "more"),
    [
        (1, {"note": "x" * ALMOST}),
        (1, {"note": LONG}),
        (1, MANY),
        (Decimal("1e308"), {}),
        (0.5, {"durationMs": 12, "tokens": "none"}),
    ],
)
def test_what_a_body_counted_has_no_flaw(db: Door, value: Any, more: dict[str, Any]) -> None:
    usage = CallUsage()
    usage.record("refunded", value, **more)
    (entry,) = usage.entries
    assert flaw(db, entry) is None


@pytest.mark.parametrize(
    ("value", "more"),
    [
        (True, {}),
        (math.nan, {}),
        (1, {"note": "x" * (ALMOST + 1)}),
        (1, {"id": "mine"}),
        (1, {"runId": "mine"}),
        (1, {"sessionId": "s2"}),
        (1, {"stepCount": 9}),
        (1, {"timestamp": 9}),
        (1, {"durationMs": "long"}),
    ],
)
def test_what_an_entry_could_not_say_is_the_bodys_own_failure(
    value: Any, more: dict[str, Any]
) -> None:
    """Or the commit of the result would be refused, and end the run."""
    usage = CallUsage()
    with pytest.raises(ValueError, match=r"\w"):
        usage.record("refunded", value, **more)
    assert usage.entries == []
