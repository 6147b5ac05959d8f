"""Measure the speed of the engines, stripes and routing: one process per row, in sequence.

    python benches/bench.py                 the table; --json for programs
    python benches/bench.py --baseline      the same, and record the instruction counts
    python benches/bench.py --saturation    measure each fabric's saturation load again (minutes)

A row is a scenario of `benches/rows`, run at a fraction of the saturation load of its fabric. The
saturation loads were measured once and are kept in `benches/loads.json`; rows of virtual lanes
(`lanes-*`), of channel adapters (`hca-*`) and of whole packets (`packets-*`) set their own load.
Instructions are counted by valgrind, independently of other load on the machine; times are from a
run without valgrind. The cost of set-up is measured separately and subtracted. A flit-hop is a flit
leaving a switch; flits leaving hosts do not count. A packet-hop, of whole packets, is a delivered
packet leaving a queue, its host's included. `sections` is the share of instructions spent at the
ends of sections: in the counts of channels and in the collector. The collector's work per message
is inlined where messages are created and delivered, and is not included.

Set-up is reported by step, each with its time and the peak memory of the process after it:
`generate` (or `read`) makes the fabric, `route` the routes, `prove` proves them deadlock-free,
`plan` makes the rest of the run's inputs, and `bound` computes the bound of the traffic on these
routes. Rows named `setup-*` are only set up.

The rows `stripe-8`, `routes-64` and `routes-1000` are described in `benches/stripe.py` and
`benches/routes.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
ROWS = HERE / "rows"
LOADS = HERE / "loads.json"
BASELINE = HERE / "baseline.json"
FRACTION = 0.6
# Prefixes of rows that set their own load.
PACKETS = "packets-"
FIXED = ("hca-", "lanes-", PACKETS)
# Prefix of rows that are set up and not run.
SET_UP_ONLY = "setup-"
# Rows that take minutes and gigabytes: run only if named, on the engine alone, without instruction
# counts.
ON_REQUEST = ("packets-tree-101306",)
# The oracle simulates every flit, so it runs a twentieth of the time unless the row sets a share.
ORACLE_SHARE = 20
BISECTIONS = 7
# Matches valgrind's line for the instructions at the ends of sections.
SECTIONS = re.compile(r"^ *([0-9,]+) .*Simulation(?:<.*>)?::count_section ")
# Valgrind counts a long copy as one instruction per byte, unlike the processor: disable them.
WITHOUT_LONG_COPIES = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=1000000000"}
PICOSECONDS = {"ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}

Row = dict[str, object]


def main() -> int:
    """Measure the rows, print them and compare them with the baseline."""
    options = parser().parse_args()
    wanted = options.rows
    binary = build(options.target_dir, wanted)
    rows = [path for path in sorted(ROWS.glob("*.toml")) if is_wanted(path.stem, wanted)]
    if options.saturation:
        record_loads(binary, rows)
        return 0
    loads = json.loads(LOADS.read_text())
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    results = [*stripe_rows(binary, options, baseline), *routes_rows(binary, options)]
    for path in rows:
        if path.stem.startswith(SET_UP_ONLY):
            results.append(row := set_up(binary, path))
            print(set_up_line_of(row) if not options.json else json.dumps(row), flush=True)
            continue
        is_large = path.stem in ON_REQUEST
        for engine in ("fast",) if is_large else ("fast", "oracle"):
            load = loads.get(path.stem)
            counts = not options.quick and not is_large
            if row := measure(binary, path, engine, load, count=counts):
                row["baseline"] = baseline.get(f"{path.stem}/{engine}")
                results.append(row)
                print(line_of(row) if not options.json else json.dumps(row), flush=True)
            else:
                print(f"{path.stem}: left out, its fabric is not there", file=sys.stderr)
                break
    if options.baseline:
        by = ("instructions_per_flit_hop", "instructions_per_packet")
        counted = {
            f"{row['row']}/{row['engine']}": row[key] for row in results for key in by if key in row
        }
        BASELINE.write_text(json.dumps({**baseline, **counted}, indent=2, sort_keys=True) + "\n")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    formatter = argparse.RawTextHelpFormatter
    what = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    what.add_argument("rows", nargs="*", help="rows to measure; all unless given")
    what.add_argument("--json", action="store_true", help="one JSON object a row")
    what.add_argument("--quick", action="store_true", help="times only, no instruction counts")
    what.add_argument("--baseline", action="store_true", help="record instruction counts")
    what.add_argument("--saturation", action="store_true", help="measure saturation loads")
    what.add_argument("--target-dir", default=str(ROOT / "target"), help="Cargo's target folder")
    return what


def build(target: str, wanted: list[str]) -> Path:
    """Build the programs that the rows need with the release profile; return the bench's path."""
    import routes
    import stripe

    command = ["cargo", "build", "--release", "--quiet", "--locked", "--package", "gingham-bench"]
    rows = {"gingham-bench-stripe": [stripe.NAME], "gingham-bench-routes": list(routes.ROWS)}
    others = [name for name, own in rows.items() if not wanted or set(own) & set(wanted)]
    for program in ["gingham-bench", *others]:
        command += ["--bin", program]
    subprocess.run([*command, "--target-dir", target], check=True, cwd=ROOT)
    return Path(target) / "release" / "gingham-bench"


