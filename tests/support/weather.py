"""What is seen of processes whose database is in trouble."""

from collections.abc import Sequence

import lockgate.database
import lockgate.link
from tests.support.door import Door
from tests.support.seen import seen

SOON_S = 1.0  # instead of ten seconds
# What an entry is told, and may simply repeat.
AWAY = (503, "framework_store_unavailable", True)


def wait_less() -> None:
    """Make a process tell sooner that its database is away."""
    lockgate.database.POOL_WAIT_S = 1.0


def beating(door: Door, workers: Sequence[str]) -> None:
    """Wait until each worker has beaten after now."""
    row = door.row("select clock_timestamp() as now")

    def beaten() -> bool:
        alive = door.rows(
            "select from lockgate_store.workers where heartbeat_at > %s and worker_id = any(%s)",
            row.now,
            [*workers],
        )
        return len(alive) == len(workers)

    seen(beaten, f"{workers} beat")


def answer_sooner() -> None:
    """Make a process take a silent link for dead sooner, also one of DBOS's."""
    wait_less()
    for module in (lockgate.database, lockgate.link):
        module.__dict__["ANSWER_S"] = SOON_S
