"""What a process logs is safe to show, whoever says it."""

import subprocess
import sys

PROCESS = """
import logging
from lockgate_ops.logs import configure_logs

configure_logs("info")
try:
    raise OSError("cannot reach postgresql://ann:hunter2@db/lockgate")
except OSError:
    logging.getLogger("a.library").exception("tried password=hunter2")
"""


def test_what_a_library_logs_names_no_credentials() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROCESS], capture_output=True, text=True, check=True
    )
    assert "cannot reach postgresql://***@db/lockgate" in done.stderr
    assert "hunter2" not in done.stderr
