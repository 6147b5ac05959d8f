"""Common base of the kinds whose scenarios are run by the compiled core.

Columns follow from the JSON schema of a summary: each plain field of an object is one.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from gingham.kinds._kind import Kind, Measured
from gingham.result import AnyResult
from gingham.scenario import AnyScenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gingham._native import CoreSweepFile
    from gingham.running import AnyProgress, AnySimulation

# Fields of a part that are not columns of its row.
NOT_COLUMNS = {"name", "percentiles"}
# Arrow types by JSON schema type.
TYPES = {"integer": "int64", "number": "double", "string": "string"}


S = TypeVar("S", bound=AnyScenario)
R = TypeVar("R", bound=AnyResult)


class LaboratoryKind(Kind, Generic[S, R]):
    """A kind of scenario that a simulator of the core runs."""

    scenario_class: type[S]
    # Quantity of the parts' percentiles.
    percentiles_of: ClassVar[str]

    @cached_property
    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the columns of the tables of a result, and the JSON schema of its summary."""

    @abstractmethod
    def simulation(self, scenario: S, switches: Sequence[str]) -> AnySimulation[Any, R]:
        """Return the simulation of a scenario with the given options on."""

    @abstractmethod
    def row(self, result: R) -> dict[str, Any]:
        """Return the results of the whole run."""

    def has(self, scenario: object) -> bool:
        """Whether a scenario is of this kind."""
        return isinstance(scenario, self.scenario_class)

    def load(self, path: Path) -> S:
        """Read a scenario file."""
        return self.scenario_class.load(path)

    def files(self, resolved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield key and name of each file that a scenario names."""
        yield from self.scenario_class.files_of(resolved)

    def restore(
        self,
        values: dict[str, Any],
        origin: Mapping[str, Any],
        files: Iterable[Mapping[str, str]],
    ) -> S:
        """Return the scenario with these values."""
        return self.scenario_class.restore(values, origin, files)

    def within(self, sweep: CoreSweepFile, name: str, folder: Path) -> S:
        """Return the scenario embedded in a sweep file, with the line numbers of its keys."""
        return self.scenario_class.within(sweep, name, folder)

    def tables(self) -> list[str]:
        """Return the tables of a run, without those of parts, which a sweep has anyway."""
        return [one["name"] for one in self.schema["tables"] if one["name"] not in self.parts]

    def part_columns(self, table: str) -> dict[str, str]:
        """Return the columns of parts: the name of the part, and each plain field."""
        fields = self.schema["summary"]["properties"][table]["items"]["properties"]
        plain = plain_columns(fields)
        return {self.parts[table]: "string"} | {
            name: plain[name] for name in plain if name != "name"
        }

    def part_rows(self, result: R, table: str) -> list[dict[str, Any]]:
        """Return one row of results per part."""
        return [
            {self.parts[table]: one["name"]}
            | {name: value for name, value in one.items() if name not in NOT_COLUMNS}
            | percentiles(self.percentiles_of, one.get("percentiles", []))
            for one in result.summary[table]
        ]

    def begin(self, scenario: Any, switches: Sequence[str]) -> LaboratoryRun[S, R]:
        """Start a run."""
        return LaboratoryRun(self, self.simulation(scenario, switches))


class LaboratoryRun(Generic[S, R]):
    """A run of a simulator in progress."""

    def __init__(self, kind: LaboratoryKind[S, R], simulation: AnySimulation[Any, R]) -> None:
        """Wrap a simulation."""
        self._kind = kind
        self._simulation = simulation

    @property
    def wall_seconds(self) -> float:
        """Wall time spent so far, in seconds."""
        return self._simulation.wall_seconds

    def advance(self) -> AnyProgress:
        """Simulate for a short time, and return the progress."""
        progress: AnyProgress = self._simulation.advance()
        return progress

    def measured(self, keep: Sequence[str]) -> Measured:
        """Return the results of the run and of its parts."""
        result = self._simulation.result(with_tables=bool(keep))
        parts = {table: self._kind.part_rows(result, table) for table in self._kind.parts}
        row = {**self._kind.row(result), "notes": "\n".join(result.notes) or None}
        return Measured(row, parts, {name: result.table(name) for name in keep})


def percentiles(of: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one column per percentile.

    >>> percentiles("delay", [{"percentile": 99.9, "delay_ns": 7}])
    {'delay_p99_9_ns': 7}
    """
    return {f"{of}_p{row['percentile']:g}_ns".replace(".", "_"): row[f"{of}_ns"] for row in rows}


def plain_columns(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return name and Arrow type of each field that is a number or text, possibly null.

    >>> plain_columns({"a": {"type": ["integer", "null"]}, "b": {"type": "array"}, "c": {}})
    {'a': 'int64', 'c': 'string'}
    """
    types = {name: type_of(field) for name, field in fields.items()}
    return {name: type_ for name, type_ in types.items() if type_}


def type_of(field: Mapping[str, Any]) -> str:
    """Return the column type of a field, or an empty text if it is not a plain value.

    An enumeration has no type in the schema, and is a text.
    """
    kinds = field.get("type", "string")
    names = [kinds] if isinstance(kinds, str) else kinds
    return next((TYPES[name] for name in names if name in TYPES), "")
