"""Compare the accepted load of `booksim-iq` at an offered load of 1 with BookSim2, row by row.

    python benches/booksim.py                       the table of docs/how-to/booksim.md, 2 minutes
    python benches/booksim.py --seeds 2 --cycles 4000      a quick look

BookSim2 is commit 28f43299 with one seed and its default delays, which are `routing_cycles = 1` and
`credit_delay = 1` here. Channels of its torus take two cycles: cables of 1 m and
`credit_delay = 2`. Two variants show the size of the differences that other rules make: the delays
of the preset (heads routed a switch ahead), and allocators that iterate until no further match is
possible.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import gingham
from gingham.results import interval

UNIFORM: dict[str, Any] = {"uniform": {"itself": True}}
FLIT_BYTES = 16


@dataclass(frozen=True)
class Row:
    """A network, its traffic, and the load that BookSim2 accepts, in flits per node and cycle."""

    topology: str
    lanes: int
    flits: int
    destinations: dict[str, Any] | str
    theirs: float

    def name(self) -> str:
        """Return the row's label in the table."""
        pattern = self.destinations if isinstance(self.destinations, str) else "uniform"
        plural = "s" if self.lanes > 1 else ""
        flits = "a flit" if self.flits == 1 else f"{self.flits} flits"
        return f"8x8 {self.topology}, {self.lanes} lane{plural}, packets of {flits}, {pattern}"

    def scenario(self, cycles: int) -> gingham.Scenario:
        """Return the scenario of the row with BookSim2's default delays."""
        is_torus = self.topology == "torus"
        ties = '{ dimension-order = { ties = "alternate" } }'
        extra = 'credit_delay = 2, datelines = "by-wrap"' if is_torus else "credit_delay = 1"
        text = f"""
        topology.generate.{self.topology}.dimensions = [8, 8]
        routing.algorithm = {ties if is_torus else '"dimension-order"'}
        stop = {{ time = "{cycles} ns", warm_up = "{cycles // 4} ns" }}
        [network]
        preset = "booksim-iq"
        cable_length = "{int(is_torus)} m"
        lanes = {{ count = {self.lanes}, routing_cycles = 1, {extra} }}
        [[traffic]]
        arrivals = "bernoulli"
        load = 1.0
        length.fixed = "{FLIT_BYTES * self.flits} B"
        """
        scenario = gingham.Scenario.parse(text, name="booksim")
        return scenario.with_({"traffic.0.destinations": self.destinations})


ROWS = [
    Row("mesh", 1, 20, UNIFORM, 0.2281),
    Row("mesh", 1, 1, UNIFORM, 0.1423),
    Row("mesh", 2, 20, UNIFORM, 0.3300),
    Row("mesh", 2, 1, UNIFORM, 0.2894),
    Row("mesh", 4, 1, UNIFORM, 0.3835),
    Row("mesh", 2, 1, "tornado", 0.0989),
    Row("mesh", 2, 1, "bit-complement", 0.0842),
    Row("torus", 4, 1, UNIFORM, 0.4203),
    Row("torus", 4, 1, "tornado", 0.06635),
    Row("torus", 4, 1, "bit-complement", 0.24825),
]


def preset_delays(row: Row) -> dict[str, Any]:
    """Return the changes that restore the delays of the preset."""
    credit = 3 if row.topology == "torus" else 2
    return {"network.lanes.routing_cycles": 0, "network.lanes.credit_delay": credit}


def maximal(_row: Row) -> dict[str, Any]:
    """Return the changes that make the allocators find maximal matchings."""
    return {"network.lanes.allocator": "maximal", "network.lanes.vc_allocator": "maximal"}


def accepted(row: Row, cycles: int, seed: int, changes: dict[str, Any] | None = None) -> float:
    """Return the flits that a host accepts per cycle."""
    run = gingham.run(row.scenario(cycles).with_(changes, seed=seed))
    return float(run.classes[0]["accepted_flits_per_host_cycle"])


def short(number: float) -> str:
    """Return a number in the format of the page, with a fifth digit unless that is zero.

    >>> short(0.33), short(0.24825)
    ('.3300', '.24825')
    """
    return f"{number:.5f}".removeprefix("0").removesuffix("0")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4, help="seeds of each row")
    parser.add_argument("--cycles", type=int, default=10_000, help="cycles of each run")
    asked = parser.parse_args()
    print("| network | BookSim2 | here | difference | delays of the preset | maximal allocators |")
    print("|---|---|---|---|---|---|")
    for row in ROWS:
        seeds = range(1, asked.seeds + 1)
        found = interval([accepted(row, asked.cycles, seed) for seed in seeds])
        others = [
            accepted(row, asked.cycles, 1, of(row)) / row.theirs - 1
            for of in (preset_delays, maximal)
        ]
        around = f" ± {found.half_width:.4f}" if found.half_width is not None else ""
        ours = f"{found.mean:.4f}{around}".replace("0.", ".")
        cells = [row.name(), short(row.theirs), ours]
        cells += [f"{100 * of:+.1f} %" for of in (found.mean / row.theirs - 1, *others)]
        print("|", " | ".join(cells), "|", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
