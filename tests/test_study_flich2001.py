"""The study of Flich et al. 2001: its measures, checked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import gingham
from gingham import Fabric, studies
from gingham_studies.flich2001 import closed_forms, measures, routed

if TYPE_CHECKING:
    from pathlib import Path

    from gingham.studies import Evidence

# Student's t for one degree of freedom, 97.5 %.
T1 = 12.7062


class Rows:
    """Return evidence of one or several sweeps, from given rows."""

    def __init__(self, **sweeps: list[tuple[str, float, int, float, float]]) -> None:
        names = ("routing", "load", "replication", "accepted_load", "latency_mean_ns")
        self.made = {
            sweep: [dict(zip(names, row, strict=True)) for row in rows]
            for sweep, rows in sweeps.items()
        }

    def rows(self, sweep: str, _traffic: str | None = None, /, **fixed: Any) -> list[Any]:
        return [row for row in self.made[sweep] if fixed.items() <= row.items()]


def evidence(**sweeps: list[tuple[str, float, int, float, float]]) -> Evidence:
    return Rows(**sweeps)  # type: ignore[return-value]


# Two clusters: UD accepts at most 10 and 20, ITB 20 and 30; at low load ITB is slower by 10, 30 %.
TWO = [
    ("UD", 0.1, 0, 1.0, 1000.0),
    ("UD", 1.0, 0, 10.0, 5000.0),
    ("UD", 1.1, 0, 8.0, 9000.0),
    ("UD", 0.1, 1, 1.0, 2000.0),
    ("UD", 1.0, 1, 15.0, 5000.0),
    ("UD", 1.1, 1, 20.0, 9000.0),
    ("UD_ITB", 0.1, 0, 1.0, 1100.0),
    ("UD_ITB", 2.0, 0, 20.0, 9000.0),
    ("UD_ITB", 2.2, 0, 19.0, 9000.0),
    ("UD_ITB", 0.1, 1, 1.0, 2600.0),
    ("UD_ITB", 2.0, 1, 30.0, 9000.0),
    ("UD_ITB", 2.2, 1, 29.0, 9000.0),
    ("UD_ITB_50", 0.1, 0, 1.0, 1060.0),
    ("UD_ITB_50", 0.1, 1, 1.0, 2280.0),
]


def test_throughput_is_the_mean_ratio_of_peaks_wherever_they_lie() -> None:
    found = measures.throughput(evidence(two=TWO), "two", "UD_ITB")
    # 20 / 10 and 30 / 20.
    assert found.value == pytest.approx(1.75)
    assert found.high == pytest.approx(1.75 + T1 * 0.25, rel=1e-4)


def test_latency_is_the_mean_increase_at_the_least_load() -> None:
    found = measures.latency(evidence(two=TWO), "two", "UD_ITB")
    assert found.value == pytest.approx(20.0)
    multiple = measures.latency_multiple(evidence(two=TWO), "two", "UD_ITB", "UD")
    assert multiple.value == pytest.approx(1.2)


def test_a_part_of_an_increase_is_the_ratio_of_means() -> None:
    # 6 and 14 % of 10 and 30 %: 10 of 20, and on the clusters one point above and one below half.
    found = measures.part_of_increase(evidence(two=TWO), "two", "UD_ITB_50", "UD_ITB")
    assert found.value == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5 + T1 * 1 / 20, rel=1e-4)
    less = measures.more_latency(evidence(two=TWO), "two", "UD_ITB", "UD_ITB_50")
    assert less.value == pytest.approx((4 + 16) / 2)


def test_a_part_of_a_gain_is_the_ratio_of_means() -> None:
    # Gains of 100 and 50 % by all packets, of 40 and 10 % by half of them: 25 of 75.
    rows = [*TWO, ("UD_ITB_50", 1.4, 0, 14.0, 9000.0), ("UD_ITB_50", 1.4, 1, 22.0, 9000.0)]
    found = measures.part_of_gain(evidence(two=rows), "two", "UD_ITB_50", "UD_ITB")
    assert found.value == pytest.approx(1 / 3)
    # Above a third of its cluster's by 1/15, below by as much, of 3/4.
    assert found.high == pytest.approx(1 / 3 + T1 * (1 / 15) / (3 / 4), rel=1e-4)


def test_multiples_of_two_sweeps_are_compared_cluster_by_cluster() -> None:
    other = [(name, load, key, taken, 1000.0) for name, load, key, taken, _ in TWO]
    both = evidence(two=TWO, other=other)
    found = measures.multiple_difference(both, "two", "other", "UD_ITB", "UD")
    assert found.value == pytest.approx(0.2)


def test_a_peak_at_an_end_of_the_loads_may_be_none() -> None:
    loads = {0.1: 1.0, 0.95: 2.0, 1.0: 3.0, 1.05: 2.0}

    def peaks_at_an_end(**changed: float) -> tuple[float, str]:
        taken = {
            **loads,
            **{float(key[1:].replace("_", ".")): value for key, value in changed.items()},
        }
        rows = [("UD", load, 0, accepted, 1.0) for load, accepted in taken.items()]
        found = measures.peaks_at_an_end(evidence(one=rows), "one")
        return found.value, found.note

    assert peaks_at_an_end() == (0.0, "")
    # The last; the first of the ladder, below which nothing near was tried; the least of all.
    assert peaks_at_an_end(x1_05=4.0)[0] == 1.0
    assert peaks_at_an_end(x0_95=4.0) == (1.0, "UD on topology 0 at 0.95")
    assert peaks_at_an_end(x0_1=4.0)[0] == 1.0
    # Equal to the load before, within the tolerance.
    assert peaks_at_an_end(x1_05=3.05)[0] == 0.0


def test_the_latency_of_an_empty_network_is_a_sum() -> None:
    # Over two switches: 32 + 3 + 2 bytes, three cables, two switches.
    assert closed_forms.zero_load_ns(2, 0, 32) == pytest.approx(37 * 6.25 + 3 * 49.2 + 300)
    # With an in-transit host between them: three switches, five cables. Up to the host count its
    # two route bytes and the first byte of the mark, after it the whole packet.
    first = (2 + 1) * 49.2 + 2 * 150 + 6.25 * (2 + 1)
    second = (1 + 1) * 49.2 + 1 * 150 + 6.25 * (32 + 3 + 1)
    assert closed_forms.zero_load_ns(3, 1, 32) == pytest.approx(first + 275 + 200 + second)
    slow = closed_forms.zero_load_ns(3, 1, 32, slower=5)
    assert slow - closed_forms.zero_load_ns(3, 1, 32) == pytest.approx(4 * 475)


def test_lone_messages_over_in_transit_hosts_take_as_long_as_the_sum_says(tmp_path: Path) -> None:
    # One message at a time, from a host of each switch to a host of every fifth switch.
    pairs = [(4 * one, 4 * other + 1) for one in range(16) for other in range(0, 16, 5)]
    rows = "".join(
        f"{number * 20_000_000},h{source},h{destination},32\n"
        for number, (source, destination) in enumerate(pairs)
    )
    (tmp_path / "one.csv").write_text("created_ps,source,destination,payload_bytes\n" + rows)
    (tmp_path / "lone.toml").write_text(
        """
        topology.generate.irregular.switches = 16
        routing.algorithm = "in-transit"
        traffic = [{ arrivals = { schedule = "one.csv" } }]
        stop = { time = "1300 us", warm_up = "0 ns" }
        """
    )
    result = gingham.run(gingham.Scenario.load(tmp_path / "lone.toml"))
    found = result.table("messages").to_pylist()
    assert len(found) == 64
    assert {row["in_transit_hosts"] for row in found} >= {0, 1}
    for row in found:
        expected = closed_forms.zero_load_ns(row["switches"], row["in_transit_hosts"], 32)
        assert row["latency_ps"] / 1e3 == pytest.approx(expected, abs=1e-6)


def test_a_number_of_all_pairs_becomes_one_of_pairs_apart() -> None:
    # 10 pairs, 2 of them on one switch: 8 paths of 3 cables each are 2.4 on average of all.
    told = {"host_pairs": 12, "unreachable_pairs": 2, "pairs_by_switches": [0, 2, 0, 0, 8]}
    assert routed.apart(told, 2.4, 0) == pytest.approx(3.0)
    # All pairs on one switch are minimal, and half of the others: 6 of 10.
    assert routed.apart(told, 0.6, 1) == pytest.approx(0.5)


def test_clusters_of_the_generator_follow_the_rules_and_others_do_not() -> None:
    assert routed.follows_the_rules(Fabric.make("irregular", switches=8, seed=5))
    # Three hosts per switch; two cables between neighbours of a ring; five cables per switch.
    others: tuple[tuple[str, dict[str, Any]], ...] = (
        ("irregular", {"switches": 8, "hosts_per_switch": 3, "ports": 7}),
        ("ring", {"switches": 6, "hosts_per_switch": 4}),
        ("irregular", {"switches": 8, "ports": 9}),
        ("irregular", {"switches": 4, "cables_per_pair_max": 2}),
    )
    for kind, parameters in others:
        assert not routed.follows_the_rules(Fabric.make(kind, seed=1, **parameters))


def test_the_numbers_of_the_tables_agree_with_what_the_paper_says_of_them() -> None:
    claims = {one.key: one.band.at for one in studies.load("flich2001").claims}

    def column(name: str) -> list[float]:
        return [claims[f"{name}-{size}"] for size in (8, 16, 32, 64)]

    half, whole = column("table-2-ud-itb-50-short-latency"), column("table-2-ud-itb-short-latency")
    assert all(0.45 < one / other < 0.55 for one, other in zip(half, whole, strict=True))
    fewest, by_length, any_ = (
        column(f"table-1-{name}-mixed-latency") for name in ("ud-mitb", "ud-itb-ml", "ud-itb")
    )
    assert all(a < b < c for a, b, c in zip(fewest, by_length, any_, strict=True))
    # Section IV-E has them less than 3.6 on average.
    for kind in ("short", "long"):
        assert max(column(f"table-3-ud-itb-det-{kind}-latency")) < 3.6
