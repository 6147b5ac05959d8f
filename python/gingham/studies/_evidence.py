"""Evidence: what the sweeps of a study measured, as claims and pictures ask for it.

A measurement that needs several runs of a sweep asks for rows by the values of the axes; each row
is that of a traffic class in a run. Messages are those that a sweep keeps (`keep = ["messages"]`).
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

    from gingham.studies._study import Study


class Evidence:
    """The results of a study's sweeps, in a folder each."""

    def __init__(self, study: Study, folder: Path, *, quick: bool = False) -> None:
        """Read from `folder`, where `run` has put the results."""
        self.study = study
        self.folder = folder
        self.quick = quick
        self._read: dict[str, tuple[Results, list[dict[str, Any]]]] = {}

    def path(self, sweep: str) -> Path:
        """Return the folder of the results of a sweep."""
        return self.folder / ("quick" if self.quick else "full") / sweep

    def results(self, sweep: str) -> Results:
        """Return the results of a sweep."""
        return self._loaded(sweep)[0]

    def rows(self, sweep: str, traffic: str | None = None, /, **fixed: Any) -> list[dict[str, Any]]:
        """Return the rows of the classes of a sweep: of one class, of runs with fixed values."""
        return [
            row
            for row in self._loaded(sweep)[1]
            if traffic in {None, row["class"]}
            and all(row[name] == value for name, value in fixed.items())
        ]

    def series(
        self,
        sweep: str,
        traffic: str,
        x: str,
        y: str | Callable[[Mapping[str, Any]], float | None],
        /,
        **fixed: Any,
    ) -> Series:
        """Return a column of a class, or what a function makes of its rows, over an axis."""
        return Series.of(self.rows(sweep, traffic, **fixed), x, y)

    def delays_ns(self, sweep: str, traffic: str, key: str) -> pa.ChunkedArray:
        """Return the delay of each message of a class in the run with this key, in nanoseconds.

        It is Kwan's latency: from entry to the arrival of the head. The sweep keeps `messages`.
        """
        found = self.results(sweep).query(
            "select (head_arrived_ps - entered_ps) / 1e3 as delay_ns from messages "  # noqa: S608
            f"where key = '{key}' and class = '{traffic}'"
        )
        return found["delay_ns"]

    def _loaded(self, sweep: str) -> tuple[Results, list[dict[str, Any]]]:
        if sweep not in self._read:
            results = Results.load(self.path(sweep))
            rows = results.query("select * from classes").to_pylist()
            if not rows:
                raise InputError(f"{self.path(sweep)}: no run of this sweep has numbers")
            self._read[sweep] = results, rows
        return self._read[sweep]
