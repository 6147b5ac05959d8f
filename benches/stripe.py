"""Measure the cost per packet of both ends of a stripe of 8 channels: rows of `bench.py`.

The bench's own work (mode `none`) is subtracted, except for the scheduler alone. Times are the best
of several runs; instructions are the difference of a long and a short run, which excludes set-up.
`crates/bench/src/bin/stripe.rs` describes the modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bench

if TYPE_CHECKING:
    from pathlib import Path

MODES = ("select", "path", "pipe", "guaranteed", "daemon")
NAME = "stripe-8"
# Runs are short, so that some of them have the core to themselves.
PACKETS = 200_000
COUNTED_PACKETS = 100_000
RUNS = 50


def measure(binary: Path, mode: str, *, count: bool) -> dict[str, object]:
    """Return the measurements of one row."""
    own = 0 if mode == "select" else 1
    nanoseconds = seconds_of(binary, mode) - own * seconds_of(binary, "none")
    instructions = None
    if count and bench.shutil.which("valgrind"):
        instructions = counted(binary, mode) - own * counted(binary, "none")
    return {
        "row": NAME,
        "engine": mode,
        "ns_per_packet": 1e9 * nanoseconds / PACKETS,
        "instructions_per_packet": instructions,
    }


def seconds_of(binary: Path, mode: str) -> float:
    """Return the shortest time of several runs."""
    runs = (bench.timed([binary, PACKETS, mode])[0] for _ in range(RUNS))
    return min(float(str(run["seconds"])) for run in runs)


def counted(binary: Path, mode: str) -> float:
    """Return the instructions per packet."""
    few, many = (bench.counted([binary, n * COUNTED_PACKETS, mode])[0] for n in (1, 2))
    return (many - few) / COUNTED_PACKETS


def line_of(row: dict[str, object]) -> str:
    """Return a row as a line of the table."""
    line = f"{row['row']:18} {row['engine']:10}  {row['ns_per_packet']:8.1f} ns"
    instructions = row["instructions_per_packet"]
    if instructions is None:
        return f"{line} a packet"
    change = f" ({100 * (instructions / row['baseline'] - 1):+.1f} %)" if row["baseline"] else ""
    return f"{line}{instructions:9.2f} instructions{change} a packet"
