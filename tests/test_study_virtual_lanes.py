"""The study of virtual channels on a mesh and a torus: its measures, checked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import gingham
from gingham import studies
from gingham.studies._series import Series
from gingham_studies.virtual_lanes import closed_forms, measures

if TYPE_CHECKING:
    from gingham.studies import Evidence

# Student's t for one degree of freedom, 97.5 %.
T1 = 12.7062
NAMES = ("lanes", "depth", "load", "replication", "latency_mean_ns", "accepted_load")


class Rows:
    """Return evidence of sweeps from given rows, with latencies in cycles."""

    def __init__(self, **sweeps: list[tuple[int, int, float, int, float, float]]) -> None:
        self.made = {
            name.replace("_", "-"): [dict(zip(NAMES, row, strict=True)) for row in rows]
            for name, rows in sweeps.items()
        }

    def rows(self, sweep: str, _traffic: str | None = None, /, **fixed: Any) -> list[Any]:
        found = [row for row in self.made[sweep] if fixed.items() <= row.items()]
        return [{**row, "latency_mean_ns": 80 * row["latency_mean_ns"]} for row in found]

    def series(self, sweep: str, traffic: str, x: str, y: Any, /, **fixed: Any) -> Series:
        return Series.of(self.rows(sweep, traffic, **fixed), x, y)


def evidence(**sweeps: list[tuple[int, int, float, int, float, float]]) -> Evidence:
    return Rows(**sweeps)  # type: ignore[return-value]


# On the mesh 20 flits take 52 1/6 cycles without load; three times this is 156.5.
LIMIT = 3 * (19 / 3 * 5 + 20 + 0.5)
MESH = [
    # One lane saturates at 0.15 and 0.25, two at 0.3 and 0.4, four at 0.4 and 0.5.
    *[
        (lanes, 8, load, number, LIMIT + 1000 * (load - at), min(load, at))
        for lanes, places in ((1, (0.15, 0.25)), (2, (0.3, 0.4)), (4, (0.4, 0.5)))
        for number, at in enumerate(places)
        for load in (0.1, 0.2, 0.35, 0.6)
    ]
]


def test_saturation_is_where_the_latency_is_three_times_that_without_load() -> None:
    found = measures.saturations(evidence(mesh_20=MESH), "mesh-20", 1, 8)
    assert found == pytest.approx({0: 0.15, 1: 0.25})
    share = measures.saturation(evidence(mesh_20=MESH), "mesh-20", 1, 8)
    assert share.value == pytest.approx(0.2 / (63 / 128))
    assert share.high == pytest.approx((0.2 + T1 * 0.05) / (63 / 128), rel=1e-4)
    assert share.note == "0.200 flits a host and cycle"


def test_a_curve_that_never_rises_has_no_saturation() -> None:
    flat = [(1, 8, load, 0, 60.0, load) for load in (0.1, 0.2)]
    assert not measures.saturation(evidence(mesh_20=flat), "mesh-20", 1, 8).value > 0


def test_gains_are_taken_pair_by_pair() -> None:
    two, one = {"lanes": 2, "depth": 8}, {"lanes": 1, "depth": 8}
    found = measures.gain(evidence(mesh_20=MESH), "mesh-20", two, one)
    assert found.value == pytest.approx((0.3 / 0.15 + 0.4 / 0.25) / 2)
    second = measures.second_gain(evidence(mesh_20=MESH), "mesh-20")
    assert second.value == pytest.approx((2 - 4 / 3 + 1.6 - 1.25) / 2)


def test_what_is_accepted_is_that_of_the_last_load_and_of_the_best() -> None:
    rows = [(1, 8, load, 0, 60.0, taken) for load, taken in ((0.2, 0.2), (0.3, 0.25), (0.6, 0.2))]
    made = evidence(mesh_20=rows)
    assert measures.stays(made, "mesh-20", 1, 8).value == pytest.approx(0.8)
    assert measures.throughput(made, "mesh-20", 1, 8).value == pytest.approx(0.2 * 128 / 63)
    most = measures.most_accepted(made, "mesh-20")
    assert most.value == pytest.approx(0.25 * 128 / 63)
    assert most.note == "1 lanes of 8 flits at load 0.3"


def test_a_torus_and_a_mesh_are_compared_by_their_capacities() -> None:
    empty = measures.zero_load("torus-20") - measures.zero_load("mesh-20")
    shifted = [
        (lanes, depth, 2 * load, number, delay + 3 * empty, taken)
        for lanes, depth, load, number, delay, taken in MESH
    ]
    made = evidence(mesh_20=MESH, torus_20=shifted)
    more = measures.more_than(made, "torus-20", "mesh-20", 2, 8)
    assert more.value == pytest.approx(0.35)
    # Twice the load of twice the capacity.
    less = measures.less_of_capacity(made, "torus-20", "mesh-20", 2, 8)
    assert less.value == pytest.approx(0, abs=1e-12)
    slower = measures.slower(
        made, "mesh-20", 0.2, {"lanes": 1, "depth": 8}, {"lanes": 4, "depth": 8}
    )
    assert slower.value == pytest.approx(250)


@pytest.mark.parametrize(
    ("shape", "side"), [("mesh", 4), ("mesh", 8), ("mesh", 12), ("torus", 8), ("torus", 12)]
)
def test_closed_forms_are_those_of_the_routes(shape: str, side: int) -> None:
    ties = "alternate" if shape == "torus" else "up"
    fabric = gingham.Fabric.make(shape, dimensions=[side, side])
    told = fabric.route("dimension-order", ties=ties).statistics()
    assert closed_forms.mean_switches(shape, side) == pytest.approx(told["mean_switches"])
    assert closed_forms.capacity(shape, side) == pytest.approx(told["all_to_all"]["load"])


def test_a_lone_packet_takes_as_long_as_the_sum_says() -> None:
    scenario = gingham.Scenario.load(studies.load("virtual_lanes").folder / "grid.toml").with_(
        {"traffic.0.load": 0.0005, "stop": {"time": "20 ms"}, "measure.messages": "sample"}
    )
    found = gingham.run(scenario).table("messages").to_pylist()
    alone = [
        row["network_latency_ps"]
        - closed_forms.CYCLE_PS * closed_forms.zero_load_cycles(row["switches"], 20)
        for row in found
    ]
    assert min(alone) == 0
    assert alone.count(0) > len(found) / 2 > 50


def test_a_study_of_several_papers_names_none_of_them() -> None:
    assert studies.load("virtual_lanes").heading == (
        "virtual_lanes: Virtual channels on an 8x8 mesh and torus"
    )
    assert studies.load("kwan1996").heading.endswith(", 1996")
