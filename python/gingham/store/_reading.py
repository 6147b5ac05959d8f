"""The reading side of a sweep's folder: its tables as views of DuckDB.

The folder may be one whose sweep still runs: readers lock nothing and see what is finished.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.store import _columns, _journal, _shards
from gingham.store._asking import asking
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

# Each view, and the columns that put its rows into the order of the sweep.
VIEWS = {"runs": "point", "classes": "point, class", "points": "point", "provenance": "key"}


@asking()
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
    for kind, more in (("runs", aliases(manifest)), ("classes", "")):
        connection.execute(
            f"create view {kind} as select *{more} from points join once_{kind} using (key)"  # noqa: S608  (names of ours)
        )
    for name in manifest["sweep"]["keep"]:
        kept_view(connection, path, name)
    connection.execute("create view provenance as from once_provenance")
    return connection


def aliases(manifest: dict[str, Any]) -> str:
    """Return the second names of columns of runs: no axis may mean something else by them."""
    second = {"mean_latency_ns": "latency_mean_ns", "load": "offered_load"}
    return "".join(
        f", {name} as {alias}" for alias, name in second.items() if alias not in manifest["columns"]
    )


def kept_view(connection: duckdb.DuckDBPyConnection, path: Path, name: str) -> None:
    """Create the view of a table that the sweep keeps of each run; none if none is there yet."""
    files = path / "tables" / "*" / f"{name}.parquet"
    if any(path.glob(f"tables/*/{name}.parquet")):
        # The name of the folder that a file stands in is the key.
        kept = (
            "select * exclude (filename, file_row_number), parse_path(filename)[-2] as key, "  # noqa: S608
            f"file_row_number as row_number from read_parquet({text(files)}, filename = true, "
            "file_row_number = true, union_by_name = true)"
        )
        connection.execute(f'create view "{name}" as from points join ({kept}) using (key)')


def text(value: object) -> str:
    """Return a text as SQL has it."""
    return "'" + str(value).replace("'", "''") + "'"


def view(connection: duckdb.DuckDBPyConnection, name: str, files: list[Path], beside: str) -> None:
    """Create a view of Parquet files and of a table beside them."""
    if not files:
        connection.execute(f"create view {name} as from {beside}")
        return
    listed = ", ".join(map(text, files))
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
