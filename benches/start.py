"""Measure the cost of short commands, from the start of the process to its end.

    python benches/start.py             each command ten times
    python benches/start.py --json      the same for programs

Scripts start `gingham run` thousands of times, and people wait for it. The commands measured are
therefore runs of a few milliseconds, with and without a folder and a picture, and commands that
print. `processor_seconds` is user plus system time, `wall_seconds` the waiting time on an idle
machine; both are medians, without a first run that loads all files into memory. `libraries_seconds`
is the processor time of a Python that only imports the libraries which the command needs. The rest
is Gingham's own, and has a limit per command, so that the result does not depend on the speed of
the libraries. A core built without checks, as in wheels, is a little faster.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TIMES = 10
SMALL = ["run", "torus", "--set", "stop.time=100 us", "--force"]
TABLES = "click, rich.table, rich.console"
# By command: its arguments, the libraries it needs, and the limit on its own seconds beside them.
COMMANDS: dict[str, tuple[list[str], str, float | None]] = {
    "help": (["--help"], "click", 0.05),
    "explain": (["explain", "load"], TABLES, 0.1),
    "run": (SMALL, TABLES, 0.1),
    "run-folder": ([*SMALL, "-o", "out"], f"{TABLES}, pyarrow.parquet", 0.12),
    "run-folder-picture": (
        [*SMALL, "-o", "out", "--plot", "out.png"],
        f"{TABLES}, pyarrow.parquet, matplotlib.figure",
        None,
    ),
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        rows = [measured(name) for name in COMMANDS]
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        report(rows)
    return 0


def measured(name: str) -> dict[str, Any]:
    """Return the row of a command."""
    arguments, libraries, promise = COMMANDS[name]
    program = str(Path(sys.executable).parent / "gingham")
    wall, processor = medians([program, *arguments])
    _, least = medians([sys.executable, "-c", f"import {libraries}"])
    return {
        "row": name,
        "wall_seconds": wall,
        "processor_seconds": processor,
        "libraries_seconds": least,
        "own_seconds": round(processor - least, 3),
        "promise": promise,
    }


def medians(command: list[str]) -> tuple[float, float]:
    """Return the median wall and processor seconds of a command, after a first time."""
    timed(command)
    walls, processors = zip(*(timed(command) for _ in range(TIMES)), strict=True)
    return round(statistics.median(walls), 3), round(statistics.median(processors), 3)


def timed(command: list[str]) -> tuple[float, float]:
    """Return the wall and processor seconds of a command; raise an error if it fails."""
    before, begin = used(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin, used() - before


def used() -> float:
    """Return the processor seconds of all commands that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def report(rows: list[dict[str, Any]]) -> None:
    """Print the measurements as a table."""
    for row in rows:
        promise = f" (promise: {row['promise']})" if row["promise"] else ""
        print(
            f"{row['row']:20} wall {row['wall_seconds']:.3f} s"
            f"  processor {row['processor_seconds']:.3f} s, of which libraries"
            f" {row['libraries_seconds']:.3f} s, ours {row['own_seconds']:.3f} s{promise}"
        )


if __name__ == "__main__":
    sys.exit(main())
