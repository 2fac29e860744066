"""A private Postgres server for people and tests that have none.

Owns a data folder's whole life: initdb, one owner at a time, start, stop. The server never
outlives its owner, however the owner dies: a small shell process, the sentinel, reads from a pipe
whose other end only the owner holds, and stops the server when that end closes.
Refuses: Windows, a server under root, another program's data folder or another major's, making
accounts, and changing the mode of a folder it did not make. Standard library only, so that any
Python 3.11 can run it.
"""

import contextlib
import glob
import os
import secrets
import shlex
import shutil
import socket
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, Self

from lockgate_ops.binaries import (
    EmbeddedPostgresError,
    find_bindir,
    major_version,
    make_folder,
    reachable_bindir,
    server_account,
)
from lockgate_ops.ownership import PROGRAM_TIMEOUT_S, Sentinel, take_lock

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "temporary_postgres", "user_data_folder"]

SUPERUSER = "postgres"
PASSWORD_FILE = "lockgate.password"
DEFAULT_SETTINGS = {"shared_buffers": "128MB", "max_connections": "200", "timezone": "UTC"}
# Not $TMPDIR: a socket's path has about 100 bytes, and the server's account must get there.
SHORT_FOLDER = Path("/tmp")
# Another program can take the port between our look and the server's bind, so we look again.
PORT_TRIES = 3


