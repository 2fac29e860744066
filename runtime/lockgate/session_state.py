"""A session's state as one attempt sees it: what is saved, and what its open calls have changed.

A call's changes are saved with its result and not before, so a body that runs again after a crash
finds the state as it was when it ran first, but for what its neighbours have saved since.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from lockgate.chunks import is_too_large
from lockgate.schema import Schema
from lockgate.strict_json import JsonValue, dumps, storable

MAX_STATE = 1_000_000  # characters of JSON: each step that changes it writes it whole
ENVELOPE = " " * 8_192  # what a chunk says beside its patches is shorter than this


class SessionState:
    """The state of one attempt; plain functions change it from threads of their own."""

    def __init__(self, saved: Mapping[str, Any], schema: Schema | None = None) -> None:
        self._saved = dict(saved)
        self._open: list[tuple[int, dict[str, JsonValue]]] = []
        self._lock = threading.Lock()
        self.schema = schema

    def seen(self) -> dict[str, Any]:
        """Return the state with every change so far, saved or not."""
        with self._lock:
            return self._seen()

    def _seen(self) -> dict[str, Any]:
        state = dict(self._saved)
        for _, patch in self._open:
            state.update(patch)
        return state

    def update(self, ordinal: int, patch: Mapping[str, Any]) -> None:
        """Merge an object into the state, for one call.

        Errors  ValueError: no JSON form, too large, also for its chunk, or unfit for the schema;
                nothing is changed
        """
        if not isinstance(patch, Mapping):
            raise ValueError("a state is changed by an object")
        clean = storable(patch)
        assert isinstance(clean, dict)
        with self._lock:
            state = {**self._seen(), **clean}
            if len(dumps(state)) > MAX_STATE:
                raise ValueError("the state has more than 1 MB of JSON")
            flaws = None if self.schema is None else self.schema.flaws(state)
            if flaws is not None:
                raise ValueError(f"the state would not fit its schema: {flaws}")
            changes = {**self._changes(ordinal), **clean}
            if is_too_large(dumps(patch_operations(changes)) + ENVELOPE):
                raise ValueError("readers are told of a change in 1 MB of JSON at most")
            self._open.append((ordinal, clean))

    def changes_of(self, ordinal: int) -> dict[str, JsonValue]:
        """Return what one call has changed so far."""
        with self._lock:
            return self._changes(ordinal)

    def _changes(self, ordinal: int) -> dict[str, JsonValue]:
        changes: dict[str, JsonValue] = {}
        for of, patch in self._open:
            if of == ordinal:
                changes.update(patch)
        return changes

    def saves(self, ordinal: int) -> dict[str, Any] | None:
        """Return the whole state as the commit of a call's result saves it; None if unchanged."""
        with self._lock:
            changes = self._changes(ordinal)
            return {**self._saved, **changes} if changes else None

    def saved(self, ordinal: int) -> None:
        """Note that a call's changes are saved."""
        with self._lock:
            self._saved.update(self._changes(ordinal))
            self._drop(ordinal)

    def drop(self, ordinal: int) -> None:
        """Forget what a call changed: it has failed, or was cut off."""
        with self._lock:
            self._drop(ordinal)

    def _drop(self, ordinal: int) -> None:
        self._open = [(of, patch) for of, patch in self._open if of != ordinal]


def patch_operations(changes: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Write changes of whole members as an RFC 6902 patch: `add` also replaces a member."""
    return [
        {"op": "add", "path": "/" + name.replace("~", "~0").replace("/", "~1"), "value": value}
        for name, value in changes.items()
    ]
