"""Count what columns save and cost: the constants of `crates/fabric/src/lanes/columns/choice.rs`.

    python benches/columns.py               the constants, and how far each scenario is off
    python benches/columns.py --json        the same, and each scenario, for programs

Each scenario is run by ports and by columns, and the instructions of both are counted by valgrind,
as `bench.py` counts them. What columns save in a tick is taken for

    flits * SAVED_BY_FLIT + heads * SAVED_BY_HEAD - cost of columns whatever moves

where flits are those that leave switches in a tick, and heads the first ones among them; the cost
is, of each 64 switches of `ports` ports and `lanes` lanes (a power of two),

    ports * (COST_OF_PORT + COST_OF_LANE * lanes)
    + ports**2 * (COST_OF_PAIR + COST_OF_PAIR_AND_LANE * lanes)

The constants are those with the least squares of errors, each as a share of what ports take, none
of them below zero but what a head saves.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from bench import ROOT, build, counted, timed

NAMES = (
    "SAVED_BY_FLIT",
    "SAVED_BY_HEAD",
    "COST_OF_PORT",
    "COST_OF_LANE",
    "COST_OF_PAIR",
    "COST_OF_PAIR_AND_LANE",
)
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
# The fabric, the ports of each 64 switches, and loads at which columns cost and save about as much,
# and at which they save.
FABRICS = {
    "mesh-8x8": (MESH.format(8), [5], (0.03, 0.2)),
    "mesh-16x16": (MESH.format(16), [5] * 4, (0.02, 0.15)),
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
FLITS = (1, 4, 20)
FLIT_BYTES = 16
TIME_US = 60


def main() -> int:
    """Count, fit, print."""
    what = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    what.add_argument("--json", action="store_true", help="one JSON object at the end")
    what.add_argument("--target-dir", default=str(ROOT / "target"), help="Cargo's target folder")
    options = what.parse_args()
    binary = build(options.target_dir)
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


def measured(binary: Path, fabric: str, lanes: int, flits: int) -> list[dict[str, object]]:
    """Return what ports and columns take over one fabric, at each of its loads."""
    text, radixes, loads = FABRICS[fabric]
    rows = []
    setup = None
    with tempfile.TemporaryDirectory() as folder:
        for load in loads:
            path = Path(folder) / f"{load}.toml"
            what = {"lanes": lanes, "load": load, "bytes": flits * FLIT_BYTES, "time": TIME_US}
            path.write_text(text + REST.format(**what))
            if setup is None:
                setup, _ = counted([binary, path, "none"])
            run, _ = timed([binary, path, "columns"])
            ticks = run["cycles"]
            row = {
                "fabric": fabric,
                "lanes": lanes,
                "flits": flits,
                "load": load,
                "radixes": radixes,
            }
            row["flit_hops"] = run["flit_hops"] / ticks
            row["head_hops"] = run["flit_hops"] / flits / ticks
            for engine in ("ports", "columns"):
                whole, _ = counted([binary, path, engine, "--bare"])
                row[engine] = (whole - setup) / ticks
            rows.append(row)
            print(f"{fabric} {lanes} lanes, {flits} flits, load {load}", file=sys.stderr)
    return rows


def terms(row: dict[str, object]) -> list[float]:
    """Return what each constant is multiplied with."""
    radixes, lanes = row["radixes"], row["lanes"]
    one, two = sum(radixes), sum(radix * radix for radix in radixes)
    return [row["flit_hops"], row["head_hops"], -one, -one * lanes, -two, -two * lanes]


def fitted(rows: list[dict[str, object]]) -> dict[str, float]:
    """Return the constants."""
    weights = np.array([1 / row["ports"] for row in rows])
    left = np.array([terms(row) for row in rows]) * weights[:, None]
    right = np.array([row["ports"] - row["columns"] for row in rows]) * weights
    taken = list(range(len(NAMES)))
    while True:
        found = dict(zip(taken, np.linalg.lstsq(left[:, taken], right, rcond=None)[0], strict=True))
        least = min((at for at in taken if NAMES[at] != "SAVED_BY_HEAD"), key=lambda at: found[at])
        if found[least] >= 0:
            return {name: float(found.get(at, 0.0)) for at, name in enumerate(NAMES)}
        taken.remove(least)


def line_of(row: dict[str, object]) -> str:
    """Return a scenario as a line of the table."""
    saved = row["ports"] - row["columns"]
    verdict = "" if (saved > 0) == (row["saved_by_constants"] > 0) else "  chosen wrongly"
    return (
        f"{row['fabric']:10} {row['lanes']:2} lanes {row['flits']:3} flits  load {row['load']:.2f}"
        f"  {row['flit_hops']:8.2f} flit-hops a tick  ports {row['by_ports']:10.0f}"
        f"  columns {row['columns']:10.0f}  saved {saved:10.0f}"
        f"  by constants {row['saved_by_constants']:10.0f}{verdict}"
    )


if __name__ == "__main__":
    sys.exit(main())
