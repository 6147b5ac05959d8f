"""Max-min fair rates of jobs beside the packet engine: where they agree, and where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import gingham
from gingham import Fabric, Job, Scenario
from gingham._native import max_min_rates

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
[network]
preset = "infiniband-hdr"
[topology]
file = "cluster.toml"
[[traffic]]
arrivals = "backlogged"
length = { fixed = "4096 B" }
destinations = { pairs = { PAIRS } }
[stop]
time = "400 us"
"""
SPEED = "4xHDR"


def rates(fabric: Fabric, pairs: list[tuple[str, str]], folder: Path) -> dict[str, float]:
    """Run backlogged flows; return the utilisation of each sender's own channel."""
    fabric.save(folder / "cluster.toml", overwrite=True)
    table = ", ".join(f'"{sender}" = "{receiver}"' for sender, receiver in pairs)
    scenario = Scenario.parse(SCENARIO.replace("PAIRS", table), folder=folder)
    links = gingham.run(scenario).table("links").to_pylist()
    senders = {sender for sender, _ in pairs}
    return {row["from"]: row["utilisation"] for row in links if row["from"] in senders}


def chain(*hosts: int) -> Fabric:
    """Return switches in a row, each with a number of nodes."""
    count = len(hosts)
    edges = [(f"s{number}", f"s{number + 1}") for number in range(count - 1)]
    edges += [
        (f"s{number}", f"n{number}{host}")
        for number in range(count)
        for host in range(hosts[number])
    ]
    return Fabric.from_edges(edges, speed=SPEED)


def test_flows_by_different_inputs_get_the_rates_of_the_bound(tmp_path: Path) -> None:
    fabric = chain(4, 4)
    order = ["n00", "n10", "n01", "n11", "n02", "n12", "n03", "n13"]
    job = Job(fabric, order, routes=fabric.route("up-down", form="table"), ranks_per_node=1)
    bound = job.bound("ring")
    assert bound.flows_max == 4
    assert bound.share == pytest.approx(0.25)
    ring = list(zip(order, order[1:] + order[:1], strict=True))
    found = rates(fabric, ring, tmp_path)
    for host in order:
        assert found[host] == pytest.approx(0.25, rel=0.03), host


def test_a_parking_lot_favours_the_flow_with_an_input_of_its_own(tmp_path: Path) -> None:
    # Two flows reach s1 by one input, one by another; all leave by the cable to s2.
    fabric = chain(2, 1, 3)
    pairs = [("n00", "n20"), ("n01", "n21"), ("n10", "n22")]
    nodes = ["n00", "n01", "n10", "n20", "n21", "n22"]
    job = Job(fabric, nodes, routes=fabric.route("up-down", form="table"), ranks_per_node=1)
    bound = job.bound(pairs)
    assert bound.phases[0]["slowest"] == pytest.approx(25e9 / 3)
    found = rates(fabric, pairs, tmp_path)
    shares = [found[sender] for sender, _ in pairs]
    assert sum(shares) == pytest.approx(1.0, rel=0.03)
    # Far from a third each: a band around max-min would not hold it.
    assert shares[2] > 0.4 > shares[0]
    assert shares[0] == pytest.approx(shares[1], rel=0.05)


def test_a_stopped_flow_slows_the_one_behind_it(tmp_path: Path) -> None:
    # n00 to n20 meets n21's three senders; n01 to n10 shares only the cable from s0 with it.
    fabric = chain(2, 4, 1)
    pairs = [("n00", "n20"), ("n01", "n10"), ("n11", "n20"), ("n12", "n20"), ("n13", "n20")]
    found = rates(fabric, pairs, tmp_path)
    capacities = [1.0, 1.0, 1.0]
    # Channels: s0 to s1, s1 to s2, s2 to n20.
    flows = [[(0, 1.0), (1, 1.0), (2, 1.0)], [(0, 1.0)], *[[(1, 1.0), (2, 1.0)]] * 3]
    max_min = max_min_rates(capacities, flows)
    assert max_min[:2] == pytest.approx([0.25, 0.75])
    assert found["n01"] < 0.6 * max_min[1]
