"""Who may call an API process: what the application says, or what a person has allowed.

A private database on one's own machine may be called by anyone there, so that a first try needs no
set-up. That does not mean the pages of strangers in that person's browser, which can reach the port
as well: they are told by their Origin, or by a Host of their own.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from lockgate import EntryRefused
from lockgate_api import Authenticate, Principal
from lockgate_api.front import AnyRequest
from lockgate_ops.application import Application
from lockgate_ops.exits import announce
from lockgate_ops.refusals import Refused
from lockgate_ops.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
DEFAULT_DOOR = (
    "unauthenticated: anyone on this machine may call, which is the default of a private database "
    "only; --authenticate module:attribute says who may"
)
OPEN_DOOR = "unauthenticated: anyone who reaches this address may call, as was allowed"


def door(settings: Settings, application: Application) -> Authenticate | None:
    """Return what says who asks, None where anyone may; and tell the person so.

    Errors  Refused where nobody has said who may call
    """
    if application.authenticate is not None:
        return application.authenticate
    if settings.allow_unauthenticated:
        announce(OPEN_DOOR)
        return None
    if settings.database_url is None and settings.host in LOOPBACK:
        announce(DEFAULT_DOOR)
        return from_this_machine
    raise Refused(
        "nothing says who may call: name it with --authenticate module:attribute (or an "
        "`authenticate` in the agents' module), or say --allow-unauthenticated"
    )


def from_this_machine(request: AnyRequest) -> Principal:
    """Admit every program of this machine, and no page that a browser brought in."""
    for name in ("host", "origin"):
        value = request.headers.get(name)
        if value is not None and _host(value) not in LOOPBACK:
            raise EntryRefused("FORBIDDEN", "Pages of other sites may not call a private server")
    return Principal()


def _host(value: str) -> str | None:
    try:
        return urlsplit(value if "://" in value else f"//{value}").hostname
    except ValueError:
        return None
