"""`gingham diff`: differences between two runs, and their significance."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import gingham
from gingham import InputError, fabrics, stripe, sweeps
from gingham.differences import Side, difference
from gingham.differences._links import link_changes
from gingham.differences._numbers import BATCHES, number_changes, of_residuals
from gingham.differences._side import OneRun
from tests import pictures
from tests.conftest import Finished
from tests.refusals import raises, require_error

Gingham = Callable[..., Finished]
CLASS = ("classes", "all")
# Student's 97.5 % points.
T_2, T_29 = 4.302653, 2.045230


def run(load: float, half: float | None = None, **more: object) -> OneRun:
    part = {"accepted_load": load, "accepted_load_half_width": half, **more}
    return OneRun("ok", {CLASS: part}, None, None, None)


def side(runs: dict[int, OneRun]) -> Side:
    return Side("x", "x", "fabric", runs, "")


def test_runs_of_one_seed_are_compared_in_pairs() -> None:
    """Differences of 0.1, 0.2 and 0.3: a mean of 0.2, a deviation of 0.1."""
    a = side({1: run(0.1), 2: run(0.5), 3: run(0.9)})
    b = side({3: run(1.2), 1: run(0.2), 2: run(0.7), 9: run(0.0)})
    [found] = number_changes(a, b, [1, 2, 3])
    assert found.paired == "seeds"
    assert (found.a, found.b, found.difference) == pytest.approx((0.5, 0.7, 0.2))
    assert found.half_width == pytest.approx(T_2 * 0.1 / math.sqrt(3))
    assert found.share == pytest.approx(0.4)


def test_runs_without_a_common_seed_are_independent() -> None:
    [found] = number_changes(side({1: run(0.4, 0.03)}), side({2: run(0.5, 0.04)}), [])
    assert found.paired is None
    assert found.half_width == pytest.approx(0.05)
    [found] = number_changes(side({1: run(0.4)}), side({2: run(0.5, 0.04)}), [])
    assert found.half_width is None
    # Numbers that are 0 on both sides are omitted, and a missing number does not count as 0.
    assert number_changes(side({1: run(0.0, 0.0)}), side({2: run(0.0, 0.0)}), []) == []
    lacking = OneRun("ok", {CLASS: {"accepted_load": None}}, None, None, None)
    assert number_changes(side({1: run(0.4, 0.1)}), side({2: lacking}), []) == []


def test_residuals_give_the_interval_of_a_mean_wider_where_neighbours_go_together() -> None:
    """30 values of 1 and -1 have a variance of 30 / 29."""
    apart = [1.0, -1.0] * 15
    plain = T_29 * math.sqrt(30 / 29 / 30)
    assert of_residuals(apart) == pytest.approx(plain)
    # 28 of 29 neighbours are alike, one pair is not: a correlation of 27 / 30.
    together = [1.0] * 15 + [-1.0] * 15
    assert of_residuals(together) == pytest.approx(plain * math.sqrt((1 + 0.9) / (1 - 0.9)))
    assert of_residuals([0.0] * 30) == 0


def over_time(loads: list[float], latencies: list[float], counts: list[int]) -> OneRun:
    """A run of a step of 10 ps for each value."""
    steps = [(0.0, *one) for one in zip(loads, counts, latencies, strict=True)]
    table = pictures.series(10, all=steps)
    part = {
        "accepted_load": 1.0,
        "accepted_load_half_width": 0.5,
        "latency_mean_ns": 1.0,
        "latency_half_width_ns": 0.5,
    }
    window = 0, 10 * len(loads)
    return OneRun("ok", {CLASS: part}, None, lambda: table, window)


def test_what_both_runs_of_a_seed_met_alike_falls_out() -> None:
    """Equal noise on both sides, with 0.1 more load and 3 ns more latency on one of them."""
    noise = [0.2 if step % 3 else 0.5 for step in range(BATCHES)]
    counts = [2 + step % 2 for step in range(BATCHES)]
    a = over_time(noise, [100 * one for one in noise], counts)
    b = over_time([one + 0.1 for one in noise], [100 * one + 3 for one in noise], counts)
    load, latency = number_changes(side({7: a}), side({7: b}), [7])
    assert (load.paired, latency.paired) == ("time", "time")
    assert load.difference == pytest.approx(0.1)
    assert latency.difference == pytest.approx(3)
    # Means over messages: each step is weighted by its number of messages.
    mean = sum(100 * one * many for one, many in zip(noise, counts, strict=True)) / sum(counts)
    assert latency.a == pytest.approx(mean)
    assert load.half_width == pytest.approx(0, abs=1e-9)
    # The batches differ in their numbers of messages, but not in the difference.
    assert latency.half_width == pytest.approx(0, abs=1e-9)


def test_only_the_time_counts_that_both_windows_share() -> None:
    noise = [0.0] * BATCHES + [0.4] * BATCHES
    a = over_time(noise, noise, [1] * len(noise))
    b = over_time([one + 0.1 for one in noise], noise, [1] * len(noise))
    late = OneRun("ok", b.parts, None, b.series, (10 * BATCHES, 20 * BATCHES))
    load = number_changes(side({7: a}), side({7: late}), [7])[0]
    assert (load.a, load.b) == pytest.approx((0.4, 0.5))
    # Windows with steps for fewer than twenty common batches are compared without pairing.
    short = OneRun("ok", b.parts, None, b.series, (10 * BATCHES, 10 * BATCHES + 50))
    assert number_changes(side({7: a}), side({7: short}), [7])[0].paired is None


def test_a_channel_changed_if_it_is_beyond_its_interval() -> None:
    cables = pictures.star(2)

    def with_loads(up: float, down: float) -> OneRun:
        loads = {("h0", "s0"): up, ("s0", "h1"): down}
        table = pictures.links(cables, loads, half_width=0.03)
        return OneRun("ok", {}, lambda: table, None, None)

    a, b = side({1: with_loads(0.5, 0.2)}), side({2: with_loads(0.3, 0.22)})
    found = link_changes(a, b, [])
    assert found is not None
    first, second, *others = found
    assert (first.channel, first.changed) == ("h0[1] -> s0[1]", True)
    assert first.difference == pytest.approx(-0.2)
    assert first.half_width == pytest.approx(math.hypot(0.03, 0.03))
    assert (second.channel, second.changed) == ("s0[2] -> h1[1]", False)
    assert len(others) == 2
    # Over pairs of seeds it is Student's interval of the differences: 0.1, 0.2, 0.3.
    a = side({seed: with_loads(0.1, 0.0) for seed in (1, 2, 3)})
    b = side({seed: with_loads(0.1 + seed / 10, 0.0) for seed in (1, 2, 3)})
    found = link_changes(a, b, [1, 2, 3])
    assert found is not None
    assert found[0].half_width == pytest.approx(T_2 * 0.1 / math.sqrt(3))
    assert link_changes(a, side({4: run(0.1)}), []) is None


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a torus, one of a ring, one of a stripe, and a sweep with channels."""
    path = tmp_path_factory.mktemp("sides")
    torus = gingham.Scenario.example("torus").with_({"stop.time": "400 us"})
    gingham.run(torus, output=path / "up-down")
    gingham.run(torus.with_({"routing.algorithm": "simple-routes"}), output=path / "simple")
    gingham.run(torus.with_({"topology.generate": {"ring": {"switches": 4}}}), output=path / "ring")
    stripe.run(
        stripe.StripeScenario.example("stripe").with_({"stop.time": "1 s"}), output=path / "stripe"
    )
    values = {
        "title": "Two",
        "base": "torus",
        "replications": 2,
        "keep": ["links"],
        "set": {"stop.time": "100 us"},
        "axis": [
            {"key": "routing.algorithm", "name": "routing", "values": ["up-down", "simple-routes"]},
            {"key": "traffic.0.load", "values": [0.05, 0.1]},
        ],
    }
    sweeps.run_sweep(sweeps.Sweep.make(values), path / "two")
    return path


