"""Measure the striping daemon on emulated links, row by row, beside MPTCP and wireguard-go.

    make bench-stripe                              every row, ten runs of 10 s after 3 s
    make bench-stripe BENCH="--rows 10+20 hole --runs 2 --seconds 5"
    make bench-stripe BENCH=--quick                a short run of each row; fails on certain errors

Requires root, network namespaces and /dev/net/tun. The daemons are not configured with properties
of the links. The first share is relative to the sum of TCP's rates on each link alone, the second
to the rates that the lines leave for TCP. The median run comes first, the worst one in brackets.
Convergence is the time until a flow reaches .9 of its median rate. CPU is that of both processes,
including kernel time on their behalf. For a black hole the table lists the times until .8 of the
remaining link is used, and .8 of both links after it ends. Runs with a late emulator are discarded
and repeated. Tables, numbers and one picture per row are written to `runs/bench-stripe`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from rich.console import Console  # noqa: E402 - `tests` is not a package
from rich.table import Table  # noqa: E402
from striping_measures import Length, Programs, Told, VoidError, measured, repeated, sum_alone  # noqa: E402
from striping_pictures import draw  # noqa: E402
from striping_rows import ROWS, Bar, Row  # noqa: E402
from striping_setup import begin  # noqa: E402
from tests.system import bundles, ways  # noqa: E402
from tests.system.pipes import RUNS_MAX  # noqa: E402

ORDERS = ("free", "strict")
QUICK = Length(seconds=2.5, counted_from=1, idle_seconds=2)
# Measures whose smaller values are better.
COSTS = ("converged_s", "cpu_s_per_gb", "survivor_s", "back_s", "idle_mb_a_day")
COLUMNS = {
    "share": ("share", "{:.3f}"),
    "line_share": ("of the lines", "{:.3f}"),
    "mbit": ("Mbit/s", "{:.4g}"),
    "converged_s": ("converged s", "{:.2f}"),
    "cpu_s_per_gb": ("CPU s/GB", "{:.1f}"),
    "udp_lost": ("UDP lost", "{:.3%}"),
    "udp_disorder": ("out of order", "{:.3%}"),
    "udp_p99_ms": ("p99 ms", "{:.0f}"),
    "survivor_s": ("hole met s", "{:.2f}"),
    "back_s": ("back s", "{:.2f}"),
    "idle_mb_a_day": ("idle MB/day", "{:.1f}"),
}


def main() -> int:
    """Measure, draw and print."""
    options = parsed()
    begin("bench-stripe", options.folder)
    programs = Programs.built(checked=options.quick)
    length = Length(options.seconds + options.after, options.after)
    length = QUICK if options.quick else length
    results = {}
    for name in options.rows:
        row = ROWS[name]
        found = row_of(programs, name, row, length, options)
        results[name] = found
        (options.folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        report(results)
    return certain_failures(results) if options.quick else 0


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = list(ROWS)
    parser.add_argument("--rows", nargs="+", choices=every, default=every, metavar="NAME")
    parser.add_argument("--runs", type=int, help="runs of each way, ten where not told")
    parser.add_argument("--seconds", type=float, default=10, help="what counts of a flow")
    parser.add_argument("--after", type=float, default=3, help="from so many seconds on")
    parser.add_argument("--by", nargs="+", help="free, strict, mptcp, wireguard-go: these alone")
    parser.add_argument("--quick", action="store_true", help="a run of each row, 1.5 s after 1 s")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--folder", type=Path, default=Path("runs/bench-stripe"))
    options = parser.parse_args()
    options.runs = options.runs or (1 if options.quick else 10)
    return options


def ways_of(row: Row, options: argparse.Namespace) -> list[str]:
    """Return the available transports that measure a row."""
    is_there = {"mptcp": ways.has_mptcp, "wireguard-go": ways.wireguard_program}
    others = [other for other in row.others if is_there[other]()]
    return [by for by in (*ORDERS, *others) if not options.by or by in options.by]


def row_of(
    programs: Programs, name: str, row: Row, length: Length, options: argparse.Namespace
) -> dict[str, Any]:
    """Measure a row by every transport in turn, repeatedly, and draw the first run of each."""
    whole = bundles.sum_of(row.lines)
    if whole and row.is_streamed and not (options.quick or row.outage):
        # If the emulators are late repeatedly, the share of the rates left to TCP is used instead.
        with suppress(VoidError):
            whole = repeated(lambda: sum_alone(programs, row, length))
    first: dict[str, Told] = {}
    found: dict[str, list[dict[str, float]]] = {by: [] for by in ways_of(row, options)}
    void: dict[str, str] = {}
    for run in range(options.runs):
        for by, runs in found.items():
            try:
                tries = 1 if options.quick else RUNS_MAX
                told = repeated(lambda by=by: measured(programs, row, by, length, whole), tries)
            except VoidError as error:
                void[by] = str(error)
                continue
            first.setdefault(by, told)
            runs.append(told.measures)
            print(f"{name}, {by}, run {run + 1}: {said(told.measures)}", file=sys.stderr)
    pictured = {by: told for by, told in first.items() if told.channels}
    if pictured:
        draw(name, row, pictured, options.folder / f"{name.replace('/', '-')}.png")
    measures = {by: summary(runs) for by, runs in found.items()}
    bars = judged(row, measures) if "free" in measures else []
    return {
        "kind": row.kind,
        "sum_mbit": whole / 1e6,
        "runs": found,
        "void": void,
        "summary": measures,
        "bars": bars,
    }


def said(measures: dict[str, float]) -> str:
    """Return measures as a line of text."""
    known = ((COLUMNS[key], value) for key, value in measures.items() if key in COLUMNS)
    return ", ".join(f"{title} {form.format(value)}" for (title, form), value in known)


def summary(runs: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the median and the worst value of each measure."""
    keys = {key: [run[key] for run in runs] for key in (runs[0] if runs else {})}
    return {
        key: {"median": median(values), "worst": worst(key, values)} for key, values in keys.items()
    }


