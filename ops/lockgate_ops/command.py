"""The `lockgate` command: reads options, hands them to the module of that name, ends the process.

Every import of weight stands inside its command, so that `lockgate --help` answers at once. What
goes wrong is one line on stderr and an exit code: 1 it failed, 2 it was asked for in a wrong way.
"""

from __future__ import annotations

import traceback
from typing import Annotated, Any

import typer

from lockgate_ops.exits import complain, exit_with_parent, leave
from lockgate_ops.refusals import told, without_secrets

app = typer.Typer(
    name="lockgate",
    help="A transactional session runtime for AI agents, in your own Postgres.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        metavar="URL",
        help="Your Postgres; better set LOCKGATE_DATABASE_URL, which no process list shows.",
    ),
]
DirectUrl = Annotated[
    str | None,
    typer.Option(
        "--direct-url", metavar="URL", help="The same database past any pooler. LOCKGATE_DIRECT_URL"
    ),
]
Agents = Annotated[
    str | None,
    typer.Option(
        "--agents",
        metavar="MODULE:ATTRIBUTE",
        help="A lockgate.Runtime, or a function that returns one; default: the demo agents.",
    ),
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", help="Runs driven at the same time; 64.")
]
LeaseMs = Annotated[
    int | None,
    typer.Option("--lease-ms", help="A worker that is silent for longer is taken for dead; 5000."),
]
DrainS = Annotated[
    float | None,
    typer.Option("--drain-s", help="Seconds until it is gone, once told to leave; 10."),
]
DbosSchema = Annotated[str | None, typer.Option("--dbos-schema", help="DBOS's schema; dbos.")]
RuntimeRole = Annotated[
    str | None, typer.Option("--runtime-role", help="May call the rules; lockgate_runtime.")
]
DashboardRole = Annotated[
    str | None, typer.Option("--dashboard-role", help="May read the views; lockgate_dashboard.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Mend = Annotated[
    bool, typer.Option("--mend", help="First build each index that is missing or invalid.")
]
Invariants = Annotated[
    bool,
    typer.Option(
        "--invariants",
        help="Ask instead whether each sentence on the stored rows holds, as their owner. Each is "
        "a scan of whole tables, and one snapshot is held over all: minutes where millions of "
        "rows are.",
    ),
]
StatementTimeoutS = Annotated[
    float,
    typer.Option(min=0, max=86_400, help="Give up a sentence of --invariants after so long; 0."),
]
WithParent = Annotated[bool, typer.Option("--exit-with-parent", hidden=True)]


@app.command()
def demo() -> None:
    """See it work in half a minute: a server, two workers, and one of them killed."""
    from lockgate_ops.demo import demo as run

    raise typer.Exit(run())


@app.command()
def serve(
    database_url: DatabaseUrl = None,
    direct_url: DirectUrl = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="0 takes any free one; 8321.")] = None,
    agents: Agents = None,
    authenticate: Annotated[
        str | None,
        typer.Option(metavar="MODULE:ATTRIBUTE", help="Says who asks; or the agents' module does."),
    ] = None,
    no_worker: Annotated[bool, typer.Option("--no-worker", help="Answer requests only.")] = False,
    allow_unauthenticated: Annotated[
        bool, typer.Option("--allow-unauthenticated", help="Let anyone call who reaches it.")
    ] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Serve /metrics, to anyone; it names nobody.")
    ] = False,
    concurrency: Concurrency = None,
    lease_ms: LeaseMs = None,
    drain_s: DrainS = None,
    exit_with_parent: WithParent = False,
) -> None:
    """Serve the HTTP API; without a database URL, over a private Postgres of your own."""
    _watch_parent(exit_with_parent)
    settings = _settings(
        database_url=database_url,
        direct_url=direct_url,
        host=host,
        port=port,
        agents=agents,
        authenticate=authenticate,
        allow_unauthenticated=allow_unauthenticated or None,
        metrics=metrics or None,
        concurrency=concurrency,
        lease_ms=lease_ms,
        drain_s=drain_s,
    )
    from lockgate_ops.serve import serve as run

    raise typer.Exit(run(settings, with_worker=not no_worker))


