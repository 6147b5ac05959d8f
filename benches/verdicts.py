"""Measure how often verdicts are wrong: runs of several lengths, below and above saturation.

    python benches/verdicts.py                    the table of docs/concepts/measurement.md
    python benches/verdicts.py --seeds 4 --longest 30     fewer runs; runs that are there stay
    python benches/verdicts.py --saturation       the saturation loads of the fabrics

The complete set takes some eight minutes of one processor and resumes after an interruption: runs
are stored as sweeps in `runs/verdicts`. Exits with 5 if a limit is missed: at most one in a hundred
runs at 1.05 of saturation or more may be ok, and at most one in twenty below 0.8 with 20,000
messages in the window may have another verdict.

The saturation load of a fabric is found independently of verdicts, from runs a hundred times as
long as the median length: the highest load with a backlog that grows, in the second half of the
run, by less than a four-hundredth of the messages created.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gingham
from gingham.sweeps import Sweep, run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from gingham.results import Results

FOLDER = Path("runs/verdicts")
MESH = """
title = "4x4 mesh of two lanes"
topology.generate.mesh.dimensions = [4, 4]
routing.algorithm = "dimension-order"
network = { preset = "yum-1600", link_rate = "40 MB/s", lanes = { count = 2 } }
[[traffic]]
load = 0.3
length = { exponential = "512 B" }
[stop]
time = "10 ms"
"""
CLUSTER = """
title = "irregular cluster of 64 hosts"
topology.file = "cluster.ibnetdiscover"
routing.algorithm = "up-down"
network.preset = "myrinet-1280"
[[traffic]]
load = 0.05
length = { fixed = "512 B" }
[stop]
time = "10 ms"
"""
# Saturation load of each fabric, as found by `--saturation`.
SATURATION = {"torus": 0.197, "cluster": 0.098, "mesh": 0.557}
SHARES = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.05, 1.1, 1.2, 1.3]
TIMES_MS = [1, 3, 10, 30, 100]
SEEDS = 20
NS_PER_MS = 1_000_000

# Shares of the saturation load at and above which no run should be ok, and below which each should.
BEYOND, BELOW = 1.05, 0.8
MESSAGES_ENOUGH = 20_000
FALSE_OK_MAX, MISSED_MAX = 0.01, 0.05

LONG_MS = 1_000
LONG_SHARES = [0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06]
GROWTH = 1 / 400


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--saturation", action="store_true", help="measure where fabrics saturate")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="runs of each load and time")
    parser.add_argument("--longest", type=int, default=TIMES_MS[-1], help="longest run, in ms")
    parser.add_argument("-j", "--workers", type=int, default=2, help="runs at a time")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if options.saturation:
        found: Any = saturations(options.workers)
        print(json.dumps(found, indent=2))
        return 0
    times = [ms for ms in TIMES_MS if ms <= options.longest]
    rows = [row for name in SATURATION for row in runs(name, times, options.seeds, options.workers)]
    limits = wrong(rows)
    if options.json:
        print(json.dumps({"points": points(rows), **limits}, indent=2))
    else:
        report(rows, limits)
    return 0 if all(one["met"] for one in limits.values()) else 5


def base(name: str) -> gingham.Scenario:
    """Return the scenario of a fabric."""
    if name == "torus":
        return gingham.Scenario.example("torus")
    if name == "mesh":
        return gingham.Scenario.parse(MESH, name="mesh")
    file = FOLDER / "cluster.ibnetdiscover"
    if not file.exists():
        options = {"switches": 16, "ports": 8, "hosts_per_switch": 4}
        gingham.Fabric.make("irregular", seed=1, **options).save(file)
    return gingham.Scenario.parse(CLUSTER, name="cluster", folder=FOLDER)


def runs(name: str, times: list[int], seeds: int, workers: int) -> list[dict[str, Any]]:
    """Make the missing runs of a fabric, and return a row for each run."""
    loads = {share: round(share * SATURATION[name], 6) for share in SHARES}
    values = {
        "title": f"{name}: verdicts",
        "replications": seeds,
        "axis": [
            # The outermost axis, so that short runs come first.
            {"name": "time", "key": "stop.time", "values": [f"{ms} ms" for ms in times]},
            {"name": "asked", "key": "traffic.0.load", "values": list(loads.values())},
        ],
    }
    sweep = Sweep.make(values, base=base(name), name=name)
    folder = FOLDER / name
    results: Results = run_sweep(sweep, folder, workers=workers, resume=folder.exists())
    columns = "time, asked, verdict, messages_followed"
    found = results.query(f"select {columns} from runs order by point").to_pylist()  # noqa: S608
    shares = {load: share for share, load in loads.items()}
    return [{"fabric": name, "share": shares[row["asked"]], **row} for row in found]


def wrong(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the number of wrong verdicts of each type, and whether it is within its limit."""
    beyond = [row for row in rows if row["share"] >= BEYOND]
    below = [
        row for row in rows if row["share"] < BELOW and row["messages_followed"] >= MESSAGES_ENOUGH
    ]
    return {
        "false_ok": share_of(beyond, lambda row: row["verdict"] == "ok", FALSE_OK_MAX),
        "missed": share_of(below, lambda row: row["verdict"] != "ok", MISSED_MAX),
    }