def worst(key: str, values: list[float]) -> float:
    """Return the worst of several values: the largest for costs, the smallest otherwise."""
    is_cost = key in COSTS or key.startswith("udp_")
    return max(values) if is_cost else min(values)


def judged(row: Row, measures: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the target of each measure with the value of free order, and whether it is met."""
    told = []
    for bar in row.bars:
        if bar.measure not in measures["free"]:
            continue
        asked = limit_of(bar, measures)
        value = measures["free"][bar.measure][bar.of]
        is_met = value >= asked if bar.is_least else value <= asked
        words = f"{bar.of} {COLUMNS[bar.measure][0]}"
        told.append({"of": words, "measure": bar.measure, "limit": asked, "has": value})
        told[-1] |= {"is_least": bar.is_least, "is_met": is_met, "goal": bar.goal}
    return told


def limit_of(bar: Bar, measures: dict[str, Any]) -> float:
    """Return a limit: on unlimited links, the median of wireguard-go if it was measured."""
    other = measures.get("wireguard-go")
    return other["mbit"]["median"] if other and bar.measure == "mbit" else bar.limit


def report(results: dict[str, Any]) -> None:
    """Print the table, followed by each bar."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    shown = [
        key
        for key in COLUMNS
        if any(key in one for row in results.values() for one in row["summary"].values())
    ]
    table = Table("row", "by", *(COLUMNS[key][0] for key in shown))
    for name, row in results.items():
        for by, measures in row["summary"].items():
            cells = [cell(key, measures.get(key)) for key in shown]
            table.add_row(name, by, *cells)
        for by, why in row["void"].items():
            table.add_row(name, by, f"void: {why}")
        table.add_section()
    console.print(table)
    bars = Table("row", "asked of the free order", "limit", "has", "met")
    for name, row in results.items():
        for bar in row["bars"]:
            form = COLUMNS[bar["measure"]][1]
            limit = f"{'≥' if bar['is_least'] else '≤'} {form.format(bar['limit'])}"
            met = "yes" if bar["is_met"] else "no"
            bars.add_row(name, bar["of"], limit, form.format(bar["has"]), met)
    console.print(bars)


def cell(key: str, values: dict[str, float] | None) -> str:
    """Return the median and the worst value as a cell."""
    if not values:
        return ""
    form = COLUMNS[key][1]
    shown = [form.format(value) if math.isfinite(value) else "never" for value in values.values()]
    return shown[0] if shown[0] == shown[1] else f"{shown[0]} ({shown[1]})"


def certain_failures(results: dict[str, Any]) -> int:
    """Return 1 if a daemon reordered packets or nothing was delivered, whatever the machine."""
    code = 0
    for name, row in results.items():
        for by, measures in row["summary"].items():
            is_ours = by in ORDERS
            if is_ours and measures.get("udp_disorder", {}).get("worst", 0) > 0:
                print(f"bench-stripe: {name}, {by}: out of order", file=sys.stderr)
                code = 1
            if measures.get("mbit", {"worst": 1})["worst"] <= 0:
                print(f"bench-stripe: {name}, {by}: nothing was carried", file=sys.stderr)
                code = 1
    return code


if __name__ == "__main__":
    raise SystemExit(main())
