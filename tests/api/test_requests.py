"""What a body and a session's id may be: reference/http.md 12.1, A3 to A8."""

from typing import Any

import pytest

from tests.api.conftest import MakeApi
from tests.api.rig import GOOD, ROUTES, Api, call
from tests.support.door import AGENT, Door
from tests.support.proves import case
from tests.support.rows import row

BAD_JSON = {
    "no JSON": b"{",
    "nothing": b"",
    "not UTF-8": b'{"agentType":"\xff"}',
    "a name twice": b'{"agentType":"support","agentType":"support"}',
    "201 deep": b'{"input":{"state":{"a":' + b"[" * 200 + b"]" * 200 + b"}}}",
    "NaN": b'{"input":{"state":{"a":NaN}}}',
    "Infinity": b'{"input":{"state":{"a":-Infinity}}}',
    "too large a number": b'{"input":{"state":{"a":1e309}}}',
    "too long a number": b'{"input":{"state":{"a":' + b"1" * 1001 + b"}}}",
}


@row("A3")
@pytest.mark.parametrize("path", [path for method, path in ROUTES if method == "POST"])
@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON)
def test_a_body_that_is_no_strict_json_is_400(unread: Api, path: str, body: bytes) -> None:
    answer = unread.post(path, body)
    assert answer.status_code == 400
    assert answer.json()["code"] == "validation_error"
    assert answer.json()["error"] == "Invalid request body"


@case(25, 44)
@row("A4")
@pytest.mark.parametrize("bad", ["\\u0000", "\\ud83d", "\\udc88", "\\ude00 \\ud83d"])
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"agentType":"support","input":{"message":"a%s"}}', "input.message"),
        (
            '{"agentType":"support","input":{"message":"a","state":{"k":["%s"]}}}',
            "input.state.k[0]",
        ),
        ('{"agentType":"support","input":{"message":"a","state":{"k%s":1}}}', "input.state.k"),
        ('{"agentType":"support","metadata":{"k":"%s"},"input":{"message":"a"}}', "metadata.k"),
    ],
)
def test_what_cannot_be_stored_is_400_and_named(
    unread: Api, bad: str, body: str, field: str
) -> None:
    answer = unread.post("/sessions/s1/start", (body % bad).encode())
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert answer.json()["field"].startswith(field)


@case(25)
def test_six_plain_characters_are_no_nul(api: Api, db: Door) -> None:
    plain, emoji = "\\u0000", "\U0001f600"
    assert api.start("s1", plain + emoji).status_code == 200
    assert db.messages()[0].content[0]["text"] == plain + emoji
    shown = api.get("/sessions/s1/snapshot").json()["messages"][0]["parts"][0]
    assert shown == {"type": "text", "text": plain + emoji}


@row("A5")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"extra": 1}, "extra"),
        ({"agentType": 7}, "agentType"),
        ({"agentType": ""}, "agentType"),
        ({"agentType": "x" * 129}, "agentType"),
        ({"input": None}, "input"),
        ({"input": {}}, "input.message"),
        ({"input": {"message": ""}}, "input.message"),
        ({"input": {"message": []}}, "input.message"),
        ({"input": {"message": 5}}, "input.message"),
        ({"input": {"message": {"str": "a"}}}, "input.message"),
        ({"input": {"message": "a", "more": 1}}, "input.more"),
        ({"input": {"message": "a", "state": []}}, "input.state"),
        ({"input": {"message": [{"role": "system", "content": "a"}]}}, "input.message[0].role"),
        ({"input": {"message": [{"role": "user"}]}}, "input.message[0].content"),
        (
            {"input": {"message": [{"role": "user", "content": [{"type": "text", "text": 1}]}]}},
            "input.message[0].content[0].text",
        ),
        (
            {"input": {"message": [{"role": "user", "content": [{"type": "file", "url": "u"}]}]}},
            "input.message[0].content[0].mediaType",
        ),
        (
            {"input": {"message": [{"role": "user", "content": [{"type": "x"}]}]}},
            "input.message[0].content[0].type",
        ),
        ({"userId": 5}, "userId"),
        ({"userId": "u" * 257}, "userId"),
        ({"tags": "a"}, "tags"),
        ({"tags": ["a", 1]}, "tags[1]"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"parentSessionId": "p" * 257}, "parentSessionId"),
        ({"rootSessionId": ""}, "rootSessionId"),
    ],
)
def test_a_body_of_another_shape_is_400_and_the_place_is_named(
    unread: Api, change: dict[str, Any], field: str
) -> None:
    answer = unread.post("/sessions/s1/start", {**GOOD, **change})
    assert answer.status_code == 400
    assert answer.json() == {
        "error": "Invalid request body",
        "code": "validation_error",
        "retryable": False,
        "field": field,
    }


