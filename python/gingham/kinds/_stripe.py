"""Stripes as a kind: several channels that make one pipe, whose runs have channels and sources."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from gingham._native import stripe_result_schema
from gingham.kinds._kind import RUN_COLUMNS, Kind, Measured, Names
from gingham.kinds._schema import plain_columns
from gingham.stripe import Scenario, Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gingham.kinds._kind import Run, Runnable
    from gingham.stripe import Progress


class Stripes(Kind):
    """Scenarios of `gingham.stripe.Scenario`."""

    name = "stripe"
    marks = frozenset({"channel", "stripe"})
    parts = {"channels": "channel", "sources": "source"}  # noqa: RUF012  (never changes)

    def has(self, scenario: object) -> bool:
        """Whether a scenario is that of a stripe."""
        return isinstance(scenario, Scenario)

    def load(self, path: Path) -> Scenario:
        """Read a scenario file."""
        return Scenario.load(path)

    def restore(
        self,
        values: dict[str, Any],
        origin: Mapping[str, Any],
        files: Iterable[Mapping[str, str]],
    ) -> Scenario:
        """Return the scenario of these values."""
        return Scenario.restore(values, origin, files)

    def names(self, resolved: Mapping[str, Any]) -> Mapping[str, Names]:
        """Return the names of channels and sources."""
        return {
            "channel": Names("a channel", [one["name"] for one in resolved["channel"]]),
            "source": Names("a source", [one["name"] for one in resolved["source"]]),
        }

    def files(self, resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the films that sources read."""
        for place, one in enumerate(resolved["source"]):
            kind = one["kind"]
            if isinstance(kind, dict) and kind.get("frames", {}).get("file") is not None:
                yield f"source.{place}.kind.frames.file", kind["frames"]["file"]

    def tables(self) -> list[str]:
        """Return the tables of a run; of channels and sources a sweep has its own."""
        found = [one["name"] for one in stripe_result_schema()["tables"]]
        return [name for name in found if name not in self.parts]

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of runs, channels and sources."""
        if table in self.parts:
            return {self.parts[table]: "string", **part_columns(table)}
        fields = stripe_result_schema()["summary"]["properties"]
        return {name: of for name, of in plain_columns(fields).items() if name not in RUN_COLUMNS}

    def begin(self, scenario: Runnable, switches: Sequence[str]) -> Run:
        """Return a run in virtual time."""
        assert not switches, "stripes have none"
        return StripeRun(cast("Scenario", scenario))

    def check(self, resolved: Mapping[str, Any]) -> None:
        """Take every scenario: what a run keeps is bounded."""


class StripeRun:
    """A run in virtual time."""

    def __init__(self, scenario: Scenario) -> None:
        """Compile the scenario."""
        self._simulation = Simulation(scenario)

    @property
    def wall_seconds(self) -> float:
        """How long it has worked."""
        return self._simulation.wall_seconds

    def advance(self) -> Progress:
        """Go on for a moment."""
        return self._simulation.advance()

    def measured(self, keep: Sequence[str]) -> Measured:
        """Return the numbers of the pipe, of its channels and of its sources."""
        result = self._simulation.result(with_tables=bool(keep))
        row = {name: value for name, value in result.summary.items() if is_plain(value)}
        row |= percentiles(result.summary["percentiles"])
        parts = {
            table: [{column: one["name"], **without_name(one)} for one in result.summary[table]]
            for table, column in Stripes.parts.items()
        }
        return Measured(row, parts, {name: result.table(name) for name in keep})


@cache
def part_columns(table: str) -> dict[str, str]:
    """Return the columns of channels or sources beside their name."""
    items = stripe_result_schema()["summary"]["properties"][table]["items"]["properties"]
    return {name: of for name, of in plain_columns(items).items() if name != "name"}


def is_plain(value: object) -> bool:
    """Whether a value of a summary makes a column."""
    return value is None or isinstance(value, int | float | str)


def without_name(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a channel or source."""
    return {name: value for name, value in part.items() if name != "name"}


def percentiles(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return a column for each percentile of the delay.

    >>> percentiles([{"percentile": 99.9, "delay_ns": 7}])
    {'delay_p99_9_ns': 7}
    """
    return {
        f"delay_p{row['percentile']:g}".replace(".", "_") + "_ns": row["delay_ns"] for row in rows
    }
