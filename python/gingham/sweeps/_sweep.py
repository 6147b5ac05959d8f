"""Sweep files: a base scenario, and what is varied.

::

    sweep.toml ──► Sweep ──► Point 0, Point 1, ... ──► Scenario of each
                     axes: a grid; filter; replications

Points come in the order of the grid, the last axis fastest, and the replications of a point one
after the other. They are made one by one: a sweep of a million runs takes no more memory than
one of ten.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham import kinds
from gingham._files import require_file
from gingham.errors import InputError, unknown
from gingham.kinds import kind_of, kind_of_values
from gingham.sweeps._axes import Axis, Base, read_axis, resolved_path
from gingham.sweeps._check import check, check_tables
from gingham.sweeps._grid import Grid
from gingham.sweeps._lines import Lines
from gingham.sweeps._seeds import SEED_BITS, run_seed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from gingham.kinds import Runnable

SWEEP_KEYS = [
    "title",
    "base",
    "scenario",
    "seed",
    "replications",
    "keep",
    "where",
    "set",
    "axis",
]
REPLICATIONS_MAX = 1_000_000


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    # Counts the runs of the sweep, from 0.
    index: int
    # What stands in the columns of the axes.
    values: Mapping[str, Any]
    replication: int
    seed: int
    # What it sets of the base, by dotted path.
    changes: Mapping[str, Any] = field(repr=False)
    base: Runnable = field(repr=False)

    def scenario(self) -> Runnable:
        """Return the scenario of this run."""
        return self.base.with_(self.changes, seed=self.seed)


@dataclass(frozen=True)
class Sweep:
    """What is to be run: the points of a grid, each so many times.

    `load` reads a file, `make` takes the same as a dict.
    """

    name: str
    title: str
    # With all that `[set]` sets.
    base: Runnable
    axes: tuple[Axis, ...]
    where: str | None
    seed: int
    replications: int
    # Names of tables that are kept of each run.
    keep: tuple[str, ...]
    # Those of the base's kind that are on, such as `allow_deadlock`.
    switches: tuple[str, ...]
    # What was written, and where.
    spec: Mapping[str, Any] = field(repr=False)
    lines: Lines = field(repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sweep:
        """Read the sweep file at `path`."""
        file = Path(path)
        require_file(file)
        try:
            text = file.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: is no UTF-8 text", file=str(file)) from error
        lines = Lines.of(str(file), text)
        return make(tomllib.loads(text), None, file.parent, lines)

    @classmethod
    def make(
        cls,
        values: Mapping[str, Any],
        *,
        base: Runnable | None = None,
        folder: str | os.PathLike[str] = ".",
        name: str = "sweep",
    ) -> Sweep:
        """Return the sweep of a dict that is built as a sweep file is.

        `base` may be given as a scenario; paths are relative to `folder`; `name` stands for the
        file in messages.
        """
        return make(values, base, Path(folder), Lines(name))

    @property
    def columns(self) -> list[str]:
        """The names of the columns of all axes."""
        return [column for axis in self.axes for column in axis.columns]

    @property
    def grid(self) -> Grid:
        """The points without their replications."""
        return Grid(self.axes, self.where)

    def points(self) -> Iterator[Point]:
        """Yield the runs in their order."""
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
        """Return all that the points depend on, for the folder of results."""
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
            "axis": self.spec.get("axis", []),
            "set": self.spec.get("set", {}),
        }


def make(values: Mapping[str, Any], base: Runnable | None, folder: Path, lines: Lines) -> Sweep:
    """Return the sweep; `InputError` says where it is wrong."""
    try:
        return read(dict(values), base, folder, lines)
    except InputError as error:
        raise lines.placed(error) from error


def read(values: dict[str, Any], base: Runnable | None, folder: Path, lines: Lines) -> Sweep:
    """Return the sweep; messages do not yet say of which file and line."""
    name = lines.name
    require_keys(values, [name for kind in kinds.KINDS for name in kind.switches])
    scenario = base or read_base(values, folder, name)
    scenario = with_settings(scenario, table_of(values, "set"))
    switches = kind_of(scenario).switches
    require_keys(values, switches)
    axes = read_axes(values, Base.of(scenario))
    sweep = Sweep(
        name=name,
        title=str(values.get("title") or Path(name).stem),
        base=scenario,
        axes=axes,
        where=typed(values, "where", str, None),
        seed=whole(values, "seed", 1, 0, 2**SEED_BITS - 1),
        replications=whole(values, "replications", 1, 1, REPLICATIONS_MAX),
        keep=tuple(typed(values, "keep", list, [])),
        switches=tuple(name for name in switches if typed(values, name, bool, False)),
        spec=values,
        lines=lines,
    )
    json.dumps(sweep.spec, default=refuse_value)
    check(sweep.base, sweep.grid)
    check_tables(sweep.base, sweep.keep)
    return sweep


def require_keys(values: Mapping[str, Any], switches: Sequence[str]) -> None:
    """Raise `InputError` for a key that no sweep has, or none of this kind of scenario."""
    known = [*SWEEP_KEYS, *switches]
    for key in values:
        if key not in known:
            raise InputError(unknown("a key of a sweep", key, known), key=key)


def read_base(values: Mapping[str, Any], folder: Path, name: str) -> Runnable:
    """Return the base scenario: a file, an example, or what stands in the sweep itself."""
    if ("base" in values) == ("scenario" in values):
        raise InputError('a sweep needs either "base" or a table "scenario"', key="base")
    if "scenario" in values:
        inline = table_of(values, "scenario")
        digest = ""
        return kind_of_values(inline).restore(
            inline,
            {"path": name, "folder": str(folder), "sha256": digest, "changes": []},
            [],
        )
    base = typed(values, "base", str, None)
    file = folder / base
    if base.endswith(".toml") or file.is_file():
        return kinds.load(file)
    try:
        return kinds.example(base)
    except InputError as error:
        error.key = "base"
        raise


def with_settings(scenario: Runnable, settings: Mapping[str, Any]) -> Runnable:
    """Return the base with what `[set]` sets."""
    base = Base.of(scenario)
    for key, value in settings.items():
        try:
            scenario = scenario.with_({resolved_path(key, base): value})
        except InputError as error:
            raise InputError(
                f"[set]: {error}",
                key=f"set.{key}",
                expected=error.expected,
                nearest=error.nearest,
            ) from error
    return scenario


def read_axes(values: Mapping[str, Any], base: Base) -> tuple[Axis, ...]:
    """Return the axes; no two columns have one name."""
    axes: list[Axis] = []
    for number, spec in enumerate(typed(values, "axis", list, []), start=1):
        try:
            axes.append(read_axis(spec, base))
        except InputError as error:
            within = f".{error.key}" if error.key else ""
            raise InputError(
                f"axis {number}: {error}",
                key=f"axis.{number - 1}{within}",
                expected=error.expected,
                nearest=error.nearest,
            ) from error
    columns = [column for axis in axes for column in axis.columns]
    for column in columns:
        having = [place for place, axis in enumerate(axes) if column in axis.columns]
        if len(having) > 1:
            raise InputError(
                f'two axes have the column "{column}": give one a "name"', key=f"axis.{having[1]}"
            )
    return tuple(axes)


def table_of(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a table of the sweep, empty if there is none."""
    return dict(typed(values, key, dict, {}))


def typed(values: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    """Return the value of a key; `InputError` if it is of another kind."""
    if key not in values:
        return default
    value = values[key]
    if not isinstance(value, kind):
        names = {str: "a text", list: "a list", dict: "a table", bool: "true or false"}
        raise InputError(f'"{key}" must be {names[kind]}, and is {value!r}', key=key)
    return value


def whole(values: Mapping[str, Any], key: str, default: int, least: int, most: int) -> int:
    """Return the whole number of a key; `InputError` if it is none or out of bounds."""
    value = values.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(
            f'"{key}" must be a whole number from {least} to {most:,}, and is {value!r}', key=key
        )
    return value


def refuse_value(value: object) -> Any:
    """Raise `InputError` for what no scenario holds: a date, say."""
    raise InputError(f"{value}: a scenario holds no value of this kind")
