"""All routing algorithms side by side: `gingham.comparison` and `gingham route --compare`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gingham as package
from gingham import comparison
from gingham.cli._route_compare import print_rows
from gingham.cli._route_facts import first_of
from gingham.errors import InputError
from tests.conftest import Finished
from tests.refusals import raises, require_error

Command = Callable[..., Finished]

EVERYWHERE = [
    "shortest-path",
    "up-down",
    "up-down, depth first",
    "simple-routes",
    "smart",
    "in-transit, fewest hosts",
    "in-transit, any hosts",
]


@pytest.fixture
def ring(gingham: Command, tmp_path: Path) -> Path:
    """A ring of five with a host on each switch."""
    network = tmp_path / "ring.toml"
    made = gingham(
        "fabric", "make", "ring", "--switches", 5, "--hosts-per-switch", 1, "-o", network
    )
    assert made.code == 0, made.err
    return network


def rows_of(finished: Finished) -> dict[str, dict[str, Any]]:
    """Return the rows of a comparison by their labels."""
    assert finished.code == 0, finished.err
    return {row["label"]: row for row in json.loads(finished.out)["rows"]}


def test_a_ring_worked_out_by_hand(gingham: Command, ring: Path) -> None:
    """Ten pairs at distance 1, ten at 2; up is towards s0, so s2 - s4 and back turn up at s3."""
    rows = rows_of(gingham("route", ring, "--compare", "--json"))
    statistics = {label: row["facts"].get("statistics") for label, row in rows.items()}
    free = {label for label, row in rows.items() if row["facts"].get("deadlock_free")}
    assert free == set(EVERYWHERE) - {"shortest-path"}, "a ring is a torus of one dimension, too"
    assert len(rows["shortest-path"]["facts"]["cycle"]) == 5
    assert statistics["shortest-path"]["mean_distance"] == pytest.approx(1.5)
    assert statistics["up-down"]["minimal_share"] == pytest.approx(18 / 20)
    assert statistics["up-down"]["mean_distance"] == pytest.approx((10 + 8 * 2 + 2 * 3) / 20)
    assert statistics["up-down"]["longest_detour"]["distance"] == 3
    for label in EVERYWHERE[-2:]:
        assert statistics[label]["mean_in_transit_hosts"] == pytest.approx(2 / 20)
        assert statistics[label]["minimal_share"] == 1
        assert statistics[label]["busiest_in_transit_hosts"] == [{"host": "h3-0", "paths": 2}]
        # The channels of h3 carry its own four paths and two in transit, each way.
        assert statistics[label]["all_to_all"]["load"] == pytest.approx(4 / 6)


def test_tables_allow_only_what_needs_no_source(gingham: Command, ring: Path) -> None:
    rows = rows_of(gingham("route", ring, "--compare", "--json", "--form", "table"))
    routed = {label for label, row in rows.items() if row["facts"]}
    assert routed == {"shortest-path", "dimension-order", "up-down", "up-down, depth first"}
    assert "source routes only" in rows["smart"]["refused"]


def test_of_a_large_fabric_what_has_no_room_is_left_out_and_told_with_the_option(
    gingham: Command, tmp_path: Path
) -> None:
    """500 switches, 200 of them with the 2,000 hosts: 400,000 paths of 4 ports and 4 bytes each."""
    network = tmp_path / "tree.toml"
    made = gingham("fabric", "make", "fat-tree", "--ports", 20, "--levels", 3, "-o", network)
    assert made.code == 0, made.err
    compared = ("route", network, "--compare", "--memory-max")
    rows = rows_of(gingham(*compared, "4 MB", "--json"))
    assert rows["shortest-path"]["facts"]["form"] == "source"
    assert not rows["dimension-order"]["too_large"], "that it has no grid is another reason"
    for label in ("up-down", "simple-routes", "in-transit, any hosts"):
        assert rows[label]["too_large"]
        assert "may take 4 MB: allow more (memory_max)" in rows[label]["refused"]
    told = " ".join(gingham(*compared, "4 MB").out.split())
    assert "up-down is left out: these routes would take about 16 MB" in told
    assert "dimension-order does not apply" in told
    nothing = gingham(*compared, "1 MB", "--root", "lowest-id", "--json")
    assert nothing.out == ""
    error = require_error(nothing, "too-large", key="memory_max")
    assert "--memory-max" in error["message"]
    require_error(gingham(*compared, "much", "--json"), "wrong-type", key="memory_max")


class Recording(package.Fabric):
    """A fabric that records requests for routes, and returns tables by default."""

    asked: list[dict[str, Any]]

    def route(self, *arguments: Any, **named: Any) -> Any:
        self.asked = [*getattr(self, "asked", []), named]
        return super().route(*arguments, **{**named, "form": named["form"] or "table"})


def test_without_a_form_each_algorithm_has_that_which_it_would_have_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fabric = Recording.make("ring", switches=5, hosts_per_switch=1)
    chosen = [one for one in comparison.CANDIDATES if one.label in {"shortest-path", "up-down"}]
    rows = comparison.compare(fabric, chosen, memory_max="2 GB")
    assert [(one["form"], one["memory_max"]) for one in fabric.asked] == [(None, "2 GB")] * 2
    assert [row.facts["form"] for row in rows] == ["table"] * 2
    print_rows("ring", rows, asked=None)
    told = "tables, because the fabric is large: shortest-path, up-down\n"
    assert capsys.readouterr().out.endswith(told)
    print_rows("ring", rows, asked="table")
    assert told not in capsys.readouterr().out


def test_of_infiniband_what_no_table_holds_is_left_out_until_it_is_asked_for(
    gingham: Command, tmp_path: Path
) -> None:
    network = tmp_path / "net.ibnetdiscover"
    package.Fabric.make("irregular", switches=8, seed=1, speed="4xNDR").save(network)
    compared = ("route", network, "--compare")
    answer = json.loads(gingham(*compared, "--json").out)
    assert [row["label"] for row in answer["rows"]] == [
        "shortest-path",
        "dimension-order",
        "up-down",
        "up-down, depth first",
    ]
    assert answer["left_out"] == EVERYWHERE[3:]
    assert {row["facts"]["form"] for row in answer["rows"] if row["facts"]} == {"table"}
    shown = gingham(*compared).out
    assert "--all" in shown
    assert "because the fabric is large" not in shown
    whole = json.loads(gingham(*compared, "--all", "--json").out)
    assert len(whole["rows"]) == len(comparison.CANDIDATES)
    assert whole["left_out"] == []
    # One algorithm alone has the numbers of the comparison, in the form that the switches support.
    alone = json.loads(gingham("route", network, "--algorithm", "up-down", "--json").out)
    assert alone["form"] == "table"
    beside = next(row for row in answer["rows"] if row["label"] == "up-down")["facts"]
    assert alone["statistics"] == beside["statistics"]
    source = gingham("route", network, "--algorithm", "in-transit", "--json")
    assert json.loads(source.out)["form"] == "source"


@pytest.mark.parametrize(
    ("speed", "infiniband"), [("4xHDR", True), ("1xFDR10", True), ("80 MB/s", False), (None, False)]
)
def test_infiniband_is_known_by_its_speeds(speed: str | None, infiniband: bool) -> None:
    fabric = package.Fabric.make("ring", switches=5, speed=speed)
    assert comparison.is_infiniband(fabric) is infiniband
    assert len(comparison.supported(fabric)) == (4 if infiniband else len(comparison.CANDIDATES))


def test_hosts_that_stop_when_full_can_deadlock(gingham: Command, ring: Path) -> None:
    stops = gingham("route", ring, "--algorithm", "in-transit", "--when-full", "stop")
    assert stops.code == 3, stops.err
    assert "in transit at h3-0, which sends on by the next" in stops.out
    spills = gingham("route", ring, "--algorithm", "in-transit")
    assert spills.code == 0, spills.err
    assert "every leg between two hosts uses increasing numbers" in spills.out
    rows = rows_of(gingham("route", ring, "--compare", "--json", "--when-full", "stop"))
    assert not rows["in-transit, any hosts"]["facts"]["deadlock_free"]


def test_table_and_picture(gingham: Command, ring: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "compared.png"
    compared = gingham("route", ring, "--compare", "--plot", drawn)
    assert compared.code == 0, compared.err
    assert drawn.read_bytes().startswith(b"\x89PNG")
    lines = [
        line for line in compared.out.splitlines() if line.strip().startswith(tuple(EVERYWHERE))
    ]
    assert len(lines) == len(EVERYWHERE)
    again = gingham("route", ring, "--compare", "--plot", drawn, "--json")
    require_error(again, "exists", file=drawn)


def test_any_parameter_can_be_given(gingham: Command, ring: Path) -> None:
    def path_lengths(*options: str) -> Any:
        routed = gingham("route", ring, "--algorithm", *options, "--json")
        assert routed.code == 0, routed.err
        return json.loads(routed.out)["statistics"]["mean_distance"]

    assert path_lengths("simple-routes", "--set", "weight=0") == pytest.approx(1.6)
    assert path_lengths("in-transit", "--hosts", "fewest", "--set", "passes=0") == pytest.approx(
        1.5
    )
    # With root s3, s1 and s0 are lowest: s1 - s4 turns at s0, which is up by its lower id.
    named = path_lengths("up-down", "--root", "s3", "--tree", "breadth-first")
    assert named == pytest.approx(1.6)
    assert path_lengths("up-down", "--set", 'root={named = "s3"}') == named


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (("--compare", "--algorithm", "smart"), {"code": "bad-option", "key": "--algorithm"}),
        (("--compare", "--hosts", "any"), {"code": "bad-option", "key": "--hosts"}),
        (("--compare", "-o", "x.lfts"), {"code": "bad-option", "key": "--output"}),
        (("--compare", "--plot", "x.jpg"), {"code": "unknown-ending", "nearest": "png"}),
        (("--compare", "--root", "s9"), {"code": "refused", "key": "root"}),
        (("--plot", "x.png", "--algorithm", "smart"), {"code": "bad-option", "key": "--plot"}),
        (("--all", "--algorithm", "smart"), {"code": "bad-option", "key": "--all"}),
        ((), {"code": "bad-option", "key": "--algorithm"}),
        (("--algorithm", "smart", "--form", "table"), {"code": "refused", "key": "form"}),
        (
            ("--algorithm", "up-down", "--hosts", "any"),
            {"code": "unknown-key", "key": "algorithm.up-down.hosts"},
        ),
        (("--algorithm", "in-transit", "--set", "hosts"), {"code": "bad-option", "key": "--set"}),
        (
            ("--algorithm", "in-transit", "--set", "hosts=most"),
            {"code": "unknown-name", "key": "algorithm.in-transit.hosts"},
        ),
        (
            ("--algorithm", "simple-routes", "--set", "weight=nan"),
            {"code": "wrong-type", "key": "algorithm.simple-routes.weight"},
        ),
        (
            ("--algorithm", "simple-routes", "--set", "weight=101"),
            {"code": "refused", "key": "algorithm.simple-routes.weight"},
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    gingham: Command, ring: Path, options: tuple[str, ...], facts: dict[str, Any]
) -> None:
    require_error(gingham("route", ring, *options, "--json"), **facts)


def test_a_pair_that_has_to_go_round_a_switch_without_hosts_is_named(
    gingham: Command, tmp_path: Path
) -> None:
    """The ring of five, s3 without a host: s2 - s4 goes round by s1 and s0."""
    network = tmp_path / "bare.anynet"
    network.write_text(
        "router 0 node 0 router 1 router 4\nrouter 1 node 1 router 2\n"
        "router 2 node 2 router 3\nrouter 3 router 4\nrouter 4 node 3\n"
    )
    rows = rows_of(gingham("route", network, "--compare", "--json"))
    statistics = rows["in-transit, any hosts"]["facts"]["statistics"]
    assert statistics["detour_pairs"] == 2
    assert statistics["by_least_distance"] == [
        {"distance": 1, "pairs": 6, "minimal_pairs": 6},
        {"distance": 2, "pairs": 6, "minimal_pairs": 4},
    ]
    told = " ".join(gingham("route", network, "--compare", "--form", "source").out.split())
    assert "2 pairs take a longer path" in told
    assert "3 channels in place of 2" in told
    assert "turns at a switch without hosts (s3)" in told
    alone = gingham("route", network, "--algorithm", "in-transit").out
    assert "no host to turn at        s3, for 2 pairs\n" in alone


def test_of_many_switches_without_hosts_the_first_are_named() -> None:
    few, many = ([f"s{number}" for number in range(count)] for count in (5, 6))
    assert first_of(few) == "s0, s1, s2, s3, s4"
    assert first_of(many) == "s0, s1, s2, s3, s4, ..."


def test_python_compares_what_it_is_asked_for() -> None:
    fabric = package.Fabric.make("irregular", switches=16, seed=3)
    steps: list[tuple[str, str]] = []
    chosen = [one for one in comparison.CANDIDATES if one.label.startswith("up-down")]
    rows = comparison.compare(
        fabric, chosen, root="smallest-distance", on_step=lambda *step: steps.append(step)
    )
    assert [row.parameters["root"] for row in rows] == ["smallest-distance"] * 2
    assert steps[:2] == [("up-down", "routing"), ("up-down", "measuring")]
    (refused,) = comparison.compare(fabric, comparison.CANDIDATES[1:2])
    assert refused.refused
    assert refused.refused.startswith("dimension order needs a mesh or torus")
    with raises(InputError, "refused", key="root"):
        comparison.compare(fabric, root={"named": "nowhere"})


@pytest.mark.parametrize(("slow", "told"), [("2xHDR", True), ("4xHDR", False)])
def test_bounds_name_the_slowest_link_where_hosts_differ(
    gingham: Command, tmp_path: Path, slow: str, told: bool
) -> None:
    network = tmp_path / "net.csv"
    network.write_text(f"source,target,speed\ns,h0,4xHDR\ns,h1,4xHDR\ns,h2,{slow}\n")
    shown = gingham("route", network, "--compare")
    assert shown.code == 0, shown
    assert ("bound: shares of 12500 MB/s, the slowest link" in shown.out) == told
