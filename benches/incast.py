"""Measure an incast among other traffic on a real cluster: gain of its victims, loss at its root.

    python benches/incast.py                       ../shared/data/fabrics/dgx-ndr-542.ibnetdiscover
    python benches/incast.py DUMP --seeds 3 --time "3 ms" --senders 32 --load 0.2

Evenly spaced hosts send to the first host for ever; all hosts, the victims, send to each other at
`--load`. Four settings are compared: no control, input-output-triggered marks with LIPD,
InfiniBand's annex A10 (FECN, BECN), and RED with DCQCN. Flows have windows of 32 packets in all
settings except DCQCN, whose notifications do not drive a window.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import gingham
from gingham.results import interval

DUMP = Path("../shared/data/fabrics/dgx-ndr-542.ibnetdiscover")
SETTINGS: dict[str, tuple[Any, str]] = {
    "no control": (None, "fixed"),
    "marks, LIPD": ({"input-output-triggered": {"threshold": 16}}, "lipd"),
    "FECN, BECN": ("fecn", "becn"),
    "RED, DCQCN": ({"red": {"k_min": "50 kB", "k_max": "400 kB", "p_max": 0.2}}, "dcqcn"),
}
SCENARIO = """
topology.file = {dump}
[[traffic]]
name = "incast"
hosts = {senders}
destinations.host = {root}
arrivals = "backlogged"
window.packets = 32
[[traffic]]
name = "others"
load = {load}
window.packets = 32
[stop]
time = {time}
warm_up = {warm_up}
"""
# Columns of the report: name and description with unit.
COLUMNS = {
    "root": "share of the link to the busy host that the incast fills",
    "others": "load of the others that was accepted, of that which was offered",
    "mean_us": "mean latency of the others",
    "p99_us": "99 % of the others arrive within",
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dump", nargs="?", type=Path, default=DUMP, help="a fabric")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each setting")
    parser.add_argument("--senders", type=int, default=32, help="hosts that send to the busy one")
    parser.add_argument("--load", type=float, default=0.1, help="what all send to each other")
    parser.add_argument("--time", default="1 ms", help="length of a run")
    parser.add_argument("--warm-up", default="300 us", help="of which so much does not count")
    parser.add_argument("-j", "--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    began = time.monotonic()
    base = scenario(options)
    asked = list(product(SETTINGS, range(1, options.seeds + 1)))
    with ThreadPoolExecutor(options.workers) as pool:
        rows = list(pool.map(lambda of: measured(base, options, *of), asked))
    seconds = time.monotonic() - began
    table = {
        setting: {
            name: interval(
                [row[name] for (of, _), row in zip(asked, rows, strict=True) if of == setting]
            )
            for name in COLUMNS
        }
        for setting in SETTINGS
    }
    if options.json:
        told = {
            setting: {name: [of.mean, of.half_width] for name, of in row.items()}
            for setting, row in table.items()
        }
        print(json.dumps({"seconds": seconds, "settings": told}, indent=2))
        return 0
    for name, meaning in COLUMNS.items():
        print(f"{name:8} {meaning}")
    print(f"\n{'':14}" + "".join(f"{name:>20}" for name in COLUMNS))
    for setting, row in table.items():
        cells = [f"{of.mean:.3f} ± {of.half_width or 0:.3f}" for of in row.values()]
        print(f"{setting:14}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"\n{len(rows)} runs in {seconds:.0f} s")
    return 0


def scenario(options: argparse.Namespace) -> gingham.Scenario:
    """Return the scenario without congestion control."""
    nodes = gingham.Fabric.load(options.dump).nodes
    hosts = [node.name for node in nodes if node.kind == "host"]
    others = hosts[1:]
    senders = others[:: max(1, len(others) // options.senders)][: options.senders]
    text = SCENARIO.format(
        dump=json.dumps(str(options.dump.absolute())),
        root=json.dumps(hosts[0]),
        senders=json.dumps(senders),
        load=options.load,
        time=json.dumps(options.time),
        warm_up=json.dumps(options.warm_up),
    )
    return gingham.Scenario.parse(text, name="incast")


def measured(
    base: gingham.Scenario, options: argparse.Namespace, setting: str, seed: int
) -> dict[str, float]:
    """Run a setting, and return its results by column."""
    marking, response = SETTINGS[setting]
    notified = {"acknowledged": {"marked": "50 us"}} if response == "dcqcn" else {"packets": 32}
    changes: dict[str, Any] = {
        f"traffic.{index}.window": notified | {"response": response} for index in (0, 1)
    }
    changes["seed"] = seed
    if marking is not None:
        changes["network.marking"] = marking
    incast, others = gingham.run(base.with_(changes)).classes
    by_share = {of["percentile"]: of["latency_ns"] for of in others["percentiles"]}
    return {
        "root": options.senders * incast["accepted_load"],
        "others": others["accepted_load"] / others["offered_load"],
        "mean_us": others["latency_mean_ns"] / 1000,
        "p99_us": by_share[99] / 1000,
    }


if __name__ == "__main__":
    raise SystemExit(main())
