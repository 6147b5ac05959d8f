"""Replications of a run: one scenario with several seeds, and the means over them.

::

    Scenario ──► Sweep of one point ──► N runs ──► folder ──► means with Student's interval

A run that draws values once, such as phases or a permutation, only measures the mean of its draw.
Replications repeat the draw, so the interval over their means holds the mean over all draws. Runs,
storage and seeds are those of `gingham.sweeps`: the folder is a sweep without axes.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.errors import (
    DeadlockError,
    EnvironmentProblem,
    InputError,
    InternalError,
    counted,
)
from gingham.results import Interval, interval
from gingham.running import chosen
from gingham.scenario import Scenario
from gingham.sweeps import Sweep, run_sweep
from gingham.verdicts import is_steady, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gingham.results import Results
    from gingham.sweeps import SweepProgress

# With fewer replications the verdict is not `ok`. The interval of five, with 4 degrees of freedom,
# is already 1.4 times as wide as that of many.
REPLICATIONS_FOR_OK = 5
REPLICATIONS_MIN, REPLICATIONS_MAX = 2, 1000
PERCENTILE = re.compile(r"latency_p(\d+(?:_\d+)?)_ns")


@dataclass(frozen=True, eq=False)
class Replications:
    """Combined results of several runs of a scenario.

    `summary` holds `verdict`, `verdict_reason`, `replications`, `seeds`, `verdicts` (the number of
    runs with each), `makespan_ps` with `makespan_half_width_ps` (of workloads that end), `notes`
    and `classes`. The latter is a list with one dict per class: the results of a run that have an
    interval, here with the interval over replications.
    """

    scenario: Scenario
    summary: Mapping[str, Any] = field(repr=False)

    @property
    def verdict(self) -> str:
        """Verdict on the means."""
        return str(self.summary["verdict"])

    @property
    def classes(self) -> Sequence[Mapping[str, Any]]:
        """One row of results per traffic class."""
        rows: Sequence[Mapping[str, Any]] = self.summary["classes"]
        return rows


def replicate(
    scenario: Scenario | str | os.PathLike[str],
    replications: int,
    *,
    allow_deadlock: bool = False,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    workers: int | None = None,
    on_progress: Callable[[SweepProgress], object] | None = None,
) -> Replications:
    """Run a scenario with several seeds, derived from its own, and combine the runs.

    With `output`, the runs are written there as the folder of a sweep, readable by
    `gingham.Results`; `resume` continues such a folder without repeating its runs. Runs are made in
    parallel on all cores, or on `workers` of them.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(chosen(scenario))
    require_number(replications)
    sweep = sweep_of(scenario, replications, allow_deadlock=allow_deadlock)
    with folder_for(output) as folder:
        how: dict[str, Any] = {"workers": workers or cores(), "on_progress": on_progress}
        results = run_sweep(sweep, folder, resume=resume, **how)
        return Replications(scenario, summary_of(results))


def require_number(replications: int) -> None:
    """Raise `InputError` unless the number of replications is within its limits."""
    if not REPLICATIONS_MIN <= replications <= REPLICATIONS_MAX:
        raise InputError(
            f"expected from {REPLICATIONS_MIN} to {REPLICATIONS_MAX} replications, not "
            f"{replications}",
            key="replications",
            expected=[str(REPLICATIONS_MIN), str(REPLICATIONS_MAX)],
            code="wrong-type",
        )


def sweep_of(scenario: Scenario, replications: int, *, allow_deadlock: bool = False) -> Sweep:
    """Return the sweep of one point whose seed is that of the scenario."""
    values = {
        "title": "; ".join([scenario.title, *scenario.changes]),
        "replications": replications,
        "seed": scenario.resolved()["seed"],
        "allow_deadlock": allow_deadlock,
    }
    return Sweep.make(values, base=scenario, name=scenario.name)


