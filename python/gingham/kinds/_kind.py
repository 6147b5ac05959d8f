"""Protocols between sweeps and a kind of scenario, a scenario, and a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    import pyarrow as pa

    from gingham._native import CoreSweepFile
    from gingham.running import AnyProgress

# Columns of a run that every kind has. `failed` is the verdict of a run that raised an error;
# `error` holds the message, and `error_type` the exception of `gingham.errors`: `InternalError` is
# a bug in Gingham. `notes` has a line for each unexpected condition.
RUN_COLUMNS = {
    "key": "string",
    "seed": "int64",
    "verdict": "string",
    "verdict_reason": "string",
    "notes": "string",
    "error": "string",
    "error_type": "string",
}


class Runnable(Protocol):
    """A scenario: all inputs of a run; immutable."""

    @property
    def name(self) -> str:
        """Name in messages: that of the file, or a substitute."""

    @property
    def title(self) -> str:
        """Title of the scenario."""

    def with_(self, values: Mapping[str, Any] | None = None, *, seed: int | None = None) -> Self:
        """Return the scenario with other values at dotted paths."""

    def placed(self, path: str) -> str:
        """Return a dotted path with positions in place of names of list entries."""

    def resolved(self) -> dict[str, Any]:
        """Return all values, defaults included; `None` means unset."""

    def origin(self) -> dict[str, Any]:
        """Return the origin of the scenario: `path`, `folder`, `sha256`, `changes`."""


class Run(Protocol):
    """A run in progress."""

    @property
    def wall_seconds(self) -> float:
        """Wall time spent so far, in seconds."""

    def advance(self) -> AnyProgress:
        """Simulate for a short time, and return the progress."""

    def measured(self, keep: Sequence[str]) -> Measured:
        """Return the results, with the tables to keep."""


@dataclass(frozen=True)
class Measured:
    """Results of a run in the form stored by a sweep."""

    # Numbers and texts of the whole run, by column.
    row: Mapping[str, Any]
    # One row per part of the run, by table.
    parts: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


class Kind(ABC):
    """A kind of scenario."""

    name: ClassVar[str]
    # Top-level keys that only scenario files of this kind have.
    marks: ClassVar[frozenset[str]]
    # Boolean keys of a sweep file that are options of its runs.
    switches: ClassVar[tuple[str, ...]] = ()
    # Tables with one row per part of a run, and the column with the name of the part.
    parts: ClassVar[Mapping[str, str]] = {}
    # The column of runs whose mean is shown by default.
    mean: ClassVar[str]
    # Aliases of columns of runs.
    aliases: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def has(self, scenario: object) -> bool:
        """Whether a scenario is of this kind."""

    @abstractmethod
    def load(self, path: Path) -> Runnable:
        """Read a scenario file; raise `InputError` with the reason if it is invalid."""

    @abstractmethod
    def restore(
        self,
        values: dict[str, Any],
        origin: Mapping[str, Any],
        files: Iterable[Mapping[str, str]],
    ) -> Runnable:
        """Return the scenario with these values, its `origin` and the digests of its files."""

    def within(self, sweep: CoreSweepFile, name: str, folder: Path) -> Runnable:
        """Return the scenario embedded in the sweep file of this name."""
        origin = {"path": name, "folder": str(folder), "sha256": "", "changes": []}
        return self.restore(sweep.values()["scenario"], origin, [])

    @abstractmethod
    def files(self, resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield key and name of each file that a scenario names."""

    @abstractmethod
    def tables(self) -> Sequence[str]:
        """Return the names of a run's tables that a sweep can keep."""

    @abstractmethod
    def columns(self, table: str) -> Mapping[str, str]:
        """Return the guaranteed columns of `runs`, or of a table of parts, with their Arrow types.

        The columns of `RUN_COLUMNS`, and `key` of tables of parts, are not included.
        """

    @abstractmethod
    def begin(self, scenario: Runnable, switches: Sequence[str]) -> Run:
        """Start a run of a scenario with the given options on."""

    @abstractmethod
    def check(self, resolved: Mapping[str, Any]) -> None:
        """Raise `InputError` if a scenario can be run but not swept."""
