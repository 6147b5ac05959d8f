"""Measure what each parameter of a router is worth in saturation, as tables for a page.

    python benches/routers.py                    all of it, some minutes of two processors
    python benches/routers.py --seeds 3 --time "200 us"     less of it
    python benches/routers.py --only mesh        one network

Every host of a network offers a flit a cycle, more than any of them can take, so that what is
accepted does not depend on the load. Each row changes one parameter of the preset `booksim-iq`, and
is told with the interval of 95 % of its mean over the seeds, and how much that is more than without
the change: of the same seeds, so that the difference is known better than either.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from gingham.sweeps import Sweep, run_sweep

REST = """
[network]
preset = "booksim-iq"
lanes = {{ count = {lanes}, depth = {depth} }}

[[traffic]]
arrivals = "bernoulli"
load = 1.0
length = {{ fixed = "{bytes} B" }}

[stop]
time = "{time}"
warm_up = "{warm_up}"

[measure]
messages = "none"
"""
MESH = """
[topology.generate.mesh]
dimensions = [8, 8]

[routing]
algorithm = "dimension-order"
"""
# Name, fabric, lanes, flits of each, flits of a packet.
NETWORKS = {
    "mesh": ("8x8 mesh, one lane of 8 flits, packets of 20", MESH, 1, 8, 20),
    "mesh-4": ("8x8 mesh, four lanes of 8 flits, packets of 20", MESH, 4, 8, 20),
}
LANES = "network.lanes."
# A name, and the keys that it changes.
CHANGES: dict[str, dict[str, Any]] = {
    "booksim-iq": {},
    "an output lane as deep as a lane buffer": {LANES + "output_depth": 8},
    "an output lane of one flit": {LANES + "output_depth": 1},
    "lanes given again with the tail": {LANES + "reallocation": "tail"},
    "lanes given again with the tail's credit": {LANES + "reallocation": "tail-credit"},
    "credits as fast as the cable": {LANES + "credit_delay": 0},
    "credits 4 cycles slower": {LANES + "credit_delay": 5},
    "routing in no cycle": {LANES + "routing_cycles": 0},
    "routing in 3 cycles": {LANES + "routing_cycles": 3},
    "a packet on each lane of a host": {LANES + "injection": "one-a-lane"},
    "buffers of 16 flits": {LANES + "depth": 16},
    "matched until nothing is left": {LANES + "allocator": "maximal"},
    "hosts that send to themselves, too": {"traffic.0.destinations": {"uniform": {"itself": True}}},
    "Poisson arrivals": {"traffic.0.arrivals": "poisson"},
    "the switch of yum-1600, on the same lanes": {
        LANES + "output_depth": 8,
        LANES + "reallocation": "tail",
        LANES + "credit_delay": 0,
        LANES + "allocator": "maximal",
        LANES + "injection": "one-a-lane",
    },
}


def sweep_of(network: str, seeds: int, time: str, warm_up: str, folder: Path) -> Sweep:
    """Return the sweep over all changes of a network; its file stands in the folder."""
    title, fabric, lanes, depth, flits = NETWORKS[network]
    rest = REST.format(lanes=lanes, depth=depth, bytes=16 * flits, time=time, warm_up=warm_up)
    (folder / "base.toml").write_text(f'title = "{title}"\n{fabric}{rest}')
    lines = [f'title = "{title}"', 'base = "base.toml"', f"replications = {seeds}", "[[axis]]"]
    lines += ['name = "change"', "[axis.choices]"]
    for name, keys in CHANGES.items():
        written = ", ".join(f'"{key}" = {toml(value)}' for key, value in keys.items())
        lines.append(f'"{name}" = {{ {written} }}')
    (folder / "sweep.toml").write_text("\n".join(lines) + "\n")
    return Sweep.load(folder / "sweep.toml")


def toml(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(of)}" for key, of in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def main() -> None:
    """Measure, and print a table for each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--time", default="50 us", help="1 ns is a cycle under booksim-iq")
    parser.add_argument("--warm-up", default="10 us")
    parser.add_argument("--only", choices=NETWORKS, action="append")
    asked = parser.parse_args()
    for network in asked.only or NETWORKS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            sweep = sweep_of(network, asked.seeds, asked.time, asked.warm_up, folder)
            results = run_sweep(sweep, folder / "runs")
            print(f"\n{NETWORKS[network][0]}\n")
            print("| | flits for each host and cycle | more |\n|---|---|---|")
            for row in results.means("accepted_load").to_pylist():
                more = ""
                if row["change"] != "booksim-iq":
                    pair = {"change": row["change"]}, {"change": "booksim-iq"}
                    (found,) = results.compare(*pair, of="accepted_load").to_pylist()
                    base = row["mean"] - found["difference"]
                    share, width = found["difference"] / base, found["half_width"] / base
                    more = f"{share:+.1%} ± {width:.1%}".replace("%", " %")
                print(f"| {row['change']} | {row['mean']:.4f} ± {row['half_width']:.4f} | {more} |")


if __name__ == "__main__":
    main()
