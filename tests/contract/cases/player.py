"""Reads the conformance cases of this folder, and plays them through the doors of lockgate.rules.

The format is told in README.md; tests/clients/node plays the same files in plain SQL.
"""

import asyncio
import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import psycopg

from lockgate.errors import RuleBroken
from tests.contract.test_types import doors
from tests.support.catalogue import Function, functions
from tests.support.cluster import LentDatabase
from tests.support.store import dump, emptied

FOLDER = Path(__file__).parent
Json: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[Json]


def read(pattern: str) -> Iterator[Json]:
    for path in sorted(FOLDER.glob(pattern)):
        yield json.loads(path.read_text())


def merged(under: Any, over: Any) -> Any:
    """Lay one value over another; of two objects, name by name."""
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    return {**under, **{name: merged(under.get(name), value) for name, value in over.items()}}


def clash(left: Any, right: Any) -> bool:
    """Say whether two values cannot be laid over each other without loss."""
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return bool(left != right)
    return any(clash(left[name], right[name]) for name in left.keys() & right.keys())


def expanded(table: Json) -> Iterator[Json]:
    """Write a table of rules out as cases: for each rule, itself broken with each later one."""
    done = {tuple(pair["rules"]) for pair in table["apart"]}
    for scene in table["scenes"]:
        broken = scene["broken"]
        ordered = [rule for rule in table["rules"] if rule in broken]
        for place, first in enumerate(ordered):
            is_always = broken[first] == {}
            pairs = [
                (first, second)
                for second in ordered[place if is_always else place + 1 :]
                if (first, second) not in done and not clash(broken[first], broken[second])
            ]
            done.update(pairs)
            if pairs:
                yield broken_case(table, scene, pairs)
            if is_always:  # What comes after it never answers.
                break


def broken_case(table: Json, scene: Json, pairs: list[tuple[str, str]]) -> Json:
    """Return the case of one rule: what it refuses writes nothing, so all is asked in one scene."""
    answering = pairs[0][0]
    asked = []
    for pair in pairs:
        laid = merged(*(scene["broken"][rule] for rule in pair))
        step = {"breaks": pair, "with": merged(scene["with"], laid)}
        step["expect"] = table["answers"][answering]
        unwritten = {**step, "writes": "nothing"}
        asked += [{"call": table["plan"], **unwritten}] if "plan" in table else []
        is_accepted = answering in table["accepts"]
        asked += [{"call": table["call"], **(step if is_accepted else unwritten)}]
    return {
        "name": f"{table['name']}/{scene['name']}/{answering}",
        "why": table["why"],
        "ids": scene["ids"],
        "given": scene["given"],
        "calls": asked,
    }


STAGE = next(read("stage.json"))
TABLES = list(read("precedence.*.json"))
CASES: list[Json] = [
    *(case for file in read("*.json") if "cases" in file for case in file["cases"]),
    *(case for table in TABLES for case in expanded(table)),
]


def matches(expected: Any, found: Any) -> bool:
    """Say whether what is expected is found: of an object, only what it names."""
    if expected == "any":
        return found is not None
    if isinstance(expected, dict) and isinstance(found, dict):
        return all(
            name in found and matches(value, found[name]) for name, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(matches, expected, found))
    return type(expected) is type(found) and bool(expected == found)


def found_at(found: Any, path: str) -> Any:
    """Return a field of an answer, or what lies below it, as `items.0.id`."""
    for name in path.split("."):
        found = found[int(name) if name.isdigit() else name]
    return found


