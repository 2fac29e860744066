"""What a process is told from outside: the only reader of the environment.

An option of the command line wins over its variable, `LOCKGATE_` and its name in capitals. A URL
holds a password, so it shows in no text of ours; a variable also keeps it out of process lists.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from lockgate_ops.embedded import user_data_folder
from lockgate_ops.refusals import Refused

PREFIX = "LOCKGATE_"


class Settings(BaseSettings):
    """Every setting, by its name without the prefix.

    database_url    may lead through a pooler in transaction mode
    direct_url      past any pooler: for install, and to hear of new drives at once
    dbos_schema, runtime_role, dashboard_role   the names that an install uses
    agents          module:attribute of a lockgate.Runtime, or of a function that returns one
    authenticate    module:attribute of what says who asks
    metrics         serve /metrics, to whoever reaches the port
    concurrency     runs that a worker drives at the same time
    lease_ms        a worker is taken for dead when its heartbeat is older
    drain_s         how soon a process is gone that was told to leave; it finishes what it can
    pg_bin, data_folder  of the private server, where no database URL is given
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, hide_input_in_errors=True
    )

    database_url: str | None = Field(default=None, repr=False)
    direct_url: str | None = Field(default=None, repr=False)
    dbos_schema: str = "dbos"
    runtime_role: str = "lockgate_runtime"
    dashboard_role: str = "lockgate_dashboard"
    host: str = "127.0.0.1"
    port: int = Field(default=8321, ge=0, le=65_535)
    agents: str | None = None
    authenticate: str | None = None
    allow_unauthenticated: bool = False
    metrics: bool = False
    concurrency: int = Field(default=64, ge=1, le=10_000)
    lease_ms: int = Field(default=5_000, ge=500, le=600_000)
    drain_s: float = Field(default=10.0, ge=0, le=3_600)
    pool_size: int = Field(default=8, ge=1, le=1_000)
    pg_bin: Path | None = None
    data_folder: Path | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    xdg_data_home: str | None = Field(default=None, validation_alias="XDG_DATA_HOME")

    @property
    def data(self) -> Path:
        """The folder of this user's private database."""
        return self.data_folder or user_data_folder(self.xdg_data_home)

    def required_url(self) -> str:
        """Return the database's URL. Errors  Refused where none was given."""
        if self.database_url is None:
            raise Refused(
                "no database was named: set LOCKGATE_DATABASE_URL (or say --database-url) to your "
                "Postgres, such as postgresql://host/name"
            )
        return self.database_url


def read_settings(**given: Any) -> Settings:
    """Read the settings; what is given, and not None, wins over the environment.

    Errors  Refused, naming the variable or option at fault and never its value
    """
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False, include_context=False)[0]
        name = str(fault["loc"][0])
        option = name.replace("_", "-")
        why = fault["msg"][:1].lower() + fault["msg"][1:]
        raise Refused(f"{PREFIX}{name.upper()} or --{option} cannot be used: {why}") from None


def child_environment(**settings: str) -> dict[str, str]:
    """Return the environment of a child process: ours, with those settings instead of ours.

    A URL goes to a child this way, since everybody may read a process's arguments.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return kept | {f"{PREFIX}{name.upper()}": value for name, value in settings.items()}
