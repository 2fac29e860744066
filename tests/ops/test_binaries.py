"""The server's programs are found, old ones refused, and hidden ones copied."""

import importlib.util
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate_ops import binaries
from lockgate_ops.binaries import EmbeddedPostgresError, find_bindir, reachable_bindir


def _fake_server(bindir: Path, version: str) -> Path:
    bindir.mkdir(parents=True)
    for program in binaries.PROGRAMS:
        (bindir / program).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
        (bindir / program).chmod(0o755)
    return bindir


@pytest.mark.parametrize("version", ["15.20 (Debian 15.20-1)", "18.4", "19beta1"])
def test_a_folder_that_is_named_wins(tmp_path: Path, version: str) -> None:
    named = _fake_server(tmp_path / "bin", version)
    assert find_bindir(named) == named


def test_an_old_a_broken_and_a_missing_server_say_what_to_do(tmp_path: Path) -> None:
    broken = _fake_server(tmp_path / "broken", "18.4")
    (broken / "postgres").write_text("#!/bin/sh\nexit 127\n")
    half = _fake_server(tmp_path / "half", "18.4")
    (half / "initdb").unlink()
    for bindir in (_fake_server(tmp_path / "old", "14.9"), broken, half, tmp_path / "missing"):
        told = rf"Postgres 15 or newer in {bindir}: pip install 'lockgate\[embedded\]'.*LOCKGATE_PG"
        with pytest.raises(EmbeddedPostgresError, match=told):
            find_bindir(bindir)


def test_the_newest_server_of_the_wheel_comes_first_and_is_not_imported() -> None:
    if importlib.util.find_spec(binaries.WHEEL) is None:
        pytest.skip("no wheel: pip install 'lockgate[embedded]'")
    looks = "import sys; from lockgate_ops.binaries import *; print(find_bindir());"
    imported = f"assert {binaries.WHEEL!r} not in sys.modules"
    said = subprocess.check_output([sys.executable, "-c", looks + imported], text=True)
    wheels = Path(said.strip()).parents[1]
    assert wheels.name == binaries.WHEEL
    majors = [binaries.major_version(found) for found in wheels.glob("pginstall*/bin")]
    assert binaries.major_version(Path(said.strip())) == max(majors)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to an account")
def test_programs_out_of_the_accounts_reach_are_copied_once_and_run(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "BINARY_CACHE", room / "cache" / "lockgate")
    account = binaries.server_account()
    found = find_bindir()
    package = found.parent.parent
    assert reachable_bindir(found, None) == found
    private = room / "private"
    private.mkdir(mode=0o700)
    (private / package.name).symlink_to(package)
    libraries = package.with_name(f"{package.name}.libs")
    (private / libraries.name).symlink_to(libraries)
    hidden = private / package.name / found.parent.name / found.name

    old_umask = os.umask(0o077)
    try:
        copied = reachable_bindir(hidden, account)
    finally:
        os.umask(old_umask)
    assert copied.is_relative_to(room / "cache")
    version = subprocess.check_output([copied / "initdb", "-V"], **binaries.dropped_to(account))
    assert b"PostgreSQL" in version
    before = (copied / "initdb").stat().st_ino
    assert (reachable_bindir(hidden, account) / "initdb").stat().st_ino == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to an account")
def test_a_folder_made_as_nobody_keeps_its_account(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(tmp_path, nobody.pw_uid, nobody.pw_gid)
    assert binaries.server_account(tmp_path) == nobody
