"""Measure what small commands cost: seconds of a processor, from their start to their end.

    python benches/start.py             each command ten times
    python benches/start.py --json      the same for programs

Scripts start `gingham run` thousands of times, and people wait for it; so what counts here are a
run of a few milliseconds, with and without its folder and its picture, and commands that print.
`processor_seconds` is user and system time together, `wall_seconds` what a person waits where no
other program works; both are medians. A first time, after which all files are in memory, is not
counted. `libraries_seconds` is the processor time of a Python that imports what the command cannot
do without and nothing else. The rest is ours, and of that there is a promise, so that a machine is
held against itself; a core that is built without checks, as in wheels, is a little faster.
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
# The arguments, the libraries that the command needs, and what it may take beside them.
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
    """Return the wall and processor seconds of a command; an error if it fails."""
    before, begin = used(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin, used() - before


def used() -> float:
    """Return the processor seconds of all commands that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def report(rows: list[dict[str, Any]]) -> None:
    """Print it for people."""
    for row in rows:
        promise = f" (promise: {row['promise']})" if row["promise"] else ""
        print(
            f"{row['row']:20} wall {row['wall_seconds']:.3f} s"
            f"  processor {row['processor_seconds']:.3f} s, of which libraries"
            f" {row['libraries_seconds']:.3f} s, ours {row['own_seconds']:.3f} s{promise}"
        )


if __name__ == "__main__":
    sys.exit(main())
