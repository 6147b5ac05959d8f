"""The reading side of a sweep's folder: its tables as views of DuckDB.

The folder may be one whose sweep still runs: readers lock nothing and see what is finished.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.store import _columns, _journal, _shards
from gingham.store._folder import read_manifest

if TYPE_CHECKING:
    import os

    import duckdb

# Which row of a key is taken, where it stands in two places: the success, if one failed.
ONCE = {
    "runs": "partition by key order by verdict = 'failed'",
    "classes": "partition by key, class order by verdict",
    "provenance": "partition by key order by began desc",
}


def reader(folder: str | os.PathLike[str]) -> duckdb.DuckDBPyConnection:
    """Return a connection with the views `points`, `runs`, `classes` and `provenance`.

    `runs` and `classes` hold, for each point whose run is there, the columns of the axes,
    `replication` and `point` (its number), then what was measured; sort by `point` for the order of
    the sweep.
    """
    import duckdb

    path = Path(folder)
    manifest = read_manifest(path)
    connection = duckdb.connect()
    # Journals first: a run that becomes a shard meanwhile is seen twice, not missed.
    journal = [
        record
        for file in _journal.files(path / _journal.FOLDER)
        for record in _journal.records(file)
    ]
    recent = {
        "runs": [one["row"] for one in journal],
        "classes": [row for one in journal for row in one["classes"]],
        "provenance": [one["provenance"] for one in journal],
    }
    points = sorted((path / manifest["points"]).glob("*.parquet"))
    connection.register("no_points", no_points(manifest))
    view(connection, "points", points, "no_points")
    for kind, rows in recent.items():
        connection.register(f"recent_{kind}", recent_table(kind, rows))
        view(connection, f"all_{kind}", _shards.shards(path / kind), f"recent_{kind}")
        connection.execute(
            f"create view once_{kind} as from all_{kind} "
            f"qualify row_number() over ({ONCE[kind]}) = 1"
        )
    for kind in ("runs", "classes"):
        connection.execute(f"create view {kind} as from points join once_{kind} using (key)")
    connection.execute("create view provenance as from once_provenance")
    return connection


def view(connection: duckdb.DuckDBPyConnection, name: str, files: list[Path], beside: str) -> None:
    """Create a view of Parquet files and of a table beside them."""
    if not files:
        connection.execute(f"create view {name} as from {beside}")
        return
    listed = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
    connection.execute(
        f"create view {name} as from read_parquet([{listed}], union_by_name = true) "
        f"union all by name from {beside}"
    )


def recent_table(kind: str, rows: list[dict[str, Any]]) -> Any:
    """Return rows of the journal as a table."""
    import pyarrow as pa

    schema = _columns.schema_of(kind, rows)
    return pa.table({name: [row.get(name) for row in rows] for name in schema.names}, schema=schema)


def no_points(manifest: dict[str, Any]) -> Any:
    """Return no points, with their columns."""
    import pyarrow as pa

    columns = {"point": "int64", **manifest["columns"], "replication": "int64", "key": "string"}
    return pa.schema(
        [(name, pa.type_for_alias(type_)) for name, type_ in columns.items()]
    ).empty_table()
