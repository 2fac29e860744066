"""Which errors tell of the database's state and not of a call, and what they say of its outcome."""

from __future__ import annotations

import psycopg
from psycopg_pool import PoolTimeout

WEATHER = ("40001", "40003", "40P01", "08", "53", "57", "25P03", "25P04", "25006", "0A000")
# The rules are being remade at this moment: the next call finds the new ones.
REMADE = ("42883", "42704", "XX000")
FINAL_WEATHER = ("55P03", "57014")  # a bound has been reached, ours or the role's: not tried again
# What a server says of a statement and not of itself: said each time, it will be said for ever.
REFUSALS = (*FINAL_WEATHER, *REMADE, "40001", "40P01", "0A000")


class LinkGone(psycopg.OperationalError):
    """The server has left a link that stood idle, so nothing was said over it."""


def is_weather(error: BaseException) -> bool:
    """Say whether an error tells of the database's state and not of the call."""
    if isinstance(error, PoolTimeout | OSError):
        return True
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate.startswith((*WEATHER, *REMADE, *FINAL_WEATHER))


def is_refusal(error: BaseException) -> bool:
    """Say whether the server was there, and would not carry out this statement."""
    return (getattr(error, "sqlstate", None) or "").startswith(REFUSALS)


def was_rolled_back(error: BaseException) -> bool:
    """Say whether it is certain that nothing was committed: the server itself refused."""
    if isinstance(error, PoolTimeout | LinkGone):
        return True
    state = getattr(error, "sqlstate", None)
    return state is not None and not state.startswith(("08", "40003", "57P"))
