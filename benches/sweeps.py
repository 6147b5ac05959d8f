"""Measure the overhead of a sweep beside its runs: use of the cores, and memory.

    python benches/sweeps.py             200 runs on two threads, then sweeps of growing length
    python benches/sweeps.py --dask      200 runs on two workers of a Dask scheduler
    python benches/sweeps.py --json      the same for programs

Efficiency is the time spent in the engine, summed over workers, divided by workers x wall time,
from the first task handed out to the last result stored. On a shared machine the engine's time
includes that of other programs, so compare `processor_seconds`, the time of this process. Memory is
the largest resident set of a process that sweeps the given number of short runs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.sweeps import Sweep, execute

if TYPE_CHECKING:
    from concurrent.futures import Executor

WORKERS = 2
RUNS = 200
# Runs of the sweeps whose memory is measured.
LENGTHS = [1000, 10_000, 20_000]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--dask", action="store_true", help="measure Dask, and nothing else")
    parser.add_argument("--short-runs", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.short_runs:
        print(json.dumps(memory_here(options.short_runs)))
        return 0
    if options.dask:
        measured: dict[str, Any] = {"efficiency": efficiency_on_dask(), "memory": []}
    else:
        measured = {"efficiency": efficiency(), "memory": [memory(runs) for runs in LENGTHS]}
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        report(measured)
    return 0


def sweep(runs: int, stop_time: str) -> Sweep:
    """Return a sweep of the torus over loads."""
    values = {
        "base": "torus",
        "replications": runs // 10,
        "set": {"stop.time": stop_time},
        "axis": [{"key": "traffic.0.load", "range": {"from": 0.02, "to": 0.2, "step": 0.02}}],
    }
    return Sweep.make(values)


def efficiency(executor: Executor | None = None, stop_time: str = "20 ms") -> dict[str, Any]:
    """Return the efficiency of a sweep of runs of a usual length."""
    with tempfile.TemporaryDirectory() as place:
        used = time.process_time()
        folder = Path(place) / "out"
        progress = execute(sweep(RUNS, stop_time), folder, executor=executor, workers=WORKERS)
        used = time.process_time() - used
    wall, engine = progress.seconds, progress.engine_seconds
    return {
        "runs": progress.done,
        "workers": f"{WORKERS} {'workers of Dask' if executor else 'threads'}",
        "promise": 0.85 if executor else 0.92,
        "wall_seconds": round(wall, 2),
        "engine_seconds": round(engine, 2),
        "processor_seconds": round(used, 2),
        "efficiency": round(engine / (WORKERS * wall), 3),
    }


def efficiency_on_dask() -> dict[str, Any]:
    """Return the efficiency of two Dask worker processes, once they have started."""
    from distributed import LocalCluster

    from gingham.sweeps import workers_on

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(host="127.0.0.1", **options) as cluster:
        place = cluster.scheduler_address.replace("tcp", "dask")
        with workers_on(place) as workers, tempfile.TemporaryDirectory() as first:
            execute(sweep(20, "1 ms"), Path(first) / "out", executor=workers.executor)
            # A task costs Dask some 10 ms of processor time, which is small against runs of this
            # length.
            return efficiency(workers.executor, "60 ms")


def memory(runs: int) -> dict[str, Any]:
    """Return the peak memory of a sweep of `runs` runs, in a process of its own."""
    command = [sys.executable, __file__, "--short-runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def memory_here(runs: int) -> dict[str, Any]:
    """Sweep short runs; return the largest resident set of this process."""
    with tempfile.TemporaryDirectory() as place:
        progress = execute(sweep(runs, "20 us"), Path(place) / "out", workers=WORKERS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"runs": runs, "seconds": round(progress.seconds, 1), "memory_mib": round(peak / 1024)}


def report(measured: dict[str, Any]) -> None:
    """Print the measurements as a table."""
    one = measured["efficiency"]
    print(
        f"{one['runs']} runs on {one['workers']}: {one['wall_seconds']} s, "
        f"engine {one['engine_seconds']} s, processor {one['processor_seconds']} s"
    )
    print(f"  efficiency {one['efficiency']:.3f} (promise: {one['promise']})")
    for row in measured["memory"]:
        print(f"{row['runs']:>6} short runs: {row['memory_mib']} MiB, {row['seconds']} s")


if __name__ == "__main__":
    sys.exit(main())
