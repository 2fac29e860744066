"""The seed of the random lives, where they are to be lived again."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    # Known where tests/stateful is asked for by name; a run of the whole suite takes a new seed.
    parser.addoption(
        "--stateful-seed", type=int, metavar="SEED", help="live the random lives of this seed again"
    )
