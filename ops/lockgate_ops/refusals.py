"""What a person is told when a command cannot go on: one line, with what to do next.

Owns the exit codes and the words for failures that are not ours to raise. No line shows a
password: a URL loses its credentials here, whoever wrote it into a message.
"""

from __future__ import annotations

import re

FAILED = 1
MISUSED = 2  # as of a wrong option: what was asked cannot be

_CREDENTIALS = re.compile(r"(\b[a-z][a-z0-9+.\-]*://)\S*@", re.IGNORECASE)
_PASSWORD = re.compile(r"(\bpassword\s*=\s*)('[^']*'|[^\s,;)&]+)", re.IGNORECASE)


class Refused(Exception):
    """A command cannot go on; the message is one line that says what to do next."""

    def __init__(self, message: str, *, code: int = MISUSED) -> None:
        super().__init__(message)
        self.code = code


def without_secrets(text: str) -> str:
    """Return a text whose URLs and connection strings name no credentials."""
    return _PASSWORD.sub(r"\1***", _CREDENTIALS.sub(r"\1***@", text))


def told(error: Exception) -> tuple[str, int]:
    """Return the line that a person reads for an error, and the exit code that goes with it."""
    code = error.code if isinstance(error, Refused) else FAILED
    return without_secrets(" ".join(_words(error).split())), code


def _words(error: BaseException) -> str:
    if isinstance(error, Refused) or type(error).__name__ == "EmbeddedPostgresError":
        return str(error)
    # By their names, since `lockgate --help` must not wait for the libraries.
    error = getattr(error, "orig", None) or error  # SQLAlchemy wraps what psycopg says.
    if any(base.__module__.startswith("psycopg") for base in type(error).__mro__):
        return database_words(error)
    return (
        f"{type(error).__name__}: {error} (this was not foreseen; "
        "LOCKGATE_LOG_LEVEL=debug shows where it comes from)"
    )


def database_words(error: BaseException) -> str:
    """Say what a database answered, and what helps."""
    state = getattr(error, "sqlstate", None)
    said = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    if state is None:
        return f"cannot connect to the database: {said}; check its URL, and that the server runs"
    advice = {
        "28": "check user and password in the URL",
        "3D": "check the database's name in the URL, or create it",
        "42501": "connect as a role that may, such as the owner of the database",
        "55P03": "another transaction holds what this needs: end it, then try again",
        "2BP01": _dependents(error),
    }
    found = next((text for prefix, text in advice.items() if state.startswith(prefix)), None)
    return f"the database refused ({state}): {said}" + (f"; {found}" if found else "")


def _dependents(error: BaseException) -> str:
    detail = getattr(getattr(error, "diag", None), "message_detail", None) or ""
    return f"{detail}; drop it, install again, and make it anew"
