"""Results of sweeps, from their folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gingham.errors import InputError
from gingham.store import reader

if TYPE_CHECKING:
    import os
    from typing import Self

    import duckdb
    import pyarrow as pa


class Results:
    """What the runs of a sweep measured: tables in the order of its points.

    `gingham.store.reader` says which views a query may use.
    """

    def __init__(self, folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
        """Wrap the views of a folder; use `load`."""
        self.folder = folder
        self._connection = connection

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read the folder of a sweep, finished or not."""
        return cls(Path(folder), reader(folder))

    def arrow(self, table: str = "runs") -> pa.Table:
        """Return a table: `runs` or `classes`."""
        return self.query(f"from {table} order by point")

    def query(self, sql: str) -> pa.Table:
        """Return what a query gives; `InputError` if it cannot be asked."""
        import duckdb

        try:
            return self._connection.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise InputError(f"the query cannot be asked: {error}") from error
