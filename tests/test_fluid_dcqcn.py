"""DCQCN against its published fluid model: where two flows end, and how often they are marked.

Zhu, Ghobadi, Misra and Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
CoNEXT 2016: flows that share a link end at equal rates, and the marking probability there is near

    p* = cbrt(R_AI N^2 / (tau' C^2) (1 / B + N / (T C))^2)

with rates in packets a second, `B` the byte counter in packets, `T` the timer, `tau'` the alpha
timer. The null: with flows that do not respond the queue grows to `k_max` and more, and all
packets are marked.
"""

from __future__ import annotations

import pytest

import gingham

# Packets of 1,000 B of payload and 80 B around it, a second, on a link of 40 Gbit/s.
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
window = { answered = { marked = "50 us" }, response = "dcqcn" }

[measure]
flows = true

[stop]
time = "150 ms"
warm_up = "50 ms"
"""


def fixed_point(flows: int) -> float:
    """Return the probability with which packets are marked where rates stay what they are."""
    additive, alpha_timer, timer, counter = 5e6 / 1_000, 55e-6, 55e-6, 10e6 / 1_000
    pace = 1 / counter + flows / (timer * CAPACITY)
    return float((additive * flows**2 / (alpha_timer * CAPACITY**2) * pace**2) ** (1 / 3))


@pytest.fixture(scope="module")
def found() -> gingham.Result:
    return gingham.run(gingham.Scenario.parse(SCENARIO, name="dcqcn"))


def test_two_flows_share_a_link_and_fill_it(found: gingham.Result) -> None:
    (flows,) = found.classes
    assert flows["fairness"] > 0.99
    assert 2 * flows["accepted_load"] > 0.97 * 1_000 / 1_080


def test_they_are_marked_as_often_as_the_fluid_model_says(found: gingham.Result) -> None:
    share = found.classes[0]["packets_marked_share"]
    assert share == pytest.approx(fixed_point(2), rel=0.3)
