"""The results of a sweep: `gingham.Results`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gingham.errors import InputError, meant, nearest
from gingham.extras import require
from gingham.results._censored import query_without_latency
from gingham.results._intervals import interval
from gingham.results._notes import Note, notes_of
from gingham.results._query import ask, columns_of, literal, quoted
from gingham.store import (
    kept_table,
    kind_in,
    query_guard,
    read_manifest,
    reader,
    require_kept,
    views,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Container, Iterable, Mapping, Sequence
    from typing import Self

    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

# Rows of a table: those with these values on the axes, or those matching an SQL condition.
Selection: TypeAlias = "Mapping[str, Any] | str"


class Results:
    """Results of the runs of a sweep, finished or not.

    ::

        results = gingham.Results.load("sweeps/load")
        results.query("select load, mean_latency_ns from runs where verdict = 'ok' order by load")
        results.means("latency_mean_ns", by="load").to_pandas()
        results.compare({"routing": "up-down"}, {"routing": "shortest"}, of="latency_mean_ns")

    Tables: `runs` with one row per run; for fabrics `classes` with one row per run and class of
    traffic, for stripes `sources` and `channels`; `points` with the planned runs, `provenance` with
    time, place and build of each run; and, if the sweep keeps them, the tables of the runs,
    `messages` for instance, with the `row_number` in the run's table. All but `provenance` have the
    columns of the axes, `replication` and `key`.
    """

    def __init__(self, folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
        """Wrap the views of a folder; use `load`."""
        self.folder = folder
        self._connection = connection
        self._busy = False
        self.manifest = read_manifest(folder)
        self._kind = kind_in(self.manifest)
        # Each table, and the columns that sort its rows in the order of the sweep.
        found = connection.execute("select view_name from duckdb_views() where not internal")
        there = {name for (name,) in found.fetchall()}
        # Kept tables that were verified against their digests: key, name.
        self._checked: set[tuple[str, str]] = set()
        kept = [name for name in self.manifest["sweep"]["keep"] if name in there]
        self._views = {**views(self._kind), **dict.fromkeys(kept, "point, row_number")}

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read the folder of a sweep.

        Raises `InputError` for a folder that this version cannot read; `DamageError` if a file of
        its tables is missing or damaged, which a sweep with `--resume` repairs.
        """
        return cls(Path(folder), reader(folder))

    def __repr__(self) -> str:
        """Return title, axes and number of finished runs."""
        [count] = self.query("select count(*) from runs").columns[0].to_pylist()
        axes = ", ".join(self.axes) or "none"
        return f"<Results of {self.title!r}: axes {axes}; {count:,} runs in {str(self.folder)!r}>"

    def _repr_html_(self) -> str:
        """Return the HTML view of notebooks."""
        from gingham import _html

        return _html.of_results(self, self._kind.mean)

    @property
    def title(self) -> str:
        """Title of the sweep."""
        return str(self.manifest["sweep"]["title"])

    @property
    def axes(self) -> list[str]:
        """Column names of the axes."""
        return list(self.manifest["columns"])

    @property
    def columns(self) -> dict[str, list[str]]:
        """Column names of each table."""
        self._require_kept(self._views)
        return columns_of(self._connection, self._views)

    def arrow(self, table: str = "runs") -> pa.Table:
        """Return a table as Arrow, in the order of the sweep's points."""
        if table not in self._views:
            near = nearest(table, self._views)
            raise InputError(
                f'no table "{table}"{meant(near, ";")} tables are {", ".join(self._views)}',
                expected=list(self._views),
                nearest=near,
                code="unknown-table",
            )
        return self.query(f"from {quoted(table)} order by {self._views[table]}")

    def of_run(self, key: str, table: str) -> pa.Table:
        """Return a kept table of the run with this key.

        Faster than a query, which scans the tables of all runs.
        """
        return kept_table(self._connection, self.folder, key, table)

    def pandas(self, table: str = "runs") -> pd.DataFrame:
        """Return a table as a data frame of pandas (extra `pandas`)."""
        require("pandas")
        return self.arrow(table).to_pandas()

    def polars(self, table: str = "runs") -> pl.DataFrame:
        """Return a table as a data frame of polars (extra `polars`)."""
        require("polars")
        import polars as pl

        frame = pl.from_arrow(self.arrow(table))
        assert isinstance(frame, pl.DataFrame), "a table is no column"
        return frame

    def query(self, sql: str) -> pa.Table:
        """Return the result of an SQL query.

        Raises `InputError` if it is invalid, `DamageError` if a kept table that it names is
        damaged.
        """
        import duckdb

        if self._busy:
            self._connection, self._busy = reader(self.folder), False
        try:
            return self._ask(sql)
        except KeyboardInterrupt:
            # The interrupted query may continue and would block later ones on this connection.
            self._busy = True
            raise
        except duckdb.IOException:
            # The sweep is still running, and has merged files since they were listed.
            self._connection = reader(self.folder)
        try:
            return self._ask(sql)
        except duckdb.IOException as error:
            first = str(error).splitlines()[0]
            raise InputError(
                f"the query cannot be answered: {first}", key="sql", code="bad-query"
            ) from error

    def notes(self) -> list[Note]:
        """Return unexpected conditions of the runs, without duplicates, with their points."""
        chosen = ", ".join(quoted(name) for name in [*self.axes, "notes"])
        rows = self.query(f"select {chosen} from runs where verdict <> 'failed' order by point")  # noqa: S608  (names are quoted)
        return notes_of(rows.to_pylist(), self.axes)

    def unasked(self) -> int:
        """Return the number of runs in the folder that are not points of its sweep.

        They were points of earlier versions of the sweep, and are kept. Failed runs do not count.
        """
        counted = self._connection.execute(
            "select count(*) from once_runs anti join points using (key) where verdict <> 'failed'"
        )
        [count] = counted.fetchone() or [0]
        return int(count)

    def without_latency(self) -> list[tuple[Any, ...]]:
        """Return the points, by their axes, with a saturated, deadlocked or censored run.

        Their mean latencies cover only the messages delivered in time. Only fabric runs have such
        points.
        """
        if "classes" not in self._kind.parts:
            return []
        if not self.axes:
            found = self.query(query_without_latency(["point"])).num_rows
            return [()] if found else []
        rows = self.query(query_without_latency(self.axes)).to_pylist()
        return [tuple(row[axis] for axis in self.axes) for row in rows]

    def means(
        self,
        of: str,
        *,
        by: str | Sequence[str] | None = None,
        table: str = "runs",
        where: str | None = None,
    ) -> pa.Table:
        """Return the mean over replications of the column `of`, with its 95 % interval.

        There is one row for each combination of the columns `by`. By default these are the axes,
        and for a table of parts also the part: `class` of the table `classes`. `where` is an SQL
        condition on rows; rows without a value, failed runs for instance, are always excluded.
        Columns: those of `by`, `replications`, `mean`, and `half_width`, which is null for a single
        replication.
        """
        names = self._groups(by, table)
        found = self._values(of, names, table, where)
        rows = []
        for group, values in found.items():
            of_group = interval(values.values())
            rows.append((*group, of_group.count, of_group.mean, of_group.half_width))
        kinds = ["int64", "float64", "float64"]
        return self._table(table, names, ["replications", "mean", "half_width"], kinds, rows)

    def compare(
        self,
        a: Selection,
        b: Selection,
        *,
        of: str,
        by: str | Sequence[str] | None = None,
        table: str = "runs",
        where: str | None = None,
    ) -> pa.Table:
        """Return the difference of the column `of` in the rows `b` from that in the rows `a`.

        `a` and `b` select rows, by a mapping such as `{"routing": "up-down"}` or an SQL condition.
        Runs of one replication share their random numbers, and are compared in pairs: the interval
        is that of the differences, far narrower than those of the means. There is one row for each
        combination of the columns `by`, by default the axes that are not selected on. Columns:
        those of `by`, `pairs`, `mean_a`, `mean_b`, `difference`, `half_width`.
        """
        selecting = {name for one in (a, b) if not isinstance(one, str) for name in one}
        names = [
            name for name in self._groups(by, table) if by is not None or name not in selecting
        ]
        sides = [
            self._values(of, names, table, " and ".join(conditions(side, where))) for side in (a, b)
        ]
        rows = []
        for group, of_a in sides[0].items():
            of_b = sides[1].get(group, {})
            pairs = [(of_a[number], of_b[number]) for number in of_a if number in of_b]
            if pairs:
                mean_a, mean_b = (interval(side).mean for side in zip(*pairs, strict=True))
                found = interval(second - first for first, second in pairs)
                rows.append((*group, len(pairs), mean_a, mean_b, found.mean, found.half_width))
        if not rows:
            raise InputError(
                "nothing to compare: no replication stands on both sides with the same "
                f"{', '.join(names) or 'number'}",
                key="by",
                code="no-data",
            )
        numbers = ["pairs", "mean_a", "mean_b", "difference", "half_width"]
        return self._table(table, names, numbers, ["int64", *["float64"] * 4], rows)

    def _ask(self, sql: str) -> pa.Table:
        """Return the result of a query after verifying the kept tables that it names."""
        import duckdb

        # Syntax errors are reported by `ask`.
        with suppress(duckdb.Error), query_guard():
            self._require_kept(self._connection.get_table_names(sql))
        return ask(self._connection, sql, self._views)

    def _require_kept(self, names: Container[str]) -> None:
        for name in self.manifest["sweep"]["keep"]:
            if name in names:
                require_kept(self._connection, self.folder, name, self._checked)

    def _groups(self, by: str | Sequence[str] | None, table: str) -> list[str]:
        if by is not None:
            return [by] if isinstance(by, str) else list(by)
        parts = self._kind.parts
        return [*self.axes, *([parts[table]] if table in parts else [])]

    def _values(
        self, of: str, by: Sequence[str], table: str, where: str | None
    ) -> dict[tuple[Any, ...], dict[int, float]]:
        """Return the value of each replication in each group, in the order of the points."""
        chosen = ", ".join(quoted(name) for name in [*by, "replication", of])
        condition = f" and ({where})" if where else ""
        sql = (
            f"select {chosen} from {quoted(table)} "  # noqa: S608  (names are quoted)
            f"where {quoted(of)} is not null{condition} order by point"
        )
        found: dict[tuple[Any, ...], dict[int, float]] = {}
        answer = self.query(sql)
        columns = [column.to_pylist() for column in answer.columns]
        for *group, replication, value in zip(*columns, strict=True):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(
                    f'"{of}" holds no numbers, but {value!r}', key=of, code="wrong-type"
                )
            values = found.setdefault(tuple(group), {})
            if replication in values:
                raise InputError(
                    f"several rows of replication {replication} go into one mean, which is then "
                    f"none over replications\n  name in by= what varies, of "
                    f"{', '.join(self._groups(None, table))}, or choose with where=",
                    key="by",
                    expected=self._groups(None, table),
                    code="several-rows",
                )
            values[replication] = value
        return found

    def _table(
        self,
        table: str,
        by: Sequence[str],
        numbers: Sequence[str],
        kinds: Sequence[str],
        rows: Iterable[tuple[Any, ...]],
    ) -> pa.Table:
        """Return rows as a table: the typed columns of the groups, then numbers."""
        import pyarrow as pa

        chosen = ", ".join(quoted(name) for name in by)
        groups = (
            self.query(f"select {chosen} from {quoted(table)} limit 0").schema if by else []  # noqa: S608
        )
        fields = [
            *groups,
            *(pa.field(name, kind) for name, kind in zip(numbers, kinds, strict=True)),
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(fields)
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def conditions(selection: Selection, where: str | None) -> list[str]:
    """Return the SQL conditions of a selection and of `where`."""
    if isinstance(selection, str):
        chosen = [f"({selection})"]
    else:
        chosen = [f"{quoted(name)} = {literal(value)}" for name, value in selection.items()]
    return [*chosen, *([f"({where})"] if where else [])]
