"""The columns of runs, classes and provenance, and their types.

A column that is not listed here is a number, or a text where it holds one: results may gain
columns without a change of form.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from gingham._native import result_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

# A row a run. `failed` is the verdict of a run that could not be made; `error` says why, and
# `error_type` which exception of `gingham.errors` it was: `InternalError` is a fault of ours.
RUNS = {
    "key": "string",
    "seed": "int64",
    "verdict": "string",
    "verdict_reason": "string",
    "error": "string",
    "error_type": "string",
    "offered_load": "double",
    "accepted_load": "double",
    "latency_mean_ns": "double",
    "messages_followed": "int64",
    "warm_up_ps": "int64",
    "window_end_ps": "int64",
    "end_ps": "int64",
}
PROVENANCE = {
    "key": "string",
    "began": "string",
    "host": "string",
    "process": "int64",
    "version": "string",
    "core": "string",
    "wall_seconds": "double",
    "engine_seconds": "double",
}
# Kinds of numbers of a JSON schema.
KINDS = {"integer": "int64", "number": "double", "string": "string"}
# Columns that tables of results have beside those of `known`.
JOINED = ["point", "replication", "name"]


@cache
def known(kind: str) -> dict[str, str]:
    """Return the columns that a table always has, and their types."""
    if kind == "runs":
        # Counts of a run are sums of those of its classes.
        counts = {name: type_ for name, type_ in class_columns().items() if type_ == "int64"}
        return RUNS | {
            name: type_ for name, type_ in counts.items() if name.startswith("messages_")
        }
    return {"provenance": PROVENANCE, "classes": class_columns()}[kind]


def class_columns() -> dict[str, str]:
    """Return the columns of classes: the key, the class, and each plain field of a class."""
    fields = result_schema()["summary"]["properties"]["classes"]["items"]["properties"]
    types = {name: type_of(field) for name, field in fields.items() if name != "name"}
    plain = {name: type_ for name, type_ in types.items() if type_}
    return {"key": "string", "class": "string", **plain}


def type_of(field: Mapping[str, Any]) -> str:
    """Return the type of the column of a field, or nothing if it is no plain value."""
    kinds = field.get("type", "string")
    names = [kinds] if isinstance(kinds, str) else kinds
    return next((KINDS[name] for name in names if name in KINDS), "")


@cache
def reserved() -> frozenset[str]:
    """Return the names that no axis may take."""
    return frozenset([*known("runs"), *known("classes"), *JOINED])


def schema_of(kind: str, rows: Sequence[Mapping[str, Any]]) -> pa.Schema:
    """Return the schema of some rows: known columns first, then the others by name.

    Of the others, those that hold nothing have no type yet, and no column.
    """
    import pyarrow as pa

    found = {name: value for row in rows for name, value in row.items() if value is not None}
    others = {name: kind_of(found[name]) for name in sorted(set(found) - set(known(kind)))}
    types = known(kind) | others
    return pa.schema([(name, pa.type_for_alias(type_)) for name, type_ in types.items()])


def kind_of(value: object) -> str:
    """Return the type of a column by one of its values."""
    return {str: "string", bool: "bool"}.get(type(value), "double")


def empty(kind: str) -> pa.Table:
    """Return no rows, with the columns that are always there."""
    return schema_of(kind, []).empty_table()
