"""Shards: Parquet files of many runs, merged to limit their number.

::

    journal of 512 runs ──► L0-00000001 ┐
    journal of 512 runs ──► L0-00000002 ├─ 8 of a level ──► L1-00000009
    ...                                 ┘

Invariants: a shard appears complete, by rename; its sources are removed after that.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gingham._files import sync_directory, write_synced, writing
from gingham.store._columns import schema_of
from gingham.store._journal import next_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

# Rows per row group.
ROWS_PER_GROUP = 16_384
# Number of shards of a level that are merged into one of the next.
MERGED = 8


def write_shard(folder: Path, rows: Sequence[Mapping[str, Any]], known: Mapping[str, str]) -> Path:
    """Write rows of a table with at least the `known` columns as a new shard in its folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = schema_of(known, rows)
    columns = {name: [row.get(name) for row in rows] for name in schema.names}
    table = pa.table(columns, schema=schema)
    path = folder / f"L0-{next_number(folder):08}.parquet"
    appear(path, partial(pq.write_table, table))
    return path


def due(shards: Iterable[Path]) -> list[Path]:
    """Return the shards of the lowest level that are due to be merged."""
    of_level: dict[int, list[Path]] = {}
    for shard in sorted(shards):
        of_level.setdefault(level_of(shard), []).append(shard)
    return next((found for _, found in sorted(of_level.items()) if len(found) >= MERGED), [])


def merge(shards: Sequence[Path]) -> Path:
    """Merge shards of a level into a new one, and return it; the caller removes the old ones."""
    folder, level = shards[0].parent, level_of(shards[0])
    path = folder / f"L{level + 1}-{next_number(folder):08}.parquet"
    appear(path, partial(write_merged, shards))
    return path


def level_of(shard: Path) -> int:
    """Return the level of a shard from its name."""
    return int(shard.name[1:].partition("-")[0])


def write_merged(shards: Iterable[Path], handle: BinaryIO) -> None:
    """Write the rows of all shards incrementally."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    opened = [pq.ParquetFile(shard) for shard in shards]
    # If a column has two types, integer and float for instance, the wider one is used.
    schemas = [one.schema_arrow for one in opened]
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    with pq.ParquetWriter(handle, schema) as writer:
        waiting: list[Any] = []
        for one in opened:
            for group in range(one.num_row_groups):
                waiting.append(widened(one.read_row_group(group, use_threads=False), schema))
                if sum(map(len, waiting)) >= ROWS_PER_GROUP:
                    writer.write_table(pa.concat_tables(waiting))
                    waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting))


def widened(table: Any, schema: Any) -> Any:
    """Return a table with the columns of a schema; missing ones are null."""
    import pyarrow as pa

    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def appear(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name and rename it."""
    prepared = prepare(path, write)
    with writing(path):
        prepared.rename(path)
        sync_directory(path.parent)


def prepare(path: Path, write: Callable[[BinaryIO], object]) -> Path:
    """Write a file under a temporary name, and return its path."""
    prepared = path.with_name(f".{path.name}.partial")
    with writing(path):
        prepared.unlink(missing_ok=True)
        write_synced(prepared, write)
    return prepared


def is_readable(path: Path) -> bool:
    """Whether a file is a readable table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.read_table(path)
    except (OSError, ValueError, pa.ArrowException):
        return False
    return True


def rows(shards: Sequence[Path], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of shards with those of the columns that exist."""
    import pyarrow.parquet as pq

    for shard in shards:
        file = pq.ParquetFile(shard)
        there = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(columns=there):
            yield from batch.to_pylist()


def keys_in(shards: Sequence[Path], keys: set[str], *, succeeded: bool) -> set[str]:
    """Return the keys that occur in shards; for runs, only those that `succeeded`."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wanted = pa.array(sorted(keys), pa.string())
    found: set[str] = set()
    for shard in shards:
        columns = ["key", "verdict"] if succeeded else ["key"]
        for batch in pq.ParquetFile(shard).iter_batches(columns=columns):
            hit = pc.is_in(batch["key"], value_set=wanted)
            if succeeded:
                hit = pc.and_(hit, pc.not_equal(batch["verdict"], "failed"))
            found.update(batch["key"].filter(hit).to_pylist())
    return found
