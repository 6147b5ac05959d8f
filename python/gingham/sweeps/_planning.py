"""From points to tasks: keys, and which runs are still to be made.

Points are planned in parts, each of which is written to the folder before the first of its runs
is made; so a sweep of any length takes the same memory.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from gingham.sweeps._grid import typed_column
from gingham.sweeps._keys import Digests, core_identity, run_key
from gingham.sweeps._work import Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from gingham.store import SweepFolder
    from gingham.sweeps._sweep import Point, Sweep

# Points of a part.
PART = 1000


class Planner:
    """Makes the tasks of points."""

    def __init__(self, sweep: Sweep) -> None:
        """Prepare to plan the points of `sweep`."""
        self._sweep = sweep
        self._digests = Digests()

    def task(self, point: Point) -> Task:
        """Return the task of a point; `InputError` if it has no scenario."""
        scenario = point.scenario()
        resolved, origin = scenario.resolved(), scenario.origin()
        files = self._digests.of(resolved, origin["folder"])
        options = ["allow_deadlock"] if self._sweep.allow_deadlock else []
        return Task(
            key=run_key(resolved, files, *options),
            seed=point.seed,
            resolved=resolved,
            origin={**origin, "changes": []},
            files=files,
            core=core_identity(),
            allow_deadlock=self._sweep.allow_deadlock,
            keep=self._sweep.keep,
        )

    def parts(self, folder: SweepFolder) -> Iterator[tuple[int, list[Task]]]:
        """Yield for each part its number of points, and the tasks whose runs are not there yet."""
        points = self._sweep.points()
        for number in itertools.count():
            part = list(itertools.islice(points, PART))
            if not part:
                return
            tasks = [self.task(point) for point in part]
            folder.write_points(number, self._table(part, tasks))
            known = folder.known(task.key for task in tasks)
            open_tasks = {task.key: task for task in tasks if task.key not in known}
            yield len(part), list(open_tasks.values())

    def _table(self, part: list[Point], tasks: list[Task]) -> pa.Table:
        """Return a row a point: its number, its place on the axes, replication and key."""
        import pyarrow as pa

        types = self._sweep.grid.column_types()
        columns: Mapping[str, Any] = {
            "point": pa.array([point.index for point in part], pa.int64()),
            **{
                name: typed_column([point.values[name] for point in part], kind)
                for name, kind in types.items()
            },
            "replication": pa.array([point.replication for point in part], pa.int64()),
            "key": pa.array([task.key for task in tasks], pa.string()),
        }
        return pa.table(columns)
