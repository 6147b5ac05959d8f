"""Cables of several speeds: the busiest link, and the bandwidth of random matchings, by rate.

::

    leaf ══ NDR ══ spine      400 pairs: 400 of the fastest cables' time
    leaf ── HDR ── spine      400 pairs: 800, for each takes twice as long

The compiled core counts flows of a link whatever its speed, which is right where all cables have
one. Where speeds differ, or hosts have slower links than switches, the measures of this module
count each flow by the rate of the links that it takes. A fabric with a cable of unknown speed
counts as one of equal cables, as the bound on all-to-all traffic does.

A flow gets of its link the least, over the links of its path, of rate / (flows x rate of its own
link), and at most all of it. Its own link is the slower of both hosts' (effective bisection
bandwidth: Hoefler, Schneider and Lumsdaine 2008, with rates).
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from gingham.errors import InputError
from gingham.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gingham.routes import Routes

Path: TypeAlias = "tuple[str, ...]"

# Half of a 95 % interval, in standard errors.
NORMAL_95 = 1.96
# Matchings whose paths are followed one by one; the interval tells what fewer of them cost.
SAMPLES_MAX = 200
BYTES = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


@cache
def rate_of(speed: str) -> float | None:
    """Return the bytes per second of a cable's speed, as the core has it; `None` if unknown."""
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
        """Return the speeds of a fabric, or `None` if all cables count alike."""
        known = {cable.speed: rate_of(cable.speed or "") for cable in fabric.cables}
        if None in known.values() or len(set(known.values())) < 2:  # noqa: PLR2004
            return None
        switches = {node.name for node in fabric.nodes if node.kind == "switch"}
        rates, between = dict[str, float](), set[str]()
        for cable in fabric.cables:
            ends = [f"{name}[{port}]" for name, port in cable.ends]
            names = (" -> ".join(ends), " -> ".join(reversed(ends)))
            rates |= dict.fromkeys(names, known[cable.speed] or 0.0)
            if {name for name, _ in cable.ends} <= switches:
                between.update(names)
        return cls(rates, frozenset(between))

    def busiest(self, routes: Routes, facts: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the channel between switches that takes longest, with its pairs by rate.

        `facts` are the statistics of the routes. A pair on a channel of half of the fastest rate
        counts twice. The core lists the channels with most pairs; a channel that is busier by
        rate without standing there is slower than the fastest.
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
        """Return the bandwidth of random matchings, shaped as that of `Routes.bisection`."""
        if len(hosts) < 2:  # noqa: PLR2004
            return None
        drawn = random.Random(seed)  # noqa: S311  (matchings are no secret)
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
        """Return what a flow gets of its link, the slower of its hosts' two."""
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
    """Return the paths by which a random half of the hosts sends to the other half."""
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
    """Return the mean and half of its 95 % interval."""
    if len(values) < 2:  # noqa: PLR2004
        return statistics.fmean(values), 0.0
    error = statistics.stdev(values) / math.sqrt(len(values))
    return statistics.fmean(values), NORMAL_95 * error


def host_ports(fabric: Fabric) -> list[str]:
    """Return the names of the host ports with a cable, as routes name them."""
    hosts = {node.name for node in fabric.nodes if node.kind == "host"}
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