def stripe_rows(binary: Path, options: argparse.Namespace, baseline: Row) -> list[Row]:
    """Measure and print the rows of the striping protocol, if they are wanted."""
    import stripe

    results = []
    for mode in stripe.MODES if not options.rows or stripe.NAME in options.rows else ():
        row = stripe.measure(
            binary.with_name("gingham-bench-stripe"), mode, count=not options.quick
        )
        row["baseline"] = baseline.get(f"{stripe.NAME}/{mode}")
        results.append(row)
        print(stripe.line_of(row) if not options.json else json.dumps(row), flush=True)
    return results


def routes_rows(binary: Path, options: argparse.Namespace) -> list[Row]:
    """Measure and print the rows of routing, if they are wanted."""
    import routes

    results = []
    for name in routes.ROWS:
        for mode in routes.MODES if not options.rows or name in options.rows else ():
            row = routes.measure(binary.with_name("gingham-bench-routes"), name, mode)
            results.append(row)
            print(routes.line_of(row) if not options.json else json.dumps(row), flush=True)
    return results


def is_wanted(row: str, wanted: list[str]) -> bool:
    """Return whether a row is to be measured, given the names on the command line."""
    return row in wanted if wanted else row not in ON_REQUEST


def is_there(path: Path) -> bool:
    """Return whether the fabric file of a row exists, or the row needs none."""
    named = re.search(r'^file = "(.*)"', path.read_text(), re.MULTILINE)
    return named is None or (path.parent / named.group(1)).exists()


def measure(
    binary: Path, path: Path, engine: str, load: float | None, *, count: bool
) -> Row | None:
    """Return the measurements of one row, or `None` if its fabric file is missing.

    The load is a fraction of the saturation `load`, or the row's own if `load` is `None`.
    """
    if not is_there(path):
        return None
    settings = [] if load is None else [f"traffic.0.load={FRACTION * load:.6f}"]
    span = end_of(path) // (oracle_share(path) if engine == "oracle" else 1)
    settings.append(f"stop.time={span} ps")
    run, peak_kib = timed([binary, path, engine, *settings])
    instructions = sections = None
    if count and shutil.which("valgrind"):
        setup, _ = counted([binary, path, "none", *settings])
        whole, sections = counted([binary, path, engine, "--bare", *settings])
        instructions = whole - setup
    is_packets = path.stem.startswith(PACKETS)
    hops = run["worm_hops" if is_packets else "flit_hops"]
    return {
        "row": path.stem,
        "engine": engine,
        "hosts": run["hosts"],
        "load": run["accepted_load"],
        "verdict": run["verdict"],
        "hop": "packet-hop" if is_packets else "flit-hop",
        "flit_hops": hops,
        "ns_per_flit_hop": 1e9 * run["seconds"] / hops,
        "flit_hops_per_s": hops / run["seconds"],
        "cycles_per_s": run["cycles"] and run["cycles"] / run["seconds"],
        "instructions_per_flit_hop": instructions and instructions / hops,
        "sections_share": instructions and sections / instructions,
        "events_per_worm_hop": run["events"] / max(run["worm_hops"], 1),
        "peak_mib": peak_kib / 1024,
        "seconds_per_simulated_ms": run["seconds"] / (run["end_ps"] / 1e9),
        "setup": run["setup"],
    }


def set_up(binary: Path, path: Path) -> Row:
    """Return the measurements of a row that is only set up."""
    run, _ = timed([binary, path, "none"])
    return {"row": path.stem, "engine": "none", **run}


