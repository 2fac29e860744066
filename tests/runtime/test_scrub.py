"""Scrubbing: the published vector, ours, and what holds for every text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.scrub import CLIENT_LIMIT, MODEL_LIMIT, scrub

PUBLISHED_IN = (
    "Agent already running: postgres://app:hunter2@10.0.0.5/db\n    at /srv/app/store.js:12:5"
)
PUBLISHED_OUT = "Agent already running: postgres://[REDACTED]    at [path][ip]"

VECTORS = [
    (PUBLISHED_IN, PUBLISHED_OUT),
    (PUBLISHED_OUT, PUBLISHED_OUT),
    ("postgres://app:p%40ss/w:rd@10.0.0.5/db", "postgres://[REDACTED]"),
    ("postgresql://db.internal/app down", "postgresql://[REDACTED] down"),
    (
        "connect host=db password='a b' failed",
        "connect host=[REDACTED] password=[REDACTED] failed",
    ),
    ("Authorization: Bearer abc.def.ghi", "Authorization: [REDACTED] [REDACTED]"),
    ('{"api_key":"abc","n":1}', '{"api_key":[REDACTED],"n":1}'),
    (
        "PGPASSWORD=hunter2 client_secret: x1",
        "PGPASSWORD=[REDACTED] client_secret: [REDACTED]",
    ),
    ('File "/srv/app/x.py", line 3', 'File "[path]", line 3'),
    ("https://example.com/a/b", "https://example.com/a/b"),
    ("x::y", "x::y"),
    ("Error: foo: bar", "Error: foo: bar"),
    ("fe80::1 unreachable", "[ip] unreachable"),
    ("at 12:30:05 failed", "at [ip] failed"),
    ("</b>", "&lt;/b&gt;"),
    ("step 1\npassword=hunter2", "step 1password=[REDACTED]"),
]

TOKENS = [
    "eyJhbGciOi.eyJzdWIi.c2ln",
    "sk-proj-abcdefgh",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwx",
    "xoxb-12345678-abc",
    "Bearer abcdefgh",
    "mongodb+srv://cluster.example/db",
    "C:\\Users\\ann\\key.pem",
]

# Pieces that meet the patterns' edges far more often than random characters do.
PIECES = st.sampled_from(
    [
        *("postgres://", "app:", "pw@", "10.0.0.5", "/srv/app", "password", "host=", "token: "),
        *("Bearer ", "abcd", "abcdefgh", "eyJ", ".", "-", "sk-", "AKIAIOSFODNN7EXAMPLE", "1:"),
        *("::", "[REDACTED]", "[ip]", "&lt;", *" =\n\x00'\"<>&;)]", "\ud83d"),
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=400)


@pytest.mark.parametrize(("text", "scrubbed"), VECTORS)
def test_each_vector_of_the_reference_comes_out_as_it_says(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_or_path_in_a_sentence_leaves_nothing_of_itself(token: str) -> None:
    told = scrub(f"it said {token} and stopped")
    assert token not in told
    assert told.startswith("it said ")
    assert told.endswith(" and stopped")


def test_a_control_character_inside_a_secret_does_not_save_it() -> None:
    assert scrub("pass\x00word=hunter2") == "password=[REDACTED]"


def test_bidirectional_marks_and_line_ends_are_deleted() -> None:
    assert scrub("a\u202eb\u2028c\x85d\x7fe\tf") == "abcdef"


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert scrub("broken \ud83d text") == "broken \ufffd text"


def test_the_cap_never_leaves_half_an_entity() -> None:
    for lead in range(6):
        told = scrub("x" * (CLIENT_LIMIT - lead) + "<<<")
        assert len(told) <= CLIENT_LIMIT
        assert told.lstrip("x").replace("&lt;", "") == ""


def test_the_model_reads_more_redacted_alike() -> None:
    told = scrub("word " * 1_000 + PUBLISHED_IN, MODEL_LIMIT)
    assert told == "word " * 1_000 + PUBLISHED_OUT


def test_a_secret_at_the_reading_limit_is_dropped_whole() -> None:
    told = scrub("x " * 4_090 + "password=hunter2hunter2", MODEL_LIMIT)
    assert "password" not in told


@given(text=TEXTS, limit=st.sampled_from([20, 40, CLIENT_LIMIT, MODEL_LIMIT]))
def test_scrubbing_twice_changes_nothing_and_keeps_to_the_cap(text: str, limit: int) -> None:
    told = scrub(text, limit)
    assert scrub(told, limit) == told
    assert len(told) <= limit
    assert not set(told) & set("<>\n\x00\ud83d")


@pytest.mark.parametrize(
    "piece",
    ["a://:", "eyJ-", "token", 'password="', "a", " ", ":", "/a", "1:", "Bearer ", "secret='\""],
)
def test_a_hostile_megabyte_costs_less_than_a_blink(piece: str) -> None:
    many = piece * (1_000_000 // len(piece))
    start = time.thread_time()
    scrub(many)
    scrub("a://" + many, MODEL_LIMIT)
    scrub(many[:8_192], MODEL_LIMIT)
    assert time.thread_time() - start < 1.0
