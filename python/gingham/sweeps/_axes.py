"""Axes: the dimensions of a sweep's grid, each a list of alternatives.

::

    [[axis]]                          columns    alternatives
    key = "traffic.0.load"            load       0.1  -> { traffic.0.load = 0.1 }
    values = [0.1, 0.2]                          0.2  -> { traffic.0.load = 0.2 }

An alternative consists of its changes to the scenario, and its values in the columns of the table.
A key may name an entry of a list instead of giving its position, a class of traffic for instance:
`traffic.high.load`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from gingham.errors import InputError
from gingham.kinds import kind_of
from gingham.store import reserved
from gingham.sweeps._values import (
    VALUES_MAX,
    base_unit,
    column_type,
    column_value,
    range_values,
    times,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gingham.kinds import Runnable

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Base:
    """Properties of the varied scenario that axes need."""

    # Converts names of list entries in a dotted path to positions.
    placed: Callable[[str], str]
    # Column names that results already use.
    reserved: frozenset[str]

    @classmethod
    def of(cls, scenario: Runnable) -> Self:
        """Return the properties of a scenario that axes need."""
        return cls(scenario.placed, reserved(kind_of(scenario)))


@dataclass(frozen=True)
class Alternative:
    """One alternative of an axis."""

    # One value for each column of the axis.
    values: tuple[Any, ...]
    # Values by dotted path of the scenario.
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A dimension of the grid."""

    columns: tuple[str, ...]
    alternatives: tuple[Alternative, ...]


def read_axis(spec: Mapping[str, Any], base: Base) -> Axis:
    """Return the axis described by a table, for a sweep of `base`."""
    makers = {"key": of_key, "keys": of_keys, "zip": of_zip, "choices": of_choices}
    way = next(way for way in makers if way in spec)
    axis = makers[way](spec, base)
    if not axis.alternatives:
        raise InputError("an axis without values leaves nothing to run", code="no-data")
    if len(axis.alternatives) > VALUES_MAX:
        raise InputError(f"an axis has at most {VALUES_MAX:,} values", code="too-many")
    refuse_doubles(axis, next(key for key in ("zip", "values", "range", "choices") if key in spec))
    return axis


def refuse_doubles(axis: Axis, key: str) -> None:
    """Raise `InputError` if two alternatives have equal values in the table."""
    columns = list(zip(*(one.values for one in axis.alternatives), strict=True))
    kinds = map(column_type, columns)
    # As in the column: numbers mixed with texts become texts.
    rows = zip(
        *(
            map(str, column) if kind == "string" else column
            for column, kind in zip(columns, kinds, strict=True)
        ),
        strict=True,
    )
    met: set[tuple[Any, ...]] = set()
    for row in rows:
        if row in met:
            value = ", ".join(map(str, row))
            raise InputError(
                f"the value {value} stands there twice, and its points could not be told apart\n"
                '  to run a point several times, give "replications"',
                key=key,
            )
        met.add(row)


def of_key(spec: Mapping[str, Any], base: Base) -> Axis:
    """Return the axis of one key."""
    path = resolved_path(spec["key"], base)
    made = [Alternative((shown(value),), {path: value}) for value in listed(spec)]
    return Axis((name_of(spec, [spec["key"]], base)[0],), tuple(made))


def of_keys(spec: Mapping[str, Any], base: Base) -> Axis:
    """Return the axis that sets several keys, each to the value times its factor."""
    paths = {resolved_path(key, base): factor for key, factor in spec["keys"].items()}
    made = [
        Alternative((shown(value),), {path: times(value, by) for path, by in paths.items()})
        for value in listed(spec)
    ]
    return Axis((name_of(spec, [], base)[0],), tuple(made))


