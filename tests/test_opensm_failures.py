"""Cables of several speeds, and the cost of single failures, without OpenSM's programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham import Fabric, InputError
from gingham.cli._opensm import announcement
from gingham.opensm.comparison import Plan, expected_seconds, measured, own_routes
from gingham.opensm.failures import Each, cut_pairs, single_failures, survey, survey_seconds
from gingham.opensm.programs import VERSION
from gingham.opensm.speeds import Speeds, host_ports, rate_of


@pytest.fixture
def clos() -> Fabric:
    """Four leaves of four hosts, and two spines with two cables to each leaf."""
    return Fabric.make(
        "folded-clos", leaves=4, spines=2, hosts_per_leaf=4, cables_per_pair=2, speed="4xNDR"
    )


def slowed(fabric: Fabric, folder: Path, speed: str) -> Fabric:
    """Return the fabric with one cable from the first leaf to a spine at another speed."""
    text, _ = fabric.text("ibnetdiscover")
    (folder / "all.ibnetdiscover").write_text(text)
    whole = Fabric.load(folder / "all.ibnetdiscover")
    spine, leaf = single_ends(whole)
    lines, node = [], ""
    for line in text.splitlines():
        node = line.split('"')[3] if line.startswith("Switch") else node
        if line.startswith("Ca"):
            node = ""
        if (node, line.partition("]")[0] + "]") in {spine, leaf}:
            line = line.replace("4xNDR", speed)  # noqa: PLW2901
        lines.append(line)
    (folder / "mixed.ibnetdiscover").write_text("\n".join([*lines, ""]))
    return Fabric.load(folder / "mixed.ibnetdiscover")


def single_ends(fabric: Fabric) -> list[tuple[str, str]]:
    """Return the ends of a cable between switches, as a dump has them."""
    switches = {node.name for node in fabric.devices if node.kind == "switch"}
    for cable in fabric.cables:
        if {name for name, _ in cable.ends} <= switches:
            return [(name, f"[{port}]") for name, port in cable.ends]
    raise AssertionError("no cable between switches")


def test_a_rate_is_that_of_the_core() -> None:
    assert (rate_of("4xNDR"), rate_of("4xHDR"), rate_of("80 MB/s")) == (50e9, 25e9, 80e6)
    assert rate_of("2x???") is None


def test_one_slow_cable_halves_the_bound_and_counts_in_busiest_and_bandwidth(
    clos: Fabric, tmp_path: Path
) -> None:
    mixed = slowed(clos, tmp_path, "4xHDR")
    assert {cable.speed for cable in mixed.cables} == {"4xHDR", "4xNDR"}
    plan = Plan([], pairs=16 * 15)
    fast, slow = (
        measured(own_routes(fabric, "up-down", plan), plan, fabric) for fabric in (clos, mixed)
    )
    assert slow["max_channel_paths"] == fast["max_channel_paths"], "counts do not depend on speed"
    # The slow cable carries as many pairs as any other, and takes twice as long for each.
    assert slow["busiest"]["by_rate"] == 2 * slow["busiest"]["pairs"]
    assert slow["busiest"]["by_rate"] == pytest.approx(15 / slow["all_to_all"]["load"])
    assert slow["all_to_all"]["load"] < fast["all_to_all"]["load"]
    lost = fast["bisection"]["bandwidth"] - slow["bisection"]["bandwidth"]
    assert lost > fast["bisection"]["bandwidth_half_width"]


def test_equal_speeds_measure_as_the_core_does(clos: Fabric) -> None:
    """Two programs, with random matchings of their own, within their intervals."""
    assert Speeds.of(clos) is None
    routes = own_routes(clos, "up-down", Plan([]))
    names = [
        name
        for cable in clos.cables
        for one, other in [[f"{node}[{port}]" for node, port in cable.ends]]
        for name in (f"{one} -> {other}", f"{other} -> {one}")
    ]
    ours = Speeds(dict.fromkeys(names, 1.0), frozenset()).bisection(
        routes, host_ports(clos), samples=200, seed=1
    )
    core = routes.bisection(samples=5000)
    assert core is not None
    assert ours["bandwidth"] == pytest.approx(
        core["bandwidth"], abs=2 * (ours["bandwidth_half_width"] + core["bandwidth_half_width"])
    )


def test_hosts_of_two_ports_are_named_as_routes_name_them(tmp_path: Path) -> None:
    (tmp_path / "two.ibsim").write_text(
        'Switch 4 "s"\n[1] "h0"[1]\n[2] "h0"[2]\n[3] "h1"[1]\n\n'
        'Hca 2 "h0"\n[1] "s"[1]\n[2] "s"[2]\n\nHca 1 "h1"\n[1] "s"[3]\n'
    )
    fabric = Fabric.load(tmp_path / "two.ibsim")
    names, _ = own_routes(fabric, "up-down", Plan([])).lengths()
    assert sorted(host_ports(fabric)) == sorted(names)


def test_what_may_fail(clos: Fabric) -> None:
    assert len(single_failures(clos, "cable")) == 4 * 2 * 2
    assert single_failures(clos, "spine") == ["spine0", "spine1"]
    assert len(single_failures(clos, "switch")) == 6
    star = Fabric.make("star", hosts=3)
    each: Each
    for each in ("cable", "spine"):
        with pytest.raises(InputError):
            single_failures(star, each)


def test_a_spine_takes_half_of_the_cables_away(clos: Fabric) -> None:
    """Each leaf has four cables up for four hosts, and two without a spine."""
    failures = survey(clos, "spine", Plan([]))
    assert {failure.name for failure in failures} == {"spine0", "spine1"}
    for failure in failures:
        assert (failure.lost_pairs, failure.deadlock_free) == (0, True)
        # A leaf sends 4 x 12 pairs over 2 cables: 24, and 15 / 24 is left.
        assert failure.bound == pytest.approx(15 / 24)
    # 16 x 12 pairs leave their leaf, each over one of the spines.
    assert sum(failure.cut_pairs for failure in failures) == 16 * 12


def test_cycles_that_are_left_on_the_tables_as_they_are_are_counted() -> None:
    """Both directions of a ring wait in a circle, which any cable that fails opens."""
    ring = Fabric.make("ring", switches=5)
    tables = ring.route("shortest-path", form="table")
    assert tables.deadlock_groups() == [2]
    failures = survey(ring, "cable", Plan([]), tables)
    assert [failure.cycles for failure in failures] == [0] * 5
    # Of the rows and columns of a torus one is opened, in one direction each.
    torus = Fabric.make("torus", dimensions=[5, 5])
    turning = torus.route("dimension-order", form="table")
    assert turning.deadlock_groups() == [20]
    assert {failure.cycles for failure in survey(torus, "cable", Plan([]), turning)} == {18}
    assert own_routes(torus, "up-down", Plan([])).deadlock_groups() == [0]
    with pytest.raises(InputError) as refused:
        tables.deadlock_groups([["s0[9] -> s1[1]"]])
    assert refused.value.key == "without"


def test_an_unknown_speed_counts_as_the_most_common_known_one(tmp_path: Path) -> None:
    nodes = "".join(f'[[switch]]\nname = "s{n}"\nports = 4\n' for n in range(2))
    nodes += "".join(f'[[host]]\nname = "h{n}"\n' for n in range(3))
    speeds = {("s0[1]", "s1[1]"): "4xNDR", ("h0[1]", "s0[2]"): "4xHDR", ("h1[1]", "s0[3]"): "4xHDR"}
    cables = "".join(
        f'[[cable]]\nends = ["{one}", "{other}"]\nspeed = "{speed}"\n'
        for (one, other), speed in speeds.items()
    )
    (tmp_path / "net.toml").write_text(f'{nodes}{cables}[[cable]]\nends = ["h2[1]", "s1[2]"]\n')
    fabric = Fabric.load(tmp_path / "net.toml")
    found = Speeds.of(fabric)
    assert found is not None
    assert found.rates["h2[1] -> s1[2]"] == rate_of("4xHDR")
    bound = fabric.route("up-down").statistics()["all_to_all"]
    assert (bound["assumed_speed"], bound["assumed_cables"]) == ("4xHDR", 1)


def test_a_switch_with_hosts_is_worse_than_one_without(clos: Fabric) -> None:
    steps: list[str] = []
    failures = survey(clos, "switch", Plan([]), on_step=lambda name, _: steps.append(name))
    assert [failure.name[:4] for failure in failures] == ["leaf"] * 4 + ["spin"] * 2
    # Four hosts lose 12 others each, both ways, and one another.
    assert {failure.lost_pairs for failure in failures[:4]} == {4 * 12 * 2 + 4 * 3}
    assert {failure.cut_pairs for failure in failures[:4]} == {4 * 12 * 2 + 4 * 3}
    assert len(steps) == 6


def test_pairs_that_a_cable_cuts_are_those_whose_paths_take_it(clos: Fabric) -> None:
    routes = own_routes(clos, "up-down", Plan([]))
    hosts = [node.name for node in clos.devices if node.kind == "host"]
    paths = [routes.path(one, other) or [] for one in hosts for other in hosts if one != other]
    for name in single_failures(clos, "cable")[:3]:
        one, other = name.split(" - ")
        both = {f"{one} -> {other}", f"{other} -> {one}"}
        assert cut_pairs(clos, routes, name) == sum(bool(both & set(path)) for path in paths)
    for name in ("spine0", "leaf1"):
        taken = sum(any(f"-> {name}[" in channel for channel in path) for path in paths)
        assert cut_pairs(clos, routes, name) == taken


def test_engines_that_take_long_are_announced(clos: Fabric) -> None:
    # Four leaves ask for 16 LIDs each.
    assert expected_seconds(clos, "dfsssp") == pytest.approx(4 * 16 / 10_000)
    assert expected_seconds(clos, "minhop") == 0
    quick = announcement(clos, Plan(["minhop", "nue"]), runs=2, failures=0)
    assert (quick["runs"], quick["seconds_max"], "slow" in quick) == (2, 120.0, False)


def test_an_engine_that_is_expected_to_exceed_its_time_is_named(
    clos: Fabric, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gingham.opensm.comparison.QUESTIONS_PER_S", 1)
    monkeypatch.setattr("gingham.cli._opensm.survey_seconds", lambda *_: 2.0)
    said = announcement(clos, Plan(["minhop", "nue", "lash"], timeout_s=20), runs=3, failures=6)
    assert (said["slow"], said["failures"]) == ({"nue": 64, "lash": 16}, 6)
    assert "failures_seconds" not in said
    monkeypatch.setattr("gingham.cli._opensm.survey_seconds", lambda *_: 14_000.4)
    assert announcement(clos, Plan([]), runs=0, failures=6)["failures_seconds"] == 14_000


def test_the_time_of_a_survey_grows_with_the_failures(clos: Fabric) -> None:
    assert survey_seconds(clos, Plan([]), 0) == 0
    assert survey_seconds(clos, Plan([]), 1_000) > 0


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("----\nOpenSM 3.3.23\nCommand Line Arguments:\n", "3.3.23"),
        ("Usage: /usr/bin/ibsim [-f outfile] <netfile>\n/usr/bin/ibsim 0.10\n", "0.10"),
        ("ibnetdiscover BUILD VERSION: 44.0\n", "44.0"),
    ],
)
def test_versions_are_read_from_what_programs_say(said: str, version: str) -> None:
    match = VERSION.search(said)
    assert match is not None
    assert match["version"] == version
