"""Routing by latency: paths against those of an independent search, and notes about them."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import gingham as package
from gingham.errors import InputError
from gingham.scenario import Scenario
from tests.conftest import Finished

Command = Callable[..., Finished]
FIXTURES = Path(__file__).parent.parent / "crates" / "fabric" / "topology" / "tests" / "fixtures"
WEIGHTED = FIXTURES / "weighted.anynet"
BY_LATENCY = {"shortest-path": {"weight": "latency"}}


def drawn(seed: int) -> tuple[str, dict[tuple[int, int], int]]:
    """Return an anynet file of a random connected network, and its latencies by pair."""
    draw = random.Random(seed)  # noqa: S311  (not used for secrets)
    count = draw.randint(3, 14)
    pairs = {(draw.randrange(router), router) for router in range(1, count)}
    for _ in range(draw.randint(0, 2 * count)):
        one, other = sorted(draw.sample(range(count), 2))
        pairs.add((one, other))
    latencies = {pair: draw.choice([1, 1, 2, 3, 5, 9, 40]) for pair in sorted(pairs)}
    lines = [f"router {router} node {router} node {router + count}" for router in range(count)]
    lines += [f"router {one} router {other} {cycles}" for (one, other), cycles in latencies.items()]
    return "\n".join([*lines, ""]), latencies


def least(latencies: dict[tuple[int, int], int], hop: Fraction) -> dict[tuple[int, int], Fraction]:
    """Return the least latency between any two routers, by the recurrence of Floyd and Warshall.

    A cable of latency L has L - 1 cycles of length, and each channel costs `hop` more.
    """
    routers = range(1 + max(max(pair) for pair in latencies))
    far = Fraction(10**9)
    found = {
        (one, other): far if one != other else Fraction(0) for one in routers for other in routers
    }
    for (one, other), cycles in latencies.items():
        found[one, other] = found[other, one] = cycles - 1 + hop
    for middle in routers:
        for one in routers:
            for other in routers:
                round_about = found[one, middle] + found[middle, other]
                found[one, other] = min(found[one, other], round_about)
    return found


@pytest.mark.parametrize("form", ["source", "table"])
@pytest.mark.parametrize(("hop_length", "hop"), [(None, 1), ("2.5 m", 2.5), ("0 m", 0)])
def test_paths_have_the_least_latency_of_all(
    tmp_path: Path, form: str, hop_length: str | None, hop: float
) -> None:
    more = {} if hop_length is None else {"hop_length": hop_length}
    for seed in range(25):
        text, latencies = drawn(seed)
        file = tmp_path / f"{seed}.anynet"
        file.write_text(text)
        fabric = package.Fabric.load(file)
        routes = fabric.route("shortest-path", form=form, weight="latency", **more)  # type: ignore[arg-type]
        expected = least(latencies, Fraction(hop))
        count = len({router for pair in latencies for router in pair})
        for one in range(count):
            for other in range(count):
                path = routes.path(f"h{one}", f"h{other + count}")
                assert path is not None
                # The switches that it passes through, by number.
                passed = [int(channel.split(" -> ")[1][1:].split("[")[0]) for channel in path[:-1]]
                steps = [*itertools.pairwise(passed)]
                cost = sum(
                    (latencies[min(step), max(step)] - 1 + Fraction(hop) for step in steps),
                    start=Fraction(0),
                )
                assert cost == expected[one, other], (seed, one, other, path)


def test_booksim_min_of_the_weighted_file_goes_over_router_2(gingham: Command) -> None:
    fabric = package.Fabric.load(WEIGHTED)
    by_latency = fabric.route(BY_LATENCY)
    path = by_latency.path("h0", "h1") or []
    assert [channel.split("[")[0] for channel in path] == ["h0", "s0", "s2", "s1"]
    assert len(fabric.route("shortest-path").path("h0", "h1") or []) == 3
    assert by_latency.is_deadlock_free
    shown = gingham(
        "route", WEIGHTED, "--algorithm", "shortest-path", "--weight", "latency", "--json"
    )
    assert shown.code == 0, shown.err
    facts = json.loads(shown.out)
    assert facts["notes"] == []
    assert facts["statistics"]["max_switches"] == 3


def test_a_note_of_route_says_that_lengths_differ_where_channels_are_counted(
    gingham: Command, tmp_path: Path
) -> None:
    shown = gingham("route", WEIGHTED, "--algorithm", "shortest-path")
    assert "lengths-differ: " in shown.err
    assert "--weight latency" in shown.err
    told = json.loads(gingham("route", WEIGHTED, "--algorithm", "shortest-path", "--json").out)
    assert [note.partition(":")[0] for note in told["notes"]] == ["lengths-differ"]
    # Up*/down* has no weight, and cables of equal length need no note.
    assert "lengths-differ" not in gingham("route", WEIGHTED, "--algorithm", "up-down").err
    even = tmp_path / "even.anynet"
    even.write_text("router 0 node 0 router 1 5\nrouter 1 node 1\n")
    assert "lengths-differ" not in gingham("route", even, "--algorithm", "shortest-path").err


@pytest.mark.parametrize(
    ("algorithm", "parameters", "key"),
    [
        ("up-down", {"weight": "latency"}, "algorithm.up-down.weight"),
        ("dimension-order", {"weight": "latency"}, "algorithm.dimension-order.weight"),
        ("in-transit", {"weight": "latency"}, "algorithm.in-transit.weight"),
        ("smart", {"weight": "latency"}, "algorithm.smart.weight"),
        ("simple-routes", {"weight": "latency"}, "algorithm.simple-routes.weight"),
        ("shortest-path", {"weight": "length"}, "algorithm.shortest-path.weight"),
        ("shortest-path", {"hop_length": "1 m"}, "algorithm.shortest-path.hop_length"),
    ],
)
def test_what_has_no_such_weight_refuses_it_with_the_key(
    algorithm: str, parameters: dict[str, str], key: str
) -> None:
    with pytest.raises(InputError) as refused:
        package.Fabric.load(WEIGHTED).route({algorithm: parameters})
    assert refused.value.key == key


def test_unknown_lengths_and_packets_that_choose_refuse_the_weight(gingham: Command) -> None:
    plain = package.Fabric.make("ring", switches=5)
    with pytest.raises(InputError) as refused:
        plain.route(BY_LATENCY)
    assert refused.value.key == "algorithm.shortest-path.weight"
    with pytest.raises(InputError) as refused:
        package.Fabric.load(WEIGHTED).route(BY_LATENCY, adaptive=True)
    assert refused.value.key == "algorithm.shortest-path.weight"
    asked = gingham("route", WEIGHTED, "--compare", "--weight", "latency")
    assert asked.code == 2


def scenario(algorithm: str) -> str:
    return f"""
topology.file = "{WEIGHTED}"
routing.algorithm = {algorithm}
network.preset = "infiniband-ndr"
stop.time = "50 us"
[[traffic]]
hosts = ["h0"]
destinations = {{ host = "h1" }}
load = 0.1
length = {{ fixed = "256 B" }}
"""


def test_a_scenario_routes_by_latency_too() -> None:
    def switches(algorithm: str) -> float:
        run = package.run(Scenario.parse(scenario(algorithm)))
        return float(run.summary["classes"][0]["hops_mean"])

    assert switches('"shortest-path"') == 2
    assert switches('{ shortest-path = { weight = "latency" } }') == 3
    with pytest.raises(InputError) as refused:
        package.Simulation(
            Scenario.parse(
                scenario('{ shortest-path = { weight = "latency" } }').replace(
                    f'topology.file = "{WEIGHTED}"', "topology.generate.ring = { switches = 3 }"
                )
            )
        )
    assert refused.value.key == "routing.algorithm.shortest-path.weight"
