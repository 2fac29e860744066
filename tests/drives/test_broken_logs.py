"""A worker whose logs cannot be written works on: no beat and no loop ends of it."""

import os
from collections.abc import MutableMapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import structlog

from tests.support.endpoint import endpoint_of
from tests.support.scene import Scene
from tests.support.seen import seen
from tests.support.stage import Stage
from tests.support.weather import beating, wait_less

HELLO = {"say": "Hello."}
TOLD = ["heartbeat.failed", "worker.loop_failed", "worker.listen_failed", "kick.failed"]


def noting(folder: Path, *, breaks: bool) -> None:
    """Note each warning on its way, and break it there, or leave it to a broken stderr."""
    stage = Stage(folder)

    def note(_logger: Any, level: str, event: MutableMapping[str, Any]) -> Any:
        if level == "warning":
            stage.note("warned", event=event["event"])
            if breaks:
                raise OSError("the log's disk is full")
        return event

    structlog.configure(processors=[note, *structlog.get_config()["processors"]])
    if not breaks:
        reads, writes = os.pipe()
        os.close(reads)
        os.dup2(writes, 2)
    wait_less()


@pytest.mark.parametrize("breaks", [False, True], ids=["a-broken-stderr", "a-log-that-raises"])
def test_an_outage_of_which_nothing_can_be_told_is_lived_through(
    scene: Scene, *, breaks: bool
) -> None:
    with endpoint_of(scene.url) as endpoint:
        prepare = partial(noting, scene.stage.folder, breaks=breaks)
        name = scene.crew.worker("mute", url=endpoint.url, prepare=prepare).ready()
        scene.listened_to(1)
        with endpoint.away():
            for event in TOLD:
                scene.stage.seen("warned", event=event)
        beating(scene.door, [name])
        scene.listened_to(1)
        swept = "select swept_at from lockgate_store.workers where worker_id = %s"
        before = scene.door.row("select clock_timestamp() as now").now
        seen(lambda: (at := scene.door.row(swept, name).swept_at) and at > before, "it sweeps")
        scene.own.kick = None
        assert scene.settled(scene.start("s1", HELLO)).output == "Hello."
        scene.crew.close()
