"""What a large fabric costs before a flit moves: rows of `bench.py`.

Each row generates a fabric, routes it and proves the routes free of deadlock, in one process; every
step has its time, and the peak of the process's memory after it. `crates/bench/src/bin/setup.rs`
says how to measure other fabrics.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import bench

if TYPE_CHECKING:
    from pathlib import Path

# The fabric, the algorithm, the form of the routes.
ROWS = {
    "setup-mesh-4096": ({"mesh": {"dimensions": [64, 64]}}, "dimension-order", "source"),
    "setup-tree-15625": ({"k-ary-n-tree": {"arity": 25, "levels": 3}}, "up-down", "source"),
    "setup-tree-101306": ({"fat-tree": {"ports": 74, "levels": 3}}, "up-down", "table"),
}
STEPS = ("generate", "route", "prove")


def measure(binary: Path, name: str) -> dict[str, object]:
    """Return the numbers of one row."""
    generator, algorithm, form = ROWS[name]
    run, _ = bench.timed([binary, json.dumps(generator), algorithm, form])
    if not run["is_free"]:
        message = f"{name}: these routes can deadlock"
        raise RuntimeError(message)
    return {"row": name, "engine": algorithm, **run}


def line_of(row: dict[str, object]) -> str:
    """Return a row as a line of the table."""
    steps = (f"{step} {row[step]['seconds']:7.2f} s" for step in STEPS)  # type: ignore[index]
    peak = row["prove"]["peak_mib"]  # type: ignore[index]
    what = f"{row['row']:18} {row['engine']:15} {row['hosts']:6} hosts"
    return f"{what}  {'  '.join(steps)}  {peak:6} MiB"
