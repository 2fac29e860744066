"""Whether a call waits for a person: a question that cannot be answered is answered yes."""

import asyncio
import sys
from typing import Any

import pytest

from lockgate import tool
from lockgate.tools import asks_for_approval


def leaves(arguments: Any, context: Any) -> bool:
    sys.exit("no more")


async def leaves_later(arguments: Any, context: Any) -> bool:
    raise KeyboardInterrupt


def fails(arguments: Any, context: Any) -> bool:
    raise RuntimeError("who knows")


@pytest.mark.parametrize("asks", [leaves, leaves_later, fails])
def test_a_question_that_raises_is_answered_yes(asks: Any) -> None:
    """Also where what it raises would end the worker."""

    @tool(require_approval=asks)
    def pay(amount: int) -> str:
        """Pay somebody."""
        return f"paid {amount}"

    context: Any = None
    assert asyncio.run(asks_for_approval(pay, {"amount": 5}, context)) is True
