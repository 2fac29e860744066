"""A private server is open to this machine's programs, and to nobody's pages."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lockgate import EntryRefused, Runtime
from lockgate_api import Principal
from lockgate_api.front import AnyRequest
from lockgate_ops.application import Application
from lockgate_ops.door import door, from_this_machine
from lockgate_ops.refusals import Refused
from lockgate_ops.settings import read_settings

URL = "postgresql://db.example/app"


def _nobody_asks() -> Application:
    return Application(Runtime())


def _asked(**headers: str) -> Principal:
    return from_this_machine(cast("AnyRequest", SimpleNamespace(headers=headers)))


def test_a_private_database_is_open_on_this_machine_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert door(read_settings(), _nobody_asks()) is from_this_machine
    assert capsys.readouterr().out.startswith("unauthenticated: anyone on this machine")
    with pytest.raises(Refused, match="--allow-unauthenticated"):
        door(read_settings(host="0.0.0.0"), _nobody_asks())


def test_a_given_database_is_open_only_where_that_was_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(Refused, match="--allow-unauthenticated"):
        door(read_settings(database_url=URL), _nobody_asks())
    allowed = read_settings(database_url=URL, allow_unauthenticated=True)
    assert door(allowed, _nobody_asks()) is None
    assert capsys.readouterr().out.startswith("unauthenticated: anyone who reaches")


def test_an_application_that_says_who_asks_is_believed(capsys: pytest.CaptureFixture[str]) -> None:
    def who(_request: Any) -> None:
        return None

    application = Application(Runtime(), who)
    assert door(read_settings(allow_unauthenticated=True), application) is who
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "127.0.0.1:8321"},
        {"host": "localhost"},
        {"host": "[::1]:8321"},
        {"host": "localhost:8321", "origin": "http://localhost:3000"},
    ],
)
def test_a_program_of_this_machine_may_call(headers: dict[str, str]) -> None:
    assert _asked(**headers) == Principal()


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "stranger.example"},
        {"host": "127.0.0.1.stranger.example:8321"},
        {"host": "localhost:8321", "origin": "https://stranger.example"},
        {"host": "localhost:8321", "origin": "null"},
        {"host": "[broken"},
    ],
)
def test_a_strangers_page_may_not(headers: dict[str, str]) -> None:
    with pytest.raises(EntryRefused) as refused:
        _asked(**headers)
    assert refused.value.code == "FORBIDDEN"
