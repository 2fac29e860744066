"""`lockgate chaos`: many processes die at any moment, and nothing is lost.

A private Postgres, servers and workers as the command starts them, clients who know what they
asked for, and a storm from a printed seed. What is found is told with the seed, and the logs stay.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import psycopg

from lockgate_ops.chaos.checks import all_of_them
from lockgate_ops.chaos.facts import Facts, read_facts
from lockgate_ops.chaos.forecast import Forecast
from lockgate_ops.chaos.ledger import Rows
from lockgate_ops.chaos.report import MOST, figures, lines
from lockgate_ops.chaos.storm import Storm
from lockgate_ops.chaos.watch import Watch, watched
from lockgate_ops.embedded import EmbeddedPostgres, temporary_postgres
from lockgate_ops.exits import announce, complain
from lockgate_ops.install import install
from lockgate_ops.invariants import violations

# A killed backend takes the server's memory with it, so a commit is written before its answer; that
# it is on the disk matters only where the machine dies.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "max_connections": "300"}
THREADS = 64  # each place waits in one for its process


def chaos(forecast: Forecast, *, as_json: bool = False) -> int:
    """Let a storm pass over a cluster of its own; returns 0 where nothing was lost."""

    def say(line: str) -> None:
        if not as_json:
            announce(line)

    folder = Path(tempfile.mkdtemp(prefix="lockgate-chaos-"))
    say(f"seed {forecast.seed}; logs in {folder}")
    with temporary_postgres(settings=SETTINGS) as postgres:
        install(postgres.url)
        with closing(psycopg.connect(postgres.url, autocommit=True)) as connection:
            connection.execute(files(__package__).joinpath("schema.sql").read_bytes())
            connection.execute("select lockgate.claim_settlements('chaos')")
        storm = Storm(forecast, postgres, folder, say)
        try:
            with watched(postgres.url) as watches:
                raged(storm)
        except BaseException:
            complain(f"the storm was cut short; seed {forecast.seed}; the logs are in {folder}")
            raise
        facts, wrong = judged(storm, watches)
        keep_log(postgres, folder)
    assert storm.troubles is not None
    told = figures(storm, storm.troubles, facts, watches)
    if as_json:
        announce(json.dumps({"ok": not wrong, "wrong": wrong, **told}))
    else:
        announce("\n".join(lines(told)))
    if not wrong:
        shutil.rmtree(folder)
        say("nothing was lost, and nothing was done twice")
        return 0
    for what in wrong[:MOST]:
        say(f"WRONG  {what}")
    complain(f"{len(wrong)} wrong; seed {forecast.seed}; the logs are in {folder}")
    return 1


def raged(storm: Storm) -> None:
    """Run a storm to its end, with threads enough for all that waits."""

    async def main() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        await storm.run()

    asyncio.run(main())


def judged(storm: Storm, watches: list[Watch]) -> tuple[Facts, list[str]]:
    """Return what is stored, and all that is wrong with it, or with what was told or seen."""
    with closing(psycopg.connect(storm.postgres.url, autocommit=True)) as connection:
        facts = read_facts(connection)
        wrong = [*storm.wrong, *storm.sent.wrong, *storm.ledger.raw, *storm.history.odd_ends]
        wrong += [what for what in storm.reads if "raw" in what]
        wrong += storm.ledger.disagreements(Rows.read(connection))
        wrong += all_of_them(facts, storm.history.frozen, storm.sent.stops)
        for reader in storm.readers:
            wrong += reader.disagreements(facts.chunks[reader.session_id])
        wrong += [f"{sentence} {row}" for sentence, row in violations(connection)]
    assert storm.troubles is not None
    wrong += [f"there was no {kind}" for kind in storm.troubles.missing()]
    for watch in watches:
        if watch.looks == 0:
            wrong.append(f"nobody has looked: {watch.name}")
        wrong += [f"seen: {what}" for what in watch.broken]
        if watch.failure is not None:
            wrong.append(f"{watch.name} could not be looked at: {watch.failure!r}")
    return facts, wrong


def keep_log(postgres: EmbeddedPostgres, folder: Path) -> None:
    """Copy the server's own log to the others."""
    shutil.copyfile(postgres.data / "server.log", folder / "postgres.log")


__all__ = ["Forecast", "chaos"]
