"""Outputs of models and tools: what each kind of value becomes, and what has no form."""

import json
from collections import OrderedDict, UserDict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import PurePosixPath
from uuid import UUID

import pytest
from pydantic import BaseModel

from lockgate.strict_json import NotStorable, dumps, loads_body, loads_stored, storable


def kind_of(value: object) -> str:
    return type(value).__name__


def nested(depth: int) -> object:
    return json.loads("[" * depth + "]" * depth)


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    YES = "yes"


@dataclass
class Point:
    x: float
    tags: tuple[str, ...]


class Order(BaseModel):
    item: str
    price: float
    placed: datetime


class Unwilling:
    def model_dump(self, mode: str) -> object:
        raise RuntimeError(mode)


NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"score": float("nan"), "ok": 1, "big": float("inf")}, '{"score":null,"ok":1,"big":null}'),
        (
            [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), Decimal("0.10")],
            "[null,null,null,0.10]",
        ),
        ("a\x00b", '"a\\ufffdb"'),
        ({"k\x00": "\ud83d!", "l\udc88": 1}, '{"k\\ufffd":"\\ufffd!","l\\ufffd":1}'),
        ("\ud83d\ude00 and \ude00\ud83d", '"\\ud83d\\ude00 and \\ufffd\\ufffd"'),
        ("\\u0000", '"\\\\u0000"'),
        ((1, [2], {3}, frozenset(), deque([4]), range(2)), "[1,[2],[3],[],[4],[0,1]]"),
        ({None: 1, True: 2, 7: 3, (1, 2): 4, Word.YES: 5}, None),
        ([Colour.RED, Level.HIGH, Word.YES], '["red",3,"yes"]'),
        (Point(float("nan"), ("a\x00",)), '{"x":null,"tags":["a\\ufffd"]}'),
        (Order(item="x\x00", price=float("inf"), placed=NOON), None),
        ([NOON, date(2030, 1, 2)], '["2030-01-02T12:00:00+00:00","2030-01-02"]'),
        ([UUID(int=1), PurePosixPath("/a"), timedelta(seconds=61)], None),
        ([b"text", b"\xff\x00", bytearray(b"")], '["text","/wA=",""]'),
        (UserDict({"a": OrderedDict(b=1)}), '{"a":{"b":1}}'),
        ([Fraction(1, 2), -0.0, 1e308, 10**308], None),
    ],
    ids=kind_of,
)
def test_an_output_becomes_what_a_strict_reader_takes(value: object, stored: str | None) -> None:
    made = storable(value)
    assert loads_body(dumps(made).encode()) == loads_stored(dumps(made))
    assert stored is None or dumps(made) == stored


def test_names_that_are_no_texts_become_the_texts_of_json() -> None:
    keys = {None: 1, True: 2, 7: 3, 1.5: 4, UUID(int=1): 5, Colour.RED: 6, b"": 7}
    assert list(storable(keys)) == [  # type: ignore[arg-type]  # It is a dict.
        *["null", "true", "7", "1.5"],
        *["00000000-0000-0000-0000-000000000001", "red", ""],
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (10**308 + 1, "A number is beyond 1e308 or below 1e-308"),
        (1.7e308, "A number is beyond 1e308 or below 1e-308"),
        (5e-324, "A number is beyond 1e308 or below 1e-308"),
        (Decimal("1e309"), "A number is beyond 1e308 or below 1e-308"),
        (10**5_000, "A number is beyond 1e308 or below 1e-308"),
        (Decimal("1." + "3" * 1_000), "A number has more than 1,000 digits"),
        ({10**5_000: 1}, "The type int cannot be a name"),
        ([object()], "The type object has no JSON form"),
        (1j, "The type complex has no JSON form"),
        (Order, "The type ModelMetaclass has no JSON form"),
        (Point, "The type type has no JSON form"),
        ((n for n in [1]), "The type generator has no JSON form"),
        (Unwilling(), "The type Unwilling failed to become JSON"),
    ],
    ids=kind_of,
)
def test_an_output_without_a_form_says_why(value: object, reason: str) -> None:
    with pytest.raises(NotStorable) as caught:
        storable(value)
    assert caught.value.reason == reason


def test_an_output_may_be_two_hundred_levels_deep_and_no_deeper() -> None:
    assert storable(nested(200)) == nested(200)
    with pytest.raises(NotStorable, match="Nested too deep"):
        storable(nested(201))


def test_an_output_that_holds_itself_is_too_deep() -> None:
    circle: list[object] = []
    circle.append({"again": circle})
    with pytest.raises(NotStorable, match="Nested too deep"):
        storable(circle)


def test_a_zero_with_an_absurd_exponent_is_zero() -> None:
    assert dumps(storable(Decimal("0E+999999"))) == "0"
