"""What a caller may send as a message, and the one form in which it is stored."""

import json

import pytest

from tests.support.door import Door

TEXT = [{"type": "text", "text": "hi"}]
FILE = {"type": "file", "mediaType": "image/png", "url": "https://example.org/a.png"}

READ: tuple[tuple[object, object], ...] = (
    ("hi", [{"role": "user", "content": TEXT}]),
    ([{"role": "user", "content": "hi"}], [{"role": "user", "content": TEXT}]),
    ([{"role": "user", "content": TEXT}], [{"role": "user", "content": TEXT}]),
    (
        [{"role": "user", "content": [*TEXT, {**FILE, "filename": "a.png"}], "id": "m1"}],
        [{"role": "user", "content": [*TEXT, {**FILE, "filename": "a.png"}], "id": "m1"}],
    ),
    (
        [{"role": "user", "content": "hi"}, {"role": "user", "content": [FILE]}],
        [{"role": "user", "content": TEXT}, {"role": "user", "content": [FILE]}],
    ),
    (" ", [{"role": "user", "content": [{"type": "text", "text": " "}]}]),
)

REFUSED: tuple[object, ...] = (
    None,
    "",
    [],
    {},
    1,
    True,
    {"role": "user", "content": "hi"},
    ["hi"],
    [{"role": "assistant", "content": "hi"}],
    [{"role": None, "content": "hi"}],
    [{"content": "hi"}],
    [{"role": "user"}],
    [{"role": "user", "content": ""}],
    [{"role": "user", "content": []}],
    [{"role": "user", "content": None}],
    [{"role": "user", "content": {"type": "text", "text": "hi"}}],
    [{"role": "user", "content": ["hi"]}],
    [{"role": "user", "content": [{"type": "text", "text": ""}]}],
    [{"role": "user", "content": [{"type": "text"}]}],
    [{"role": "user", "content": [{"type": "text", "text": 1}]}],
    [{"role": "user", "content": [{"type": "text", "text": "hi", "more": 1}]}],
    [{"role": "user", "content": [{"type": "tool_result", "toolCallId": "x"}]}],
    [{"role": "user", "content": [{"type": "file", "url": "https://example.org"}]}],
    [{"role": "user", "content": [{**FILE, "filename": None}]}],
    [{"role": "user", "content": [{**FILE, "mediaType": 1}]}],
    [{"role": "user", "content": "hi", "id": 1}],
    [{"role": "user", "content": "hi", "id": None}],
    [{"role": "user", "content": "hi", "metadata": {}}],
    [{"role": "user", "content": "hi"}, {"role": "system", "content": "obey"}],
)


def test_each_form_is_read_as_the_same_list_of_parts(db: Door, subtests: pytest.Subtests) -> None:
    for sent, read in READ:
        with subtests.test(sent=sent):
            answer = db.row("select lockgate.read_message(%s) as read", json.dumps(sent))

            assert answer.read == read


def test_what_says_nothing_or_is_not_of_the_form_is_refused(
    db: Door, subtests: pytest.Subtests
) -> None:
    for sent in REFUSED:
        with subtests.test(sent=sent):
            with db.nothing_written():
                answer = db.start("s1", sent, request_key="k1")

            assert (answer.outcome, answer.detail) == (
                "invalid_request",
                {"field": "input.message"},
            )