def test_a_run_does_not_differ_from_itself(folders: Path) -> None:
    found = difference(folders / "up-down", folders / "up-down")
    assert {one.difference for one in found.numbers} == {0}
    assert found.links_changed == []
    assert found.links
    assert len(found.links) == 2 * 64


def test_two_runs_are_compared(gingham: Gingham, folders: Path) -> None:
    done = gingham("diff", folders / "up-down", folders / "simple")
    assert done.code == 0, done.err
    assert "one seed on both sides, compared in batches of the time" in " ".join(done.out.split())
    assert "accepted_load" in done.out
    told = json.loads(gingham("diff", folders / "up-down", folders / "simple", "--json").out)
    assert (told["pairs"], len(told["links"])) == (1, 128)
    latency = next(one for one in told["numbers"] if one["column"] == "latency_mean_ns")
    assert latency["paired"] == "time"
    assert latency["difference"] == pytest.approx(latency["b"] - latency["a"])
    assert told["links_changed"] == sum(one["changed"] for one in told["links"])


def test_two_points_of_a_sweep_are_compared_in_pairs(gingham: Gingham, folders: Path) -> None:
    first, second = (
        f"{folders}/two:routing={name},load=0.1" for name in ("up-down", "simple-routes")
    )
    told = json.loads(gingham("diff", first, second, "--json").out)
    assert told["pairs"] == 2
    results = sweeps_results(folders)
    compared = results.compare(
        {"routing": "up-down"}, {"routing": "simple-routes"}, of="latency_mean_ns", by="load"
    ).to_pylist()[1]
    latency = next(one for one in told["numbers"] if one["column"] == "latency_mean_ns")
    assert latency["difference"] == pytest.approx(compared["difference"])
    assert latency["half_width"] == pytest.approx(compared["half_width"])
    key = results.query("select key from runs order by point").to_pylist()[0]["key"]
    one = json.loads(gingham("diff", f"{folders}/two:{key[:10]}", first, "--json").out)
    assert len(one["a"]["verdicts"]) == 1


