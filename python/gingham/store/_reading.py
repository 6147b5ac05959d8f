"""The reading side of a sweep's folder: its tables as views of DuckDB.

The folder may be one whose sweep still runs: readers lock nothing and see what is finished.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham._files import require_file
from gingham.store import _columns, _journal, _shards
from gingham.store._folder import kind_in, read_manifest, rows_of
from gingham.store._query_guard import query_guard

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import duckdb
    import pyarrow as pa

    from gingham.kinds import Kind

# Which row of a key is taken, where it stands in two places: the success, if one failed.
ONCE = {
    "runs": "partition by key order by verdict = 'failed'",
    "provenance": "partition by key order by began desc",
}


@query_guard()
def reader(folder: str | os.PathLike[str]) -> duckdb.DuckDBPyConnection:
    """Return a connection with the views `points`, `runs`, `provenance` and one a table of parts.

    `runs` and parts hold, for each point whose run is there, the columns of the axes, `replication`
    and `point` (its number), then what was measured; sort by `point` for the order of the sweep.
    """
    import duckdb

    path = Path(folder)
    manifest = read_manifest(path)
    kind = kind_in(manifest)
    connection = duckdb.connect()
    # Journals first: a run that becomes a shard meanwhile is seen twice, not missed.
    journal = [
        record
        for file in _journal.files(path / _journal.FOLDER)
        for record in _journal.records(file)
    ]
    points = sorted((path / manifest["points"]).glob("*.parquet"))
    connection.register("no_points", no_points(manifest))
    view(connection, "points", points, "no_points")
    once = ONCE | {table: f"partition by key, {part}" for table, part in kind.parts.items()}
    for table, columns in _columns.known(kind).items():
        rows = rows_of(journal, table)
        connection.register(f"recent_{table}", recent_table(columns, rows))
        view(connection, f"all_{table}", _shards.shards(path / table), f"recent_{table}")
        connection.execute(
            f"create view once_{table} as from all_{table} "
            f"qualify row_number() over ({once[table]}) = 1"
        )
    for table in ("runs", *kind.parts):
        more = aliases(kind, manifest) if table == "runs" else ""
        connection.execute(
            f"create view {table} as select *{more} from points join once_{table} using (key)"  # noqa: S608  (names of ours)
        )
    for name in manifest["sweep"]["keep"]:
        kept_view(connection, path, name)
    connection.execute("create view provenance as from once_provenance")
    return connection


def aliases(kind: Kind, manifest: dict[str, Any]) -> str:
    """Return the second names of columns of runs: no axis may mean something else by them."""
    second = [pair for pair in kind.aliases.items() if pair[0] not in manifest["columns"]]
    return "".join(f", {name} as {alias}" for alias, name in second)


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


def kept_table(folder: Path, key: str, name: str) -> pa.Table:
    """Return a table that the sweep keeps of one run, without a look at those of all others."""
    import pyarrow.parquet as pq

    path = folder / "tables" / key / f"{name}.parquet"
    require_file(path)
    return pq.read_table(path)


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


def recent_table(known: Mapping[str, str], rows: list[dict[str, Any]]) -> Any:
    """Return rows of the journal as a table."""
    import pyarrow as pa

    schema = _columns.schema_of(known, rows)
    return pa.table({name: [row.get(name) for row in rows] for name in schema.names}, schema=schema)


def no_points(manifest: dict[str, Any]) -> Any:
    """Return no points, with their columns."""
    import pyarrow as pa

    columns = {"point": "int64", **manifest["columns"], "replication": "int64", "key": "string"}
    return pa.schema(
        [(name, pa.type_for_alias(type_)) for name, type_ in columns.items()]
    ).empty_table()
