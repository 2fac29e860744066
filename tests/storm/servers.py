"""The server processes of a storm: each has a successor at once, and remembers when it was down."""

import asyncio
import time
from typing import Any

from tests.support.crew import Crew, Member


class Server:
    """One place where a server runs, whichever process it is at the moment."""

    def __init__(self, crew: Crew, name: str, **part: Any) -> None:
        self._crew = crew
        self._name = name
        self._part = part
        self._deaths: list[tuple[float, float]] = []
        self._member = self._start()
        self.address = ""

    def ready(self) -> None:
        """Wait until it serves requests."""
        self.address = self._member.ready()

    async def killed(self) -> None:
        """End its process in the middle of whatever it does, and put another in its place."""
        began = time.monotonic()
        self._deaths.append((began, float("inf")))
        await asyncio.to_thread(self._member.kill)
        self._member = self._start()
        await asyncio.to_thread(self.ready)
        self._deaths[-1] = (began, time.monotonic())

    def was_down(self, since: float) -> bool:
        """Say whether it was down at any moment from then on."""
        return any(back >= since for _, back in self._deaths)

    @property
    def is_alive(self) -> bool:
        return not self._member.has_ended

    def _start(self) -> Member:
        number = len(self._deaths) + 1
        return self._crew.server(f"{self._name}-{number}", **self._part)
