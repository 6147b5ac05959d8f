"""What the kinds share whose scenarios the compiled core runs.

Columns come from the JSON schema of a summary: each plain field of an object is one.
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

# What of a part is no number of its row.
NOT_COLUMNS = {"name", "percentiles"}
# Arrow types by the kind of a field.
TYPES = {"integer": "int64", "number": "double", "string": "string"}


S = TypeVar("S", bound=AnyScenario)
R = TypeVar("R", bound=AnyResult)


class LaboratoryKind(Kind, Generic[S, R]):
    """A kind of scenarios that a laboratory of ours runs."""

    scenario_class: type[S]
    # What its parts have percentiles of.
    percentiles_of: ClassVar[str]

    @cached_property
    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """What the tables of a result hold, and the JSON schema of its summary."""

    @abstractmethod
    def simulation(self, scenario: S, switches: Sequence[str]) -> AnySimulation[Any, R]:
        """Return the simulation of a scenario, with those switches on."""

    @abstractmethod
    def row(self, result: R) -> dict[str, Any]:
        """Return the numbers of a run as a whole."""

    def has(self, scenario: object) -> bool:
        """Whether a scenario is of this laboratory."""
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
        """Return the scenario of these values."""
        return self.scenario_class.restore(values, origin, files)

    def within(self, sweep: CoreSweepFile, name: str, folder: Path) -> S:
        """Return the scenario that stands in a sweep file, with the lines of its keys."""
        return self.scenario_class.within(sweep, name, folder)

    def tables(self) -> list[str]:
        """Return the tables of a run; of its parts a sweep has its own."""
        return [one["name"] for one in self.schema["tables"] if one["name"] not in self.parts]

    def part_columns(self, table: str) -> dict[str, str]:
        """Return the columns of parts: the name of the part, and each plain field of one."""
        fields = self.schema["summary"]["properties"][table]["items"]["properties"]
        plain = plain_columns(fields)
        return {self.parts[table]: "string"} | {
            name: plain[name] for name in plain if name != "name"
        }

    def part_rows(self, result: R, table: str) -> list[dict[str, Any]]:
        """Return a row of numbers a part."""
        return [
            {self.parts[table]: one["name"]}
            | {name: value for name, value in one.items() if name not in NOT_COLUMNS}
            | percentiles(self.percentiles_of, one.get("percentiles", []))
            for one in result.summary[table]
        ]

    def begin(self, scenario: Any, switches: Sequence[str]) -> LaboratoryRun[S, R]:
        """Return a run of the laboratory."""
        return LaboratoryRun(self, self.simulation(scenario, switches))


class LaboratoryRun(Generic[S, R]):
    """A run of a laboratory under way."""

    def __init__(self, kind: LaboratoryKind[S, R], simulation: AnySimulation[Any, R]) -> None:
        """Wrap a simulation."""
        self._kind = kind
        self._simulation = simulation

    @property
    def wall_seconds(self) -> float:
        """How long it has worked."""
        return self._simulation.wall_seconds

    def advance(self) -> AnyProgress:
        """Go on for a moment."""
        progress: AnyProgress = self._simulation.advance()
        return progress

    def measured(self, keep: Sequence[str]) -> Measured:
        """Return the numbers of the run and of its parts."""
        result = self._simulation.result(with_tables=bool(keep))
        parts = {table: self._kind.part_rows(result, table) for table in self._kind.parts}
        row = {**self._kind.row(result), "notes": "\n".join(result.notes) or None}
        return Measured(row, parts, {name: result.table(name) for name in keep})


def percentiles(of: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a column for each percentile.

    >>> percentiles("delay", [{"percentile": 99.9, "delay_ns": 7}])
    {'delay_p99_9_ns': 7}
    """
    return {f"{of}_p{row['percentile']:g}_ns".replace(".", "_"): row[f"{of}_ns"] for row in rows}


def plain_columns(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return name and Arrow type of each field that is a number or a text, or may be missing.

    >>> plain_columns({"a": {"type": ["integer", "null"]}, "b": {"type": "array"}, "c": {}})
    {'a': 'int64', 'c': 'string'}
    """
    types = {name: type_of(field) for name, field in fields.items()}
    return {name: type_ for name, type_ in types.items() if type_}


def type_of(field: Mapping[str, Any]) -> str:
    """Return the type of the column of a field, or nothing if it is no plain value.

    A choice among words has no type in the schema, and is a text.
    """
    kinds = field.get("type", "string")
    names = [kinds] if isinstance(kinds, str) else kinds
    return next((TYPES[name] for name in names if name in TYPES), "")
