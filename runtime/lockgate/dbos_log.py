"""What DBOS logs, retold as events of our own: its tracebacks show rows, hosts and passwords."""

from __future__ import annotations

import contextlib
import logging

import structlog

from lockgate.errors import error_detail
from lockgate.scrub import scrub

log = structlog.get_logger(__name__)


def retell() -> None:
    """Take the place of DBOS's own handler, which it makes only where there is none."""
    logger = logging.getLogger("dbos")
    logger.propagate = False
    if not any(isinstance(handler, _Retelling) for handler in logger.handlers):
        logger.addHandler(_Retelling(logging.ERROR))


class _Retelling(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        told = {} if error is None else {"error": error_detail(error)}
        with contextlib.suppress(Exception):  # as of any handler: what is logged goes on
            log.error("dbos.failed", said=scrub(record.getMessage()), **told)
