"""The repository's own text, taken apart far enough to judge it: SQL files and Python modules."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
SQL_ROOT = ROOT / "sql" / "lockgate_sql"
PACKAGES = {
    "lockgate": ROOT / "runtime" / "lockgate",
    "lockgate_api": ROOT / "api" / "lockgate_api",
    "lockgate_ops": ROOT / "ops" / "lockgate_ops",
    "lockgate_sql": SQL_ROOT,
}


@dataclass(frozen=True)
class SqlFile:
    """One file below sql/lockgate_sql."""

    path: str
    text: str

    @property
    def stem(self) -> str:
        return Path(self.path).stem

    @cached_property
    def code(self) -> str:
        """The text without comments, and with its string literals emptied."""
        return re.sub(r"'(?:[^']|'')*'", "''", self.statements)

    @cached_property
    def statements(self) -> str:
        """The text without comments."""
        return re.sub(r"--[^\n]*", "", self.text)

    @property
    def functions(self) -> list[str]:
        return re.findall(r"^create (?:or replace )?function lockgate\.(\w+)", self.text, re.M)

    @property
    def views(self) -> list[str]:
        return re.findall(r"^create (?:or replace )?view lockgate\.(\w+)", self.text, re.M)

    @property
    def types(self) -> list[str]:
        return re.findall(r"^create type lockgate\.(\w+)", self.text, re.M)

    @property
    def signature(self) -> str:
        """What stands before a function's body, without the types above it."""
        found = re.search(r"^create function .*?^as \$\$$", self.text, re.M | re.S)
        return found.group() if found else ""

    @property
    def body(self) -> list[str]:
        """The lines of a function's body, its header included."""
        found = re.search(r"^as \$\$\n(.*?)^\$\$;$", self.text, re.M | re.S)
        return found.group(1).splitlines() if found else []

    @property
    def header(self) -> list[str]:
        """The comment that opens the body, without its dashes."""
        lines = []
        for line in self.body:
            if not line.startswith("--"):
                break
            lines.append(line.removeprefix("--").removeprefix(" "))
        return lines

    @property
    def header_words(self) -> list[str]:
        """The words that open a part of the header, in their order."""
        found = (re.match(r"([A-Z][a-z]+) {2,}\S", line) for line in self.header)
        return [match.group(1) for match in found if match]

    @property
    def listed_outcomes(self) -> list[str]:
        """The labels that the header lists, where it lists any."""
        text = "\n".join(self.header)
        found = re.search(r"^Outcomes +first that applies:\n((?:  .*(?:\n|$))*)", text, re.M)
        return re.findall(r"^  (\w+)", found.group(1), re.M) if found else []


@cache
def sql_files() -> tuple[SqlFile, ...]:
    """Return every SQL file, by its path below the package."""
    return tuple(
        SqlFile(path.relative_to(SQL_ROOT).as_posix(), path.read_text())
        for path in sorted(SQL_ROOT.rglob("*.sql"))
    )


def function_files() -> list[SqlFile]:
    """Return the files of rules that hold a function."""
    return [file for file in sql_files() if file.path.startswith("rules/") and file.functions]


@cache
def granted() -> tuple[str, ...]:
    """Return the functions that grants.sql opens to the runtime's role."""
    (grants,) = (file for file in sql_files() if file.path == "grants.sql")
    (names,) = re.findall(
        r"foreach v_name in array array\[((?:\s*'\w+',?)+)\s*\] loop\s+execute format\('grant",
        grants.statements,
    )
    return tuple(re.findall(r"\w+", names))


@dataclass(frozen=True)
class Module:
    """One Python file of the repository."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.name)

    @property
    def imports(self) -> Iterator[tuple[int, str]]:
        """Each imported module with its line."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.lineno, node.module

    @property
    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    @property
    def texts(self) -> Iterator[tuple[int, str]]:
        """Each string that is no docstring, with its line; an f-string as its constant parts."""
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from [(node.lineno, node.value)] if id(node) not in docstrings else []


@cache
def modules(*packages: str) -> tuple[Module, ...]:
    """Return the modules of some packages; of all four, where none is named."""
    folders = [PACKAGES[package] for package in packages or PACKAGES]
    return tuple(
        Module(path, path.read_text())
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
    )


@cache
def test_modules() -> tuple[Module, ...]:
    """Return the modules of the tests."""
    return tuple(Module(path, path.read_text()) for path in sorted((ROOT / "tests").rglob("*.py")))


test_modules.__test__ = False  # type: ignore[attr-defined]  # its name is no test's
