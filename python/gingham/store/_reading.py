"""Reader of a sweep's folder: its tables as views of DuckDB.

The sweep may still be running: readers take no lock and see finished runs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham._files import require_file
from gingham._sealed import NOT_TABLE, damaged, require_whole
from gingham.errors import DamageError
from gingham.store import _columns, _journal, _shards
from gingham.store._manifest import CURE, kind_in, listed, read_manifest, require_new_names, rows_of
from gingham.store._query_guard import query_guard

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    import duckdb
    import pyarrow as pa

    from gingham.kinds import Kind

# Choice between rows with equal keys: a success rather than a failure.
ONCE = {
    "runs": "partition by key order by verdict = 'failed'",
    "provenance": "partition by key order by began desc",
}


@dataclass(frozen=True)
class Contents:
    """Verified contents of the folder of a sweep."""

    manifest: dict[str, Any]
    journal: list[dict[str, Any]]
    # Files by table, or `points`.
    files: Mapping[str, list[Path]]


def contents(path: Path) -> Contents:
    """List and verify a folder, again if it changes meanwhile; `DamageError` names a bad file."""
    while True:
        # Journals first: a run merged into a shard meanwhile is seen twice rather than missed.
        journal = whole_records(path)
        manifest = read_manifest(path)
        folders = {"points": manifest["points"], **{one: one for one in tables_of(manifest)}}
        found = {table: listed(path, manifest, folder) for table, folder in folders.items()}
        try:
            for name, entry in (pair for one in found.values() for pair in one.items()):
                require_whole(path / name, entry, CURE)
        except DamageError:
            if read_manifest(path) == manifest:
                raise
            continue
        files = {table: [path / name for name in sorted(one)] for table, one in found.items()}
        require_new_names(path, manifest, [file for one in files.values() for file in one])
        return Contents(manifest, journal, files)


def whole_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of all journals; raise `DamageError` if one is damaged."""
    for file in _journal.files(path / _journal.FOLDER):
        if bad := _journal.damaged_lines(file):
            raise damaged(file, f"is damaged {_journal.places(bad)}", CURE)
    return _journal.all_records(path / _journal.FOLDER)


def tables_of(manifest: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the tables of a sweep, with their columns."""
    return _columns.known(kind_in(manifest))


@query_guard()
def reader(folder: str | os.PathLike[str]) -> duckdb.DuckDBPyConnection:
    """Return a connection with the views `points`, `runs`, `provenance` and one per table of parts.

    `runs` and parts hold, for each point with a stored run, the columns of the axes, `replication`
    and `point` (its number), followed by the results; sort by `point` for the order of the sweep.
    Raises `DamageError` if one of their files is damaged.
    """
    import duckdb

    path = Path(folder)
    seen = contents(path)
    manifest = seen.manifest
    kind = kind_in(manifest)
    connection = duckdb.connect()
    connection.register("no_points", no_points(manifest))
    once = ONCE | {table: f"partition by key, {part}" for table, part in kind.parts.items()}
    try:
        view(connection, "points", seen.files["points"], "no_points")
        for table, columns in _columns.known(kind).items():
            rows = rows_of(seen.journal, table)
            connection.register(f"recent_{table}", recent_table(columns, rows))
            view(connection, f"all_{table}", seen.files[table], f"recent_{table}")
            connection.execute(
                f"create view once_{table} as from all_{table} "
                f"qualify row_number() over ({once[table]}) = 1"
            )
    except duckdb.InvalidInputException as error:
        raise not_table([file for files in seen.files.values() for file in files], error) from error
    for table in ("runs", *kind.parts):
        more = aliases(kind, manifest) if table == "runs" else ""
        connection.execute(
            f"create view {table} as select *{more} from points join once_{table} using (key)"  # noqa: S608  (names of ours)
        )
    for name in manifest["sweep"]["keep"]:
        kept_view(connection, path, name)
    connection.execute("create view provenance as from once_provenance")
    return connection


def not_table(files: Iterable[Path], error: Exception) -> Exception:
    """Return the error for an unreadable file that has no digest."""
    bad = next((file for file in files if not _shards.is_readable(file)), None)
    return damaged(bad, NOT_TABLE, CURE) if bad else error


def aliases(kind: Kind, manifest: dict[str, Any]) -> str:
    """Return the aliases of run columns as SQL, without columns that an axis replaces."""
    second = [pair for pair in kind.aliases.items() if pair[0] not in manifest["columns"]]
    return "".join(f", {name} as {alias}" for alias, name in second)


def kept_view(connection: duckdb.DuckDBPyConnection, path: Path, name: str) -> None:
    """Create the view of a table that the sweep keeps of each run; none if there is none yet."""
    import duckdb

    files = path / "tables" / "*" / f"{name}.parquet"
    if not any(path.glob(f"tables/*/{name}.parquet")):
        require_kept(connection, path, name, set())
        return
    # The key of a run is the name of the folder with its tables.
    kept = (
        "select * exclude (filename, file_row_number), parse_path(filename)[-2] as key, "  # noqa: S608
        f"file_row_number as row_number from read_parquet({text(files)}, filename = true, "
        "file_row_number = true, union_by_name = true)"
    )
    try:
        connection.execute(f'create view "{name}" as from points join ({kept}) using (key)')
    except duckdb.Error as error:
        require_kept(connection, path, name, set())
        raise not_table(path.glob(f"tables/*/{name}.parquet"), error) from error


def require_kept(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, checked: set[tuple[str, str]]
) -> None:
    """Raise `DamageError` if a kept table of a run is missing or damaged.

    Tables in `checked` are skipped; those verified now are added to it.
    """
    entries = connection.execute(
        "select key, arg_max(kept, began) from all_provenance semi join points using (key) "
        "where kept is not null group by key"
    )
    for key, kept in entries.fetchall():
        entry = json.loads(kept).get(name)
        if entry and (key, name) not in checked:
            require_whole(path / "tables" / key / f"{name}.parquet", entry, CURE)
            checked.add((key, name))


def kept_table(
    connection: duckdb.DuckDBPyConnection, folder: Path, key: str, name: str
) -> pa.Table:
    """Return a kept table of one run, without reading those of other runs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "tables" / key / f"{name}.parquet"
    query = "select arg_max(kept, began) from all_provenance where key = ? and kept is not null"
    [kept] = connection.execute(query, [key]).fetchone() or [None]
    entry = json.loads(kept or "{}").get(name)
    if entry is None:
        require_file(path)
    require_whole(path, entry, CURE)
    try:
        return pq.read_table(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise damaged(path, NOT_TABLE, CURE) from error


def text(value: object) -> str:
    """Return a text as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"


def view(connection: duckdb.DuckDBPyConnection, name: str, files: list[Path], beside: str) -> None:
    """Create a view of Parquet files and of an additional table."""
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
    """Return an empty table of points with their columns."""
    import pyarrow as pa

    columns = {"point": "int64", **manifest["columns"], "replication": "int64", "key": "string"}
    return pa.schema(
        [(name, pa.type_for_alias(type_)) for name, type_ in columns.items()]
    ).empty_table()
