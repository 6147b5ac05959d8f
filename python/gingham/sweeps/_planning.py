"""Conversion of points to tasks: keys, and selection of the runs still to be made.

Points are planned in parts. Each part is written to the folder before the first of its runs is
made, so memory does not grow with the sweep.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError
from gingham.kinds import kind_of
from gingham.sweeps._grid import typed_column
from gingham.sweeps._keys import Digests, core_identity, run_key
from gingham.sweeps._work import Outcome, Task, failed_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from gingham.store import SweepFolder
    from gingham.sweeps._sweep import Point, Sweep

# Number of points of a part.
PART = 1000


@dataclass(frozen=True)
class Part:
    """A part of a sweep's points."""

    points: int
    # Tasks of runs not yet stored, without duplicates.
    tasks: list[Task]
    # Points whose scenario is invalid, as failed runs.
    refused: list[Outcome]


def keys_of(sweep: Sweep) -> Iterator[str]:
    """Yield the key of each run of a sweep."""
    planner = Planner(sweep)
    return (planner.planned(point).key for point in sweep.points())


class Planner:
    """Converts points to tasks."""

    def __init__(self, sweep: Sweep) -> None:
        """Prepare to plan the points of `sweep`."""
        self._sweep = sweep
        self._digests = Digests()

    def task(self, point: Point) -> Task:
        """Return the task of a point; raise `InputError` if its scenario is invalid."""
        scenario = point.scenario()
        resolved, origin = scenario.resolved(), scenario.origin()
        kind = kind_of(scenario)
        files = self._digests.of(kind.files(resolved), origin["folder"])
        return Task(
            kind=kind.name,
            key=run_key(resolved, files, *self._sweep.switches),
            seed=point.seed,
            resolved=resolved,
            origin={**origin, "changes": []},
            files=files,
            core=core_identity(),
            switches=self._sweep.switches,
            keep=self._sweep.keep,
        )

    def planned(self, point: Point) -> Task | Outcome:
        """Return the task of a point, or the failed outcome of an invalid one."""
        try:
            return self.task(point)
        except InputError as error:
            text = json.dumps([dict(point.changes), point.seed, str(error)], sort_keys=True)
            key = hashlib.sha256(text.encode()).hexdigest()
            return Outcome(key, failed_row(key, point.seed, error), {}, {"key": key})

    def parts(self, folder: SweepFolder) -> Iterator[Part]:
        """Yield the parts of the sweep; each is in the folder when it is yielded."""
        points = self._sweep.points()
        for number in itertools.count():
            part = list(itertools.islice(points, PART))
            if not part:
                return
            planned = [self.planned(point) for point in part]
            folder.write_points(number, self._table(part, [one.key for one in planned]))
            known = folder.known(one.key for one in planned)
            lacking = {one.key: one for one in planned if one.key not in known}.values()
            yield Part(
                len(part),
                [one for one in lacking if isinstance(one, Task)],
                [one for one in lacking if isinstance(one, Outcome)],
            )

    def _table(self, part: list[Point], keys: list[str]) -> pa.Table:
        """Return one row per point: its number, its values on the axes, replication and key."""
        import pyarrow as pa

        types = self._sweep.grid.column_types()
        columns: Mapping[str, Any] = {
            "point": pa.array([point.index for point in part], pa.int64()),
            **{
                name: typed_column([point.values[name] for point in part], kind)
                for name, kind in types.items()
            },
            "replication": pa.array([point.replication for point in part], pa.int64()),
            "key": pa.array(keys, pa.string()),
        }
        return pa.table(columns)
