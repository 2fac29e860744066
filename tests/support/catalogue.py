"""What the catalogue of an installed database says of Lockgate's functions and types."""

from dataclasses import dataclass

from tests.support.connections import Connection

RUNTIME_ROLE = "lockgate_runtime"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a rule; `default` is its expression, None where there is none."""

    name: str
    type: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Function:
    """One function of schema lockgate."""

    name: str
    parameters: tuple[Parameter, ...]
    result: str
    is_set: bool
    is_public: bool


def functions(connection: Connection) -> dict[str, Function]:
    """Return every function of schema lockgate by name; a name that is taken twice is an error."""
    rows = connection.execute(
        "select p.proname, t.typname, p.proretset,"
        "       has_function_privilege(%s, p.oid, 'execute'),"
        "       coalesce(p.proargnames, '{}'),"
        "       array(select format_type(a.t, null)"
        "               from unnest(p.proargtypes) with ordinality a(t, n) order by a.n),"
        "       array(select pg_get_function_arg_default(p.oid, n::integer)"
        "               from generate_series(1, p.pronargs) n order by n)"
        "  from pg_proc p join pg_type t on t.oid = p.prorettype"
        " where p.pronamespace = 'lockgate'::regnamespace order by 1",
        [RUNTIME_ROLE],
    ).fetchall()
    found = {
        name: Function(
            name, tuple(map(Parameter, names, types, defaults)), result, is_set, is_public
        )
        for name, result, is_set, is_public, names, types, defaults in rows
    }
    assert len(found) == len(rows), "one name, one function"
    return found


def enums(connection: Connection) -> dict[str, list[str]]:
    """Return the labels of each enum in their order."""
    rows = connection.execute(
        "select t.typname, array_agg(e.enumlabel::text order by e.enumsortorder)"
        "  from pg_enum e join pg_type t on t.oid = e.enumtypid"
        " where t.typnamespace = 'lockgate'::regnamespace group by 1"
    ).fetchall()
    return dict(rows)


def composites(connection: Connection) -> dict[str, dict[str, str]]:
    """Return the columns of each composite type, in their order, with their types."""
    rows = connection.execute(
        "select c.relname, array_agg(a.attname::text order by a.attnum),"
        "       array_agg(format_type(a.atttypid, null) order by a.attnum)"
        "  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0"
        " where c.relnamespace = 'lockgate'::regnamespace and c.relkind = 'c'"
        "   and not a.attisdropped group by 1"
    ).fetchall()
    return {name: dict(zip(columns, types, strict=True)) for name, columns, types in rows}
