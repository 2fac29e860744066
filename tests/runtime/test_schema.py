"""Schemas in both forms: what fits, how a flaw is worded, and that nothing is fetched."""

import socket
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from lockgate.schema import MAX_FLAWS, Schema, Unfit, as_schema

AMOUNT = {
    "type": "object",
    "properties": {"amount": {"type": "number", "minimum": 0.5, "multipleOf": 0.25}},
    "required": ["amount"],
    "additionalProperties": False,
}


class Trip(BaseModel):
    day: date
    price: Decimal = Decimal("1.10")
    seats: list[int] = Field(default_factory=list)


@dataclass
class Point:
    x: int


def test_a_type_gives_its_values_and_fills_in_their_defaults() -> None:
    schema = Schema(Trip)
    assert schema.read({"day": "2026-01-02"}) == Trip(day=date(2026, 1, 2))
    assert schema.checked({"day": "2026-01-02", "price": Decimal("2.50")}) == {
        "day": "2026-01-02",
        "price": Decimal("2.50"),
        "seats": [],
    }
    assert schema.is_of_an_object


def test_a_dict_leaves_its_values_as_they_are() -> None:
    schema = Schema(AMOUNT)
    value = {"amount": Decimal("1.25")}
    assert schema.read(value) is value
    assert schema.checked(value) == value
    assert schema.json_schema == AMOUNT


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({}, "required"),
        ({"amount": "1"}, "$.amount"),
        ({"amount": Decimal("1.3")}, "multiple"),
        ({"amount": Decimal("0.25")}, "minimum"),
        ({"amount": 1, "to": "me"}, "to"),
        ([], "object"),
    ],
)
def test_a_dict_says_where_a_value_does_not_fit(value: Any, says: str) -> None:
    assert says in str(Schema(AMOUNT).flaws(value))


def test_a_type_says_where_and_repeats_no_value() -> None:
    flaws = Schema(Trip).flaws({"day": "s3cret", "seats": [1, "x"]})
    assert flaws is not None
    assert "day: " in flaws
    assert "seats.1: " in flaws
    assert "s3cret" not in flaws


def test_of_many_flaws_some_are_told() -> None:
    flaws = Schema(list[int]).flaws(["x"] * 50)
    assert flaws is not None
    assert flaws.count(";") == MAX_FLAWS
    assert flaws.endswith(f"and {50 - MAX_FLAWS} more")


@pytest.mark.parametrize("shape", [int, list[str], Point, dict[str, int], str | None])
def test_whatever_pydantic_knows_is_a_schema(shape: Any) -> None:
    made = as_schema(shape)
    assert made is not None
    assert made.json_schema
    assert as_schema(made) is made


class Tree(BaseModel):
    label: str
    below: list["Tree"] = Field(default_factory=list)


def test_a_type_that_holds_itself_is_of_an_object() -> None:
    schema = Schema(Tree)
    assert schema.is_of_an_object
    assert schema.flaws({"label": "a", "below": [{"label": 1}]}) is not None
    assert not Schema(list[Tree]).is_of_an_object


def test_what_is_none_is_refused_when_it_is_made() -> None:
    for shape in ({"type": "nothing"}, {"minimum": "low"}, object()):
        with pytest.raises(ValueError, match=r"no schema|no JSON Schema"):
            Schema(shape)
    assert as_schema(None) is None


def test_a_reference_to_elsewhere_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: Any) -> None:
        raise AssertionError("a schema has looked something up")

    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(Unfit, match="not there"):
        Schema({"$ref": "http://127.0.0.1:9/schema.json"}).read(1)
    assert Schema({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}).flaws("x")
