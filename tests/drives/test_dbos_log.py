"""What DBOS says of a drive is told by our own logger, as safe to show as the rest."""

from typing import Any

import psycopg

from lockgate.drives import Driver
from lockgate.errors import RuleBroken
from tests.support.scene import Scene
from tests.support.seen import seen


def breaking() -> None:
    """Let an error leave each drive, with all that a driver of a database says in it."""

    async def broken(*_: Any, **__: Any) -> Any:
        said = psycopg.errors.UniqueViolation(
            'duplicate key\nDETAIL:  Key (mail)=(ann@example.org) host "db.internal" 10.1.2.3'
        )
        raise RuleBroken("LG002", {"mail": "ann@example.org"}) from said

    Driver.drive = broken  # type: ignore[method-assign]


def test_an_error_that_leaves_a_drive_is_told_without_what_it_must_not_say(scene: Scene) -> None:
    worker = scene.crew.worker("tells", prepare=breaking)
    worker.ready()
    scene.listened_to(1)
    scene.start("s1", {"say": "Hello."})
    seen(lambda: "dbos.failed" in worker.log.read_text(), "it is told")
    scene.crew.close()
    told = worker.log.read_text()
    assert "framework_store_corrupt" in told
    for secret in ("ann@example.org", "db.internal", "10.1.2.3", "Traceback"):
        assert secret not in told
