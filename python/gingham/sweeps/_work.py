"""What a worker does with a run: from a task to an outcome, both of which travel between machines.

::

    Task ──pickle──► work ──► Simulation ... ──► Outcome ──pickle──► the folder of the sweep

Invariants: an error of a run is a part of its outcome and no exception; an outcome's `row` and
`classes` depend on the task alone, its `provenance` says the rest.
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
from gingham.running import Simulation
from gingham.scenario import Scenario
from gingham.sweeps._keys import core_identity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gingham.result import Result

# Whole numbers and texts of a summary that make columns of a run.
SUMMARY = ["verdict", "verdict_reason", "warm_up_ps", "window_end_ps", "end_ps"]
# What of a class is no number of a row.
NOT_COLUMNS = {"name", "percentiles"}
# Endings of what a class has a mean of, over its messages.
MEANS = ("latency_mean_ns", "hops_mean")


@dataclass(frozen=True)
class Task:
    """A run to be made."""

    key: str
    seed: int
    # The resolved scenario, where it comes from, and key and digest of each file that it names.
    resolved: Mapping[str, Any]
    origin: Mapping[str, Any]
    files: list[dict[str, str]]
    # The core that must make it.
    core: str
    allow_deadlock: bool = False
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What came of a task; `stopped` if the sweep ended before it did."""

    key: str
    row: dict[str, Any] = field(default_factory=dict)
    classes: list[dict[str, Any]] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, bytes] = field(default_factory=dict)
    stopped: bool = False

    @property
    def error(self) -> str | None:
        """Why there are no numbers, if there are none."""
        return self.row.get("error")

    @property
    def is_fault(self) -> bool:
        """Whether there are no numbers by a fault of ours."""
        return self.row.get("error_type") == InternalError.__name__


def never() -> bool:
    """Go on."""
    return False


def work(task: Task, stop: Callable[[], bool] = never) -> Outcome:
    """Make a run; `stop` is asked now and then whether to give up.

    `EnvironmentProblem` if this is not the build that the task is for.
    """
    require_build_of(task)
    began, start = datetime.now(UTC), time.perf_counter()
    engine_seconds = 0.0
    try:
        scenario = Scenario.restore(dict(task.resolved), task.origin, task.files)
        simulation = Simulation(scenario, task.allow_deadlock)
        done = False
        while not done:
            if stop():
                return Outcome(task.key, stopped=True)
            done = simulation.advance().done
        engine_seconds = simulation.wall_seconds
        result = simulation.result(with_tables=bool(task.keep))
        row, classes, tables = run_row(task, result), class_rows(task, result), kept(task, result)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  (a panic of the core is no Exception)
        row, classes, tables = failed_row(task.key, task.seed, error), [], {}
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
    return Outcome(task.key, row, classes, provenance, tables)


def require_build_of(task: Task) -> None:
    """Raise `EnvironmentProblem` if another core than ours must make the run."""
    if task.core != core_identity():
        raise EnvironmentProblem(
            f"worker {platform.node()}, process {os.getpid()}, has another build than the one that "
            f"plans the sweep: gingham {__version__}, core {core_identity()[:12]} for "
            f"{task.core[:12]}\n  install the same wheel there; --resume goes on with the sweep"
        )


def run_row(task: Task, result: Result) -> dict[str, Any]:
    """Return the numbers of a run as a whole: sums over its classes, and means over messages."""
    row = {"key": task.key, "seed": task.seed, "error": None}
    row |= {name: result.summary[name] for name in SUMMARY}
    for load in ("offered_load", "accepted_load"):
        row[load] = load_of_all(result.classes, load, result.summary["hosts"])
    for name in result.classes[0]:
        if name.startswith("messages_"):
            row[name] = sum(one[name] for one in result.classes)
        elif name.endswith(MEANS):
            row[name] = mean_of_all(result.classes, name)
    return row


def load_of_all(classes: Sequence[Mapping[str, Any]], load: str, hosts: int) -> float | None:
    """Return the load of all classes together, as a fraction of the links of the `hosts`."""
    parts = [one[load] and one[load] * one["hosts"] for one in classes]
    return None if None in parts else sum(parts) / hosts


def mean_of_all(classes: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the mean over all messages that were followed."""
    counted = [one for one in classes if one["messages_followed"] and one[name] is not None]
    messages = sum(one["messages_followed"] for one in counted)
    total = sum(one["messages_followed"] * one[name] for one in counted)
    return total / messages if messages else None


def class_rows(task: Task, result: Result) -> list[dict[str, Any]]:
    """Return a row of numbers a class."""
    rows = []
    for one in result.classes:
        row = {"key": task.key, "class": one["name"]}
        row |= {name: value for name, value in one.items() if name not in NOT_COLUMNS}
        for percentile in one["percentiles"]:
            digits = f"{percentile['percentile']:g}".replace(".", "_")
            row[f"latency_p{digits}_ns"] = percentile["latency_ns"]
        rows.append(row)
    return rows


def kept(task: Task, result: Result) -> dict[str, bytes]:
    """Return the tables that the sweep keeps, as Parquet files."""
    if not task.keep:
        return {}
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = {}
    for name in task.keep:
        sink = pa.BufferOutputStream()
        pq.write_table(result.table(name), sink)
        found[name] = sink.getvalue().to_pybytes()
    return found


def failed_row(key: str, seed: int, error: BaseException) -> dict[str, Any]:
    """Return the row of a run that could not be made."""
    known = isinstance(error, GinghamError)
    message = str(error) if known else f"{type(error).__name__}: {error}"
    kind = type(error) if known else InternalError
    row = {"key": key, "seed": seed, "verdict": "failed", "error": message}
    return row | {"error_type": kind.__name__}
