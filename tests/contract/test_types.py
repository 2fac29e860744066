"""The mirror in Python against the catalogue: labels and their order, rows, parameters, defaults.

Both ways: what one side has, the other has, under the same name.
"""

import dataclasses
import importlib
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

import lockgate_sql
from lockgate import call_outcomes, outcomes, worker_outcomes
from tests.support.catalogue import Function, composites, enums, functions
from tests.support.cluster import Cluster, LentDatabase

# Said in SQL only: another language asks for it, our own process knows its own.
NOT_MIRRORED = {"drive_version"}
SCALARS: dict[str, Any] = {
    "text": str,
    "uuid": UUID,
    "integer": int,
    "bigint": int,
    "boolean": bool,
    "timestamp with time zone": datetime,
    "text[]": list[str],
    "uuid[]": list[UUID],
    "bigint[]": list[int],
}


@pytest.fixture(scope="module")
def database(cluster: Cluster) -> Iterator[LentDatabase]:
    """An installed database, only looked at."""
    with cluster.lend("real") as lent:
        yield lent


@pytest.fixture(scope="module")
def public(database: LentDatabase) -> dict[str, Function]:
    """The functions that the runtime's role may call."""
    found = functions(database.warm)
    return {name: f for name, f in found.items() if f.is_public and name not in NOT_MIRRORED}


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def mirrored(kind: type) -> dict[str, Any]:
    """Return what the modules of outcomes themselves define of a kind."""
    return {
        name: thing
        for module in (outcomes, worker_outcomes, call_outcomes)
        for name, thing in vars(module).items()
        if inspect.isclass(thing)
        and thing.__module__ == module.__name__
        and (issubclass(thing, StrEnum) if kind is StrEnum else dataclasses.is_dataclass(thing))
    }


def result_types(public: dict[str, Function], rows: dict[str, dict[str, str]]) -> set[str]:
    return {function.result for function in public.values()} & set(rows)


def test_each_outcome_enum_has_the_same_labels_in_the_same_order(
    database: LentDatabase, public: dict[str, Function]
) -> None:
    rows, labels = composites(database.warm), enums(database.warm)
    answered = {
        column.removeprefix("lockgate.")
        for result in result_types(public, rows)
        for column in rows[result].values()
        if column.removeprefix("lockgate.") in labels
    }

    assert {name: list(enum) for name, enum in mirrored(StrEnum).items()} == {
        camel(name): labels[name] for name in answered
    }


def test_each_result_row_has_the_same_fields_in_the_same_order(
    database: LentDatabase, public: dict[str, Function]
) -> None:
    rows = composites(database.warm)

    assert {
        name: [field.name for field in dataclasses.fields(row)]
        for name, row in mirrored(object).items()
    } == {camel(name): list(rows[name]) for name in result_types(public, rows)}


def test_each_field_has_the_columns_type(
    database: LentDatabase, public: dict[str, Function], subtests: pytest.Subtests
) -> None:
    rows = composites(database.warm)
    for name in result_types(public, rows):
        row = mirrored(object)[camel(name)]
        hints, written = typing.get_type_hints(row), row.__annotations__
        for column, sql_type in rows[name].items():
            with subtests.test(f"{camel(name)}.{column}"):
                if sql_type == "jsonb":
                    assert written[column].startswith(("JsonValue", "dict[", "list["))
                else:
                    assert without_none(hints[column]) == mirrored_type(sql_type)


def without_none(hint: Any) -> Any:
    """Return a hint without its `| None`: whether a column may be null no catalogue tells."""
    present = [part for part in typing.get_args(hint) if part is not type(None)]
    return present[0] if isinstance(hint, types.UnionType) and len(present) == 1 else hint


def mirrored_type(sql_type: str) -> Any:
    """Return what psycopg reads from a column of that type, or the enum that mirrors it."""
    return SCALARS.get(sql_type) or mirrored(StrEnum)[camel(sql_type.removeprefix("lockgate."))]


def door_modules() -> dict[str, types.ModuleType]:
    """Return the modules of lockgate.rules that stand for folders of rules."""
    folders = {path.split("/")[1] for path in lockgate_sql.rule_files() if path.count("/") == 2}
    found = {}
    for folder in folders:
        try:
            found[folder] = importlib.import_module(f"lockgate.rules.{folder}")
        except ModuleNotFoundError:
            continue
    return found


def doors() -> dict[str, tuple[str, Callable[..., Any]]]:
    """Return the functions of the door with the folder of each."""
    return {
        name: (folder, function)
        for folder, module in door_modules().items()
        for name, function in vars(module).items()
        if inspect.iscoroutinefunction(function) and function.__module__ == module.__name__
    }


def test_each_public_function_has_its_door_in_the_module_of_its_folder(
    public: dict[str, Function],
) -> None:
    folders = {
        path.split("/")[-1].removesuffix(".sql"): path.split("/")[1]
        for path in lockgate_sql.rule_files()
        if path.count("/") == 2
    }

    assert {name: folder for name, (folder, _) in doors().items()} == {
        name: folders[name] for name in public
    }


def test_each_door_has_the_functions_parameters_and_defaults(
    database: LentDatabase, public: dict[str, Function], subtests: pytest.Subtests
) -> None:
    for name, (_, door) in doors().items():
        with subtests.test(name):
            taken = dict(list(inspect.signature(door).parameters.items())[1:])
            assert all(p.kind is p.KEYWORD_ONLY for p in taken.values())
            assert [f"p_{parameter}" for parameter in taken] == [
                parameter.name for parameter in public[name].parameters
            ]
            for parameter in public[name].parameters:
                given = taken[parameter.name.removeprefix("p_")].default
                if parameter.default is None:
                    assert given is inspect.Parameter.empty, parameter.name
                else:
                    assert given is not inspect.Parameter.empty, parameter.name
                    assert same_default(database, parameter.default, parameter.type, given)


def same_default(database: LentDatabase, expression: str, sql_type: str, given: Any) -> bool:
    """Say whether the default in Python is, in the database, the default in SQL."""
    if sql_type.endswith("[]") and given is not None:
        given = list(given)
    if isinstance(given, dict):
        given = Jsonb(given)
    row = database.warm.execute(
        f"select ({expression}) is not distinct from %s::{sql_type}".encode(), [given]
    ).fetchone()
    return bool(row and row[0])


def test_each_door_calls_the_function_of_its_name_and_passes_what_it_took(
    subtests: pytest.Subtests,
) -> None:
    for name, (_, door) in doors().items():
        with subtests.test(name):
            body = inspect.getsource(door)
            taken = list(inspect.signature(door).parameters)[1:]
            assert f'"{name}"' in body
            assert [word for word in taken if f"p_{word}=" not in body] == []
            assert len(re.findall(r"\bp_", body)) == len(taken)