class Player:
    """Plays cases, one after the other, each on an empty database."""

    def __init__(self, database: LentDatabase, runner: asyncio.Runner) -> None:
        self.database = database
        self._runner = runner
        self._functions = functions(database.warm)
        self._doors = {name: door for name, (_, door) in doors().items()}
        self._connections = [
            runner.run(
                psycopg.AsyncConnection.connect(
                    database.url, autocommit=True, application_name="lockgate-test"
                )
            )
            for _ in range(2)
        ]
        self._names: Json = {}

    def close(self) -> None:
        for connection in self._connections:
            self._runner.run(connection.close())

    def play(self, case: Json) -> None:
        assert emptied(self.database.warm)
        self._names = {name: str(uuid4()) for name in case.get("ids", [])}
        for part in ("given", "calls", "after"):
            for step in case.get(part, []):
                self._step(step)

    def _step(self, step: Json) -> None:
        if "scene" in step:
            self._names |= self._named(step.get("with", {}))
            for each in STAGE["scenes"][step["scene"]]:
                self._step(each)
        elif "together" in step:
            self._together(step)
        else:
            before = dump(self.database.warm) if "writes" in step else None
            try:
                rows = self._runner.run(self._answer(step, 0))
            except (RuleBroken, psycopg.Error) as error:
                rows = [{"raises": getattr(error, "code", None) or getattr(error, "sqlstate", "")}]
            self._held(step, rows)
            assert before is None or dump(self.database.warm) == before, f"it wrote: {step}"

    def _together(self, step: Json) -> None:
        async def at_once() -> list[Rows]:
            calls = [self._answer(call, place) for place, call in enumerate(step["together"])]
            return await asyncio.gather(*calls)

        left = self._runner.run(at_once())
        for answer in step["answers"]:
            wanted = self._named(answer["expect"])
            (rows, *_) = [rows for rows in left if matches(wanted, rows[0])] or [[]]
            assert rows, f"no answer like {wanted} in {left}"
            left.remove(rows)
            self._held(answer, rows)

    def _held(self, step: Json, rows: Rows) -> None:
        """Hold an answer against what is expected of it, and keep what is to be kept."""
        expected = self._named(step.get("expect", {}))
        wanted = expected if isinstance(expected, list) else [expected]
        is_held = (
            matches(wanted, rows) if "expect" in step else not any("raises" in row for row in rows)
        )
        assert is_held, f"{step}\nexpected {expected}\nfound    {rows}"
        for name, path in step.get("save", {}).items():
            self._names[name] = found_at(rows[0], path)

    async def _answer(self, step: Json, place: int) -> Rows:
        given = self._named(step.get("with", {}))
        if "prepare" in step:
            cursor = await self._connections[place].execute(
                re.sub(r"(?<!:):(\w+)", r"%(\1)s", STAGE["preparations"][step["prepare"]]["sql"]),
                given,
            )
            names = [column.name for column in cursor.description or []]
            read = await cursor.fetchall() if names else []
            found: Any = [dict(zip(names, row, strict=True)) for row in read]
        else:
            given = merged(STAGE["usual"].get(step["call"], {}), given)
            answer = await self._doors[step["call"]](
                self._connections[place], **typed(self._functions[step["call"]], given)
            )
            found = [
                dataclasses.asdict(row)
                for row in (answer if isinstance(answer, list) else [answer])
            ]
        plain: Rows = json.loads(json.dumps(found, default=str))
        return plain

    def _named(self, value: Any) -> Any:
        """Put what was kept in the place of each `$name`."""
        if isinstance(value, dict):
            return {name: self._named(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._named(each) for each in value]
        if isinstance(value, str):
            whole = re.fullmatch(r"\$(\w+)", value)
            return (
                self._names[whole[1]]
                if whole
                else re.sub(r"\$\{(\w+)\}", lambda found: str(self._names[found[1]]), value)
            )
        return value


def typed(function: Function, given: Json) -> Json:
    """Turn plain arguments into what the door of a function takes."""
    types = {each.name.removeprefix("p_"): each.type for each in function.parameters}
    return {name: adapted(types[name], value) for name, value in given.items()}


def adapted(sql_type: str, value: Any) -> Any:
    if value is None:
        return None
    match sql_type:
        case "jsonb":
            return json.dumps(value)
        case "jsonb[]":
            return [json.dumps(each) for each in value]
        case "uuid":
            return UUID(value)
    return value
