"""An application is named as `module:attribute`, and may say who asks."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate import Runtime
from lockgate_ops.application import load_application
from lockgate_ops.refusals import Refused

MODULE = """
from lockgate import Runtime

runtime = Runtime()
number = 7

def make():
    return Runtime()

class names:
    inner = Runtime()
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with modules of its own, forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    (tmp_path / "mine.py").write_text(MODULE)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_without_a_name_it_is_the_demo_agents() -> None:
    application = load_application(None)
    assert isinstance(application.runtime, Runtime)
    assert application.authenticate is None


@pytest.mark.parametrize("named", ["mine:runtime", "mine:make", "mine:names.inner"])
@pytest.mark.usefixtures("here")
def test_a_runtime_or_what_makes_one_is_found_in_the_working_directory(named: str) -> None:
    assert isinstance(load_application(named).runtime, Runtime)


def test_the_module_says_who_asks_unless_an_option_does(here: Path) -> None:
    (here / "guarded.py").write_text(f"{MODULE}\ndef authenticate(request): return None\n")
    (here / "other.py").write_text("def who(request): return 1\n")
    own = load_application("guarded:runtime").authenticate
    assert own is not None
    assert own.__module__ == "guarded"
    named = load_application("guarded:runtime", "other:who").authenticate
    assert named is not None
    assert named.__module__ == "other"


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("mine", "say module:attribute"),
        ("nowhere:runtime", "no module 'nowhere'"),
        ("mine:nothing", "has no 'nothing'"),
        ("mine:number", "is a int: it must be a lockgate.Runtime"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_be_served_is_refused_with_what_it_must_be(named: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        load_application(named)


def test_what_the_module_itself_cannot_import_is_not_ours_to_explain(here: Path) -> None:
    (here / "broken.py").write_text("import not_installed_anywhere\n")
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        load_application("broken:runtime")