def of_zip(spec: Mapping[str, Any], base: Base) -> Axis:
    """Return the axis whose keys advance together."""
    lists = {
        key: range_at(f'zip."{key}"', given) if isinstance(given, dict) else given
        for key, given in spec["zip"].items()
    }
    counts = {key: len(values) for key, values in lists.items()}
    if len(set(counts.values())) > 1:
        lengths = ", ".join(f'"{key}" has {count}' for key, count in counts.items())
        raise InputError(
            f"the lists of a zip advance together and need one length: {lengths}", key="zip"
        )
    paths = [resolved_path(key, base) for key in lists]
    rows = zip(*lists.values(), strict=True)
    made = [Alternative(tuple(map(shown, row)), dict(zip(paths, row, strict=True))) for row in rows]
    return Axis(tuple(name_of(spec, list(lists), base)), tuple(made))


def units_of(spec: Mapping[str, Any]) -> list[str | None]:
    """Return the unit of each column of an axis, or `None` for columns without a unit.

    >>> units_of({"key": "stop.time", "values": ["1 us", "1 ms"]}), units_of({"choices": {}})
    (['ns'], [None])
    """
    if "choices" in spec:
        return [None]
    if "zip" not in spec:
        return [base_unit(listed(spec))]
    return [
        base_unit(range_values(given) if isinstance(given, dict) else given)
        for given in spec["zip"].values()
    ]


def of_choices(spec: Mapping[str, Any], base: Base) -> Axis:
    """Return the axis of named alternatives, each with its own settings."""
    made = []
    for choice, changes in spec["choices"].items():
        paths = {resolved_path(key, base): value for key, value in changes.items()}
        made.append(Alternative((choice,), paths))
    return Axis((name_of(spec, [], base)[0],), tuple(made))


def listed(spec: Mapping[str, Any]) -> list[Any]:
    """Return the values of an axis: a list, or a range."""
    values: list[Any] = range_at("range", spec["range"]) if "range" in spec else spec["values"]
    return values


def range_at(key: str, spec: Mapping[str, Any]) -> list[Any]:
    """Return the values of the range under a key of an axis; an error names the key with it."""
    try:
        return range_values(spec)
    except InputError as error:
        raise error.about(str(error), f"{key}.{error.key}" if error.key else key) from error


def name_of(spec: Mapping[str, Any], keys: Sequence[str], base: Base) -> list[str]:
    """Return the names of an axis's columns: those given, or derived from the keys."""
    given = spec.get("name")
    if given is None:
        return short_names(keys, base.reserved)
    names = given if isinstance(given, list) else [given]
    wanted = max(1, len(keys))
    if taken := [name for name in names if name in base.reserved]:
        raise InputError(
            f'"{taken[0]}" is a column of results already: give another "name"', key="name"
        )
    if len(names) != wanted:
        raise InputError(f'"name" gives {len(names)} names for {wanted} columns', key="name")
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InputError(
                f'"name" becomes a column: letters, digits and _, not {name!r}', key="name"
            )
    return names


def short_names(keys: Sequence[str], taken: frozenset[str]) -> list[str]:
    """Return the shortest distinct suffixes of keys that are valid, unused column names.

    >>> short_names(["traffic.0.load", "network.preset"], frozenset())
    ['load', 'preset']
    >>> short_names(["a.0.x", "a.1.x"], frozenset())
    ['a_0_x', 'a_1_x']
    >>> short_names(["topology.generate.star.hosts"], frozenset(["hosts"]))
    ['star_hosts']
    """
    parts = [re.findall(r"[A-Za-z0-9_]+", key) for key in keys]
    for length in range(1, max(map(len, parts), default=0) + 1):
        names = ["_".join(part[-length:]) for part in parts]
        usable = all(NAME.fullmatch(name) and name not in taken for name in names)
        if usable and len(set(names)) == len(names):
            return names
    raise InputError('its keys make no names of columns: give "name"', key="name")


def resolved_path(key: str, base: Base) -> str:
    """Return a path with positions in place of names of list entries."""
    if key.strip() == "seed":
        raise InputError(
            'the seed of a run follows from "seed" and "replications" of the sweep', key=key
        )
    try:
        return base.placed(key)
    except InputError as error:
        # The error is reported at the line of the sweep file.
        raise error.about(str(error), "key") from error


def shown(value: Any) -> Any:
    """Return the column value of an alternative: lists and tables as JSON."""
    return json.dumps(value) if isinstance(value, list | dict) else column_value(value)