@row("A5")
def test_what_is_wrong_is_told_only_when_asked_for(make_unread: MakeApi) -> None:
    api = make_unread({"verbose_validation_errors": True})
    answer = api.post("/sessions/s1/start", {**GOOD, "input": {"message": "a", "<b>": "secret"}})
    assert answer.json()["error"].startswith("Invalid request body: ")
    assert answer.json()["field"] == "input.&lt;b&gt;"
    assert "secret" not in answer.text
    assert ": " in api.post("/sessions/s1/start", b"{").json()["error"]


@case(48)
@row("A6")
@pytest.mark.parametrize(
    "session_id", ["", "x" * 257, "%00", "a%0Ab", "%ff", "%E2%80%A8"], ids=str.encode
)
@pytest.mark.parametrize("verb", ["start", "status", "snapshot", "sse"])
def test_a_session_id_that_is_none_is_400(unread: Api, session_id: str, verb: str) -> None:
    method = "POST" if verb == "start" else "GET"
    answer = call(unread, method, f"/sessions/{session_id}/{verb}")
    assert answer.status_code == 400
    assert answer.json()["field"] == "sessionId"
    assert session_id not in answer.text or not session_id


@row("A6")
@pytest.mark.parametrize("session_id", ["", "x" * 257, "a\nb"])
def test_nor_is_one_made_of_it(unread: Api, session_id: str) -> None:
    answer = unread.post("/sessions", {"agentType": AGENT, "sessionId": session_id})
    assert (answer.status_code, answer.json()["field"]) == (400, "sessionId")


@case(48)
@pytest.mark.parametrize(
    ("encoded", "session_id"),
    [
        ("x" * 256, "x" * 256),
        ("a%2Fb%2F", "a/b/"),
        ("%2F", "/"),
        ("a%20%25%3F%23b", "a %?#b"),
        ("gr%C3%BC%C3%9Fe", "grüße"),
        ("start", "start"),
        ("-", "-"),
        ("a+b", "a+b"),
    ],
)
def test_a_session_id_may_hold_whatever_is_printable(
    api: Api, db: Door, encoded: str, session_id: str
) -> None:
    assert api.start(encoded).json()["sessionId"] == session_id
    assert db.session(session_id).turn_count == 1
    for verb in ("status", "snapshot"):
        assert api.get(f"/sessions/{encoded}/{verb}").json()["sessionId"] == session_id


@row("A7")
def test_a_body_over_the_limit_is_413(make_api: MakeApi, db: Door) -> None:
    api = make_api({"max_body_bytes": 100})
    with db.nothing_written():
        answer = api.start("s1", "x" * 100)
    assert answer.status_code == 413
    assert answer.json()["code"] == "INVALID_REQUEST"
    assert api.start("s1", "x" * 20).status_code == 200


@row("A8")
def test_path_and_body_name_one_session(api: Api, db: Door) -> None:
    with db.nothing_written():
        answer = api.start("s1", sessionId="s2")
    assert (answer.status_code, answer.json()["field"]) == (400, "sessionId")
    assert api.start("s1", sessionId="s1").status_code == 200