def end_of(path: Path) -> int:
    """Return the simulated time of a row in picoseconds."""
    number, unit = re.search(r'^time = "([0-9]+) (\w+)"', path.read_text(), re.MULTILINE).groups()
    return int(number) * PICOSECONDS[unit]


def oracle_share(path: Path) -> int:
    """Return n if the oracle simulates one n-th of a row's time."""
    said = re.search(r"^# The oracle follows a ([0-9]+)th of it", path.read_text(), re.MULTILINE)
    return int(said.group(1)) if said else ORACLE_SHARE


def timed(command: list[object]) -> tuple[Row, int]:
    """Run one process; return its JSON output and its peak memory in KiB."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench: {output.strip()}")
    return json.loads(output), usage.ru_maxrss


def counted(command: list[object]) -> tuple[int, int]:
    """Return a process's instructions under valgrind: in total, and at the ends of sections."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out"
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        done = output_of([*tool, *map(str, command)])
        functions = output_of(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out])
    whole = int(re.search(r"Collected : ([0-9]+)", done.stderr).group(1))
    found = map(SECTIONS.match, functions.stdout.splitlines())
    return whole, sum(int(match.group(1).replace(",", "")) for match in found if match)


def output_of(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run one process and return its output."""
    environment = {**os.environ, **WITHOUT_LONG_COPIES}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment)


def record_loads(binary: Path, rows: list[Path]) -> None:
    """Find the saturation load of each fabric by bisection, and record it."""
    loads = json.loads(LOADS.read_text()) if LOADS.exists() else {}
    for path in rows:
        if path.stem.startswith((*FIXED, SET_UP_ONLY)):
            continue
        if not is_there(path):
            print(f"{path.stem}: left out, its fabric is not there", file=sys.stderr)
            continue
        low, high = 1e-4, 1.0
        for _ in range(BISECTIONS + 3):
            middle = (low * high) ** 0.5
            settings = [f"traffic.0.load={middle}", f"stop.time={2 * end_of(path)} ps"]
            run, _ = timed([binary, path, "fast", *settings])
            low, high = (low, middle) if run["verdict"] == "saturated" else (middle, high)
        loads[path.stem] = round(low, 6)
        print(f"{path.stem}: saturates between {low:.5f} and {high:.5f}", flush=True)
    LOADS.write_text(json.dumps(loads, indent=2, sort_keys=True) + "\n")


def line_of(row: Row) -> str:
    """Return a row as two lines of the table: the run, and its set-up."""
    instructions = row["instructions_per_flit_hop"]
    counts = "" if instructions is None else f"{instructions:9.2f} instructions"
    change = ""
    share = "" if instructions is None else f"  sections {100 * row['sections_share']:4.1f} %"
    if instructions is not None and row["baseline"]:
        change = f" ({100 * (instructions / row['baseline'] - 1):+.1f} %)"
    cycles = f"  {row['cycles_per_s']:.2e} cycles/s" if row["cycles_per_s"] else ""
    return (
        f"{row['row']:18} {row['engine']:6} load {row['load']:.4f}"
        f"  {row['ns_per_flit_hop']:8.3f} ns"
        f"{counts}{change} a {row['hop']}  {row['flit_hops_per_s']:.2e} {row['hop']}s/s{cycles}"
        f"{share}  {row['events_per_worm_hop']:7.1f} events a worm-hop  {row['peak_mib']:6.1f} MiB"
        f"  {row['seconds_per_simulated_ms']:.4f} s/ms"
        f"\n{'':18} {steps_of(row['setup'])}"
    )


def set_up_line_of(row: Row) -> str:
    """Return a row that is only set up as a line of the table."""
    return f"{row['row']:18} {row['hosts']:6} hosts  {steps_of(row['setup'])}"


def steps_of(setup: list[Row]) -> str:
    """Return the set-up time and the time of each step."""
    whole = time_of(sum(step["seconds"] for step in setup))
    steps = (f"{step['step']} {time_of(step['seconds'])} {step['peak_mib']} MiB" for step in setup)
    return f"set-up {whole}: {', '.join(steps)}"


def time_of(seconds: float) -> str:
    """Return a time in a readable unit: most fabrics are set up in milliseconds."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.2f} ms"


if __name__ == "__main__":
    sys.exit(main())
