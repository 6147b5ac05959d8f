"""Conversion of columns of Arrow tables to arrays for pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gingham.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Indices: TypeAlias = "NDArray[np.int64]"


def numbers(table: pa.Table, column: str) -> Floats:
    """Return a column as floating-point numbers, with NaN for missing values."""
    require(table, column)
    # Through a list: `to_numpy` would import pandas if it is installed.
    return np.array(table[column].to_pylist(), dtype=np.float64)


def numbers_if_any(table: pa.Table, column: str) -> Floats:
    """Return a column as numbers; NaN for each row if the table has no such column."""
    if column in table.column_names:
        return numbers(table, column)
    return np.full(table.num_rows, np.nan)


def words(table: pa.Table, column: str) -> list[str]:
    """Return a column of text."""
    require(table, column)
    return [str(word) for word in table[column].to_pylist()]


def require(table: pa.Table, column: str) -> None:
    """Raise an error if a table has no such column."""
    if column not in table.column_names:
        known = table.column_names
        raise InputError(
            f'the table has no column "{column}"; it has {", ".join(known) or "none"}\n'
            "  it was perhaps written by another version of gingham: run the scenario again",
            key=column,
            expected=known,
            code="unknown-column",
        )


def rows_by_class(table: pa.Table) -> dict[str, Indices]:
    """Return the rows of each class, the classes in order of their first row."""
    names = np.asarray(words(table, "class"), dtype=object)
    return {name: np.flatnonzero(names == name) for name in dict.fromkeys(names)}
