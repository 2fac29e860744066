"""An application's code, called so that whatever it raises is an Exception.

A SystemExit or KeyboardInterrupt that it raises would end the loop that all runs share, and DBOS
records no BaseException: a run would stay with a worker that lives and does nothing for it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def contained() -> Iterator[None]:
    """Turn what is raised inside beyond Exception into one; what ends a coroutine passes."""
    try:
        yield
    except (Exception, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        raise RuntimeError(f"{type(error).__name__} was raised: {error}") from error


async def called(code: Callable[..., Any], *given: Any) -> Any:
    """Call a function, plain or async, and return its answer. Errors  an Exception"""
    with contained():
        answer = code(*given)
        return await answer if inspect.isawaitable(answer) else answer
