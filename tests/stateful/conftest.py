"""The seed of the random lives, where one is to be lived again."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    # Where the whole suite runs, this file comes too late for an option; the seed is a new one then.
    parser.addoption(
        "--stateful-seed",
        type=int,
        help="live the random lives of this seed (pytest tests/stateful)",
    )
