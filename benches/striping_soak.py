"""Run two daemons for minutes under faults drawn from a seed, with checked TCP flows inside.

    make soak                       six minutes, from seed 0
    make soak SOAK=30 SEED=7        thirty, others

Requires root, network namespaces and /dev/net/tun. `striping_faults.py` lists the faults. Numbers
are sent both ways over TCP and must arrive once and in order; memory, descriptors and processor
time of each process are recorded. Text, JSON and a picture are written to `runs/soak`. The exit
code is 1 if a byte was lost or changed, if memory or descriptors of a process drift upwards, or if
a route, a rule, an interface or a namespace is left behind.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from striping_faults import LINES, Befell, World, befall, remains  # noqa: E402 - not a package
from striping_setup import begin  # noqa: E402
from striping_soak_drift import Drift, drift_of  # noqa: E402
from striping_soak_picture import draw  # noqa: E402
from tests.conftest import wait_until  # noqa: E402
from tests.system import bundles, faults, pipes  # noqa: E402
from tests.system.checked import Checked, checked  # noqa: E402
from tests.system.flows import cpu_seconds  # noqa: E402

from gingham.studies._namespaces import ENDS, ip  # noqa: E402

# Rates by direction, in bytes a second: within the capacity of three relays in Python.
RATES = {"forth": 900_000.0, "back": 300_000.0}
SAMPLE_S = 0.5
# Longest time in seconds without data after the last fault: TCP doubles its retransmission timeout
# each time, and a handshake takes up to 6.7 s.
ENDS_S = 120


@dataclass
class Sample:
    """Measurements at an instant, by end; an end that is not running has none."""

    at: float
    came: dict[str, int]
    memory_kb: dict[str, int] = field(default_factory=dict)
    descriptors: dict[str, int] = field(default_factory=dict)
    cpu_s: dict[str, float] = field(default_factory=dict)
    # Number of the process at each end, which increases with each start.
    starts: dict[str, int] = field(default_factory=dict)


@dataclass
class Soaked:
    """Results of a run."""

    seed: int
    seconds: float
    samples: list[Sample] = field(default_factory=list)
    befell: list[Befell] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    drifts: list[Drift] = field(default_factory=list)
    sent_bytes: dict[str, int] = field(default_factory=dict)
    counters: dict[str, Any] = field(default_factory=dict)


def main() -> int:
    """Run the daemons, draw the picture and print the report."""
    options = parsed()
    begin("soak", options.folder)
    program = bundles.built()
    soaked = Soaked(options.seed, 60 * options.minutes)
    with tempfile.TemporaryDirectory() as folder:
        soak(program, Path(folder), soaked)
    left = [
        line for line in ip("netns", "list").split() if line in soaked.counters.get("names", ())
    ]
    soaked.wrong += [f"namespace {name} is left" for name in left]
    soaked.drifts = drift_of(soaked.samples, soaked.seconds)
    soaked.wrong += [str(drift) for drift in soaked.drifts if drift.is_up]
    (options.folder / "soak.json").write_text(json.dumps(asdict(soaked), indent=1) + "\n")
    draw(soaked, options.folder / "soak.png")
    text = report(soaked)
    (options.folder / "soak.txt").write_text(text)
    print(text, end="")
    return 1 if soaked.wrong else 0


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=6, help="how long, 6 where not told")
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    parser.add_argument("--folder", type=Path, default=Path("runs/soak"))
    return parser.parse_args()


def soak(program: Path, folder: Path, soaked: Soaked) -> None:
    """Run both daemons and inject faults."""
    with ExitStack() as stack:
        names, _ = stack.enter_context(pipes.network(pipes.Programs(program, program), LINES))
        soaked.counters["names"] = list(names.values())
        ip("-n", names["right"], "link", "set", "lo", "up")
        before = faults.left_behind(names)
        relays = stack.enter_context(faults.relays(names, len(LINES), soaked.seed + 1))
        # The left daemon uses interfaces, whose addresses change. A low `channels-max` shrinks the
        # retransmission buffer, so that it reaches its limit sooner.
        few = {"channels-max": len(LINES)}
        paths = faults.written(folder, len(LINES), relayed=len(LINES), **few)
        faults.by_interfaces(paths["left"], len(LINES))
        world = World(program, names, paths, relays)
        stack.callback(world.abandon)
        for end in ENDS:
            world.start(end)
        for one in world.running.values():
            wait_until(one.is_carrying, "the ends do not hear each other")
        try:
            with_flows(world, soaked)
        except AssertionError as error:
            soaked.wrong.append(f"TCP: {error}")
        soaked.counters |= {end: one.counters() for end, one in world.running.items()}
        soaked.wrong += world.stop()
        soaked.wrong += remains(before, names)


def with_flows(world: World, soaked: Soaked) -> None:
    """Send both ways while faults are injected, and until all data has arrived."""
    with ExitStack() as stack:
        flows = {
            "forth": stack.enter_context(checked(world.names, RATES["forth"])),
            "back": stack.enter_context(checked(world.names, RATES["back"], is_back=True)),
        }
        began, ended = time.monotonic(), threading.Event()
        watching = threading.Thread(target=watch, args=(world, soaked, flows, began, ended))
        watching.start()
        try:
            befall(world, soaked.seed, began, soaked.seconds, soaked.befell)
            for flow in flows.values():
                flow.ended.set()
            ends_at = time.monotonic() + ENDS_S
            while time.monotonic() < ends_at and not all(one.is_over for one in flows.values()):
                time.sleep(SAMPLE_S)
        finally:
            ended.set()
            watching.join()
            soaked.sent_bytes = {way: flow.sent_bytes for way, flow in flows.items()}


def watch(
    world: World,
    soaked: Soaked,
    flows: dict[str, Checked],
    began: float,
    ended: threading.Event,
) -> None:
    """Record samples until the run has ended."""
    while not ended.wait(SAMPLE_S):
        came = {way: flow.came_bytes for way, flow in flows.items()}
        sample = Sample(time.monotonic() - began, came)
        for end in ENDS:
            look(sample, world, end)
        soaked.samples.append(sample)


def look(sample: Sample, world: World, end: str) -> None:
    """Record memory, descriptors and processor time of an end's processes, if it is running."""
    daemon = world.running.get(end)
    if daemon is None:
        return
    try:
        pids = [daemon.process.pid, daemon.carrier()]
        memory = sum(faults.resident_kb(pid) for pid in pids)
        descriptors = sum(faults.descriptors(pid) for pid in pids)
        computed = cpu_seconds(pids)
    except (OSError, ValueError, StopIteration):
        # The process ended in the meantime.
        return
    sample.memory_kb[end], sample.descriptors[end] = memory, descriptors
    sample.cpu_s[end], sample.starts[end] = computed, world.starts[end]


def report(soaked: Soaked) -> str:
    """Return the report as text."""
    lines = [f"soak: {soaked.seconds / 60:g} minutes, seed {soaked.seed}"]
    kinds = sorted({one.kind for one in soaked.befell})
    counts = (f"{kind} {sum(one.kind == kind for one in soaked.befell)}" for kind in kinds)
    lines.append(f"  faults: {', '.join(counts)}")
    last = soaked.samples[-1] if soaked.samples else Sample(0, {})
    for way, sent in soaked.sent_bytes.items():
        lines.append(
            f"  {way}: {sent:,} bytes sent, {last.came.get(way, 0):,} had come at the last look"
        )
    for end in ENDS:
        memory = [one.memory_kb[end] for one in soaked.samples if end in one.memory_kb]
        if memory:
            lines.append(f"  {end}: {max(memory):,} kB of memory at most")
    lines += [f"  {drift}" for drift in soaked.drifts]
    lines += [f"  WRONG: {wrong}" for wrong in soaked.wrong] or [
        "  nothing was lost, nothing is left"
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
