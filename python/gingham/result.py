"""Results: what a run measured, as numbers and as Arrow tables."""

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
    """How far a run has come."""

    # From 0 to 1.
    fraction: float
    now_ps: int
    messages_delivered: int
    messages_in_flight: int
    done: bool


@dataclass(frozen=True, eq=False)
class AnyResult(ABC):
    """What a run of any laboratory measured, fresh or from its folder."""

    scenario: Any
    summary: Mapping[str, Any] = field(repr=False)
    about: Mapping[str, Any] = field(repr=False)
    wall_seconds: float
    # What makes each table, when it is asked for.
    makers: Mapping[str, Callable[[], pa.Table]] = field(repr=False)
    _made: dict[str, pa.Table] = field(default_factory=dict, init=False, repr=False)

    # What `manifest.json` calls a run of this laboratory.
    kind: ClassVar[str]

    @property
    @abstractmethod
    def pictures(self) -> Mapping[str, Callable[[], bytes]]:
        """What draws each picture that a run folder may have, by the name of its file."""

    @property
    def title(self) -> str:
        """What was run, for tables and pictures."""
        return str(self.scenario.title)

    @property
    def verdict(self) -> str:
        """What the numbers are worth; the reference page of results lists all verdicts."""
        return str(self.summary["verdict"])

    @property
    def tables(self) -> list[str]:
        """The names of all tables."""
        return list(self.makers)

    @property
    def notes(self) -> list[str]:
        """What was decided before the run, or happened in it, and could surprise."""
        return list(self.summary["notes"])

    def table(self, name: str) -> pa.Table:
        """Return a table by its name; `tables` lists them.

        Names of columns end in their unit. Of each field the metadata `meaning` says what it
        holds, and `unit` in what. `.to_pandas()` makes a data frame where pandas is installed.
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
        """Rows of numbers, by what each is of: a class, a channel, a source."""

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from gingham import _html

        return _html.of_result(self, self.parts)

    def save(
        self, target: str | os.PathLike[str], *, overwrite: bool = False, pictures: bool = False
    ) -> None:
        """Write a run folder: the tables as Parquet and `manifest.json`.

        The folder appears whole or not at all; `overwrite` lets it replace that of another run.
        With `pictures` its picture is drawn into it, too (`latency.png`, of a stripe
        `channels.png`), which takes longer than all the rest.
        """
        from gingham import saving

        saving.save(self, Path(target), overwrite=overwrite, pictures=pictures)


@dataclass(frozen=True, eq=False)
class Result(AnyResult):
    """What a run measured, fresh from `run` or from its folder by `load_result`.

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
        """What could surprise, with one note in place of many findings of the fabric file."""
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
        """One row a message: those that `measure.messages` of the scenario keeps."""
        return self.table("messages")

    @property
    def links(self) -> pa.Table:
        """One row a channel: what it carried, and for how long its sender was stopped."""
        return self.table("links")

    @property
    def nodes(self) -> pa.Table:
        """One row a node of the fabric."""
        return self.table("nodes")