class EmbeddedPostgres:
    """One private server over one data folder: a context manager, or start() and stop().

    data      made if it is missing or empty; a lock file `DATA.lock` beside it names its owner
    bindir    the folder of the server's programs; found if None
    settings  server settings by name, over DEFAULT_SETTINGS
    gone_with_owner  a folder above `data`, made if it is missing, removed with all that is in it
                     should this process die without a stop(); no one else may know its name
    """

    def __init__(
        self,
        data: Path,
        bindir: Path | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        gone_with_owner: Path | None = None,
    ) -> None:
        self.data = data.absolute()
        self.account = server_account(self.data)
        self.bindir = reachable_bindir(find_bindir(bindir), self.account)
        self.port = 0
        self.socket_folder = _unused(SHORT_FOLDER, "lg-pg")
        self._settings = {**DEFAULT_SETTINGS, **(settings or {})}
        self._gone_with_owner = gone_with_owner
        self._lock: int | None = None
        self._sentinel: Sentinel | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The TCP URL with the password, good for a driver of any language."""
        if self._sentinel is None:
            raise EmbeddedPostgresError(f"the server over {self.data} is not running: start() it")
        password = (self.data / PASSWORD_FILE).read_text()
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> str:
        """Start the server, over a new data folder if need be, and return its URL.

        A second start answers the URL too. A start after a stop tries the old port first, so
        that clients of the same object find their server again.
        """
        if self._sentinel is None:
            try:
                self._take_folder()
                self._start_sentinel()
                if not self._holds_our_data():
                    self._make_data_folder()
                self._stop_orphan()
                self._start_server()
            except OSError as failure:
                self.stop()
                why = f"cannot keep a database in {self.data}: {failure}; choose another folder"
                raise EmbeddedPostgresError(why) from failure
            except BaseException:
                self.stop()
                raise
        return self.url

    def stop(self) -> None:
        """Stop the server, wait until it is down, keep its data. Safe to call twice."""
        if self._sentinel is not None and not self._sentinel.dismiss():
            # Someone killed the sentinel, so its last duty falls to another.
            self._start_sentinel().dismiss()
        self._sentinel = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def restart(self, mode: Literal["fast", "immediate"]) -> None:
        """Stop the server, in order or as a crash does, and start it again at the same address."""
        self._run(self._program("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop"))
        self._start_server()

    def forget(self) -> None:
        """Give the server up in a forked child, or the child would keep it alive."""
        if self._sentinel is not None and self._lock is not None:
            self._sentinel.forget()
            os.close(self._lock)
            self._sentinel = self._lock = None

    def _take_folder(self) -> None:
        """Become the one owner of the data folder, or say why it is not to be had."""
        if self._gone_with_owner:
            # It has no second owner to keep out, and must not exist before its sentinel does.
            self._lock = os.open(os.devnull, os.O_RDWR)
            return
        make_folder(self.data.parent, self.account)
        self._lock = take_lock(Path(f"{self.data}.lock"))
        # Only an owner makes these, and we are the owner: a kill during initdb left them.
        for stale in self.data.parent.glob(f"{glob.escape(self.data.name)}.new-*"):
            shutil.rmtree(stale, ignore_errors=True)
        if self._holds_our_data():
            self._refuse_strange_data()
        elif self.data.exists() and any(self.data.iterdir()):
            raise EmbeddedPostgresError(
                f"{self.data} is not empty and lockgate did not make it: choose another folder"
            )

    def _refuse_strange_data(self) -> None:
        """Refuse what Postgres would refuse too, but only in its log."""
        made_by = (self.data / "PG_VERSION").read_text().strip()
        if made_by != (ours := str(major_version(self.bindir))):
            raise EmbeddedPostgresError(
                f"{self.data} was made by Postgres {made_by} and {self.bindir} is Postgres {ours}: "
                f"set LOCKGATE_PG_BIN to the programs of a Postgres {made_by}, or choose another "
                "folder and move the data there with pg_dump"
            )
        runs_as = self.account.pw_uid if self.account else os.geteuid()
        if (owner := self.data.stat().st_uid) != runs_as:
            raise EmbeddedPostgresError(
                f"{self.data} belongs to user {owner} and the server would run as user {runs_as}: "
                f"start lockgate as user {owner}, or choose another folder"
            )

    def _holds_our_data(self) -> bool:
        return (self.data / PASSWORD_FILE).exists()

    def _start_sentinel(self) -> Sentinel:
        assert self._lock is not None
        mortal = [str(self.socket_folder), str(self._gone_with_owner or "")]
        words = [str(self.bindir / "pg_ctl"), str(self.data), *mortal]
        self._sentinel = Sentinel(words, self._lock, self.account)
        _OWNED.add(self)
        # Whoever removes these folders makes them: a kill of ours cannot come between.
        self._run(shlex.join(["mkdir", "-p", "-m", "700", *filter(None, mortal)]))
        if self._run(f"test -x {shlex.quote(str(self.data.parent))}")[0] != 0:
            who = self.account.pw_name if self.account else "this user"
            raise EmbeddedPostgresError(
                f"the server runs as {who}, who cannot enter {self.data.parent}: "
                f"choose a folder that {who} can reach, such as one under /var/lib"
            )
        return self._sentinel

    def _make_data_folder(self) -> None:
        """Run initdb aside, then rename: a kill leaves nothing that looks like a database.

        The password goes in by a pipe from the shell's own printf, so no process list shows it.
        """
        aside = tempfile.mkdtemp(prefix=f"{self.data.name}.new-", dir=self.data.parent)
        building = Path(aside)
        if self.account is not None:
            os.chown(building, self.account.pw_uid, self.account.pw_gid)
        password = secrets.token_urlsafe(18)
        options = ["-U", SUPERUSER, "--auth=scram-sha-256", "--pwfile=/dev/stdin"]
        encoding = ["-E", "UTF8", "--no-locale", "--no-sync"]
        initdb = self._program("initdb", "-D", building, *options, *encoding)
        stored = shlex.quote(str(building / PASSWORD_FILE))
        code, said = self._run(f"printf %s {password} | {initdb} && printf %s {password} >{stored}")
        if code == 0 and not self._gone_with_owner:
            # Apart, because a slow disk needs seconds, which a dead owner's successor would wait.
            code, said = self._run(self._program("initdb", "-D", building, "--sync-only"))
        if code != 0:
            shutil.rmtree(building, ignore_errors=True)
            raise EmbeddedPostgresError(f"initdb made no database in {building.parent}: {said}")
        building.rename(self.data)

    def _stop_orphan(self) -> None:
        """Stop a server whose owner and sentinel were both killed; we hold the lock, not they."""
        if self._run(self._program("pg_ctl", "-D", self.data, "status"))[0] == 0:
            self._run(self._program("pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop"))

    def _start_server(self) -> None:
        log = self.data / "server.log"
        wait = ["-w", "-t", int(PROGRAM_TIMEOUT_S), "-l", log]
        said = ""
        for _ in range(PORT_TRIES):
            self.port = self.port or _free_port()
            # Ours come last and so win: the URL and the sentinel depend on them.
            place = {"listen_addresses": "127.0.0.1", "port": str(self.port)}
            place["unix_socket_directories"] = str(self.socket_folder)
            named = [f"{name}={value}" for name, value in {**self._settings, **place}.items()]
            options = shlex.join(word for setting in named for word in ("-c", setting))
            start = self._program("pg_ctl", "-D", self.data, *wait, "-o", options, "start")
            code, said = self._run(start)
            if code == 0:
                return
            self.port = 0
        logged = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else []
        ends = "\n".join([said, *logged])
        raise EmbeddedPostgresError(f"Postgres did not start; mend what {log} says last:\n{ends}")

    def _program(self, name: str, *words: object) -> str:
        return shlex.join([str(self.bindir / name), *map(str, words)])

    def _run(self, line: str) -> tuple[int, str]:
        assert self._sentinel is not None
        return self._sentinel.run(line)


@contextlib.contextmanager
def temporary_postgres(
    bindir: Path | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    parent: Path = SHORT_FOLDER,
) -> Iterator[EmbeddedPostgres]:
    """Yield a started server over a new folder that goes at the end, also by a kill -9.

    parent  where the folder is made; the server's account must be allowed to, as in /dev/shm
    """
    folder = _unused(parent.absolute(), "lockgate")
    try:
        data = folder / "data"
        with EmbeddedPostgres(data, bindir, settings=settings, gone_with_owner=folder) as server:
            yield server
    finally:
        if folder.exists():
            shutil.rmtree(folder)


def user_data_folder(xdg_data_home: str | None = None) -> Path:
    """Return where this user's database lives; root's is where the server's account can go.

    xdg_data_home  the value of XDG_DATA_HOME; not absolute is as good as unset, says its standard
    """
    if os.geteuid() == 0:
        return Path("/var/lib/lockgate/postgres")
    if xdg_data_home and Path(xdg_data_home).is_absolute():
        return Path(xdg_data_home) / "lockgate" / "postgres"
    return Path.home() / ".local" / "share" / "lockgate" / "postgres"


def _unused(parent: Path, prefix: str) -> Path:
    """Return a name that nobody has or guesses, without making the folder."""
    return parent / f"{prefix}-{secrets.token_hex(6)}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


_OWNED: weakref.WeakSet[EmbeddedPostgres] = weakref.WeakSet()


def _forget_servers() -> None:
    for server in _OWNED:
        server.forget()


os.register_at_fork(after_in_child=_forget_servers)
