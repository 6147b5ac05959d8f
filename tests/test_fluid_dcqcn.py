"""DCQCN against its published fluid model: final rates of two flows, and rate of notifications.

Zhu, Ghobadi, Misra and Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
CoNEXT 2016, section 3: flows that share a link end at equal rates. At this point the marking
probability is such that notifications reduce rates by as much as timer and byte counter raise them.
The null: flows that do not respond fill the buffers, every packet is marked, and there is a
notification every 50 us, 20,000 per second.
"""

from __future__ import annotations

import pytest

import gingham

# Packets per second, with 1,000 B of payload and 80 B of headers, on a link of 40 Gbit/s.
CAPACITY = 5e9 / 1_080
SCENARIO = """
[topology.generate.star]
hosts = 3

[network]
preset = "roce-100"
link_rate = "40 Gbit/s"
marking = { red = { k_min = "5 kB", k_max = "200 kB", p_max = 0.01 } }

[[traffic]]
name = "flows"
hosts = ["h0", "h1"]
destinations.host = "h2"
arrivals = "backlogged"
length.fixed = "1000 B"
window = { acknowledged = { marked = "50 us" }, response = "dcqcn" }

[measure]
flows = true

[stop]
time = "250 ms"
warm_up = "50 ms"
"""
SECONDS = 0.2
# The defaults, in packets and seconds.
ADDITIVE, BYTE_COUNTER, TIMER, FAST = 5e6 / 1_000, 10e6 / 1_000, 55e-6, 5
ALPHA_TIMER, GAP = 55e-6, 50e-6


def gained(marked: float, rate: float) -> float:
    """Return the net decrease of a rate if a share `marked` of the packets is marked."""
    notified = 1 - (1 - marked) ** (GAP * rate)
    alpha = 1 - (1 - marked) ** (ALPHA_TIMER * rate)
    raised = [
        (marked / ((1 - marked) ** -packets - 1), packets)
        for packets in (BYTE_COUNTER, TIMER * rate)
    ]
    additive = sum(often * (1 - marked) ** (FAST * packets) for often, packets in raised)
    below_target = GAP / notified * ADDITIVE * rate * additive
    back = below_target / 2 * rate * sum(often for often, _ in raised)
    return float(rate * alpha * notified / (2 * GAP) - back)


def notifications(flows: int) -> float:
    """Return the notifications per second of a flow at the equilibrium of the rates."""
    rate = CAPACITY / flows
    low, high = 1e-6, 1e-2
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if gained(middle, rate) > 0 else (middle, high)
    return float((1 - (1 - low) ** (GAP * rate)) / GAP)


@pytest.fixture(scope="module")
def found() -> gingham.Result:
    return gingham.run(gingham.Scenario.parse(SCENARIO, name="dcqcn"))


def test_two_flows_share_a_link_and_fill_it(found: gingham.Result) -> None:
    (flows,) = found.classes
    assert flows["fairness"] > 0.99
    assert 2 * flows["accepted_load"] > 0.97 * 1_000 / 1_080


def test_they_are_notified_as_often_as_the_fluid_model_says(found: gingham.Result) -> None:
    expected = notifications(2)
    assert expected == pytest.approx(1_891, rel=0.001)
    for flow in found.table("flows").to_pylist():
        assert flow["packets_acknowledged"] / SECONDS == pytest.approx(expected, rel=0.3)
