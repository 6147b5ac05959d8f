"""Evidence: results of a study's sweeps, as needed by claims and pictures.

A measurement that needs several runs of a sweep selects rows by the values of the axes: rows of
runs, or of their parts, such as traffic classes. Messages, events and the like are tables that a
sweep keeps (`keep = ["messages"]`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.errors import InputError
from gingham.results import Results
from gingham.studies._series import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from gingham.studies._assumptions import Alternative
    from gingham.studies._study import Size, Study


class Evidence:
    """The results of a study's sweeps, one folder each."""

    def __init__(
        self, study: Study, folder: Path, size: Size = "full", under: Alternative | None = None
    ) -> None:
        """Use the results written by `run` in `folder`, of a size, under an assumption."""
        self.study = study
        self.folder = folder
        self.size = size
        self.under = under
        self._results: dict[str, Results] = {}
        self._rows: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def path(self, sweep: str) -> Path:
        """Return the folder of the results of a sweep."""
        return self.folder / self.size / self.name_of(sweep)

    def name_of(self, sweep: str) -> str:
        """Return the name of a sweep, with the alternative if that changes its runs."""
        if self.under is None or self.under.runs_as_ours(sweep):
            return sweep
        return f"{sweep}, {self.under.name}"

    def results(self, sweep: str) -> Results:
        """Return the results of a sweep."""
        if sweep not in self._results:
            self._results[sweep] = Results.load(self.path(sweep))
        return self._results[sweep]

    def runs(self, sweep: str, /, **fixed: Any) -> list[dict[str, Any]]:
        """Return the rows of a sweep's runs with fixed values on axes; fails if there are none."""
        return self.parts(sweep, "runs", **fixed)

    def parts(self, sweep: str, table: str, /, **fixed: Any) -> list[dict[str, Any]]:
        """Return the rows of parts, of runs with fixed values; fails if there are none."""
        rows = chosen(self._loaded(sweep, table), fixed)
        assert rows, f"{sweep} has runs with {fixed}"
        return rows

    def kept(self, sweep: str, table: str, key: str) -> pa.Table:
        """Return a kept table of the run with this key."""
        return self.results(sweep).of_run(key, table)

    def rows(self, sweep: str, traffic: str | None = None, /, **fixed: Any) -> list[dict[str, Any]]:
        """Return the rows of the classes of a sweep: of one class, of runs with fixed values."""
        rows = chosen(self._loaded(sweep, "classes"), fixed)
        return [row for row in rows if traffic in {None, row["class"]}]

    def series(
        self,
        sweep: str,
        traffic: str,
        x: str,
        y: str | Callable[[Mapping[str, Any]], float | None],
        /,
        **fixed: Any,
    ) -> Series:
        """Return a column of a class, or a function of its rows, over an axis."""
        return Series.of(self.rows(sweep, traffic, **fixed), x, y)

    def delays_ns(self, sweep: str, traffic: str, key: str) -> pa.ChunkedArray:
        """Return the delay of each message of a class in the run with this key, in nanoseconds.

        The delay is Kwan's latency: from entry to the arrival of the head. The sweep keeps
        `messages`.
        """
        found = self.results(sweep).query(
            "select (head_arrived_ps - entered_ps) / 1e3 as delay_ns from messages "  # noqa: S608
            f"where key = '{key}' and class = '{traffic}'"
        )
        return found["delay_ns"]

    def _loaded(self, sweep: str, table: str) -> list[dict[str, Any]]:
        if (sweep, table) not in self._rows:
            rows = self.results(sweep).query(f"from {table} order by point").to_pylist()
            if not rows:
                raise InputError(f"{self.path(sweep)}: no run of this sweep has numbers")
            self._rows[sweep, table] = rows
        return self._rows[sweep, table]


def chosen(rows: list[dict[str, Any]], fixed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in fixed.items())]
