"""The only place that builds a statement, and the only one that sees a rule's own SQLSTATE."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_type_hints

import psycopg
from psycopg import AsyncConnection

from lockgate.errors import RuleBroken

Connection: TypeAlias = AsyncConnection[tuple[Any, ...]]
Row = TypeVar("Row")

# Our own class, and what no repeat can cure: data, a constraint, a limit of the server.
PERMANENT = ("LG", "22", "23", "54")


async def call_one(
    conn: Connection, row_type: type[Row], function: str, **parameters: object
) -> Row:
    """Call one rule and read its one row."""
    return (await call_many(conn, row_type, function, **parameters))[0]


async def call_none(conn: Connection, function: str, **parameters: object) -> None:
    """Call one rule that answers nothing."""
    await _rows(conn, function, parameters)


async def call_many(
    conn: Connection, row_type: type[Row], function: str, **parameters: object
) -> list[Row]:
    """Call one rule that returns a set, and read its rows."""
    read = _reader(row_type)  # type: ignore[arg-type]  # mypy holds a type for unhashable
    return [read(row) for row in await _rows(conn, function, parameters)]


async def _rows(
    conn: Connection, function: str, parameters: dict[str, object]
) -> list[tuple[Any, ...]]:
    try:
        cursor = await conn.execute(_statement(function, tuple(parameters)), parameters)
        return await cursor.fetchall()
    except psycopg.Error as error:
        if error.sqlstate and error.sqlstate.startswith(PERMANENT):
            raise RuleBroken(error.sqlstate, _detail(error)) from error
        raise


@cache
def _statement(function: str, names: tuple[str, ...]) -> str:
    arguments = ", ".join(f"{name} => %({name})s" for name in names)
    return f"select * from lockgate.{function}({arguments})"


@cache
def _reader(row_type: type[Row]) -> Callable[[tuple[Any, ...]], Row]:
    """Return what makes a row of that type; its enum columns become enums."""
    hints = get_type_hints(row_type)
    enums = [
        (place, hint)
        for place, field in enumerate(fields(row_type))  # type: ignore[arg-type]  # a dataclass
        if isinstance(hint := hints[field.name], type) and issubclass(hint, StrEnum)
    ]

    def read(row: tuple[Any, ...]) -> Row:
        values = list(row)
        for place, enum in enums:
            try:
                values[place] = enum(values[place])
            except ValueError as unknown:
                raise RuleBroken("LG004", {"unknownLabel": str(values[place])}) from unknown
        return row_type(*values)

    return read


def _detail(error: psycopg.Error) -> dict[str, Any]:
    try:
        detail = json.loads(error.diag.message_detail or "{}")
    except ValueError:
        detail = {}
    return {"message": error.diag.message_primary, **detail}