def share_of(
    rows: list[dict[str, Any]], is_wrong: Callable[[dict[str, Any]], bool], most: float
) -> dict[str, Any]:
    """Return the number of wrong verdicts among the rows, and whether it is within the limit."""
    count = sum(map(is_wrong, rows))
    return {"wrong": count, "runs": len(rows), "most": most, "met": count <= most * len(rows)}


def points(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per fabric, time and share, with the number of runs per verdict."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = {name: row[name] for name in ("fabric", "time", "share")}
        point = found.setdefault(tuple(key.values()), {**key, "runs": 0, "verdicts": {}})
        point["runs"] += 1
        counts = point["verdicts"]
        counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
    return list(found.values())


def report(rows: list[dict[str, Any]], limits: dict[str, dict[str, Any]]) -> None:
    """Print the table of the page: percentages of runs that are ok and saturated."""
    print("| fabric, time | " + " | ".join(f"{share:g}" for share in SHARES) + " |")
    print("|---" * (len(SHARES) + 1) + "|")
    lines: dict[tuple[str, str], list[str]] = {}
    for point in points(rows):
        percent = [
            f"{100 * point['verdicts'].get(verdict, 0) / point['runs']:.0f}"
            for verdict in ("ok", "saturated")
        ]
        ms = int(point["time"]) // NS_PER_MS
        lines.setdefault((point["fabric"], f"{ms} ms"), []).append(" / ".join(percent))
    for (fabric, time), cells in lines.items():
        print(f"| {fabric}, {time} | {' | '.join(cells)} |")
    told = {"false_ok": "ok from 1.05 on", "missed": "not ok below 0.8"}
    print()
    for name, one in limits.items():
        print(f"{told[name]}: {one['wrong']} of {one['runs']} (at most {one['most']:.0%})")


def saturations(workers: int) -> dict[str, Any]:
    """Return the growth of backlogs in long runs, and the saturation load of each fabric."""
    tasks = [
        (name, round(share * SATURATION[name], 6)) for name in SATURATION for share in LONG_SHARES
    ]
    with ProcessPoolExecutor(workers) as pool:
        grown = list(pool.map(growth, *zip(*tasks, strict=True)))
    found: dict[str, Any] = {name: {"growth": {}} for name in SATURATION}
    for (name, load), share in zip(tasks, grown, strict=True):
        found[name]["growth"][load] = round(share, 5)
    for one in found.values():
        one["saturation"] = highest_taken(one["growth"])
    return found


def growth(name: str, load: float) -> float:
    """Return the growth of the backlog in a run's second half, as a share of messages created."""
    base(name)
    changed = base(name).with_({"traffic.0.load": load, "stop.time": f"{LONG_MS} ms"}, seed=1)
    series = gingham.run(changed).table("series").to_pydict()
    created, delivered = series["messages_created"], series["messages_delivered"]
    half = len(created) // 2
    return float((sum(created[half:]) - sum(delivered[half:])) / sum(created[half:]))


def highest_taken(growths: dict[float, float]) -> float | None:
    """Return the highest load below the first whose backlog grows; None if no load is below it."""
    loads = sorted(growths)
    high = next((load for load in loads if growths[load] > GROWTH), None)
    below = [load for load in loads if high is not None and load < high]
    return below[-1] if below else None


if __name__ == "__main__":
    raise SystemExit(main())
