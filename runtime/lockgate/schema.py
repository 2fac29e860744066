"""What a value must look like: a type that pydantic knows, or a JSON Schema given as a dict.

Owns the two libraries' differences, and words a flaw without the value that has it. A schema looks
nothing up outside of itself: a `$ref` to elsewhere is refused, and never fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # Its stubs are a package of their own.
from pydantic import TypeAdapter, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from lockgate.contained import contained
from lockgate.strict_json import JsonValue, storable

MAX_FLAWS = 8  # told of one value: enough to mend it, however wrong it is
_LONGEST_FLAW = 256  # characters


class Unfit(ValueError):
    """A value does not fit its schema; the text says where, and quotes no value of pydantic's."""


class Schema:
    """One shape of values, asked for its JSON Schema and about values."""

    def __init__(self, shape: Any) -> None:
        """shape  a type, as pydantic takes them, or a JSON Schema. Errors  ValueError: neither"""
        self.shape = shape
        self._validator: Any = None
        if isinstance(shape, Mapping):
            self._validator = _validator(shape)
        else:
            try:
                self._adapter: TypeAdapter[Any] = TypeAdapter(shape)
            except Exception as error:
                raise ValueError(f"{shape!r} is no schema: {error}") from error

    @cached_property
    def json_schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the values, as a model is told it."""
        if self._validator is not None:
            return dict(self.shape)
        return self._adapter.json_schema()

    @property
    def is_of_an_object(self) -> bool:
        """Say whether each value is an object, as the arguments of a call are."""
        schema = self.json_schema
        # A type that holds itself is a reference to its own definition.
        name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
        definition: Mapping[str, Any] = schema.get("$defs", {}).get(name, schema)
        return bool(definition.get("type") == "object")

    def read(self, value: Any) -> Any:
        """Return what a body is given for a value: of a type an instance, else the value itself.

        Errors  Unfit
        """
        if self._validator is None:
            try:
                with contained():
                    return self._adapter.validate_python(value)
            except ValidationError as error:
                raise Unfit(_flaws(error)) from None
        try:
            found = [*self._validator.iter_errors(_plain(value))]
        except Unresolvable as error:
            raise Unfit(f"the schema refers to what is not there: {error}") from None
        if found:
            raise Unfit(_joined([f"{flaw.json_path}: {flaw.message}" for flaw in found]))
        return value

    def checked(self, value: Any) -> JsonValue:
        """Return a value as the schema has it, as JSON: a type's defaults are filled in.

        Errors  Unfit; NotStorable for a type whose values have no JSON form
        """
        read = self.read(value)
        if self._validator is None:
            read = self._adapter.dump_python(read, by_alias=True)
        return storable(read)

    def flaws(self, value: Any) -> str | None:
        """Say what is wrong with a value, or nothing."""
        try:
            self.read(value)
        except Unfit as unfit:
            return str(unfit)
        return None


def as_schema(shape: Any) -> Schema | None:
    """Make a schema of whatever an application gave, and none of nothing."""
    return shape if shape is None or isinstance(shape, Schema) else Schema(shape)


def _validator(schema: Mapping[str, Any]) -> Any:
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(f"This is no JSON Schema: {error.message}") from None
    # A registry of nothing: the library would fetch what an unknown `$ref` names.
    return kind(dict(schema), registry=Registry())


def _plain(value: Any) -> Any:
    """Give the library the numbers it can calculate with; the value itself stays exact."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _flaws(error: ValidationError) -> str:
    """Tell what to mend; the values that were sent are not repeated."""
    return _joined(
        [
            f"{'.'.join(str(step) for step in flaw['loc']) or 'arguments'}: {flaw['msg']}"
            for flaw in error.errors(include_url=False, include_input=False)
        ]
    )


def _joined(flaws: list[str]) -> str:
    told = [flaw[:_LONGEST_FLAW] for flaw in flaws[:MAX_FLAWS]]
    if len(flaws) > MAX_FLAWS:
        told.append(f"and {len(flaws) - MAX_FLAWS} more")
    return "; ".join(told)