@app.command()
def work(
    database_url: DatabaseUrl = None,
    direct_url: DirectUrl = None,
    agents: Agents = None,
    concurrency: Concurrency = None,
    lease_ms: LeaseMs = None,
    drain_s: DrainS = None,
    exit_with_parent: WithParent = False,
) -> None:
    """Drive runs, without HTTP: as many such processes as you like, on any machine."""
    _watch_parent(exit_with_parent)
    settings = _settings(
        database_url=database_url,
        direct_url=direct_url,
        agents=agents,
        concurrency=concurrency,
        lease_ms=lease_ms,
        drain_s=drain_s,
    )
    from lockgate_ops.work import work as run

    raise typer.Exit(run(settings))


@app.command()
def install(
    database_url: DatabaseUrl = None,
    direct_url: DirectUrl = None,
    dbos_schema: DbosSchema = None,
    runtime_role: RuntimeRole = None,
    dashboard_role: DashboardRole = None,
) -> None:
    """Install Lockgate into your database, or bring it up to this release."""
    settings = _settings(
        database_url=database_url,
        direct_url=direct_url,
        dbos_schema=dbos_schema,
        runtime_role=runtime_role,
        dashboard_role=dashboard_role,
    )
    from lockgate_ops.install import run

    raise typer.Exit(run(settings))


@app.command()
def doctor(
    database_url: DatabaseUrl = None,
    direct_url: DirectUrl = None,
    runtime_role: RuntimeRole = None,
    dashboard_role: DashboardRole = None,
    dbos_schema: DbosSchema = None,
    mend: Mend = False,
    invariants: Invariants = False,
    statement_timeout_s: StatementTimeoutS = 0.0,
    as_json: AsJson = False,
) -> None:
    """Look at an installation: what is wrong, what is late, and what to do about it."""
    settings = _settings(
        database_url=database_url,
        direct_url=direct_url,
        runtime_role=runtime_role,
        dashboard_role=dashboard_role,
        dbos_schema=dbos_schema,
    )
    from lockgate_ops import doctor as ward

    if mend:
        ward.mend(settings, as_json=as_json)
    if invariants:
        from lockgate_ops.invariants import ask

        raise typer.Exit(ask(settings, timeout_s=statement_timeout_s, as_json=as_json))
    raise typer.Exit(ward.doctor(settings, as_json=as_json))


@app.command()
def bench(
    database_url: DatabaseUrl = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the bars of the design, as ratios on this machine."""
    settings = _settings(database_url=database_url)
    from lockgate_ops.bench import run

    raise typer.Exit(run(quick, as_json, database_url=settings.database_url))


@app.command()
def chaos(
    seconds: Annotated[float, typer.Option(min=1, help="How long the storm lasts.")] = 60.0,
    seed: Annotated[int | None, typer.Option(help="Of a storm that found something.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64)] = 4,
    servers: Annotated[int, typer.Option(min=1, max=64)] = 2,
    sessions: Annotated[int, typer.Option(min=8, max=10_000)] = 40,
    as_json: AsJson = False,
) -> None:
    """Kill, freeze and cut off a cluster of its own at random, and look for what was lost."""
    import random

    from lockgate_ops.chaos import Forecast
    from lockgate_ops.chaos import chaos as run

    dealt = random.randrange(10**6) if seed is None else seed
    forecast = Forecast(seconds, dealt, workers, servers, sessions)
    raise typer.Exit(run(forecast, as_json=as_json))


def main() -> None:
    """Run the command that was asked for, and end this process with its exit code."""
    try:
        app()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001 - whatever it is, a person reads one line.
        code = _say(error)
    leave(code)


def _settings(**given: Any) -> Any:
    from lockgate_ops.settings import read_settings

    return read_settings(**given)


def _watch_parent(wanted: bool) -> None:
    if wanted:
        exit_with_parent()


def _say(error: Exception) -> int:
    line, code = told(error)
    complain(line)
    if _is_debugging():
        complain(without_secrets("".join(traceback.format_exception(error))))
    return code


def _is_debugging() -> bool:
    from lockgate_ops.settings import read_settings

    try:
        return read_settings().log_level == "debug"
    except Exception:  # noqa: BLE001 - settings that cannot be read are being told of already.
        return False
