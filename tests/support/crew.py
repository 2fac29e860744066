"""Processes that a test starts, freezes and kills: workers, and servers as the command makes them.

They are forked from one process that has imported everything once, so that one is there in a
quarter of a second. Each is ended by its own process id.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.crew_parts import Part, play
from tests.support.seen import seen
from tests.support.stage import Stage

_FORKS = multiprocessing.get_context("forkserver")
# What the libraries import only when it is needed, which would be in each process anew; a name that
# is not there is passed over. The last one is what a child looks at for its own `__main__`.
_FORKS.set_forkserver_preload(
    [
        *("tests.support.crew_parts", "lockgate_ops.serve", "uvloop", "encodings.idna"),
        *("dbos._datasource_postgres", "dbos._sys_db_postgres", "sqlalchemy.dialects.sqlite"),
        *("litestar.plugins.pydantic", "litestar._kwargs", "litestar.exceptions.responses"),
        *("litestar.middleware.csrf", "litestar.middleware.response_cache"),
        *("litestar.middleware.allowed_hosts", "litestar.middleware._internal.exceptions"),
        *("uvicorn.lifespan.on", "uvicorn.protocols.http.httptools_impl", "anyio.streams.tls"),
        *("uvicorn.protocols.websockets.auto", "anyio._backends._asyncio", "pytest"),
    ]
)
ENDS_WITHIN_S = 30.0


class Member:
    """One process on stage."""

    def __init__(self, part: Part, stage: Stage) -> None:
        self.part = part
        self.log = stage.folder / f"{part.name}.log"
        self._process = _FORKS.Process(target=play, args=[part, stage.folder], daemon=True)
        self._process.start()
        self._is_frozen = False

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return not self._process.is_alive()

    def ready(self) -> str:
        """Wait until it says that it is ready, and return what it names."""
        line = seen(self._ready_line, f"{self.part.name} is ready")
        assert not self.has_ended, self.log.read_text()
        return line.removeprefix("ready ").strip()

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self._signal(signal.SIGKILL)
        self.ended()

    def freeze(self) -> None:
        """Let it do nothing, as a machine that sleeps."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on, as if no time had passed."""
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        """Tell it to leave."""
        self._signal(signal.SIGTERM)

    def ended(self, within_s: float = ENDS_WITHIN_S) -> int:
        """Wait until it has ended, and return its exit code."""
        self._process.join(within_s)
        assert self._process.exitcode is not None, f"{self.part.name} does not end"
        return self._process.exitcode

    def _ready_line(self) -> str:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        found = next((line for line in lines if line.startswith("ready ")), "")
        return found or ("ended" if self.has_ended else "")

    def _signal(self, number: signal.Signals) -> None:
        if not self.has_ended:
            os.kill(self.pid, number)


class Crew:
    """The processes of one test, over one database."""

    def __init__(self, url: str, stage: Stage) -> None:
        self.url = url
        self.stage = stage
        self._members: list[Member] = []

    def worker(self, name: str = "worker", **more: Any) -> Member:
        """Start a worker that will be there soon; `more` are fields of its part."""
        return self._start(Part(**{"name": name, "kind": "worker", "url": self.url, **more}))

    def server(self, name: str, *words: str, **more: Any) -> Member:
        """Start `lockgate serve`; `words` are more options of the command."""
        given = {"name": name, "kind": "server", "url": self.url, "words": words, **more}
        return self._start(Part(**given))

    def act(self, name: str, act: Callable[..., Any], *args: Any, **more: Any) -> Member:
        """Run a function of a module in a process of its own, with the part and the stage."""
        part = Part(name=name, kind="act", url=self.url, act=act, args=args, **more)
        return self._start(part)

    def close(self) -> None:
        """Kill whoever is left."""
        for member in self._members:
            member.kill()

    def _start(self, part: Part) -> Member:
        member = Member(part, self.stage)
        self._members.append(member)
        return member


@contextmanager
def crew_of(url: str, folder: Path) -> Iterator[Crew]:
    """Lend a crew; nobody of it outlives the block."""
    crew = Crew(url, Stage(folder))
    try:
        yield crew
    finally:
        crew.close()