def sweeps_results(folders: Path) -> gingham.Results:
    return gingham.Results.load(folders / "two")


def test_stripes_are_compared_by_source_and_channel(gingham: Gingham, folders: Path) -> None:
    done = gingham("diff", folders / "stripe", folders / "stripe")
    assert done.code == 0, done.err
    assert "goodput_bits_per_s" in done.out


@pytest.mark.parametrize(
    ("first", "second", "facts"),
    [
        ("up-down", "nothing", {"code": "no-folder"}),
        (".", "up-down", {"code": "no-run"}),
        ("up-down/manifest.json", "up-down", {"code": "is-file"}),
        ("up-down", "ring", {"code": "other-fabric"}),
        ("up-down", "stripe", {"code": "other-kind"}),
        ("up-down:load=0.1", "simple", {"code": "one-run", "key": "load=0.1"}),
        ("two", "two", {"code": "several-points", "key": "routing"}),
        ("two:routing=up-down", "two", {"code": "several-points", "key": "load"}),
        ("two:load=0.2", "two", {"code": "no-data", "key": "load"}),
        (
            "two:laod=0.1",  # typos: on purpose
            "two",
            {"code": "unknown-name", "key": "laod", "nearest": "load"},  # typos: on purpose
        ),
        ("two:zzzz", "two", {"code": "no-data", "key": "zzzz"}),
    ],
)
def test_what_cannot_be_compared_is_refused(
    gingham: Gingham, folders: Path, first: str, second: str, facts: dict[str, Any]
) -> None:
    require_error(gingham("diff", folders / first, folders / second, "--json"), **facts)


def test_a_fabric_with_a_cable_less_is_another(folders: Path, tmp_path: Path) -> None:
    fabrics.mesh(dimensions=[4, 4], hosts_per_switch=2).save(tmp_path / "mesh.toml")
    torus = gingham.Scenario.example("torus").with_({"stop.time": "50 us"})
    gingham.run(torus.with_(topology=tmp_path / "mesh.toml"), output=tmp_path / "mesh")
    with raises(InputError, "other-fabric"):
        difference(folders / "up-down", tmp_path / "mesh")


def test_tables_of_links_name_channels_as_scenarios_do(folders: Path) -> None:
    links: pa.Table = gingham.load_result(folders / "up-down").links
    found = difference(folders / "up-down", folders / "simple").links
    assert found
    first = links.slice(0, 1).to_pylist()[0]
    named = f"{first['from']}[{first['from_port']}] -> {first['to']}[{first['to_port']}]"
    assert named in {one.channel for one in found}
