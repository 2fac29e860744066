"""JSON at the border: what a body may hold, what we write, and what we read back."""

import json
import sys
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.strict_json import BadJson, JsonValue, dumps, loads_body, loads_stored, storable


def refusal(raw: str | bytes) -> BadJson:
    with pytest.raises(BadJson) as caught:
        loads_body(raw.encode() if isinstance(raw, str) else raw)
    return caught.value


def short(text: str) -> str:
    return text if len(text) < 50 else f"{text[:5]}... of {len(text)}"


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_integers_and_decimals_of_a_body_survive_exactly() -> None:
    value = loads_body(b'{"a":9007199254740993,"b":0.00001,"c":1e-5,"d":1.10,"e":-0}')
    assert value == {
        "a": 9007199254740993,
        "b": Decimal("0.00001"),
        "c": Decimal("0.00001"),
        "d": Decimal("1.10"),
        "e": 0,
    }
    assert isinstance(value, dict)
    assert [type(part) for part in value.values()] == [int, Decimal, Decimal, Decimal, int]
    assert str(value["d"]) == "1.10"


@pytest.mark.parametrize(
    "raw",
    ["", " ", "{", "nul", "{'a':1}", "[1,]", "[1] 2", "01", '"a\nb"', "\ufeff{}", "[+1]", "[.5]"],
)
def test_what_is_not_json_is_refused_without_a_field(raw: str) -> None:
    error = refusal(raw)
    assert (error.field, error.reason) == (None, "The text is not JSON")


@pytest.mark.parametrize("raw", [b'"\xff"', b'"\xed\xa0\xbd"', '{"a":1}'.encode("utf-16")])
def test_a_body_that_is_not_utf8_is_refused(raw: bytes) -> None:
    assert refusal(raw).field is None


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ('{"input":{"message":"a\\u0000b"}}', "input.message"),
        ('{"input":{"message":[{"content":"\\ud83d"}]}}', "input.message[0].content"),
        ('{"input":{"message":[{"content":"\\udc88"}]}}', "input.message[0].content"),
        ('{"input":{"message":"\\ude00\\ud83d"}}', "input.message"),
        ('{"metadata":{"a\\u0000":"x"}}', "metadata.a\ufffd"),
        ('[1,[2,"\\u0000"]]', "[1][1]"),
        ('"\\u0000"', None),
    ],
)
def test_a_body_with_nul_or_half_a_pair_names_the_field(raw: str, field: str | None) -> None:
    error = refusal(raw)
    assert (error.field, error.reason) == (field, "A text holds NUL or half of a surrogate pair")


def test_the_six_plain_characters_backslash_u_0000_are_text() -> None:
    assert loads_body(b'{"message":"\\\\u0000 \\\\ud83d"}') == {"message": "\\u0000 \\ud83d"}


def test_an_escaped_pair_is_one_character() -> None:
    assert loads_body(b'{"message":"\\ud83d\\ude00"}') == {"message": "\U0001f600"}


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ('{"a":1,"a":1}', "a"),
        ('{"input":{"state":{"x":1,"y":2,"x":3}}}', "input.state.x"),
        ('[{"a":1},{"\\u0061":1,"a":2}]', "[1].a"),
    ],
)
def test_a_name_given_twice_is_named(raw: str, field: str) -> None:
    error = refusal(raw)
    assert (error.field, error.reason) == (field, "A name appears twice in one object")


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_body_with_nan_or_infinity_names_the_field(word: str) -> None:
    assert refusal('{"result":' + word + "}").field == "result"


@pytest.mark.parametrize(
    "literal",
    [
        *["1e308", "-1e308", "1e-308", "1" + "0" * 308, "0." + "0" * 307 + "1", "9" * 308],
        *["1e0308", "0e999999999", "0.0e-99999", "1." + "3" * 999, "1000e305", "1e" + "0" * 5_000],
    ],
    ids=short,
)
def test_numbers_up_to_the_caps_are_taken_exactly(literal: str) -> None:
    value = loads_body(f'{{"n":{literal}}}'.encode())
    assert isinstance(value, dict)
    assert value["n"] == Decimal(literal)


@pytest.mark.parametrize(
    "literal",
    [
        *["1.0000000000000000000000000000000000000001e308", "1" + "0" * 309, "-1e309", "9e-309"],
        *["1e999999999999999999999", "1e-999999999999999999999", "9" * 309, "-0.1e-308"],
    ],
    ids=short,
)
def test_a_number_beyond_the_caps_names_the_field(literal: str) -> None:
    error = refusal(f'{{"a":[0,{literal}]}}')
    assert (error.field, error.reason) == ("a[1]", "A number is beyond 1e308 or below 1e-308")


