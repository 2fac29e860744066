"""Two servers, many clients, few sessions, and something is killed every few seconds.

At most one live run a session at every look; a key names one run; every accepted input is stored
exactly once; and nobody is told anything but a typed answer, or loses a link that was cut.
"""

import asyncio
import random
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing, suppress
from pathlib import Path

import pytest

from lockgate import StoreUnavailable
from lockgate.database import Database
from lockgate.rules import sessions
from lockgate_ops.embedded import temporary_postgres
from tests.storm.forecast import Forecast
from tests.storm.kills import Kills
from tests.storm.ledger import Ledger, summary
from tests.storm.servers import Server
from tests.storm.watch import OVER, watch_all, watch_runs
from tests.storm.ways import UNKNOWN, ByRuntime, InPlainSql, OverHttp, Way
from tests.storm.wishes import Wish, Wisher
from tests.support.cluster import install
from tests.support.connections import connect
from tests.support.crew import Crew, crew_of
from tests.support.door import Door
from tests.support.invariants import violations
from tests.support.seen import seen

# A killed backend takes the server's memory with it, so a commit is written before its answer.
SETTINGS = {"fsync": "off", "full_page_writes": "off"}
QUIET_WITHIN_S = 90.0
REPEATS = 40  # of a wish whose outcome is unknown, half a second apart
READS = 0.25  # of all requests


@pytest.fixture
def database_url() -> Iterator[str]:
    """A server of one's own, which will crash."""
    with temporary_postgres(settings=SETTINGS) as server:
        install(server.url)
        yield server.url


@pytest.mark.parametrize(
    "forecast",
    [
        {"seconds": 12, "clients": 24, "sessions": 6},
        pytest.param(
            {"seconds": 300, "clients": 64, "sessions": 10},
            marks=[pytest.mark.long, pytest.mark.timeout(900)],
        ),
    ],
    ids=["short", "long"],
    indirect=True,
)
def test_a_storm_starts_at_most_one_run_for_a_request_and_loses_none(
    forecast: Forecast, database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with crew_of(database_url, tmp_path) as crew:
        servers = [Server(crew, name, settled=True) for name in ("A", "B")]
        ledger, reads, kills = weathered(crew, forecast, servers)
        with closing(connect(database_url)) as connection:
            db = Door(connection)
            is_quiet(db)
            watched = {note["who"]: note["looks"] for note in crew.stage.seen("watched", 2)}
            with capsys.disabled():
                print(f"\n{report(forecast, ledger, reads, kills, watched, db)}")  # noqa: T201
            assert crew.stage.notes("broken") == [], forecast
            assert violations(connection) == [], forecast
            assert ledger.raw == [], forecast
            assert list(ledger.disagreements(db)) == [], forecast
            assert [what for what in reads if what.startswith("raw")] == [], forecast
            assert all(server.is_alive for server in servers), "nobody else has died"
        assert sum(kills.values()) >= 2
        assert ledger.accepted() >= forecast.seconds
        crew.close()


def weathered(
    crew: Crew, forecast: Forecast, servers: list[Server]
) -> tuple[Ledger, Counter[str], Counter[str]]:
    """Let the storm pass; return what was told, what was read, and what was killed."""
    for server in servers:
        server.ready()
    for name, watch in (("two live runs", watch_runs), ("every invariant", watch_all)):
        crew.act(name, watch).ready()
    storm = Storm(crew.url, forecast, servers)
    asyncio.run(storm.run())
    crew.stage.open(OVER)
    return storm.ledger, storm.reads, storm.kills.count


class Storm:
    """All clients, in one loop, and what kills beside them."""

    def __init__(self, url: str, forecast: Forecast, servers: list[Server]) -> None:
        self.ledger = Ledger()
        self.reads: Counter[str] = Counter()
        self.kills = Kills(forecast, url, servers)
        self._url = url
        self._forecast = forecast
        self._servers = servers
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Let all clients ask until the time is over, and each hear of what it has asked."""
        async with AsyncExitStack() as stack:
            database = Database(self._url)
            await database.open()
            stack.push_async_callback(database.close)
            recent: deque[Wish] = deque(maxlen=50)
            checkpoints: dict[str, str] = {}
            async with asyncio.TaskGroup() as tasks:
                for number in range(self._forecast.clients):
                    way = self._way(number, database)
                    stack.push_async_callback(way.close)
                    rng = random.Random(f"{self._forecast.seed} {number}")
                    over_http = isinstance(way, OverHttp)
                    wisher = Wisher(self._forecast, rng, over_http, recent, checkpoints)
                    tasks.create_task(self._client(way, wisher))
                tasks.create_task(self._checkpoints(database, checkpoints))
                tasks.create_task(self.kills.storm(self._over))
                await asyncio.sleep(self._forecast.seconds)
                self._over.set()

    def _way(self, number: int, database: Database) -> Way:
        if number % 2 == 0:
            return OverHttp(self._servers[number // 2 % len(self._servers)])
        return ByRuntime(database) if number % 4 == 1 else InPlainSql(self._url)

    async def _client(self, way: Way, wisher: Wisher) -> None:
        pause_s = self._forecast.clients / self._forecast.rate
        while not self._over.is_set():
            await asyncio.sleep(wisher.rng.uniform(0, 2 * pause_s))
            wish = wisher.next()
            if wisher.rng.random() < READS:
                self.reads[f"{way.name}: {await way.read(wish.session_id)}"] += 1
            else:
                await self._heard(way, wish)

    async def _heard(self, way: Way, wish: Wish) -> None:
        """Ask until something is said, as far as the same request can be sent again."""
        for _ in range(REPEATS):
            answer = await way.ask(wish)
            self.ledger.note(way.name, wish, answer)
            if answer.label not in UNKNOWN or not wish.may_repeat:
                return
            await asyncio.sleep(0.5)
        raise AssertionError(f"nothing is said to {wish}")

    async def _checkpoints(self, database: Database, found: dict[str, str]) -> None:
        """Read now and then where the sessions could be taken back to: some way back."""
        while not self._over.is_set():
            await asyncio.sleep(0.5)
            for number in range(self._forecast.sessions):
                session_id = self._forecast.session(number)
                with suppress(StoreUnavailable):
                    page = await database.call(sessions.list_checkpoints, session_id=session_id)
                    found.update((session_id, str(item["id"])) for item in page.items or [])


def is_quiet(db: Door) -> None:
    """Wait until nothing executes, and every settlement is delivered."""
    seen(
        lambda: not db.rows("select from lockgate_store.runs where status = 'running'"),
        "every run has settled",
        within_s=QUIET_WITHIN_S,
    )
    seen(
        lambda: not db.rows("select from lockgate_store.deliveries where delivered_at is null"),
        "every settlement is delivered",
        within_s=QUIET_WITHIN_S,
    )


def report(
    forecast: Forecast,
    ledger: Ledger,
    reads: Counter[str],
    kills: Counter[str],
    watched: dict[str, int],
    db: Door,
) -> str:
    """Write what has happened."""
    runs = db.rows(
        "select drive || ' ' || status as kind, count(*) as n from lockgate_store.runs group by 1"
    )
    return summary(
        {
            "storm": forecast,
            "entries": ledger.count.total(),
            "told": ledger.count,
            "reads": reads,
            "kills": kills,
            "runs": Counter({row.kind: row.n for row in runs}),
            "looks": Counter(watched),
        }
    )
