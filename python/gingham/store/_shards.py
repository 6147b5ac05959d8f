"""Shards: Parquet files of many runs, merged so that there are never many of them.

::

    journal of 512 runs ──► L0-00000001 ┐
    journal of 512 runs ──► L0-00000002 ├─ 8 of a level ──► L1-00000009
    ...                                 ┘

Invariants: a shard appears whole, by rename; what it was made of is removed after that.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from gingham._files import sync_directory, write_synced, writing
from gingham.store._columns import schema_of
from gingham.store._journal import next_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

# Rows of a row group.
ROWS_PER_GROUP = 16_384
# Shards of a level that become one of the next.
MERGED = 8


def write_shard(folder: Path, rows: Sequence[Mapping[str, Any]], known: Mapping[str, str]) -> None:
    """Write rows of a table that has at least the `known` columns as a new shard of its folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = schema_of(known, rows)
    columns = {name: [row.get(name) for row in rows] for name in schema.names}
    table = pa.table(columns, schema=schema)
    appear(folder / f"L0-{next_number(folder):08}.parquet", partial(pq.write_table, table))


def merge(folder: Path) -> None:
    """Merge shards wherever a level has many."""
    level = 0
    while shards := sorted(folder.glob(f"L{level}-*.parquet")):
        if len(shards) >= MERGED:
            name = f"L{level + 1}-{next_number(folder):08}.parquet"
            appear(folder / name, partial(write_merged, shards))
            for shard in shards:
                shard.unlink()
        level += 1


def write_merged(shards: Iterable[Path], handle: BinaryIO) -> None:
    """Write the rows of all shards, little by little."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    opened = [pq.ParquetFile(shard) for shard in shards]
    # Of two types of a column, counts and numbers for instance, the wider holds both.
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
    """Return a table with the columns of a schema; those that it lacks are null."""
    import pyarrow as pa

    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def appear(path: Path, write: Any) -> None:
    """Write a file beside its place and rename it."""
    partial_path = path.with_name(f".{path.name}.partial")
    with writing(path):
        partial_path.unlink(missing_ok=True)
        write_synced(partial_path, write)
        partial_path.rename(path)
        sync_directory(path.parent)


def shards(folder: Path) -> list[Path]:
    """Return the shards of a table."""
    return sorted(path for path in folder.glob("L*.parquet") if re.match(r"L\d+-\d+", path.name))
