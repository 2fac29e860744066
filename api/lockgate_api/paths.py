"""Session ids in paths: any printable characters, a slash too, as long as it is percent-encoded.

A server decodes the path before an application sees it, and an encoded slash becomes a separator.
So the id is taken from the raw path and the router is shown a placeholder in its place.
"""

from __future__ import annotations

from typing import cast
from urllib.parse import quote, unquote

from litestar.types import Scope

SESSION_ID = "lockgate.session_id"  # where a scope keeps the id as it was sent, still encoded

_SESSIONS = b"/sessions/"


def routed(scope: Scope) -> Scope:
    """Return a scope in which the session's id has left the path; any other scope as it is."""
    raw = scope.get("raw_path") or b""
    root = scope.get("root_path", "").rstrip("/")
    if root and raw.startswith(quote(root).encode()):
        raw = raw[len(quote(root)) :]
    else:
        root = ""
    if not raw.startswith(_SESSIONS):
        return scope
    session_id, slash, rest = raw[len(_SESSIONS) :].partition(b"/")
    if not slash:
        return scope
    path = f"{root}/sessions/-/{unquote(rest.decode('latin-1'))}"
    return cast("Scope", {**scope, "path": path, SESSION_ID: session_id})