@contextmanager
def folder_for(output: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Provide a folder for the runs; remove it afterwards unless the caller named it."""
    if output is not None:
        yield Path(output)
        return
    with tempfile.TemporaryDirectory(prefix="gingham-") as place:
        yield Path(place) / "replications"


def cores() -> int:
    """Return the number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def require_measured(runs: Sequence[Mapping[str, Any]]) -> None:
    """Raise the error of the first run that failed."""
    failed = next((run for run in runs if run["error"] is not None), None)
    if failed is None:
        return
    known = {one.__name__: one for one in (InputError, DeadlockError, EnvironmentProblem)}
    raise known.get(failed["error_type"], InternalError)(failed["error"])


def summary_of(results: Results) -> dict[str, Any]:
    """Return the combined results of the runs in a folder."""
    runs = results.arrow("runs").to_pylist()
    require_measured(runs)
    verdict, reason = verdict_of(runs)
    spans = [run["makespan_ps"] for run in runs if run.get("makespan_ps") is not None]
    makespan = interval(spans) if len(spans) == len(runs) else None
    return {
        "verdict": verdict,
        "verdict_reason": reason,
        "replications": len(runs),
        "seeds": [run["seed"] for run in runs],
        "verdicts": dict(Counter(run["verdict"] for run in runs)),
        "makespan_ps": makespan and makespan.mean,
        "makespan_half_width_ps": makespan and makespan.half_width,
        "notes": [note.text for note in results.notes()],
        "classes": classes_of(results.arrow("classes").to_pylist()),
    }


def verdict_of(runs: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the combined verdict of replications, and its reason."""
    found = Counter(run["verdict"] for run in runs)
    if len(found) == 1 and "finished" in found:
        return "finished", f"the workload ended in each of {counted(len(runs), 'run')}"
    if not all(map(is_steady, found)):
        verdict = worst(found)
        first = next(run for run in runs if run["verdict"] == verdict)
        of = f"{found[verdict]} of {counted(len(runs), 'run')} {verdict}"
        return verdict, f"{of}, the first with seed {first['seed']}: {first['verdict_reason']}"
    if len(runs) < REPLICATIONS_FOR_OK:
        few = counted(len(runs), "replication")
        return "not-converged", f"{few} are too few: make at least {REPLICATIONS_FOR_OK}"
    reason = (
        f"a steady state in each of {counted(len(runs), 'run')}; intervals are over replications"
    )
    return "ok", reason


def classes_of(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of each class over all replications, from one row per run and class."""
    of_class: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        of_class.setdefault(row["class"], []).append(row)
    return [class_of(name, found) for name, found in of_class.items()]


def class_of(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the results of a class from its rows, one per replication."""
    first = rows[0]
    combined: dict[str, Any] = {
        "name": name,
        "hosts": first["hosts"],
        "verdicts": dict(Counter(row["verdict"] for row in rows)),
        "offered_load": first["offered_load"],
        "messages_followed": sum(row["messages_followed"] for row in rows),
    }
    for width, number in pairs_of(first):
        found = over(rows, number)
        combined[number] = found and found.mean
        combined[width] = found and found.half_width
    percentiles = ((key, PERCENTILE.fullmatch(key)) for key in first)
    combined["percentiles"] = [
        {
            "percentile": float(matched[1].replace("_", ".")),
            "latency_ns": found.mean,
            "low_ns": found.low,
            "high_ns": found.high,
        }
        for key, matched in percentiles
        if matched and (found := over(rows, key))
    ]
    return combined


def pairs_of(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each half-width column with the column it belongs to.

    >>> row = dict.fromkeys(["accepted_load", "accepted_load_half_width", "hops_mean"], 0)
    >>> list(pairs_of({**row, "hops_half_width": 0}))
    [('accepted_load_half_width', 'accepted_load'), ('hops_half_width', 'hops_mean')]
    """
    for width in row:
        if "half_width" in width:
            names = [width.replace("half_width", "mean"), width.replace("_half_width", "")]
            yield from ((width, name) for name in names if name in row)


def over(rows: Sequence[Mapping[str, Any]], key: str) -> Interval | None:
    """Return the mean of a column with its interval; `None` unless all rows have a value."""
    values = [row.get(key) for row in rows]
    known = [value for value in values if isinstance(value, int | float)]
    return interval(known) if len(known) == len(rows) else None
