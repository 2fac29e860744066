"""Whether this process fits the database it was given, asked once before it serves anything.

Refuses a database that is not installed, rules of another release, and one whose unique indexes
are not whole. A process that would serve all the same would answer wrongly, and silently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import psycopg

import lockgate_sql
from lockgate.database import LINK
from lockgate.outcomes import CheckInstallationResult
from lockgate.rules.call import Connection
from lockgate.rules.shared import check_installation
from lockgate_ops.refusals import Refused, without_secrets

DRIVE_VERSION = "drive-1"  # of this code; a contract test holds it to lockgate.worker's
RUN_INSTALL = "run `lockgate install`"
MEND = "`lockgate doctor --mend`"
NOT_INSTALLED = ("3F000", "42883", "42P01")  # no schema, no function, no table
_FUNCTION = re.compile(
    r"^create function lockgate\.(\w+)\(.*?\bas \$\$(.*?)\$\$;", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Ready:
    """What start-up learnt of a database.

    is_direct  no pooler lies between, so that LISTEN works over this very URL
    """

    dbos_schema: str
    is_direct: bool


async def require_ready(database_url: str) -> Ready:
    """Learn what a process must know before it serves.

    Errors  Refused, naming the command that mends it; psycopg.Error when it cannot connect
    """
    async with await connect(database_url) as conn:
        try:
            installed = await check_installation(conn)
        except psycopg.Error as error:
            raise _not_readable(error) from None
        refuse_other_rules(installed)
        refuse_broken(installed)
        return Ready(installed.dbos_schema, await is_direct(conn))


async def connect(database_url: str) -> Connection:
    """Open one connection; what it cannot reach, it says within seconds."""
    parameters: dict[str, Any] = {**LINK, "application_name": "lockgate start"}
    try:
        return await psycopg.AsyncConnection.connect(
            database_url, autocommit=True, prepare_threshold=None, **parameters
        )
    except psycopg.ProgrammingError as error:
        raise Refused(f"the database's URL cannot be read: {without_secrets(str(error))}") from None


async def is_direct(conn: Connection) -> bool:
    """Say whether no pooler lies between: one that does has made up the process id it told."""
    cursor = await conn.execute("select pg_backend_pid()")
    row = await cursor.fetchone()
    return row is not None and row[0] == conn.info.backend_pid


def refuse_other_rules(installed: CheckInstallationResult) -> None:
    """Refuse rules that this code does not fit."""
    ours = version("lockgate")
    if installed.drive_version != DRIVE_VERSION or _series(installed.package_version) != _series(
        ours
    ):
        raise Refused(
            f"the database has Lockgate {installed.package_version} ({installed.drive_version}) "
            f"and this is {ours} ({DRIVE_VERSION}): {RUN_INSTALL}",
            code=1,
        )
    if installed.package_version == ours and installed.rules_digest != rules_digest():
        raise Refused(
            f"the database's rules are not those of this Lockgate {ours}: {RUN_INSTALL}", code=1
        )


def refuse_broken(installed: CheckInstallationResult) -> None:
    """Refuse guards that do not guard, and a DBOS that takes no drive."""
    if installed.broken:
        raise Refused(
            f"missing or invalid in the database: {', '.join(installed.broken)}: {RUN_INSTALL}; "
            f"`lockgate doctor` shows what is wrong, and {MEND} builds an index alone",
            code=1,
        )


@cache
def rules_digest() -> str:
    """Return what lockgate.check_installation answers where the rules of this package stand."""
    bodies = {
        name: body
        for path in lockgate_sql.rule_files()
        for name, body in _FUNCTION.findall(lockgate_sql.text(path))
    }
    told = "\n".join(f"{name}\n{bodies[name]}" for name in sorted(bodies))
    return sha256(told.encode()).hexdigest()


def _series(release: str) -> str:
    """Return what must agree: before 1.0 the minor version, from then on the major."""
    major, _, rest = release.partition(".")
    return major if major != "0" else f"0.{rest.partition('.')[0]}"


def _not_readable(error: psycopg.Error) -> Refused:
    if error.sqlstate in NOT_INSTALLED:
        return Refused(f"Lockgate is not installed in this database: {RUN_INSTALL}", code=1)
    if error.sqlstate == "42501":
        return Refused(
            "this role may not call Lockgate's rules: grant it membership in lockgate_runtime",
            code=1,
        )
    raise error
