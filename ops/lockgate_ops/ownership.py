"""Who owns a private server: one process a folder, and none that is dead.

Owns the lock that makes a process the one owner of a data folder, and the sentinel, a small shell
process that reads from a pipe whose other end only the owner holds: it runs the server's programs
for the owner and stops the server when that end closes, however the owner died.
Refuses to know what those programs do: that is embedded.py's. Standard library only.
"""

import contextlib
import fcntl
import os
import pwd
import re
import select
import subprocess
import time
from pathlib import Path

from lockgate_ops.binaries import EmbeddedPostgresError, dropped_to

# A slow disk or a crash recovery needs long; a start takes a tenth of a second.
PROGRAM_TIMEOUT_S = 60.0
# A dead owner's server needs about half a second to stop; a slow disk may need more.
OWNER_TIMEOUT_S = 15.0
OWNER_POLL_S = 0.05

# $0 pg_ctl, $1 data folder, $2 socket folder, $3 what goes with an owner that died, or ''.
# All programs run here, one after the other, so an owner that dies in the middle of a start is
# noticed after the start, when there is a server to stop. Ignored signals: a service manager
# sends TERM to every process of its group, and a dead owner's pipe must not kill us by PIPE.
SENTINEL = r"""
trap '' HUP INT TERM PIPE
umask 077
while IFS= read -r line; do
  eval "$line" </dev/null 2>&1
  printf '\nexit %s\n' "$?" 2>/dev/null
done
stop() { "$0" -D "$1" -m "$2" -w -t 60 stop; }
{ stop "$1" fast || stop "$1" immediate; } >/dev/null 2>&1
rm -rf "$2"
[ "$kept" ] || rm -rf "$3"
"""
ANSWER = re.compile(rb"^exit (\d+)\n\Z", re.MULTILINE)


class Sentinel:
    """The process that runs the server's programs as its account, and ends the server at last.

    It holds the folder's lock as its stderr, not as another inherited descriptor, because the
    programs it runs have a stderr of their own: a server that held the lock would keep it when
    owner and sentinel were both killed, and no later start could clear that server away.
    """

    def __init__(self, words: list[str], lock: int, account: pwd.struct_passwd | None) -> None:
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", SENTINEL, *words],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=lock,
            start_new_session=True,  # A Ctrl-C in the terminal must reach the owner alone.
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            cwd="/",
            **dropped_to(account),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._orders, self._answers = self.process.stdin, self.process.stdout

    def run(self, line: str) -> tuple[int, str]:
        """Run one shell line; return its exit code and what it printed."""
        answer, deadline = b"", time.monotonic() + PROGRAM_TIMEOUT_S + 5
        answers = select.poll()
        answers.register(self._answers, select.POLLIN)
        with contextlib.suppress(BrokenPipeError):
            self._orders.write(f"{line}\n".encode())
        while not (end := ANSWER.search(answer)):
            in_time = answers.poll(max(0.0, deadline - time.monotonic()) * 1000)
            if not (piece := self._answers.read(65_536) if in_time else b""):
                why = "was killed" if in_time else "has not answered in time"
                raise EmbeddedPostgresError(f"the process that runs Postgres {why}: start again")
            answer += piece
        return int(end[1]), answer[: end.start()].decode(errors="replace").strip()

    def dismiss(self) -> bool:
        """Have the server stopped and wait for it; False if the sentinel was killed before."""
        with contextlib.suppress(BrokenPipeError):
            self._orders.write(b"kept=yes\n")
        self._orders.close()
        ended = self.process.wait(3 * PROGRAM_TIMEOUT_S)
        self._answers.close()
        return ended >= 0

    def forget(self) -> None:
        """Let go of the pipe in a forked child, for which this is no child to wait for."""
        self._orders.close()
        self._answers.close()
        self.process.returncode = 0


def take_lock(path: Path) -> int:
    """Return a descriptor that holds the lock; the sentinel inherits it and so shares it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + OWNER_TIMEOUT_S
    try:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.truncate(lock, 0)
                os.write(lock, f"{os.getpid()}\n".encode())
                return lock
            if time.monotonic() > deadline:
                owner = os.pread(lock, 20, 0).decode().partition("\n")[0]
                raise EmbeddedPostgresError(
                    f"process {owner} runs a server over {path.with_suffix('')}: "
                    "use that server, stop it, or choose another folder"
                )
            time.sleep(OWNER_POLL_S)
    except BaseException:
        os.close(lock)
        raise
