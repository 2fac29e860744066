"""A usage store of the application's, in a folder: `env` of the runtime is where."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.stage import Stage


class NotingStore:
    """Notes each entry on the stage; while the gate `store fails` is open it fails."""

    def __init__(self, folder: str) -> None:
        self._stage = Stage(Path(folder))

    async def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        if self._stage.is_open("store fails"):
            self._stage.note("store failed")
            raise RuntimeError("the store is away")
        for entry in entries:
            self._stage.note("used", entry=entry)

    async def rollup(self) -> Mapping[str, Any]:
        return {}


def noting_store(context: Any) -> NotingStore:
    """Make the store, as a runtime's `usage_store` does."""
    return NotingStore(context.env)
