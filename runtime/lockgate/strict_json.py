"""JSON by the border rules: what comes in can be stored, and what goes out parses everywhere.

A body is refused where it is wrong, by name; an output cannot be refused after the fact, so it is
made storable. No number passes through a float. It knows no HTTP, no database, no error tree.
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NoReturn

import simplejson  # type: ignore[import-untyped]  # It ships no types; one call of it is used.

from lockgate.storable import (
    MAX_DEPTH,
    MAX_DIGITS,
    OUT_OF_RANGE,
    TOO_DEEP,
    TOO_MANY_DIGITS,
    JsonValue,
    NotStorable,
    number_flaw,
    storable,
)

__all__ = [
    "MAX_DEPTH",
    "BadJson",
    "JsonValue",
    "NotStorable",
    "dumps",
    "loads_body",
    "loads_stored",
    "storable",
]

MAX_FIELD = 256  # characters of a place we name, for its keys are the caller's

NOT_UTF8 = "The text is not UTF-8"
NOT_JSON = "The text is not JSON"
DUPLICATE_NAME = "A name appears twice in one object"
NOT_FINITE = "NaN and Infinity are not numbers of JSON"
BAD_CHARACTER = "A text holds NUL or half of a surrogate pair"

_SURELY_IN_RANGE = 308  # characters: a literal this short, without exponent, is within both bounds

_BAD_CHARACTER = re.compile("[\x00\ud800-\udfff]")

# It may also be a valid pair, or a plain backslash before a `u`: a hit only makes us look closer.
_SUSPECT_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

# A string is stepped over whole, an unclosed one to the end; possessive, so always in one pass.
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|([\[{])|([\]}])', re.DOTALL)


class BadJson(ValueError):
    """A body breaks the border rules; `field` names the place, if it has a name."""

    def __init__(self, field: str | None, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


class _Flaw(Exception):
    """What is wrong with one value; `key` when it is wrong under a name of that value."""

    def __init__(self, reason: str, key: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.key = key


def loads_body(raw: bytes, max_depth: int = MAX_DEPTH) -> JsonValue:
    """Read a request body, or say what is wrong with it and where.

    Result  integers as int, every other number as Decimal, both exact
    Errors  BadJson; neither its reason nor its field quotes a value
    Source  design section 4
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise BadJson(None, NOT_UTF8) from None
    # Two counts spare an ordinary body the walk; the parser itself would recurse before it knew.
    if text.count("[") + text.count("{") > max_depth and _is_deeper(text, max_depth):
        raise BadJson(None, TOO_DEEP)
    try:
        value: JsonValue = _RAISING.decode(text)
    except json.JSONDecodeError:
        raise BadJson(None, NOT_JSON) from None
    except _Flaw as flaw:
        _refuse_flaws(_MARKING.decode(text), "")
        raise BadJson(None, flaw.reason) from None
    if "\\u" in text and _SUSPECT_ESCAPE.search(text):
        _refuse_flaws(value, "")
    return value


def loads_stored(text: str | bytes) -> JsonValue:
    """Read what our own database wrote: valid by construction, and exact in every number."""
    value: JsonValue = _STORED.decode(text if isinstance(text, str) else text.decode())
    return value


def dumps(value: object) -> str:
    """Write strict JSON, one line of ASCII; ValueError for NaN, TypeError for what is not JSON."""
    return str(_ENCODER.encode(value))


def _is_deeper(text: str, max_depth: int) -> bool:
    depth = 0
    for token in _STRUCTURE.finditer(text):
        if token.lastindex == 1:
            depth += 1
            if depth > max_depth:
                return True
        elif token.lastindex == 2:
            depth -= 1
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Flaw(DUPLICATE_NAME, key)
            seen.add(key)
    return value


def _integer(literal: str) -> int:
    # By its length first: Python's own conversion is quadratic, and limited by a setting.
    return int(literal if len(literal) <= _SURELY_IN_RANGE else _decimal(literal))


def _decimal(literal: str) -> Decimal:
    if len(literal) <= _SURELY_IN_RANGE and "e" not in literal and "E" not in literal:
        return Decimal(literal)
    mantissa, _, exponent = literal.lower().partition("e")
    if len(mantissa) - mantissa.count("-") - mantissa.count(".") > MAX_DIGITS:
        raise _Flaw(TOO_MANY_DIGITS)
    significand = Decimal(mantissa)
    if not significand:
        return significand
    power = exponent.lstrip("+-").lstrip("0") or "0"
    # Not even a thousand digits bring this back into range, and Decimal has a range of its own.
    if len(power) > 5:
        raise _Flaw(OUT_OF_RANGE)
    value = Decimal(f"{mantissa}e{'-' if exponent.startswith('-') else '+'}{power}")
    flaw = number_flaw(value)
    if flaw is not None:
        raise _Flaw(flaw)
    return value


def _constant(_literal: str) -> NoReturn:
    raise _Flaw(NOT_FINITE)


def _stored_integer(literal: str) -> int | Decimal:
    # Another client of the database may store what our border refuses; it must still be readable.
    return int(literal) if len(literal) <= MAX_DIGITS else Decimal(literal)


def _marking(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Leave a flaw where it is instead of raising it, so that its place can be found."""

    def mark(part: Any) -> Any:
        try:
            return hook(part)
        except _Flaw as flaw:
            return flaw

    return mark


def _decoder(wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=wrap(_object),
        parse_int=wrap(_integer),
        parse_float=wrap(_decimal),
        parse_constant=wrap(_constant),
    )


_RAISING, _MARKING = _decoder(lambda hook: hook), _decoder(_marking)
_STORED = json.JSONDecoder(parse_int=_stored_integer, parse_float=Decimal)


def _refuse_flaws(value: Any, path: str) -> None:
    """Raise BadJson for the first flaw at or under a place, if there is one."""
    if isinstance(value, _Flaw):
        raise BadJson(_place(path if value.key is None else _under(path, value.key)), value.reason)
    if isinstance(value, str) and _BAD_CHARACTER.search(value):
        raise BadJson(_place(path), BAD_CHARACTER)
    if isinstance(value, dict):
        for key, part in value.items():
            if _BAD_CHARACTER.search(key):
                raise BadJson(_place(_under(path, key)), BAD_CHARACTER)
            _refuse_flaws(part, _under(path, key))
    if isinstance(value, list):
        for index, part in enumerate(value):
            _refuse_flaws(part, f"{path}[{index}]")


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _place(path: str) -> str | None:
    return _BAD_CHARACTER.sub("\ufffd", path[:MAX_FIELD]) or None


# Of the encoders at hand only this one writes a Decimal as the number it is.
_ENCODER = simplejson.JSONEncoder(
    allow_nan=False, use_decimal=True, namedtuple_as_object=False, separators=(",", ":")
)
