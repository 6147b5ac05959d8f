"""What a sweep asks of a kind of scenario, of a scenario, and of a run."""

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

# Columns of a run that every kind has. `failed` is the verdict of a run that could not be made;
# `error` says why, and `error_type` which exception of `gingham.errors` it was: `InternalError` is
# a fault of ours. `notes` has a line for each thing that could surprise.
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
    """A scenario: everything that a run depends on; never changes."""

    @property
    def name(self) -> str:
        """The file, or what stands for it in messages."""

    @property
    def title(self) -> str:
        """What it shows."""

    def with_(self, values: Mapping[str, Any] | None = None, *, seed: int | None = None) -> Self:
        """Return the scenario with other values at dotted paths."""

    def placed(self, path: str) -> str:
        """Return a dotted path with the place of whatever it names in a list."""

    def resolved(self) -> dict[str, Any]:
        """Return all values, defaults included; `None` means open."""

    def origin(self) -> dict[str, Any]:
        """Return where it comes from: `path`, `folder`, `sha256`, `changes`."""


class Run(Protocol):
    """A run under way."""

    @property
    def wall_seconds(self) -> float:
        """How long it has worked."""

    def advance(self) -> AnyProgress:
        """Go on for a moment."""

    def measured(self, keep: Sequence[str]) -> Measured:
        """Return what was measured, and the tables that are kept."""


@dataclass(frozen=True)
class Measured:
    """What a run measured, as a sweep keeps it."""

    # Numbers and texts of the run as a whole, by column.
    row: Mapping[str, Any]
    # By table, a row for each of its parts.
    parts: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


class Kind(ABC):
    """A kind of scenarios."""

    name: ClassVar[str]
    # Keys at the top of a file that only scenarios of this kind have.
    marks: ClassVar[frozenset[str]]
    # Keys of a sweep file, true or false, that say how its runs are made.
    switches: ClassVar[tuple[str, ...]] = ()
    # Tables with a row for each part of a run, and the column that names the part.
    parts: ClassVar[Mapping[str, str]] = {}
    # The column of runs of which people ask for the mean first.
    mean: ClassVar[str]
    # Second names of columns of runs.
    aliases: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def has(self, scenario: object) -> bool:
        """Whether a scenario is of this kind."""

    @abstractmethod
    def load(self, path: Path) -> Runnable:
        """Read a scenario file; `InputError` says what is wrong with it."""

    @abstractmethod
    def restore(
        self,
        values: dict[str, Any],
        origin: Mapping[str, Any],
        files: Iterable[Mapping[str, str]],
    ) -> Runnable:
        """Return the scenario of these values, with `origin` and the digests of its files."""

    def within(self, sweep: CoreSweepFile, name: str, folder: Path) -> Runnable:
        """Return the scenario that stands in the sweep file of this name."""
        origin = {"path": name, "folder": str(folder), "sha256": "", "changes": []}
        return self.restore(sweep.values()["scenario"], origin, [])

    @abstractmethod
    def files(self, resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield key and name of each file that a scenario names."""

    @abstractmethod
    def tables(self) -> Sequence[str]:
        """Return the names of the tables of a run that a sweep can keep."""

    @abstractmethod
    def columns(self, table: str) -> Mapping[str, str]:
        """Return the columns that `runs`, or a table of parts, always has, and their Arrow types.

        For `runs` those beside `RUN_COLUMNS`, for parts those beside `key`.
        """

    @abstractmethod
    def begin(self, scenario: Runnable, switches: Sequence[str]) -> Run:
        """Return a run of a scenario, with those switches on."""

    @abstractmethod
    def check(self, resolved: Mapping[str, Any]) -> None:
        """Raise `InputError` if a scenario cannot be swept, though it can be run."""
