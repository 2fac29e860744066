"""What runs in a process of a test's crew: a worker, a server, or one function.

Preloaded where the processes are forked from, so everything it needs is imported at the top.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lockgate.model
import lockgate_ops.command
import lockgate_ops.settings
from lockgate import Runtime
from lockgate.worker import Worker, WorkerSettings
from lockgate_ops.logs import configure_logs
from tests.support.crashes import Crash, arm
from tests.support.points import Standstill
from tests.support.stage import Stage
from tests.support.stage_agents import staged_runtime
from tests.support.standstill import stand_still

# What `lockgate serve --agents` finds in a child: its part says which runtime that is.
runtime: Runtime | None = None


@dataclass(frozen=True)
class Part:
    """What a process is to do.

    kind      worker, server (with more words of the command line), or act (a function)
    settled   whether its runtime has an on_run_settled
    waits_s   before a model call is repeated
    admits    whether it has a before_entry, which refuses while the gate `refuses` is open
    options   of its Runtime
    settings  of the command, by their names
    crash     where it dies, or where each of its sessions stands still
    prepare   called in the process before anything else
    """

    name: str
    kind: str
    url: str
    lease_ms: int = 1_000
    sweep_every_s: float = 0.2
    concurrency: int = 64
    drain_s: float = 0.5
    max_attempts: int = 5
    pool_size: int = 8
    first_run_limit_ms: int = 300_000
    settled: bool = False
    admits: bool = False
    waits_s: tuple[float, ...] = (0.01, 0.01, 0.01)
    words: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    crash: Crash | Standstill | None = None
    prepare: Callable[[], None] | None = None
    act: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()


def play(part: Part, folder: Path) -> None:
    """Play a part until it ends; what it prints goes to its log."""
    log = os.open(folder / f"{part.name}.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for standard in (1, 2):
        os.dup2(log, standard)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    stage = Stage(folder)
    configure_logs("info")
    lockgate.model.RETRY_WAITS_S = part.waits_s  # type: ignore[assignment]  # three by default
    if part.prepare is not None:
        part.prepare()
    if isinstance(part.crash, Standstill):
        stand_still(part.crash, stage)
    elif part.crash is not None:
        arm(part.crash, stage)
    if part.kind == "worker":
        asyncio.run(_work(part, stage))
    elif part.kind == "server":
        _serve(part, stage)
    else:
        assert part.act is not None
        part.act(part, stage, *part.args)
    sys.stdout.flush()
    os._exit(0)


async def _work(part: Part, stage: Stage) -> None:
    """Drive runs until told to leave, as `lockgate work` does."""
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    own = await _runtime(part, stage).open(part.url, direct_url=part.url, pool_size=part.pool_size)
    worker = Worker(
        own,
        WorkerSettings(
            concurrency=part.concurrency,
            lease_ms=part.lease_ms,
            sweep_every_s=part.sweep_every_s,
            drain_s=part.drain_s,
            max_attempts=part.max_attempts,
            first_run_limit_ms=part.first_run_limit_ms,
        ),
    )
    await worker.start()
    print("ready", worker.worker_id, flush=True)  # noqa: T201 - who started it waits for this.
    own.hurry()
    await told.wait()
    await worker.stop()
    await own.close()


def _serve(part: Part, stage: Stage) -> None:
    """Run the command itself, over the agents of the tests."""
    global runtime
    runtime = _runtime(part, stage)
    for name, value in {"database_url": part.url, **part.settings}.items():
        os.environ[f"LOCKGATE_{name.upper()}"] = value
    sys.argv = ["lockgate", "serve", "--allow-unauthenticated", "--port", "0"]
    sys.argv += ["--agents", f"{__name__}:runtime", "--lease-ms", str(part.lease_ms)]
    sys.argv += ["--drain-s", str(part.drain_s), *part.words]
    lockgate_ops.command.main()


def _runtime(part: Part, stage: Stage) -> Runtime:
    return staged_runtime(stage, settled=part.settled, admits=part.admits, **part.options)
