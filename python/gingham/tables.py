"""Arrow tables: made from the columns of the core, written as Parquet, read back.

::

    core: name, meaning, unit, bytes ──► pyarrow.Table ──► messages.parquet
                                               ▲───────────────────┘

Invariant: a table is equal whether it comes from a new run or from its folder, with equal metadata:
`meaning` and, except for texts and running numbers, `unit`.
"""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from gingham._files import reason
from gingham._sealed import damaged, require_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pyarrow as pa

    from gingham._sealed import Entry

CURE = "run its scenario again; overwrite=True replaces the folder"
# Name, meaning, unit, (type of the values, little-endian bytes, distinct words), and the rows with
# a missing integer or text.
CoreColumn: TypeAlias = tuple[str, str, str, tuple[str, bytes, list[str]], list[int]]


def from_columns(columns: Iterable[CoreColumn]) -> pa.Table:
    """Return an Arrow table over the columns of the core, without copying numbers."""
    import pyarrow as pa

    fields, arrays = [], []
    for name, meaning, unit, values, missing in columns:
        array = arrow_array(pa, *values, missing)
        metadata = {"meaning": meaning} | ({"unit": unit} if unit else {})
        fields.append(pa.field(name, array.type, metadata=metadata))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def arrow_array(
    pa: Any, kind: str, data: bytes, words: list[str], missing: Sequence[int]
) -> pa.Array:
    """Return an Arrow array over the bytes of a column, null in the `missing` rows."""
    types = {"i64": pa.int64(), "f64": pa.float64(), "u32": pa.int32()}
    type_ = types[kind]
    count = len(data) * 8 // type_.bit_width
    valid = None
    if missing:
        # One bit per row, the lowest first. `pa.array` would import pandas for this.
        bits = bytearray(b"\xff" * ((count + 7) // 8))
        for row in missing:
            bits[row // 8] &= ~(1 << row % 8)
        valid = pa.py_buffer(bytes(bits))
    array = pa.Array.from_buffers(type_, count, [valid, pa.py_buffer(data)])
    if kind == "u32":
        return pa.DictionaryArray.from_arrays(array, texts(pa, words))
    return array


def texts(pa: Any, words: list[str]) -> pa.Array:
    """Return an Arrow array of words.

    `pa.array` would import pandas, if it is installed, to check for pandas types.
    """
    encoded = [word.encode() for word in words]
    ends = struct.pack(f"={len(words) + 1}i", *accumulate(map(len, encoded), initial=0))
    buffers = pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(words), *buffers)


def from_parquet(path: Path, entry: Entry | None = None) -> pa.Table:
    """Return the table in a file of a run folder.

    Raises `DamageError` if it is missing, or does not match its manifest `entry`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    require_whole(path, entry, CURE)
    try:
        # `pq.read_table` would import the reader for folders of files, and pandas with it.
        with pq.ParquetFile(path) as file:
            return file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        first = why.splitlines()[0] if why else "no reason given"
        raise damaged(path, f"is damaged: {first}", CURE) from error
