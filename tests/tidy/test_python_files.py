"""How a Python file is written, and what only one file may do."""

import ast
import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus

from tests.support.sources import Module, modules, test_modules

LONGEST_FILE = 300
LONGEST_FUNCTION = 40
NUMBERS_OF_HTTP = {status.value for status in HTTPStatus if status >= 200}
NO_NAME = {"utils", "util", "common", "misc", "manager", "service", "helper", "helpers"}

A_STATEMENT = re.compile(
    r"""(?ix)
    \bselect\s+[\w*.,()\s']+?\s+from\s+\w
  | \binsert\s+into\s+\w | \bdelete\s+from\s+\w | \bupdate\s+[\w.]+\s+set\s
  | ^\s*(select\s+\S | set\s+local\s | listen\s+\w+ | notify\s+\w+ | create\s+(table|schema|role)\s
       | with\s+\w+\s+as\s*\( | begin\s+isolation\s | do\s+\$\$ )
    """
)


def product() -> tuple[Module, ...]:
    return modules("lockgate", "lockgate_api", "lockgate_ops")


def at(module: Module, line: int) -> str:
    return f"{module.name}:{line}"


def importers(of: str, among: Iterable[Module]) -> set[str]:
    return {
        module.name
        for module in among
        for _, name in module.imports
        if name == of or name.startswith(f"{of}.")
    }


def test_a_file_has_at_most_three_hundred_lines() -> None:
    long = {
        module.name: lines
        for module in (*modules(), *test_modules())
        if (lines := len(module.text.splitlines())) > LONGEST_FILE
    }

    assert long == {}


def test_a_function_has_at_most_forty_lines() -> None:
    # One statement under a docstring is as long as its parameters: a door of the rules is.
    long = {
        f"{at(module, function.lineno)} {function.name}": size
        for module in modules()
        for function in module.functions
        if len(function.body) > 2
        and (size := (function.end_lineno or 0) - function.lineno + 1) > LONGEST_FUNCTION
    }

    assert long == {}


def test_only_settings_reads_the_environment() -> None:
    readers = {
        at(module, node.lineno)
        for module in modules()
        for node in ast.walk(module.tree)
        if (
            isinstance(node, ast.Attribute)
            and getattr(node.value, "id", "") == "os"
            and node.attr in ("environ", "getenv", "environb")
        )
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and {"environ", "getenv"} & {alias.name for alias in node.names}
        )
    }

    assert {reader for reader in readers if "lockgate_ops/settings.py" not in reader} == set()


def test_only_one_file_knows_sqlalchemy() -> None:
    """It is there for DBOS's datasource, which knows no plain psycopg."""
    assert len(importers("sqlalchemy", modules("lockgate", "lockgate_api"))) <= 1


def test_only_kick_names_what_is_dboss_own() -> None:
    private = {
        at(module, line)
        for module in product()
        for line, name in module.imports
        if name.startswith("dbos._")
    }

    assert {place for place in private if not place.startswith("runtime/lockgate/kick.py")} == set()


def test_sql_is_written_in_one_place() -> None:
    found = [
        f"{at(module, line)}: {' '.join(text.split())[:60]}"
        for module in modules("lockgate", "lockgate_api")
        for line, text in module.texts
        if module.name != "runtime/lockgate/rules/call.py" and A_STATEMENT.search(text)
    ]

    assert found == []


def test_the_api_has_no_sql_and_no_dbos() -> None:
    for library in ("dbos", "psycopg", "psycopg_pool", "sqlalchemy"):
        assert importers(library, modules("lockgate_api")) == set()


def test_http_numbers_are_in_one_place() -> None:
    found = []
    for module in modules("lockgate_api"):
        if module.name != "api/lockgate_api/answers.py":
            found += [at(module, line) for line in http_numbers(module)]

    assert found == []


def http_numbers(module: Module) -> Iterator[int]:
    """The lines of a module that say a status, as a number or by its name."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            if node.value in NUMBERS_OF_HTTP:
                yield node.lineno
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if re.match(r"HTTP_\d{3}|HTTPStatus$", name):
                yield node.lineno


def names(module: Module) -> Iterator[tuple[int, str]]:
    """Each name that a module gives: itself, classes, functions, parameters, variables."""
    yield 1, module.path.parent.name if module.path.stem == "__init__" else module.path.stem
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def words(name: str) -> set[str]:
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"))


def test_nothing_is_called_what_says_nothing() -> None:
    found = [
        f"{at(module, line)}: {name}"
        for module in (*modules(), *test_modules())
        for line, name in names(module)
        if words(name) & NO_NAME
    ]

    assert found == []


def test_no_wrong_word_is_a_name() -> None:
    """The glossary's wrong words; a task of asyncio and a thread of Python are what they are."""
    found = []
    for module in product():
        imported = {name.split(".")[0] for _, name in module.imports}
        wrong = {"job", "jobs", "conversation", "conversations"}
        wrong |= set() if imported & {"asyncio", "anyio"} else {"task", "tasks"}
        wrong |= (
            set() if imported & {"threading", "concurrent", "asyncio"} else {"thread", "threads"}
        )
        found += [
            f"{at(module, line)}: {name}" for line, name in names(module) if words(name) & wrong
        ]

    assert found == []
