"""What a person is told is one line, says what to do, and holds no secret."""

import psycopg
import pytest
import sqlalchemy as sa

from lockgate_ops.embedded import EmbeddedPostgresError
from lockgate_ops.refusals import Refused, told, without_secrets


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("at postgresql://me:p@ss/w@db:5432/app now", "at postgresql://***@db:5432/app now"),
        ("host=db password=secret user=me", "host=db password=*** user=me"),
        ("password='a b' host=db", "password=*** host=db"),
        ("http://127.0.0.1:8321", "http://127.0.0.1:8321"),
    ],
)
def test_no_text_keeps_credentials(text: str, without: str) -> None:
    assert without_secrets(text) == without


def test_a_refusal_is_told_as_it_is_with_its_own_exit_code() -> None:
    assert told(Refused("do this")) == ("do this", 2)
    assert told(Refused("do\nthat", code=1)) == ("do that", 1)
    assert told(EmbeddedPostgresError("choose another folder")) == ("choose another folder", 1)


def test_a_database_that_does_not_answer_is_told_with_what_to_check() -> None:
    with pytest.raises(psycopg.OperationalError) as away:
        psycopg.connect("postgresql://me:secret@127.0.0.1:1/app")
    line, code = told(away.value)
    assert line.startswith("cannot connect to the database: ")
    assert "check its URL" in line
    assert "secret" not in line
    assert code == 1
    wrapped = sa.exc.OperationalError("select 1", {}, away.value)
    assert told(wrapped)[0] == line


def test_what_nobody_foresaw_is_named_and_says_where_to_look() -> None:
    line, code = told(ValueError("at postgresql://me:secret@db/app"))
    assert line.startswith("ValueError: at postgresql://***@db/app")
    assert "LOCKGATE_LOG_LEVEL=debug" in line
    assert code == 1
