"""Execution of a run by a worker: from a task to an outcome, both sent between machines.

::

    Task ──pickle──► work ──► Run ... ──► Measured ──► Outcome ──pickle──► the folder of the sweep

Invariants: an error of a run is part of its outcome and not an exception; an outcome's `row` and
`parts` depend on the task alone, its `provenance` on time and place.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gingham._native import __version__
from gingham.errors import EnvironmentProblem, GinghamError, InternalError
from gingham.kinds import kind_named
from gingham.sweeps._keys import core_identity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa


@dataclass(frozen=True)
class Task:
    """A run to be made."""

    # Name of the kind of its scenario.
    kind: str
    key: str
    seed: int
    # The resolved scenario, its origin, and key and digest of each file that it names.
    resolved: Mapping[str, Any]
    origin: Mapping[str, Any]
    files: list[dict[str, str]]
    # Identity of the core that must make the run.
    core: str
    # Options of the kind that are on.
    switches: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """Result of a task; `stopped` if the sweep ended before the run did."""

    key: str
    row: dict[str, Any] = field(default_factory=dict)
    # One row per part of the run, by table.
    parts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, bytes] = field(default_factory=dict)
    stopped: bool = False

    @property
    def error(self) -> str | None:
        """Error message if the run has no results."""
        return self.row.get("error")

    @property
    def is_fault(self) -> bool:
        """Whether the run failed by an internal error."""
        return self.row.get("error_type") == InternalError.__name__


def never() -> bool:
    """Return false: the default of `stop`."""
    return False


def work(task: Task, stop: Callable[[], bool] = never) -> Outcome:
    """Make a run; `stop` is called from time to time, and ends the run if it returns true.

    Raises `EnvironmentProblem` if this is not the build required by the task.
    """
    require_build_of(task)
    began, start = datetime.now(UTC), time.perf_counter()
    engine_seconds = 0.0
    try:
        kind = kind_named(task.kind)
        scenario = kind.restore(dict(task.resolved), task.origin, task.files)
        run = kind.begin(scenario, task.switches)
        done = False
        while not done:
            if stop():
                return Outcome(task.key, stopped=True)
            done = run.advance().done
        engine_seconds = run.wall_seconds
        measured = run.measured(task.keep)
        row = {"key": task.key, "seed": task.seed, "error": None, **measured.row}
        parts = {
            table: [{"key": task.key, **one} for one in rows]
            for table, rows in measured.parts.items()
        }
        tables = {name: encoded(table) for name, table in measured.tables.items()}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  (a panic of the core is not an Exception)
        row, parts, tables = failed_row(task.key, task.seed, error), {}, {}
    provenance = {
        "key": task.key,
        "began": began.isoformat(timespec="milliseconds"),
        "host": platform.node(),
        "process": os.getpid(),
        "version": __version__,
        "core": core_identity(),
        "wall_seconds": time.perf_counter() - start,
        "engine_seconds": engine_seconds,
    }
    return Outcome(task.key, row, parts, provenance, tables)


def require_build_of(task: Task) -> None:
    """Raise `EnvironmentProblem` if the task requires another core."""
    if task.core != core_identity():
        raise EnvironmentProblem(
            f"worker {platform.node()}, process {os.getpid()}, has another build than the one that "
            f"plans the sweep: gingham {__version__}, core {core_identity()[:12]} for "
            f"{task.core[:12]}\n  install the same wheel there; resume=True goes on with the sweep",
            code="other-build",
        )


def encoded(table: pa.Table) -> bytes:
    """Return a table as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


def failed_row(key: str, seed: int, error: BaseException) -> dict[str, Any]:
    """Return the row of a failed run."""
    known = isinstance(error, GinghamError)
    message = str(error) if known else f"{type(error).__name__}: {error}"
    kind = type(error) if known else InternalError
    row = {"key": key, "seed": seed, "verdict": "failed", "error": message}
    return row | {"error_type": kind.__name__}