@pytest.mark.parametrize(
    "literal", ["1" * 1_001, "1." + "3" * 1_000, "0." + "0" * 1_000 + "e5"], ids=short
)
def test_a_number_of_more_than_a_thousand_digits_names_the_field(literal: str) -> None:
    error = refusal(f'{{"n":{literal}}}')
    assert (error.field, error.reason) == ("n", "A number has more than 1,000 digits")


def test_two_hundred_levels_are_taken_and_one_more_is_not() -> None:
    loads_body(nested(200).encode())
    assert refusal(nested(201)).reason == "Nested too deep"
    assert refusal('{"a":' * 201 + "1" + "}" * 201).reason == "Nested too deep"


def test_brackets_inside_texts_are_no_levels() -> None:
    texts = ["[" * 500, '\\"[{' * 500, "\\"]
    assert loads_body(json.dumps([texts, {"a": texts}]).encode()) == [texts, {"a": texts}]


def test_many_brackets_side_by_side_are_no_depth() -> None:
    assert loads_body(b"[" + b"[]," * 500 + b"[]]") == [[]] * 501


def test_a_place_deep_among_long_names_is_cut() -> None:
    long = "n" * 300
    field = refusal(f'{{"{long}":{{"{long}":NaN}}}}').field
    assert field == long[:256]


def test_pythons_limit_on_digits_does_not_surface() -> None:
    limit = sys.get_int_max_str_digits()
    try:
        for setting in (640, 0):
            sys.set_int_max_str_digits(setting)
            assert refusal("[" + "1" * 100_000 + "]").field == "[0]"
            assert loads_body(("9" * 308).encode()) == 10**308 - 1
            assert isinstance(loads_stored("1" * 20_000), Decimal)
    finally:
        sys.set_int_max_str_digits(limit)


HOSTILE = {
    "open brackets": b"[" * 1_000_000,
    "open objects": b'{"a":' * 200_000,
    "an unclosed text": b'"' + b'\\"' * 500_000,
    "quotes after depth": b"[" * 201 + b'"' * 1_000_000,
    "backslashes after quotes": b"[[]," * 201 + b'"' + b"\\" * 999_999,
    "digits": b"1" * 1_000_000,
    "digits of an exponent": b"1e" + b"9" * 1_000_000,
    "one name for all": b"{" + b'"a":1,' * 150_000 + b'"a":1}',
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_megabyte_is_refused_quickly(raw: bytes) -> None:
    start = time.thread_time()
    refusal(raw)
    assert time.thread_time() - start < 2.0


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(-(10**20), 10**20, places=6)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda parts: st.lists(parts) | st.dictionaries(st.text('ab[]{}"\\u.é'), parts),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_what_we_write_reads_back_the_same_everywhere(value: JsonValue) -> None:
    written = dumps(value)
    assert loads_body(written.encode()) == value
    assert loads_stored(written) == value
    assert loads_stored(written.encode()) == value
    assert storable(value) == value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"a": [1, None, True], "b": "é\u2028\U0001f600\n"}, None),
        (Decimal("0.1"), "0.1"),
        (Decimal("1E+2"), "1E+2"),
        (Decimal("-0"), "-0"),
        (Decimal("0E-7"), "0E-7"),
        (Decimal("123456789012345678901234567890.5"), "123456789012345678901234567890.5"),
        (1e22, "1e+22"),
        ((1, 2), "[1,2]"),
    ],
)
def test_what_we_write_is_one_line_of_ascii_that_parses(value: object, written: str | None) -> None:
    text = dumps(value)
    assert text.isascii()
    assert "\n" not in text
    assert ", " not in text
    json.loads(text)
    assert written is None or text == written


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
def test_nan_is_never_written(word: str) -> None:
    for value in (float(word), Decimal(word)):
        with pytest.raises(ValueError, match="not JSON compliant"):
            dumps({"a": [value]})


def test_an_object_is_never_written() -> None:
    with pytest.raises(TypeError):
        dumps({"a": object()})


def test_a_stored_number_of_any_length_can_be_read() -> None:
    assert loads_stored("[1.50, 7]") == [Decimal("1.50"), 7]
    assert dumps(loads_stored("1" * 5_000)) == "1" * 5_000
