"""What the tests of the HTTP layer share: an application over a fresh database, and the rules."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from lockgate import Runtime
from lockgate_api import create_app
from tests.api.rig import Api, agent, left_tasks
from tests.support.cluster import Database
from tests.support.door import Door
from tests.support.invariants import violations

MakeApi = Callable[..., Api]


@pytest.fixture
def db(clean_database: Database) -> Iterator[Door]:
    """The rules, over a connection of the test's own; the invariants hold at its end."""
    with clean_database.connect() as connection:
        yield Door(connection)
        assert violations(connection) == []


@pytest.fixture
def make_api(clean_database: Database) -> Iterator[MakeApi]:
    """Make an application; `app` are options of create_app, the others of the runtime."""
    with asyncio.Runner() as runner, ExitStack() as closing:

        def make(app: dict[str, Any] | None = None, **options: Any) -> Api:
            runtime = Runtime(options.pop("agents", [agent()]), **options)
            runner.run(runtime.open(clean_database.url, pool_size=4))
            api = _application(runner, runtime, app)
            closing.callback(api.close)
            return api

        yield make
        closing.close()
        assert runner.run(left_tasks()) == set()


@pytest.fixture
def make_unread() -> Iterator[MakeApi]:
    """Make an application whose runtime is not open: what reads anything at all fails."""
    with asyncio.Runner() as runner:
        yield lambda app=None: _application(runner, Runtime([agent()]), app)


@pytest.fixture
def unread(make_unread: MakeApi) -> Api:
    """An application that takes everybody at his word, and never gets to read."""
    return make_unread()


@pytest.fixture
def api(make_api: MakeApi) -> Api:
    """An application that takes everybody at his word."""
    return make_api()


def _application(runner: asyncio.Runner, runtime: Runtime, app: dict[str, Any] | None) -> Api:
    given = app or {}
    if "authenticate" not in given:
        given = {"allow_unauthenticated": True, **given}
    return Api(runner, runtime, create_app(runtime, **given))
