"""One text for equal JSON values, and never one for different values."""

import json

import pytest

from tests.support.door import Door

DEEPEST = 200  # The border's limit on nesting.

WRITTEN = (
    ('{"b":1,"a":[true,false,null]}', '{"a":[true,false,null],"b":1}'),
    ('{"aa":1,"b":2,"Z":3}', '{"Z":3,"aa":1,"b":2}'),
    (
        "[1.50, 2e3, -0.0, 1e-7, 12345678901234567890.10]",
        "[1.5,2000,0,0.0000001,12345678901234567890.1]",
    ),
    ('"a\\u000ab\\"\\u00e9/"', '"a\\nb\\"é/"'),
    ("{}", "{}"),
    ("[]", "[]"),
    ("null", "null"),
    ('{"a":{"c":[],"b":{}}}', '{"a":{"b":{},"c":[]}}'),
)


def test_values_are_written_in_their_one_form(db: Door, subtests: pytest.Subtests) -> None:
    for sent, written in WRITTEN:
        with subtests.test(sent=sent):
            assert db.row("select lockgate.canonical_json(%s) as it", sent).it == written


def test_what_is_written_is_the_same_value(db: Door) -> None:
    for sent, _ in WRITTEN:
        assert db.row(
            "select lockgate.canonical_json(j)::jsonb = j as same from (select %s::jsonb) v(j)",
            sent,
        ).same


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_the_deepest_value_that_the_border_lets_in_can_be_written(
    db: Door, opened: str, closed: str
) -> None:
    deep = opened * DEEPEST + "1" + closed * DEEPEST

    assert db.row("select lockgate.canonical_json(%s) as it", deep).it == deep
    state = json.loads('{"a":' * (DEEPEST - 1) + "{}" + "}" * (DEEPEST - 1))
    assert db.start(input={"message": "hi", "state": state}).outcome == "started"
