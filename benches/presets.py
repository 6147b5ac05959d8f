"""Measure the sensitivity of each preset to its parameters without a published value.

    python benches/presets.py                    the tables of docs/concepts/networks.md
    python benches/presets.py --quick            short runs of one seed: half a minute
    python benches/presets.py infiniband-ndr     one preset

Each unknown is changed by itself, on a fat tree of 32 hosts (`ports = 8`, `levels = 2`) under
uniform traffic of full packets, with whole-packet switching. Two results are compared with those of
the preset, in pairs of equal seeds: the mean latency at a load of .3, and the accepted load at an
offered load of 1. The complete set takes about five minutes.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import gingham
from gingham.results import Interval, interval

Change = dict[str, Any]
# Offered load, and unit of the measured quantity.
MEASURES = {"latency_mean_ns": (0.3, "latency, ns"), "accepted_load": (1.0, "accepted")}
SCENARIO = """
topology.generate.fat-tree = { ports = 8, levels = 2 }
traffic = [{ load = 0.3 }]
stop.time = "1 us"
"""
BLOCK_BYTES = 64
# Largest credit grant of an InfiniBand lane.
GRANT_BYTES = 2_048 * BLOCK_BYTES


@dataclass(frozen=True)
class Preset:
    """The parameters of a preset that are varied, as listed in docs/concepts/networks.md."""

    gigabytes_per_s: float
    packet_bytes: int
    forwarding_ns: float
    buffer_bytes: int
    fec_ns: float = 0.0
    # Maximum time to react to a pause; `None` under credit-based flow control.
    pause_ns: float | None = None

    def changes(self) -> dict[str, Change]:
        """Return the changes to the preset, by column of the table."""
        lane = self.buffer_bytes if self.pause_ns else min(self.buffer_bytes, GRANT_BYTES)
        pfc = "network.packets.flow_control"
        packets = "network.packets"
        varied: dict[str, Change] = {
            "delay x 2": {f"{packets}.forwarding_delay": f"{2 * self.forwarding_ns:g} ns"},
            "buffer / 4": {f"{packets}.buffer": blocks(lane / 4)},
            "buffer x 4": {f"{packets}.buffer": blocks(lane * 4)},
            "cables 2 m": {"network.cable_length": "2 m"},
            "cables 50 m": {"network.cable_length": "50 m"},
            "FEC + 100 ns": {"network.fec_delay": f"{self.fec_ns + 100:g} ns"},
            "read one": {f"{packets}.read": "one"},
        }
        if self.pause_ns is not None:
            varied["pause / 4"] = {pfc: {"pfc": {"response_time": f"{self.pause_ns / 4:g} ns"}}}
        return varied


def blocks(count: float) -> str:
    """Round a buffer size to whole blocks.

    >>> blocks(250_000)
    '249984 B'
    """
    return f"{int(count) // BLOCK_BYTES * BLOCK_BYTES} B"


def pause_ns(gigabytes_per_s: float, quanta: int) -> float:
    """Return the duration of `quanta` pause quanta of 512 bits."""
    return quanta * 64 / gigabytes_per_s


PRESETS = {
    "infiniband-sdr": Preset(1, 2_048, 200, 64_000),
    "infiniband-ddr": Preset(2, 2_048, 200, 64_000),
    "infiniband-qdr": Preset(4, 2_048, 100, 64_000),
    "infiniband-fdr": Preset(6.82, 4_096, 170, 128 << 10),
    "infiniband-edr": Preset(12.5, 4_096, 90, 128 << 10),
    "infiniband-hdr": Preset(25, 4_096, 130, 256 << 10),
    "infiniband-ndr": Preset(50, 4_096, 150, 512 << 10),
    "infiniband-xdr": Preset(100, 4_096, 150, 1 << 20),
    "roce-25": Preset(3.125, 1_024, 300, 500_000, 205, pause_ns(3.125, 80)),
    "roce-100": Preset(12.5, 4_096, 300, 500_000, 51, pause_ns(12.5, 394)),
    "roce-200": Preset(25, 4_096, 425, 1_312_500, 51, pause_ns(25, 453)),
    "roce-400": Preset(50, 4_096, 425, 2_000_000, 26, pause_ns(50, 905)),
    "roce-800": Preset(100, 4_096, 500, 2_500_000, 26, pause_ns(100, 905)),
}


def measured(name: str, change: Change, measure: str, packets: int, seed: int) -> float:
    """Return one result of a run of `packets` packet times, with a change to the preset."""
    preset = PRESETS[name]
    time_ns = packets * preset.packet_bytes / preset.gigabytes_per_s
    load, _ = MEASURES[measure]
    asked = {
        "network.preset": name,
        "traffic.0.load": load,
        "stop.time": f"{time_ns:.0f} ns",
        "stop.warm_up": f"{time_ns / 4:.0f} ns",
    }
    scenario = gingham.Scenario.parse(SCENARIO, name="presets")
    return float(gingham.run(scenario.with_(asked | change, seed=seed)).classes[0][measure])


def differences(
    name: str, measure: str, packets: int, seeds: int
) -> tuple[Interval, dict[str, Interval]]:
    """Return the result of the preset and the change in per cent that each unknown makes."""

    def every(change: Change) -> list[float]:
        return [measured(name, change, measure, packets, seed) for seed in range(1, seeds + 1)]

    base = every({})
    found = {}
    for what, change in PRESETS[name].changes().items():
        pairs = zip(every(change), base, strict=True)
        found[what] = interval([100 * (with_it / without - 1) for with_it, without in pairs])
    return interval(base), found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("presets", nargs="*", choices=[*PRESETS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="short runs of one seed")
    asked = parser.parse_args()
    packets, seeds = (300, 1) if asked.quick else (1_200, 4)
    columns = list(PRESETS["roce-400"].changes())
    for measure, (load, unit) in MEASURES.items():
        print(f"\n| preset, load {load:g} | {unit} |", " | ".join(columns), "|")
        print("|---" * (len(columns) + 2) + "|")
        widest = dict.fromkeys(columns, 0.0)
        for name in asked.presets or PRESETS:
            base, found = differences(name, measure, packets, seeds)
            widest |= {of: max(widest[of], found[of].half_width or 0.0) for of in found}
            cells = [f"{found[of].mean:+.1f}" if of in found else "" for of in columns]
            number = f"{base.mean:.0f}" if base.mean > 1 else f"{base.mean:.3f}".lstrip("0")
            print(f"| `{name}` | {number} |", " | ".join(cells), "|", flush=True)
        print(
            "| 95 % interval within | |", " | ".join(f"± {of:.1f}" for of in widest.values()), "|"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
