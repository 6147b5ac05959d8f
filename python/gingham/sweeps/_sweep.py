"""Sweep files: a base scenario and its variations.

::

    sweep.toml ──► Sweep ──► Point 0, Point 1, ... ──► Scenario of each
                     axes: a grid; filter; replications

Points are in the order of the grid, the last axis varying fastest, with the replications of a point
adjacent. They are generated one by one: memory does not grow with the number of runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham import kinds
from gingham._files import require_file
from gingham._native import CoreSweepFile
from gingham.errors import InputError, nearest, unknown
from gingham.kinds import kind_of, kind_of_values
from gingham.sweeps._axes import Axis, Base, read_axis, resolved_path
from gingham.sweeps._check import check, check_tables, check_values
from gingham.sweeps._grid import Grid
from gingham.sweeps._seeds import run_seed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from gingham.kinds import Runnable


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    # Index of the run in the sweep, from 0.
    index: int
    # Values of the columns of the axes.
    values: Mapping[str, Any]
    replication: int
    seed: int
    # Changes to the base, by dotted path.
    changes: Mapping[str, Any] = field(repr=False)
    base: Runnable = field(repr=False)

    def scenario(self) -> Runnable:
        """Return the scenario of this run."""
        return self.base.with_(self.changes, seed=self.seed)


@dataclass(frozen=True)
class Sweep:
    """A planned set of runs: the points of a grid, each with several replications.

    `load` reads a file, `make` takes its content as a dict.
    """

    name: str
    title: str
    # The base scenario, including the changes of `[set]`.
    base: Runnable
    axes: tuple[Axis, ...]
    where: str | None
    seed: int
    replications: int
    # Names of tables that are kept of each run.
    keep: tuple[str, ...]
    # Options of the base's kind that are on, such as `allow_deadlock`.
    switches: tuple[str, ...]
    # Specification of axes and of common settings, as written.
    spec: Mapping[str, Any] = field(repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sweep:
        """Read the sweep file at `path`."""
        file = Path(path)
        require_file(file)
        core = CoreSweepFile.load(str(file))
        sweep = read(core, str(file), None, file.parent)
        try:
            check_values(sweep.base, sweep.grid, sweep.switches)
        except InputError as error:
            raise placed(error, core, str(file)) from error
        return sweep

    @classmethod
    def make(
        cls,
        values: Mapping[str, Any],
        *,
        base: Runnable | None = None,
        folder: str | os.PathLike[str] = ".",
        name: str = "sweep",
    ) -> Sweep:
        """Return the sweep of a dict with the structure of a sweep file.

        `base` may be given as a scenario; paths are relative to `folder`; `name` replaces the file
        name in messages.
        """
        return read(CoreSweepFile.make(name, dict(values)), name, base, Path(folder))

    @property
    def columns(self) -> list[str]:
        """The names of the columns of all axes."""
        return [column for axis in self.axes for column in axis.columns]

    @property
    def grid(self) -> Grid:
        """The points, without replications."""
        return Grid(self.axes, self.where)

    def points(self) -> Iterator[Point]:
        """Yield the runs in order."""
        seeds = [run_seed(self.seed, number) for number in range(min(self.replications, 1000))]
        index = 0
        for values, changed in self.grid:
            for number in range(self.replications):
                seed = seeds[number] if number < len(seeds) else run_seed(self.seed, number)
                yield Point(index, values, number, seed, changed, self.base)
                index += 1

    def count(self, at_most: int | None = None) -> int:
        """Return the number of runs; counting stops beyond `at_most`."""
        limit = None if at_most is None else -(-at_most // self.replications)
        return self.grid.count(limit) * self.replications

    def manifest(self) -> dict[str, Any]:
        """Return all inputs of the points, for the folder of results."""
        kind = kind_of(self.base)
        return {
            "kind": kind.name,
            "title": self.title,
            "file": self.name,
            "base": {"scenario": self.base.resolved(), "file": self.base.origin()},
            "seed": self.seed,
            "replications": self.replications,
            "where": self.where,
            "keep": list(self.keep),
            **{name: name in self.switches for name in kind.switches},
            **self.spec,
        }


def read(file: CoreSweepFile, name: str, base: Runnable | None, folder: Path) -> Sweep:
    """Return the sweep of a file; raise `InputError` with the position of an error."""
    try:
        return sweep_of(file, name, base, folder)
    except InputError as error:
        raise placed(error, file, name) from error


def placed(error: InputError, file: CoreSweepFile, name: str) -> InputError:
    """Return the error with file and line, unless it already has them."""
    if error.file:
        return error
    line = file.line(error.key or "")
    place = name if line is None else f"{name}:{line}"
    return InputError(
        f"{place}: {error}",
        code=error.code,
        file=name,
        line=line,
        key=error.key,
        expected=error.expected,
        nearest=error.nearest,
    )


def sweep_of(file: CoreSweepFile, name: str, base: Runnable | None, folder: Path) -> Sweep:
    """Return the sweep of a file; errors have no file and line yet."""
    values, others = file.values(), file.others()
    require_switches(others, values, [name for kind in kinds.KINDS for name in kind.switches])
    scenario = with_settings(base or read_base(file, values, folder, name), values["set"])
    switches = kind_of(scenario).switches
    require_switches(others, values, switches)
    sweep = Sweep(
        name=name,
        title=values["title"] or Path(name).stem,
        base=scenario,
        axes=read_axes(values["axis"], Base.of(scenario)),
        where=values["where"],
        seed=values["seed"],
        replications=values["replications"],
        keep=tuple(values["keep"]),
        switches=tuple(name for name in switches if others.get(name)),
        spec={"axis": values["axis"], "set": values["set"]},
    )
    check(sweep.base, sweep.grid)
    check_tables(sweep.base, sweep.keep)
    return sweep


def require_switches(
    others: Mapping[str, Any], values: Mapping[str, Any], switches: Sequence[str]
) -> None:
    """Raise `InputError` for a key of no sweep, or not of this kind of scenario."""
    for key, value in others.items():
        if key not in switches:
            raise InputError(
                unknown("a key of a sweep", key, [*values, *switches]),
                key=key,
                code="unknown-key",
                nearest=nearest(key, [*values, *switches]),
            )
        if not isinstance(value, bool):
            raise InputError(
                f'"{key}" must be true or false, and is {value!r}', key=key, code="wrong-type"
            )


def read_base(file: CoreSweepFile, values: Mapping[str, Any], folder: Path, name: str) -> Runnable:
    """Return the base scenario: a file, an example, or one embedded in the sweep file."""
    base, inline = values["base"], values["scenario"]
    if (base is None) == (inline is None):
        raise InputError(
            'a sweep needs either "base" or a table "scenario"', key="base", code="missing-key"
        )
    if inline is not None:
        return kind_of_values(inline).within(file, name, folder)
    if base.endswith(".toml") or (folder / base).is_file():
        return kinds.load(folder / base)
    try:
        return kinds.example(base)
    except InputError as error:
        error.key = "base"
        raise


def with_settings(scenario: Runnable, settings: Mapping[str, Any]) -> Runnable:
    """Return the base with the settings of `[set]`."""
    base = Base.of(scenario)
    for key, value in settings.items():
        try:
            scenario = scenario.with_({resolved_path(key, base): value})
        except InputError as error:
            raise error.about(f"[set]: {error}", f'set."{key}"') from error
    return scenario


def read_axes(specs: Sequence[Mapping[str, Any]], base: Base) -> tuple[Axis, ...]:
    """Return the axes; raise `InputError` if two columns have equal names."""
    axes: list[Axis] = []
    for number, spec in enumerate(specs, start=1):
        try:
            axes.append(read_axis(spec, base))
        except InputError as error:
            within = f".{error.key}" if error.key else ""
            raise error.about(f"axis {number}: {error}", f"axis.{number - 1}{within}") from error
    columns = [column for axis in axes for column in axis.columns]
    for column in columns:
        having = [place for place, axis in enumerate(axes) if column in axis.columns]
        if len(having) > 1:
            raise InputError(
                f'two axes have the column "{column}": give one a "name"', key=f"axis.{having[1]}"
            )
    return tuple(axes)
