"""The columns of runs, of their parts and of provenance, and their types.

A column that is not listed here is numeric, or text if it holds a text: results may gain columns
without a change of form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.kinds import RUN_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from gingham.kinds import Kind

PROVENANCE = {
    "key": "string",
    "began": "string",
    "host": "string",
    "process": "int64",
    "version": "string",
    "core": "string",
    "wall_seconds": "double",
    "engine_seconds": "double",
    # Bytes and SHA-256 of each kept table of the run, as JSON.
    "kept": "string",
}
# Columns of result tables in addition to those of `known`.
JOINED = ["point", "replication", "name"]


def known(kind: Kind) -> dict[str, dict[str, str]]:
    """Return the tables of a kind with their guaranteed columns and types.

    Runs come last: a run in that table is complete.
    """
    parts = {table: {"key": "string", **kind.columns(table)} for table in kind.parts}
    return {"provenance": PROVENANCE, **parts, "runs": RUN_COLUMNS | dict(kind.columns("runs"))}


def views(kind: Kind) -> dict[str, str]:
    """Return the tables of a reader, with the sort columns of each."""
    parts = {table: f"point, {part}" for table, part in kind.parts.items()}
    return {"runs": "point", **parts, "points": "point", "provenance": "key"}


def reserved(kind: Kind) -> frozenset[str]:
    """Return the names that axes may not have."""
    tables = known(kind)
    return frozenset(
        [*JOINED, *(name for table in ("runs", *kind.parts) for name in tables[table])]
    )


def schema_of(known: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> pa.Schema:
    """Return the schema of some rows: known columns first, then the others by name.

    Of the others, columns that are entirely empty have no type yet, and are omitted.
    """
    import pyarrow as pa

    found = {name: value for row in rows for name, value in row.items() if value is not None}
    others = {name: type_of(found[name]) for name in sorted(set(found) - set(known))}
    types = {**known, **others}
    return pa.schema([(name, pa.type_for_alias(type_)) for name, type_ in types.items()])


def type_of(value: object) -> str:
    """Return the type of a column from one of its values."""
    return {str: "string", bool: "bool"}.get(type(value), "double")
