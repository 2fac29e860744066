"""Any value of a model or a tool made into JSON that our database can hold.

An output cannot be refused after the fact, so what is odd in it costs itself, not the run. Owns the
caps that bodies obey too. It writes no text: that, and all reading, is `strict_json.py`, which also
is where others import this from.
"""

import base64
import dataclasses
import math
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePath
from typing import Any, TypeAlias
from uuid import UUID

JsonValue: TypeAlias = (
    bool | int | float | Decimal | str | list["JsonValue"] | dict[str, "JsonValue"] | None
)

MAX_DEPTH = 200  # levels of nesting: far beyond any message, well inside every parser's stack
MAX_DIGITS = 1_000  # digits of one number: more is an attack on arithmetic, not a quantity

TOO_DEEP = "Nested too deep"
OUT_OF_RANGE = "A number is beyond 1e308 or below 1e-308"
TOO_MANY_DIGITS = "A number has more than 1,000 digits"

_SMALLEST, _LARGEST = Decimal("1e-308"), Decimal("1e308")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotStorable(ValueError):
    """An output has no JSON form within the border rules."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def storable(value: object) -> JsonValue:
    """Make what a model or a tool returned storable, losing as little of it as can be.

    NaN and Infinity become null; NUL and lone surrogates become U+FFFD; a pair split in two is
    joined. Of names that become equal by this the last one wins. Errors: NotStorable.
    """
    try:
        return _storable(value, MAX_DEPTH)
    except RecursionError:
        raise NotStorable(TOO_DEEP) from None


def number_flaw(value: Decimal) -> str | None:
    """Say why a finite number is beyond the caps, or nothing."""
    # Never `abs` or a sign: they round to the context's precision.
    if value and not _SMALLEST <= value.copy_abs() <= _LARGEST:
        return OUT_OF_RANGE
    return TOO_MANY_DIGITS if len(value.as_tuple().digits) > MAX_DIGITS else None


def _storable(value: object, room: int) -> JsonValue:
    # Two frames a level and no more, for a caller's stack holds a thousand in all.
    if type(value) is str:
        return _clean(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _storable(value.value, room)
    if isinstance(value, int | float | Decimal):
        return _number(value)
    text = _text_form(value)
    if text is not None:
        return _clean(text)
    if isinstance(value, Mapping | Sequence | Set):
        return _container(value, room)
    return _storable(_parts(value), room)


def _container(value: Mapping[Any, Any] | Iterable[Any], room: int) -> JsonValue:
    if room == 0:
        raise NotStorable(TOO_DEEP)
    if isinstance(value, Mapping):
        named: dict[str, JsonValue] = {}
        for key, part in value.items():
            named[_name(key)] = _storable(part, room - 1)
        return named
    items: list[JsonValue] = []
    for part in value:
        items.append(_storable(part, room - 1))
    return items


def _number(value: int | float | Decimal) -> int | float | Decimal | None:
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise NotStorable(OUT_OF_RANGE)
        return value
    # A Decimal is asked itself: as a float, a finite one may be infinite.
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        return None
    # A float is judged as it will be written: the float 1e308 is a little more than 10 ** 308.
    flaw = number_flaw(Decimal(str(value)))
    if flaw is not None:
        raise NotStorable(flaw)
    # A zero may carry an exponent that no database takes.
    return value or type(value)(0)


def _text_form(value: object) -> str | None:
    """Write the values that have one obvious text; binary that is no text goes as base64."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, UUID | PurePath | timedelta | IPv4Address | IPv6Address):
        return str(value)
    return None


def _parts(value: object) -> object:
    """Take an object of another library apart, one level only."""
    dump = getattr(value, "model_dump", None)
    try:
        if callable(dump) and not isinstance(value, type):
            return dump(mode="json")
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
        # The scalars of numeric libraries register themselves as these.
        if isinstance(value, numbers.Integral):
            return int(value)
        if isinstance(value, numbers.Real):
            return float(value)
    except Exception as error:
        raise NotStorable(f"The type {type(value).__name__} failed to become JSON") from error
    raise NotStorable(f"The type {type(value).__name__} has no JSON form")


def _name(key: object) -> str:
    if isinstance(key, Enum):
        key = key.value
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    try:
        text = _text_form(key)
        return _clean(str(key) if text is None else text)
    except Exception as error:
        raise NotStorable(f"The type {type(key).__name__} cannot be a name") from error


def _clean(text: str) -> str:
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    # In UTF-16 a pair is two units: writing both halves and reading them back joins them.
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
