"""Capacity and collapse, and latencies that are omitted from curves.

An 8 x 8 mesh with one host per switch, in dimension order under bit complement: host (x, y) sends
to (7 - x, 7 - y), so every packet crosses the middle of both dimensions. In the first dimension the
four hosts of one half of a row share the channel in its middle, which is full at 1/4 of a host's
link. In the second dimension the middle channel carries the packets of four hosts, too. The
accepted load is therefore at most .25; overhead and blocking reduce it a little.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from gingham import Scenario
from gingham import run as run_scenario
from gingham.cli._saturation import facts
from gingham.kinds._fabric import least_served
from gingham.loads import curve, saturation
from gingham.loads._capacity import capacity_of
from gingham.loads._curve import curve_table
from gingham.loads._saturation import Bracket, compiled_bound, first_load, next_loads
from gingham.results import Results, interval
from tests.conftest import Finished
from tests.test_loads import by_hand

BOUND = 1 / 4
COMPLEMENT = """
stop.time = "400 us"
topology.generate.mesh = { dimensions = [8, 8], hosts_per_switch = 1 }
routing.algorithm = "dimension-order"
[[traffic]]
load = 0.1
length = { fixed = "256 B" }
destinations = "bit-complement"
"""


def row(load: float, accepted: float, least: float | None = None) -> dict[str, Any]:
    return {"load": load, "accepted_load": accepted, "least_served_load": least}


def test_the_capacity_is_the_most_that_was_accepted_at_any_load() -> None:
    accepted = {0.1: (0.1, 0.1), 0.25: (0.22, 0.24), 0.5: (0.15, 0.17), 1.0: (0.11, 0.13)}
    found = capacity_of(
        [row(load, one, one / 2) for load, both in accepted.items() for one in both]
    )
    assert found is not None
    assert (found.capacity.load, found.highest.load) == (0.25, 1.0)
    assert found.capacity.accepted_load == interval([0.22, 0.24])
    assert found.capacity.least_served_load == interval([0.11, 0.12])
    # Two values .02 apart have a half-width of 12.7 x .01 = .127: .23 - .127 is below .12 + .127.
    assert found.collapse is None


def test_a_network_collapses_if_it_accepts_less_by_more_than_both_intervals() -> None:
    # Half-widths of three values .01 apart: 4.303 x .01 / sqrt(3) = .025.
    many, few = [0.21, 0.22, 0.23], [0.12, 0.13, 0.14]
    collapsing = [row(0.25, one) for one in many] + [row(1.0, one) for one in few]
    found = capacity_of(collapsing)
    assert found is not None
    assert found.collapse == found.highest
    assert found.highest.least_served_load is None
    near = [row(0.25, one) for one in many] + [row(1.0, one - 0.04) for one in many]
    within = capacity_of(near)
    assert within is not None
    # .22 - .025 = .195 lies below .18 + .025 = .205.
    assert within.collapse is None


def test_a_loss_of_less_than_a_twentieth_is_no_collapse() -> None:
    def collapse_at(accepted: float) -> bool:
        # Three replications a load, which differ by .0001.
        rows = [
            row(load, mean + offset)
            for load, mean in ((0.25, 0.2), (1.0, accepted))
            for offset in (-0.0001, 0.0, 0.0001)
        ]
        found = capacity_of(rows)
        return found is not None and found.collapse is not None

    # A twentieth of .2 is .01. The half-widths are 4.303 x .0001 / sqrt(3) = .00025.
    assert [collapse_at(0.1996), collapse_at(0.1902), collapse_at(0.1898)] == [False, False, True]


def test_one_replication_shows_no_collapse() -> None:
    found = capacity_of([row(0.25, 0.22), row(1.0, 0.12)])
    assert found is not None
    assert (found.collapse, found.highest.accepted_load.mean) == (None, 0.12)
    assert capacity_of([row(0.25, None)]) is None  # type: ignore[arg-type]


def test_the_least_served_load_of_classes_is_relative_to_their_shares() -> None:
    # Of .4 on 2 hosts the least served sender gets .1, a quarter; of .2 on 2 hosts .15, three
    # quarters. All classes together generate (.4 x 2 + .2 x 2) / 4 hosts = .3: a quarter of it is
    # .075.
    first = {"hosts": 2, "generated_load": 0.4, "least_served_load": 0.1}
    second = {"hosts": 2, "generated_load": 0.2, "least_served_load": 0.15}
    assert least_served([first, second], 4) == pytest.approx(0.075)
    assert least_served([first], 2) == 0.1
    assert least_served([{"hosts": 2, "generated_load": 0.0, "least_served_load": None}], 2) is None


# A ring of eight switches with two hosts each; every host sends to one three switches on.
TORNADO = """
stop.time = "200 us"
topology.generate.torus = { dimensions = [8], hosts_per_switch = 2 }
[[traffic]]
load = 0.1
length = { fixed = "256 B" }
destinations = "tornado"
"""


def test_the_first_load_lies_below_the_bound(tmp_path: Path) -> None:
    base = Scenario.parse(TORNADO)
    bound = compiled_bound(base, allow_deadlock=False)
    assert bound is not None
    # An eighth of the highest load lies above half the bound.
    assert bound < 1 / 4
    saturation(base, tmp_path / "out", replications=1, tolerance=0.02)
    rows = Results.load(tmp_path / "out").query("select distinct load, bound_load from runs")
    loads = {one["load"] for one in rows.to_pylist()}
    bounds = [one["bound_load"] for one in rows.to_pylist()]
    assert bounds == pytest.approx([bound] * len(bounds))
    assert {round(share * bound, 6) for share in (0.5, 0.9, 1.1)} <= loads
    # An eighth of the highest load, which is not below it by much, is not tried.
    assert 1 / 8 not in loads


def test_the_first_load_is_an_eighth_or_half_the_bound() -> None:
    assert first_load(0.9, 0.01, 1.0) == 0.125
    assert first_load(0.036, 0.01, 1.0) == 0.018
    assert first_load(0.036, 0.03, 1.0) == 0.03
    assert first_load(None, 0.01, 0.4) == 0.05


def test_a_scenario_that_cannot_be_compiled_has_no_bound() -> None:
    base = Scenario.parse(TORNADO).with_({"routing.algorithm": "shortest-path"})
    assert compiled_bound(base, allow_deadlock=False) is None
    assert compiled_bound(base, allow_deadlock=True) is not None


def test_the_search_goes_on_around_the_bound_and_ends_at_the_highest_load() -> None:
    taken, bracket = Bracket(0.125, None), Bracket(0.225, 0.275)
    assert next_loads([taken], {0.125}, 0.25, 0.01, 1.0) == [0.225, 0.275]
    assert next_loads([taken], {0.125}, None, 0.01, 1.0) == [0.25]
    # If no replication reaches the bound, the search continues by doubling the load.
    assert next_loads([taken], {0.125, 0.225, 0.275}, 0.25, 0.01, 1.0) == [0.55]
    assert next_loads([taken], {0.125}, 0.9, 0.01, 0.5) == [0.5, 0.5]
    assert next_loads([bracket], {0.225, 0.275}, 0.25, 0.01, 1.0) == [0.25]
    assert next_loads([bracket], {0.225, 0.275}, 0.25, 0.05, 1.0) == [1.0]
    assert next_loads([bracket], {0.225, 0.275, 1.0}, 0.25, 0.05, 1.0) == []


@pytest.fixture(scope="module")
def complement(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("complement")
    curve(Scenario.parse(COMPLEMENT), [0.1, 0.22, 1.0], folder / "out", replications=3)
    return folder / "out"


def test_bit_complement_on_a_mesh_accepts_less_at_full_load_than_below_its_bound(
    complement: Path,
) -> None:
    query = "select load, accepted_load, least_served_load from runs order by point"
    found = capacity_of(Results.load(complement).query(query).to_pylist())
    assert found is not None
    assert found.capacity.load == 0.22
    assert 0.1 < found.capacity.accepted_load.mean < BOUND
    # Lower by more than both intervals.
    assert found.collapse is not None
    assert found.collapse.load == 1.0
    high, low = found.collapse.accepted_load.high, found.capacity.accepted_load.low
    assert high is not None
    assert low is not None
    assert high < low
    # Every sender has one flow: past saturation the least served one gets far less than the mean.
    least = found.collapse.least_served_load
    assert least is not None
    assert least.mean < 0.5 * found.collapse.accepted_load.mean


def test_latencies_of_saturated_replications_are_in_no_mean(complement: Path) -> None:
    points = curve(
        Scenario.parse(COMPLEMENT), [0.1, 1.0], complement, replications=3, resume=True
    ).to_pylist()
    light, heavy = points[0], points[-1]
    assert (light["load"], heavy["load"], heavy["saturated"]) == (0.1, 1.0, 3)
    assert light["latency_mean_ns"] is not None
    latencies = ("latency_mean_ns", "latency_half_width_ns", "latency_p99_ns")
    assert [heavy[name] for name in latencies] == [None] * len(latencies)
    assert heavy["accepted_load"] is not None
    # Each of the runs has a latency, but only over the messages delivered in time.
    query = "select latency_mean_ns, messages_censored from runs where load = 1"
    runs = Results.load(complement).query(query).to_pylist()
    assert all(one["latency_mean_ns"] and one["messages_censored"] for one in runs)
    # The p99 of a run with one class is that of the class.
    query = (
        "select runs.latency_p99_ns as of_all, classes.latency_p99_ns as of_class "
        "from runs join classes using (key)"
    )
    assert all(
        one["of_all"] == one["of_class"]
        for one in Results.load(complement).query(query).to_pylist()
    )


def test_a_point_with_one_lost_replication_has_no_latency(tmp_path: Path) -> None:
    # Of three seeds with survivors' latencies of 16,005, 317 and 14,242 ns, one is saturated.
    cases = [(0.3, 0, "ok"), (0.3, 1, "saturated"), (0.3, 2, "ok"), (0.1, 0, "ok"), (0.1, 1, "ok")]
    latencies = {
        "0.3-0": 16_005.0,
        "0.3-1": 317.0,
        "0.3-2": 14_242.0,
        "0.1-0": 400.0,
        "0.1-1": 500.0,
    }
    by_hand(tmp_path / "out", cases, {"latency_mean_ns": latencies})
    table = curve_table(Results.load(tmp_path / "out")).to_pylist()
    means = {point["load"]: point["latency_mean_ns"] for point in table}
    assert means == {0.3: None, 0.1: 450.0}


def test_a_point_with_censored_messages_has_no_latency(tmp_path: Path) -> None:
    cases = [(0.1, 0, "not-converged"), (0.2, 0, "not-converged")]
    columns: dict[str, dict[str, float]] = {
        "latency_mean_ns": {"0.1-0": 400.0, "0.2-0": 317.0},
        "messages_created": {"0.1-0": 1000, "0.2-0": 1000},
        # One per cent of the messages, and one more.
        "messages_censored": {"0.1-0": 10, "0.2-0": 11},
    }
    by_hand(tmp_path / "out", cases, columns)
    table = curve_table(Results.load(tmp_path / "out")).to_pylist()
    assert {point["load"]: point["latency_mean_ns"] for point in table} == {0.1: 400.0, 0.2: None}
    assert [point["censored"] for point in table] == [0, 1]


def test_the_command_reports_capacity_and_collapse(
    tmp_path: Path, gingham: Callable[..., Finished]
) -> None:
    (tmp_path / "complement.toml").write_text(COMPLEMENT)
    asked = ("saturation", "complement.toml", "--replications", "3", "--tolerance", "0.1")
    found = gingham(*asked)
    assert found.code == 0, found.err
    names = [line.split("  ")[0] for line in found.out.splitlines()]
    assert {"saturation load", "replications", "capacity", "collapse"} <= set(names)
    told = json.loads(gingham(*asked, "--resume", "--json").out)
    assert told["capacity"]["accepted_load"]["mean"] < BOUND
    assert told["collapse"] == told["highest"]
    assert told["collapse"]["load"] == 1.0
    # Lower by more than the half-widths of both.
    few, many = (told[name]["accepted_load"] for name in ("collapse", "capacity"))
    assert few["mean"] + few["half_width"] < many["mean"] - many["half_width"]
    low, high = told["load"]["low"], told["load"]["high"]
    assert min(one["low"] for one in told["brackets"]) <= low < high
    assert high <= max(one["high"] for one in told["brackets"])


def test_a_search_tells_its_interval_and_its_brackets(tmp_path: Path) -> None:
    found = saturation(
        Scenario.parse(COMPLEMENT).with_({"stop.time": "100 us"}),
        tmp_path / "out",
        replications=2,
        tolerance=0.2,
        upto=0.9,
    )
    rows = dict(facts(found, tmp_path, 0.2))
    assert "capacity" in rows
    # The highest load is reported beside the capacity, under either name.
    assert ("collapse" in rows) != ("at the highest load" in rows)


def test_the_p99_of_a_run_is_that_of_the_messages_of_all_classes() -> None:
    more = """
[[traffic]]
name = "long"
load = 0.02
length = { fixed = "4 KiB" }
"""
    result = run_scenario(Scenario.parse(COMPLEMENT + more))
    bars: dict[tuple[int, int], int] = {}
    for bar in result.table("histogram").to_pylist():
        place = (bar["from_ps"], bar["below_ps"])
        bars[place] = bars.get(place, 0) + bar["messages"]
    # The histogram bin of the message of this rank, counted over both classes from short to long.
    places = sorted(bars)
    counts = list(accumulate(bars[place] for place in places))
    start, end = places[bisect_left(counts, math.ceil(0.99 * counts[-1]))]
    assert start <= 1e3 * result.summary["latency_p99_ns"] < end
    of_classes = [
        one["latency_ns"]
        for of_class in result.classes
        for one in of_class["percentiles"]
        if one["percentile"] == 99
    ]
    assert min(of_classes) <= result.summary["latency_p99_ns"] <= max(of_classes)
