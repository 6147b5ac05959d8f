"""Results of a run, as numbers and as Arrow tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from gingham.errors import InputError, counted, meant, nearest

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from gingham.scenario import Scenario


@dataclass(frozen=True)
class Progress:
    """Progress of a run."""

    # From 0 to 1.
    fraction: float
    now_ps: int
    messages_delivered: int
    messages_in_flight: int
    done: bool


@dataclass(frozen=True, eq=False)
class AnyResult(ABC):
    """Results of a run of any kind, new or loaded from its folder."""

    scenario: Any
    summary: Mapping[str, Any] = field(repr=False)
    about: Mapping[str, Any] = field(repr=False)
    wall_seconds: float
    # Functions that compute the tables on first use, by name.
    makers: Mapping[str, Callable[[], pa.Table]] = field(repr=False)
    _made: dict[str, pa.Table] = field(default_factory=dict, init=False, repr=False)

    # Kind of the run in `manifest.json`.
    kind: ClassVar[str]

    @property
    @abstractmethod
    def pictures(self) -> Mapping[str, Callable[[], bytes]]:
        """Functions that draw the pictures of a run folder, by file name."""

    @property
    def title(self) -> str:
        """Title of the run, for tables and pictures."""
        return str(self.scenario.title)

    @property
    def verdict(self) -> str:
        """Assessment of the run as a whole; the reference page of results lists all verdicts."""
        return str(self.summary["verdict"])

    @property
    def tables(self) -> list[str]:
        """The names of all tables."""
        return list(self.makers)

    @property
    def notes(self) -> list[str]:
        """Unexpected decisions before the run, and events in it."""
        return list(self.summary["notes"])

    def table(self, name: str) -> pa.Table:
        """Return a table by its name; `tables` lists them.

        Names of columns end in their unit. The metadata of each field has its `meaning` and its
        `unit`. `.to_pandas()` makes a data frame if pandas is installed.
        """
        if name not in self.makers:
            near = nearest(name, self.tables)
            raise InputError(
                f'no table "{name}"{meant(near, ";")} tables are {", ".join(self.tables)}',
                expected=self.tables,
                nearest=near,
                code="unknown-table",
            )
        if name not in self._made:
            self._made[name] = self.makers[name]()
        return self._made[name]

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Rows of results, by kind of part: class, channel or source."""

    def _repr_html_(self) -> str:
        """Return the HTML view of notebooks."""
        from gingham import _html

        return _html.of_result(self, self.parts)

    def save(
        self, target: str | os.PathLike[str], *, overwrite: bool = False, pictures: bool = False
    ) -> None:
        """Write a run folder: the tables as Parquet and `manifest.json`.

        The folder appears complete or not at all; `overwrite` lets it replace that of another run.
        With `pictures` its picture is added (`latency.png`, of a stripe `channels.png`), which
        takes longer than all the rest.
        """
        from gingham import saving

        saving.save(self, Path(target), overwrite=overwrite, pictures=pictures)


@dataclass(frozen=True, eq=False)
class Result(AnyResult):
    """Results of a run, new from `run` or loaded from its folder by `load_result`.

    `summary` holds the numbers with their intervals: `verdict`, `verdict_reason`, `warm_up_ps`,
    `window_end_ps`, `end_ps`, `makespan_ps`, `draws`, `classes` (a dict each), `busiest` (the
    fullest channels), `links`, `in_transit`, `hosts`, `notes`, `findings`, `deadlock_free` and
    `deadlock`. `about` describes the run: the size of the fabric, the parameters in force, the
    fabric file, the source of the routes. `docs/reference/results.md` explains every number and
    every column.
    """

    scenario: Scenario

    kind = "fabric"

    @property
    def title(self) -> str:
        """Title, overrides, network and routes of the scenario."""
        said = [self.about.get("network"), self.about.get("routes")]
        return "; ".join([super().title, *filter(None, said)])

    @property
    def pictures(self) -> Mapping[str, Callable[[], bytes]]:
        """The latency distribution of every class."""
        from gingham import plots

        return {"latency.png": lambda: plots.picture(plots.latency(self), "png")}

    @property
    def notes(self) -> list[str]:
        """Notes of the run, with one note in place of many findings of the fabric file."""
        findings = self.summary["findings"]
        has = f"the fabric file has {counted(len(findings), 'finding')}"
        told = f"{has}; gingham fabric check tells more"
        return [*super().notes, *([told] if findings else [])]

    @property
    def parts(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of the classes."""
        return {"class": self.classes}

    @property
    def classes(self) -> Sequence[Mapping[str, Any]]:
        """One row of results per traffic class."""
        rows: Sequence[Mapping[str, Any]] = self.summary["classes"]
        return rows

    @property
    def messages(self) -> pa.Table:
        """One row per message kept by the scenario's `measure.messages`."""
        return self.table("messages")

    @property
    def links(self) -> pa.Table:
        """One row per channel: utilisation, and the time that its sender was stopped."""
        return self.table("links")

    @property
    def nodes(self) -> pa.Table:
        """One row per node of the fabric."""
        return self.table("nodes")
