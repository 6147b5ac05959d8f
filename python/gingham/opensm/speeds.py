"""Cables of several speeds: the busiest link, and the bandwidth of random matchings, by rate.

::

    leaf ══ NDR ══ spine      400 pairs count as 400
    leaf ── HDR ── spine      400 pairs count as 800: each takes twice as long

The compiled core counts the flows of a link regardless of its speed, which is right if all cables
have one speed. If speeds differ, or hosts have slower links than switches, this module weights
each flow by the rates of the links on its path. A cable of unknown speed has the most common known
speed (of equally common ones the slowest), as in the bound on all-to-all traffic.

The share of a flow is the minimum, over the links of its path, of rate / (flows x rate of its own
link), and at most 1. Its own link is the slower of its two hosts' links. This is the effective
bisection bandwidth of Hoefler, Schneider and Lumsdaine (2008), extended to rates.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from gingham.errors import InputError
from gingham.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gingham.routes import Routes

Path: TypeAlias = "tuple[str, ...]"

# Half-width of a 95 % interval, in standard errors.
NORMAL_95 = 1.96
# Maximum number of matchings, since each path is followed in Python. Fewer matchings widen
# the interval.
SAMPLES_MAX = 200
BYTES = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


@cache
def rate_of(speed: str) -> float | None:
    """Return the rate of a cable's speed in bytes per second; `None` if unknown."""
    try:
        bound = Fabric.make("star", hosts=2, speed=speed).route("up-down").statistics()
    except InputError:
        return None
    number, _, unit = str(bound["all_to_all"]["rate"]).partition(" ")
    return float(number) * BYTES[unit]


@dataclass(frozen=True, slots=True)
class Speeds:
    """The rates of a fabric's channels, in bytes per second."""

    # By the name of the channel, such as "s0[1] -> s1[1]".
    rates: Mapping[str, float]
    # Channels between switches.
    between_switches: frozenset[str]

    @classmethod
    def of(cls, fabric: Fabric) -> Speeds | None:
        """Return the speeds of a fabric, or `None` if all cables have equal weight."""
        found = {cable.speed: rate_of(cable.speed or "") for cable in fabric.cables}
        counts = Counter(rate for cable in fabric.cables if (rate := found[cable.speed]))
        if len(counts) < 2:  # noqa: PLR2004
            return None
        most_common = max(counts, key=lambda rate: (counts[rate], -rate))
        known = {speed: rate or most_common for speed, rate in found.items()}
        switches = {node.name for node in fabric.devices if node.kind == "switch"}
        rates, between = dict[str, float](), set[str]()
        for cable in fabric.cables:
            ends = [f"{name}[{port}]" for name, port in cable.ends]
            names = (" -> ".join(ends), " -> ".join(reversed(ends)))
            rates |= dict.fromkeys(names, known[cable.speed])
            if {name for name, _ in cable.ends} <= switches:
                between.update(names)
        return cls(rates, frozenset(between))

    def busiest(self, routes: Routes, facts: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the channel between switches that takes longest, with its pairs weighted by rate.

        `facts` are the statistics of the routes. A pair on a channel of half of the fastest rate
        counts twice. The core lists only the channels with most pairs; a busier channel outside of
        that list is slower than the fastest.
        """
        if not self.between_switches or not facts["max_channel_paths"]:
            return None
        fastest = max(self.rates[name] for name in self.between_switches)
        pairs = {one["channel"]: one["paths"] for one in facts["busiest"]}
        for name in self.between_switches - pairs.keys():
            if self.rates[name] < fastest:
                shared = routes.sharing(name, at_most=1)
                pairs[name] = shared["pairs"] if shared else 0
        costs = {name: count * fastest / self.rates[name] for name, count in pairs.items()}
        channel = max(sorted(costs), key=costs.__getitem__)
        return {"channel": channel, "pairs": pairs[channel], "by_rate": round(costs[channel])}

    def bisection(self, routes: Routes, hosts: Sequence[str], *, samples: int, seed: int) -> Any:
        """Return the bandwidth of random matchings, in the format of `Routes.bisection`."""
        if len(hosts) < 2:  # noqa: PLR2004
            return None
        drawn = random.Random(seed)  # noqa: S311  (matchings need no secrecy)
        kept: dict[tuple[str, str], Path] = {}
        shares, most = [], []
        for _ in range(min(samples, SAMPLES_MAX)):
            paths = [*matching(routes, hosts, drawn, kept)]
            flows = counted(paths)
            shares.append(statistics.fmean(self.share(path, flows) for path in paths))
            loads = [flows[name] for name in flows if name in self.between_switches]
            most.append(max(loads, default=0))
        bandwidth, half_width = interval(shares)
        busiest, busiest_half_width = interval(most)
        return {
            "samples": len(shares),
            "pairs": len(hosts) // 2,
            "busiest": busiest,
            "busiest_half_width": busiest_half_width,
            "bandwidth": bandwidth,
            "bandwidth_half_width": half_width,
        }

    def share(self, path: Path, flows: Mapping[str, int]) -> float:
        """Return the share of a flow on its own link, the slower of its two hosts' links."""
        if not path:
            return 0.0
        own = min(self.rates[path[0]], self.rates[path[-1]])
        return min(1.0, *(self.rates[name] / flows[name] / own for name in path))


def matching(
    routes: Routes,
    hosts: Sequence[str],
    drawn: random.Random,
    kept: dict[tuple[str, str], Path],
) -> Iterator[Path]:
    """Yield the paths from a random half of the hosts to partners in the other half."""
    order = drawn.sample(hosts, len(hosts))
    half = len(order) // 2
    for pair in zip(order[:half], order[half : 2 * half], strict=True):
        if pair not in kept:
            kept[pair] = tuple(routes.path(*pair) or ())
        yield kept[pair]


def counted(paths: Sequence[Path]) -> dict[str, int]:
    """Return the number of flows of each channel."""
    flows: dict[str, int] = {}
    for path in paths:
        for name in path:
            flows[name] = flows.get(name, 0) + 1
    return flows


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the half-width of its 95 % interval."""
    if len(values) < 2:  # noqa: PLR2004
        return statistics.fmean(values), 0.0
    error = statistics.stdev(values) / math.sqrt(len(values))
    return statistics.fmean(values), NORMAL_95 * error


def host_ports(fabric: Fabric) -> list[str]:
    """Return the names of the host ports with a cable, as routes name them."""
    hosts = {node.name for node in fabric.devices if node.kind == "host"}
    ports: dict[str, list[int]] = {}
    for cable in fabric.cables:
        for name, port in cable.ends:
            if name in hosts:
                ports.setdefault(name, []).append(port)
    return [
        name if len(used) == 1 else f"{name}[{port}]"
        for name, used in sorted(ports.items())
        for port in sorted(used)
    ]
