"""The grid: all combinations of alternatives that pass the filter.

The filter is an SQL condition on the columns. It is evaluated in batches, which bounds memory for
long grids and long results.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from gingham.errors import InputError, meant
from gingham.results import nearest_column
from gingham.store import query_guard
from gingham.sweeps._values import column_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from gingham.sweeps._axes import Alternative, Axis

# Values of the columns of the axes.
Row: TypeAlias = "Mapping[str, Any]"
# Number of combinations per evaluation of the filter.
BATCH = 10_000


@dataclass(frozen=True)
class Grid:
    """All combinations of the axes' alternatives, the first axis varying slowest."""

    axes: tuple[Axis, ...]
    where: str | None

    def __iter__(self) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Yield the column values and the changes of each combination that passes."""
        for combination in self.combinations():
            yield self._values(combination), changes(combination)

    def count(self, at_most: int | None = None) -> int:
        """Return the number of combinations that pass; counting stops beyond `at_most`."""
        if self.where is None:
            return math.prod(len(axis.alternatives) for axis in self.axes)
        passing = self.combinations()
        stop = None if at_most is None else at_most + 1
        return sum(1 for _ in itertools.islice(passing, stop))

    def column_types(self) -> dict[str, str]:
        """Return the Arrow type of each column, determined by all values of its axis."""
        return {
            column: column_type([one.values[place] for one in axis.alternatives])
            for axis in self.axes
            for place, column in enumerate(axis.columns)
        }

    def combinations(self) -> Iterator[tuple[Alternative, ...]]:
        """Yield the combinations that pass."""
        every = itertools.product(*(axis.alternatives for axis in self.axes))
        if self.where is None:
            yield from every
            return
        passes = condition(self.where, self.column_types())
        while batch := list(itertools.islice(every, BATCH)):
            kept = passes([self._values(combination) for combination in batch])
            yield from itertools.compress(batch, kept)

    def _values(self, combination: Sequence[Alternative]) -> dict[str, Any]:
        pairs = zip(self.axes, combination, strict=True)
        return {
            column: value
            for axis, alternative in pairs
            for column, value in zip(axis.columns, alternative.values, strict=True)
        }


def changes(combination: Iterable[Alternative]) -> dict[str, Any]:
    """Return the settings of a combination: if two axes set one key, the later axis wins."""
    return {path: value for one in combination for path, value in one.changes.items()}


def condition(where: str, types: Mapping[str, str]) -> Callable[[Sequence[Row]], list[bool]]:
    """Return a function that evaluates a condition for each point of a batch."""
    import duckdb

    connection = duckdb.connect(config={"enable_external_access": False, "threads": 1})

    def passes(batch: Sequence[Row]) -> list[bool]:
        try:
            with query_guard():
                points = connection.from_arrow(as_table(batch, types))
                # An expression cannot be followed by a second statement or a clause.
                found = points.select(duckdb.SQLExpression(where)).fetchall()
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            near = nearest_column(str(error), list(types))
            raise InputError(
                f"the filter cannot be used: {first}{meant(near)}\n"
                f'  "where" is a SQL condition over {", ".join(types) or "no axis at all"}, '
                'such as "load <= 0.8"',
                key="where",
                expected=list(types),
                nearest=near,
                code="bad-query",
            ) from error
        answers = [row[0] for row in found]
        if len(answers) != len(batch) or any(not isinstance(one, bool) for one in answers):
            raise InputError(
                f'the filter must say true or false of each point: "{where}"',
                key="where",
                code="bad-query",
            )
        return answers

    return passes


def as_table(rows: Sequence[Row], types: Mapping[str, str]) -> pa.Table:
    """Return the column values of points as a table, with the position of each first."""
    import pyarrow as pa

    columns = {"place in batch": pa.array(range(len(rows)))}
    for name, kind in types.items():
        columns[name] = typed_column([row[name] for row in rows], kind)
    return pa.table(columns)


def typed_column(values: Sequence[Any], kind: str) -> pa.Array:
    """Return the values of a column as an Arrow array."""
    import pyarrow as pa

    texts = map(str, values) if kind == "string" else values
    return pa.array(texts, type=pa.type_for_alias(kind))
