"""Fit the cost constants of the column stepper in `choice.rs` to instruction counts.

    python benches/columns.py               the constants, and how far each scenario is off
    python benches/columns.py --json        the same, and each scenario, for programs

Each scenario is run by ports and by columns, and valgrind counts the instructions of both as for
`bench.py`, without those at the ends of sections, which are rare in a long run. Runs are long
enough that most pairs of hosts that communicate do so repeatedly, because columns record the path
of a pair at its first packet. The saving of columns in a tick is modelled as

    flits * SAVED_BY_FLIT + heads * SAVED_BY_HEAD - fixed cost of columns

where flits are those leaving switches in a tick, and heads the head flits among them. The fixed
cost, for each 64 switches of `ports` ports and `lanes` lanes (a power of two), is

    ports * lanes * COST_OF_LANE + ports**2 * COST_OF_PAIR

The constants minimise the squared errors, each relative to the instructions of the port stepper.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench import ROOT, Row, build, counted, timed

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("SAVED_BY_FLIT", "SAVED_BY_HEAD", "COST_OF_LANE", "COST_OF_PAIR")
MESH = """
[topology.generate.mesh]
dimensions = [{0}, {0}]

[routing]
algorithm = "dimension-order"
"""
TREE = """
[topology.generate.k-ary-n-tree]
arity = {0}
levels = {1}

[routing]
algorithm = "shortest-path"
"""
# By fabric: its scenario, the ports of each 64 switches, a load near break-even, and a load at
# which columns save.
FABRICS = {
    "mesh-8x8": (MESH.format(8), [5], (0.03, 0.2)),
    "tree-4-3": (TREE.format(4, 3), [8], (0.05, 0.3)),
    "tree-8-2": (TREE.format(8, 2), [16], (0.05, 0.4)),
}
REST = """
[network]
preset = "yum-1600"
cable_length = "0 m"

[network.lanes]
count = {lanes}
depth = 8

[[traffic]]
load = {load}
length = {{ fixed = "{bytes} B" }}

[stop]
time = "{time} us"
warm_up = "0 ps"
follow = "0 ps"
"""
LANES = (1, 4, 8)
# By packet length in flits: the indices of its loads.
FLITS = {1: (1,), 20: (0, 1)}
FLIT_BYTES = 16
TIME_US = 300


def main() -> int:
    """Count instructions, fit the constants and print them."""
    what = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    what.add_argument("--json", action="store_true", help="one JSON object at the end")
    what.add_argument("--target-dir", default=str(ROOT / "target"), help="Cargo's target folder")
    options = what.parse_args()
    binary = build(options.target_dir, list(FABRICS))
    rows = [
        row
        for fabric, lanes, flits in itertools.product(FABRICS, LANES, FLITS)
        for row in measured(binary, fabric, lanes, flits)
    ]
    constants = fitted(rows)
    for row in rows:
        row["saved_by_constants"] = float(np.dot(terms(row), list(constants.values())))
    if options.json:
        print(json.dumps({"constants": constants, "rows": rows}))
        return 0
    for name, value in constants.items():
        print(f"{name:24} {value:8.1f}")
    for row in rows:
        print(line_of(row))
    return 0


def measured(binary: Path, fabric: str, lanes: int, flits: int) -> Iterator[Row]:
    """Yield the instructions of ports and columns over one fabric, at each of its loads."""
    text, radixes, loads = FABRICS[fabric]
    for load in (loads[at] for at in FLITS[flits]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scenario.toml"
            what = {"lanes": lanes, "load": load, "bytes": flits * FLIT_BYTES, "time": TIME_US}
            path.write_text(text + REST.format(**what))
            run, _ = timed([binary, path, "columns"])
            setup, _ = counted([binary, path, "none"])
            row = {"fabric": fabric, "lanes": lanes, "flits": flits, "load": load}
            row["radixes"] = radixes
            row["flit_hops"] = run["flit_hops"] / run["cycles"]
            row["head_hops"] = row["flit_hops"] / flits
            for engine in ("ports", "columns"):
                whole, sections = counted([binary, path, engine, "--bare"])
                row[engine] = (whole - setup - sections) / run["cycles"]
        print(line_of(row), file=sys.stderr, flush=True)
        yield row


def terms(row: Row) -> list[float]:
    """Return the factors of the constants for one scenario."""
    lanes = sum(row["radixes"]) * row["lanes"]
    pairs = sum(radix * radix for radix in row["radixes"])
    return [row["flit_hops"], row["head_hops"], -lanes, -pairs]


def fitted(rows: list[Row]) -> dict[str, float]:
    """Return the fitted constants."""
    weights = np.array([1 / row["ports"] for row in rows])
    left = np.array([terms(row) for row in rows]) * weights[:, None]
    right = np.array([row["ports"] - row["columns"] for row in rows]) * weights
    found = np.linalg.lstsq(left, right, rcond=None)[0]
    return dict(zip(NAMES, map(float, found), strict=True))


def line_of(row: Row) -> str:
    """Return a scenario as a line of the table, with the fitted prediction if there is one."""
    saved = row["ports"] - row["columns"]
    line = (
        f"{row['fabric']:10} {row['lanes']:2} lanes {row['flits']:3} flits  load {row['load']:.2f}"
        f"  {row['flit_hops']:8.2f} flit-hops a tick  ports {row['ports']:10.0f}"
        f"  columns {row['columns']:10.0f}  saved {saved:10.0f}"
    )
    if "saved_by_constants" not in row:
        return line
    said = row["saved_by_constants"]
    return f"{line}  by constants {said:10.0f}{'' if (saved > 0) == (said > 0) else '  (wrong)'}"


if __name__ == "__main__":
    sys.exit(main())
