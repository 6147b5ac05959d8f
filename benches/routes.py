"""Measure the cost of routing a random irregular fabric: rows of `bench.py`.

`routes-64` is the largest fabric of Flich et al. 2001; `routes-1000` has 1,000 switches of 36
ports, half of them with hosts, and its hosts share the paths of their switches. Time is that of
routing alone; peak memory includes the fabric. `crates/bench/src/bin/routes.rs` describes the
modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import bench

if TYPE_CHECKING:
    from pathlib import Path

# By row: switches, ports per switch, hosts per switch, and the owners of paths.
ROWS = {
    "routes-64": (64, 8, 4, "hosts"),
    "routes-1000": (1000, 36, 18, "switches"),
}
MODES = ("any", "fewest", "simple")


def measure(binary: Path, name: str, mode: str) -> dict[str, object]:
    """Return the measurements of one row."""
    *shape, spread = ROWS[name]
    run, peak_kib = bench.timed([binary, *shape, mode, spread])
    return {
        "row": name,
        "engine": mode,
        "hosts": run["hosts"],
        "seconds": run["seconds"],
        "peak_mib": peak_kib / 1024,
    }


def line_of(row: dict[str, object]) -> str:
    """Return a row as a line of the table."""
    return (
        f"{row['row']:18} {row['engine']:10}  {row['hosts']:6} hosts"
        f"  {row['seconds']:8.3f} s  {row['peak_mib']:6.1f} MiB"
    )
