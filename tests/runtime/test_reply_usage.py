"""What a model says of its tokens, made countable: it may say anything."""

import math
from decimal import Decimal

from lockgate.call_usage import counts_of


def test_what_is_no_number_costs_itself_only() -> None:
    told = {
        "prompt": 12,
        "completion": Decimal("3"),
        "cached": None,
        "cost": math.nan,
        "raw": {"prompt": 12},
        "wide": Decimal("1e999"),
        "is_final": True,
        "n\x00": 1,
    }
    assert counts_of(told) == {"prompt": 12, "completion": Decimal("3"), "n\ufffd": 1}


def test_a_model_that_tells_nothing_has_used_nothing() -> None:
    assert counts_of({}) == {}
