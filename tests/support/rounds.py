"""How often a race is run: a few times always, and as often as its case says when asked to."""

import pytest


def rounds(few: int, many: int) -> pytest.MarkDecorator:
    """Give a test its `rounds`: few, and under marker `long` many."""
    return pytest.mark.parametrize(
        "rounds", [few, pytest.param(many, marks=[pytest.mark.long, pytest.mark.timeout(900)])]
    )
