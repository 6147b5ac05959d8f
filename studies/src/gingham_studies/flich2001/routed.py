"""Static properties of the clusters' routes: lengths, bounds, latencies without contention.

The clusters are those of a sweep, its base scenario with the seed of each replication, and the
routings those of its axis.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from gingham import Fabric
from gingham.studies._bands import Measurement
from gingham.studies._series import mean, ratio
from gingham_studies.flich2001 import closed_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gingham.studies._evidence import Evidence

BASE = "UD"
# Section IV-A: 4 of the 8 ports of a switch have hosts.
HOSTS, BETWEEN = 4, 4
# Ordered pairs of hosts on one switch: 4 x 3.
SAME_SWITCH = 1


def clusters(evidence: Evidence, sweep: str) -> dict[int, Fabric]:
    """Return the cluster of each replication of a sweep."""
    return {number: fabric(*made) for number, made, _ in scenarios(evidence, sweep, BASE)}


def scenarios(
    evidence: Evidence, sweep: str, routing: str
) -> Iterator[tuple[int, tuple[str, int], str]]:
    """Yield number, parameters and seed, and routing algorithm of the runs of a routing."""
    met = set()
    # All clusters, also under --quick, because nothing is run.
    for point in evidence.study.sweep(sweep).points():
        if point.values["routing"] == routing and point.replication not in met:
            met.add(point.replication)
            resolved = point.scenario().resolved()
            parameters = resolved["topology"]["generate"]["irregular"]
            made = (json.dumps(parameters), point.seed)
            yield point.replication, made, json.dumps(resolved["routing"]["algorithm"])


@cache
def fabric(parameters: str, seed: int) -> Fabric:
    """Return a cluster."""
    return Fabric.make("irregular", seed=seed, **json.loads(parameters))


@cache
def statistics(parameters: str, seed: int, algorithm: str) -> Mapping[str, Any]:
    """Return the statistics of the routes of a cluster."""
    return fabric(parameters, seed).route(json.loads(algorithm)).statistics()


def by_cluster(
    evidence: Evidence, sweep: str, routing: str, of: Callable[[Mapping[str, Any]], float]
) -> dict[int, float]:
    """Return a statistic of the routes of each cluster."""
    return {
        number: of(statistics(*made, algorithm))
        for number, made, algorithm in scenarios(evidence, sweep, routing)
    }


def follows_the_rules(cluster: Fabric) -> bool:
    """Return whether a cluster follows the paper: hosts, ports, one cable per pair, connected."""
    switches = {node.name for node in cluster.devices if node.kind == "switch"}
    hosts = dict.fromkeys(switches, 0)
    between: dict[str, list[str]] = {name: [] for name in switches}
    for cable in cluster.cables:
        (one, _), (other, _) = cable.ends
        if one in switches and other in switches:
            between[one].append(other)
            between[other].append(one)
        else:
            hosts[one if one in switches else other] += 1
    single = all(len(set(names)) == len(names) <= BETWEEN for names in between.values())
    full = sum(len(names) for names in between.values()) >= BETWEEN * len(switches) - 2
    return single and full and set(hosts.values()) == {HOSTS} and reached(between) == switches


def reached(between: Mapping[str, list[str]]) -> set[str]:
    """Return the switches reachable from one of them."""
    found: set[str] = set()
    ahead = [next(iter(between))]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += between[name]
    return found


# Statistics over pairs on different switches, as in the bands of the claims.


def apart(facts: Mapping[str, Any], total: float, same: float) -> float:
    """Return a mean over pairs on different switches, from the means over all and on one switch."""
    pairs = facts["host_pairs"] - facts["unreachable_pairs"]
    on_one = facts["pairs_by_switches"][SAME_SWITCH]
    return float((total * pairs - same * on_one) / (pairs - on_one))


def path_cables(evidence: Evidence, sweep: str, routing: str) -> Measurement:
    """Return the mean number of cables between switches on paths between different switches."""
    return mean(
        by_cluster(
            evidence, sweep, routing, lambda facts: apart(facts, facts["mean_distance"], 0)
        ).values()
    )


def minimal_share(evidence: Evidence, sweep: str, routing: str) -> Measurement:
    """Return the share of paths between different switches that are minimal."""
    return mean(
        by_cluster(
            evidence, sweep, routing, lambda facts: apart(facts, facts["minimal_share"], 1)
        ).values()
    )


def in_transit_hosts(evidence: Evidence, sweep: str, routing: str) -> Measurement:
    """Return the mean number of in-transit hosts on paths between different switches."""
    return mean(
        by_cluster(
            evidence, sweep, routing, lambda facts: apart(facts, facts["mean_in_transit_hosts"], 0)
        ).values()
    )


def bound(facts: Mapping[str, Any]) -> float:
    """Return the bound of routes on all-to-all traffic, in flits per ns and switch."""
    return closed_forms.flits_per_ns_and_switch(facts["all_to_all"]["load"])


def bound_of(evidence: Evidence, sweep: str, routing: str) -> Measurement:
    """Return the bound of the routes' busiest channel, in flits per ns and switch."""
    return mean(by_cluster(evidence, sweep, routing, bound).values())


def bound_ratio(evidence: Evidence, sweep: str, routing: str, over: str = BASE) -> Measurement:
    """Return the ratio of the bounds of two routings, cluster by cluster."""
    return ratio(*(by_cluster(evidence, sweep, name, bound) for name in (routing, over)))


def zero_load_ns(evidence: Evidence, sweep: str, routing: str, payload: int) -> dict[int, float]:
    """Return the mean latency of each cluster without contention."""
    return by_cluster(
        evidence,
        sweep,
        routing,
        lambda facts: closed_forms.zero_load_ns(
            facts["mean_switches"], facts["mean_in_transit_hosts"], payload
        ),
    )


def zero_load_increase(
    evidence: Evidence, sweep: str, routing: str, payload: int, over: str = BASE
) -> Measurement:
    """Return the increase of latency without contention by a routing, in per cent."""
    found = ratio(*(zero_load_ns(evidence, sweep, name, payload) for name in (routing, over)))
    low, high = (None if end is None else 100 * (end - 1) for end in (found.low, found.high))
    return Measurement(100 * (found.value - 1), low, high)
