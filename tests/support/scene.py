"""Where a test of several processes plays: a database, its rules, a stage, a crew, an own runtime.

The own runtime takes entries and reads, as any application's process; it drives nothing.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from lockgate import RunHandle, Runtime
from tests.support.cluster import Database
from tests.support.crew import Crew, crew_of
from tests.support.door import Door
from tests.support.invariants import violations
from tests.support.seen import WITHIN_S, seen
from tests.support.stage import Stage
from tests.support.stage_agents import SCRIPTED, staged_runtime
from tests.support.store import STORE, dump

Result = TypeVar("Result")
Turn = Mapping[str, Any]


class Scene:
    """One test's place."""

    def __init__(self, database: Database, crew: Crew, stack: ExitStack) -> None:
        self.database = database
        self.url = database.url
        self.crew = crew
        self.stage: Stage = crew.stage
        self.door = Door(stack.enter_context(database.connect()))
        self._stack = stack
        self._runner = stack.enter_context(asyncio.Runner())
        self.own = self.runtime()

    def runtime(self, url: str | None = None, **options: Any) -> Runtime:
        """Open one more runtime in this process, which tells the workers what it has started."""
        made = self.run(staged_runtime(self.stage, **options).open(url or self.url))
        self._stack.callback(lambda: self.run(made.close()))
        made.kick = self.wake
        return made

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine to its end, for a bounded time."""
        return self._runner.run(asyncio.wait_for(work, WITHIN_S))

    def wake(self) -> None:
        """Tell the workers that there is work."""
        self.door.execute("select lockgate.wake_workers()")

    def listened_to(self, workers: int) -> None:
        """Wait until so many workers hear `wake`; before that they look once a second."""
        query = (
            "select from pg_stat_activity where datname = current_database()"
            " and application_name = 'lockgate listen' and state = 'idle' and query <> ''"
        )
        seen(lambda: len(self.door.rows(query)) >= workers, "the workers listen")

    def start(self, session_id: str, *turns: Turn | str, **more: Any) -> RunHandle:
        """Start a run of a script, or of one plain text, by this process's runtime."""
        given = {"agent_type": SCRIPTED, **more}
        return self.run(self.own.start(session_id, message=said(*turns), **given))

    def settled(self, run: RunHandle | UUID | str) -> Any:
        """Wait until nothing executes for a run, and return its row."""
        run_id = run.run_id if isinstance(run, RunHandle) else UUID(str(run))
        return seen(
            lambda: row if (row := self.door.run(run_id)).status != "running" else None,
            f"{run_id} has settled",
        )

    def returned(self, drive_id: UUID) -> str:
        """Wait until an attempt's workflow has ended, and return what it says of itself."""
        seen(lambda: self.door.workflow(drive_id).status == "SUCCESS", f"{drive_id} has ended")
        row = self.door.row(
            "select output from dbos.workflow_output where workflow_uuid = %s", str(drive_id)
        )
        return str(row.output)

    def settlements(self, run_id: UUID) -> list[str]:
        """Return the statuses in which a run has settled."""
        rows = self.door.rows(
            "select status from lockgate_store.settlements where run_id = %s order by settled_at",
            run_id,
        )
        return [row.status for row in rows]

    def stored(self) -> dict[str, list[str]]:
        """Return all that is stored of sessions and runs, to the byte; workers come and beat."""
        tables = dump(self.door.connection)
        ours = (name for name in tables if name.startswith(STORE) and "workers" not in name)
        return {name: tables[name] for name in ours}

    def look_again(self) -> None:
        """Open the door anew, where the server has gone and come back."""
        self.door.connection = self._stack.enter_context(self.database.connect())

    def text(self, session_id: str, run_id: UUID | None = None) -> str:
        """Return the text that a reader is left with, of the last run or another one."""
        wanted = run_id or self.door.session(session_id).current_run_id
        return visible_text(self.door, session_id, wanted)


def script(*turns: Turn) -> str:
    """Write a message that the scripted model plays."""
    return f"script: {json.dumps(turns)}"


def said(*turns: Turn | str) -> str:
    """Write a message: one plain text, or a script."""
    if len(turns) == 1 and isinstance(turns[0], str):
        return turns[0]
    return script(*(turn for turn in turns if not isinstance(turn, str)))


def call(tool: str, **args: Any) -> dict[str, Any]:
    """Return a script's call of a tool."""
    return {"tool": tool, "args": args}


def visible(chunks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Drop what a resync takes back, from one run's chunks {sequence, chunk}, as a reader does."""
    kept: list[Mapping[str, Any]] = []
    for each in chunks:
        if each["chunk"]["type"] == "stream_resync":
            upto = each["chunk"]["committedSequence"]
            kept = [old for old in kept if old["sequence"] <= upto]
        else:
            kept.append(each)
    return kept


def visible_text(door: Door, session_id: str, run_id: UUID) -> str:
    """Return the text that a reader of a run's stored chunks is left with."""
    rows = door.rows(
        "select c.last_sequence - c.chunk_count + u.place as sequence, u.chunk"
        "  from lockgate_store.stream_chunks c, unnest(c.chunks) with ordinality u(chunk, place)"
        " where c.session_id = %s and c.run_id = %s order by 1",
        session_id,
        run_id,
    )
    chunks = visible([{"sequence": row.sequence, "chunk": row.chunk} for row in rows])
    spoken = (each["chunk"] for each in chunks if each["chunk"]["type"] == "text_delta")
    return "".join(chunk["delta"] for chunk in spoken)


async def collected(chunks: AsyncIterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Read a stream to its end."""
    return [chunk async for chunk in chunks]


@contextmanager
def scene_of(database: Database, folder: Path) -> Iterator[Scene]:
    """Lend a scene; the invariants hold at its end."""
    with crew_of(database.url, folder) as crew, ExitStack() as stack:
        scene = Scene(database, crew, stack)
        yield scene
        crew.close()
        assert violations(scene.door.connection) == []
