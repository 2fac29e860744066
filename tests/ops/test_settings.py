"""Settings come from the environment or the command line, and from nowhere else."""

from pathlib import Path

import pytest

from lockgate_ops.refusals import Refused
from lockgate_ops.settings import child_environment, read_settings

URL = "postgresql://me:secret@db.example/app"


def test_the_defaults_are_those_of_a_new_user_on_his_own_machine() -> None:
    settings = read_settings()
    assert settings.database_url is None
    assert (settings.host, settings.port) == ("127.0.0.1", 8321)
    assert settings.allow_unauthenticated is False
    assert settings.dbos_schema == "dbos"


def test_a_variable_is_read_and_an_option_wins_over_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKGATE_DATABASE_URL", URL)
    monkeypatch.setenv("LOCKGATE_PORT", "9000")
    assert read_settings().required_url() == URL
    assert read_settings(port=None).port == 9000
    assert read_settings(port=0).port == 0


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKGATE_DATABASE_URL", "")
    with pytest.raises(Refused, match="set LOCKGATE_DATABASE_URL"):
        read_settings().required_url()


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "secret"), ("LEASE_MS", "-1"), ("LOG_LEVEL", "secret")]
)
def test_a_bad_value_names_its_variable_and_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"LOCKGATE_{name}", value)
    with pytest.raises(Refused, match=f"LOCKGATE_{name} or --") as refused:
        read_settings()
    assert value not in str(refused.value)
    assert refused.value.code == 2


def test_a_url_shows_in_no_text_of_the_settings() -> None:
    assert "secret" not in repr(read_settings(database_url=URL, direct_url=URL))


def test_the_private_database_lies_where_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert read_settings().data == Path("/somewhere/lockgate/postgres")
    monkeypatch.setenv("LOCKGATE_DATA_FOLDER", "/elsewhere")
    assert read_settings().data == Path("/elsewhere")


def test_a_child_is_given_our_environment_but_its_own_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOCKGATE_AGENTS", "ours:runtime")
    monkeypatch.setenv("ELSE", "kept")
    environment = child_environment(database_url=URL)
    assert environment["ELSE"] == "kept"
    assert environment["LOCKGATE_DATABASE_URL"] == URL
    assert "LOCKGATE_AGENTS" not in environment
