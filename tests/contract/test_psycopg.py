"""The names of psycopg that a bounded link leans on; a URL as psycopg and SQLAlchemy read it."""

import inspect

import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from lockgate.ending import sqlalchemy_url

PARAMETERS = ["self", "gen", "interval", "timeout"]
URLS = [
    "postgresql://me:p%40ss@localhost:5433/name",
    "postgres://me@localhost/name?sslmode=require&options=-c%20lock_timeout%3D1s",
    "postgresql://me:pw@one:5432,two:5433/name?target_session_attrs=read-write",
    "postgresql://me:pw@one,two/name",
    "postgresql:///name?host=/run/postgresql&port=5433",
    "postgresql://me@[::1]:5432/name",
]


@pytest.mark.parametrize("kind", [psycopg.AsyncConnection, psycopg.Connection])
def test_a_wait_can_be_given_a_bound(kind: type) -> None:
    wait = inspect.signature(vars(kind)["wait"])

    assert list(wait.parameters) == PARAMETERS
    assert wait.parameters["timeout"].default is None
    assert issubclass(errors._WaitTimeout, psycopg.OperationalError)


def test_a_cancelled_wait_cancels_within_a_bound() -> None:
    cancel = inspect.signature(vars(psycopg.AsyncConnection)["_try_cancel"])

    assert list(cancel.parameters) == ["self", "timeout"]
    assert "_try_cancel" in inspect.getsource(vars(psycopg.AsyncConnection)["wait"])


@pytest.mark.parametrize("url", URLS)
def test_sqlalchemy_reads_of_a_url_what_libpq_reads(url: str) -> None:
    """Also a list of hosts, which its own form of a URL does not have."""
    made = make_url(sqlalchemy_url(url))
    _, read = PGDialect_psycopg().create_connect_args(made)  # type: ignore[no-untyped-call]  # they have none

    assert made.drivername == "postgresql+psycopg"
    wanted = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    given = {name: str(value) for name, value in read.items() if value not in (None, "", ",")}
    assert {**given, "port": _ports(given)} == {**wanted, "port": _ports(wanted)}


def _ports(read: dict[str, str]) -> str:
    """Return the ports; none, and empty places in a list, are the default."""
    hosts = read.get("host", "").split(",")
    ports = (read.get("port") or "").split(",") + [""] * len(hosts)
    return ",".join(port or "5432" for port in ports[: len(hosts)])
