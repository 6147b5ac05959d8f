"""Results: what a run measured, as numbers and as Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from gingham.scenario import Scenario

# Name, meaning, (type of the values, little-endian bytes, distinct words).
CoreColumn = tuple[str, str, tuple[str, bytes, list[str]]]


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    # From 0 to 1.
    fraction: float
    now_ps: int
    messages_delivered: int
    messages_in_flight: int
    done: bool


@dataclass(frozen=True)
class Result:
    """What a run measured.

    `summary` holds the numbers with their intervals: `verdict`, `verdict_reason`, `end_ps`,
    `warm_up_ps`, `classes` (a dict each), `links`, `notes`, `findings` and `deadlock`. `about` says
    what was run: the size of the fabric, the parameters in force, the fabric file.
    """

    scenario: Scenario
    summary: Mapping[str, Any]
    about: Mapping[str, Any]
    wall_seconds: float
    columns: Mapping[str, Sequence[CoreColumn]]

    @property
    def verdict(self) -> str:
        """What the numbers are worth.

        `ok`, `saturated`, `not-converged`, `interrupted` or `deadlocked`.
        """
        return str(self.summary["verdict"])

    @property
    def classes(self) -> Sequence[Mapping[str, Any]]:
        """One row of numbers a traffic class."""
        rows: Sequence[Mapping[str, Any]] = self.summary["classes"]
        return rows

    @property
    def messages(self) -> pa.Table:
        """One row a message created and delivered in the window, or of a sample of 1,000,000."""
        return self.table("messages")

    @property
    def links(self) -> pa.Table:
        """One row a channel: what it carried, and for how long its sender was stopped."""
        return self.table("links")

    def save(self, target: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a run folder: the tables as Parquet, `latency.png`, and `manifest.json`.

        The folder appears whole or not at all; `force` lets it replace that of another run.
        """
        from gingham import saving

        saving.save(self, Path(target), force=force)

    def table(self, name: str) -> pa.Table:
        """Return the table `messages`, `links` or `classes`.

        Names of columns end in their unit; the field metadata `meaning` says what they hold.
        """
        import pyarrow as pa

        if name not in self.columns:
            known = list(self.columns)
            raise InputError(f'no table "{name}"; tables are {", ".join(known)}', expected=known)
        fields, arrays = [], []
        for column, meaning, values in self.columns[name]:
            array = arrow_array(pa, *values)
            fields.append(pa.field(column, array.type, metadata={"meaning": meaning}))
            arrays.append(array)
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def arrow_array(pa: Any, kind: str, data: bytes, words: list[str]) -> pa.Array:
    """Return an Arrow array over the bytes of a column."""
    types = {"u64": pa.uint64(), "f64": pa.float64(), "u32": pa.int32()}
    type_ = types[kind]
    count = len(data) * 8 // type_.bit_width
    array = pa.Array.from_buffers(type_, count, [None, pa.py_buffer(data)])
    if kind == "u32":
        return pa.DictionaryArray.from_arrays(array, pa.array(words, pa.string()))
    return array
