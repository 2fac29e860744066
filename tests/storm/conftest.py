"""What a storm is made of: how long it lasts, how many ask, and the seed of what they ask.

A failure names the seed. It gives every client, and what kills, the same dice again; what the
database and the machine make of them is another matter.
"""

import random

import pytest

from tests.storm.forecast import Forecast


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("storm", "tests/storm")
    group.addoption("--storm-seconds", type=float, metavar="S", help="how long the storm lasts")
    group.addoption("--storm-clients", type=int, metavar="N", help="how many clients ask")
    group.addoption("--storm-sessions", type=int, metavar="N", help="how many sessions they share")
    group.addoption("--storm-seed", type=int, metavar="N", help="the seed of a storm that failed")


@pytest.fixture
def forecast(request: pytest.FixtureRequest) -> Forecast:
    """The storm that the command line asks for, over what the test itself says."""
    said = {
        name: request.config.getoption(f"--storm-{name}", default=None)
        for name in ("seconds", "clients", "sessions", "seed")
    }
    given = {"seed": random.randrange(10**6), **request.param}
    return Forecast(
        **{**given, **{name: value for name, value in said.items() if value is not None}}
    )
