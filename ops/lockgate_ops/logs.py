"""Logs of a process: one event a line on stderr, since stdout is for what a person asked for.

Colours where somebody watches, JSON where a collector reads. No line holds a URL's credentials. A
line that stderr does not take is dropped: a log must never end what it tells of.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO, cast

import structlog

from lockgate_ops.refusals import without_secrets


def configure_logs(level: str) -> None:
    """Send our events, and what the libraries say, to stderr from this level up."""
    number = logging.getLevelNamesMapping()[level.upper()]
    stderr = cast(TextIO, _Stderr())
    watched = sys.stderr.isatty()
    render: Any = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if watched
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            _without_secrets,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(stderr),
    )
    libraries = logging.StreamHandler(stderr)
    libraries.setFormatter(_Formatter("%(levelname)s %(message)s"))
    logging.basicConfig(handlers=[libraries], level=max(number, logging.WARNING))


class _Stderr(io.TextIOBase):
    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


def _without_secrets(
    _logger: object, _name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    return {
        key: without_secrets(value) if isinstance(value, str) else value
        for key, value in event.items()
    }
