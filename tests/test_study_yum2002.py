"""The study of Yum et al. 2002: its measures, checked by hand, and properties of its readings."""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import gingham
from gingham import studies
from gingham.studies._bands import Measurement
from gingham_studies.yum2002 import measures, pooling

if TYPE_CHECKING:
    from gingham.studies import Evidence

STUDY = studies.load("yum2002")


class Rows:
    """Evidence from rows that are written down, by sweep."""

    def __init__(self, **sweeps: list[dict[str, Any]]) -> None:
        self.made = {name.replace("_", "-"): rows for name, rows in sweeps.items()}

    def rows(self, sweep: str, traffic: str | None = None, /, **fixed: Any) -> list[Any]:
        wanted = {**fixed, **({"class": traffic} if traffic else {})}
        return [row for row in self.made[sweep] if wanted.items() <= row.items()]


def evidence(**sweeps: list[dict[str, Any]]) -> Evidence:
    return Rows(**sweeps)  # type: ignore[return-value]


def mesh(
    control: str, load: float, accepted: float, latency_us: float, half: float
) -> dict[str, Any]:
    return {
        "class": "best",
        "control": control,
        "load": load,
        "accepted_load": accepted,
        "accepted_load_half_width": 0.001,
        "latency_mean_ns": 1000 * latency_us,
        "latency_half_width_ns": 1000 * half,
    }


def four(*accepted: float) -> list[dict[str, Any]]:
    named = zip(measures.SETTINGS, accepted, strict=True)
    return [mesh(f"credits {of}", 1.0, value, 10.0 * of, 3.0) for of, value in named]


def test_the_best_setting_is_the_fewest_credits_within_half_a_per_cent() -> None:
    # .5 % below .8 is .796.
    made = evidence(figure_3=four(0.79, 0.7959, 0.7961, 0.8))
    assert measures.best_of_four(made).value == 200
    assert measures.row_of(made, measures.BEST) == "credits 200"
    assert measures.row_of(made, "none") == "none"
    assert measures.best_of_four(evidence(figure_3=four(0.8, 0.8, 0.8, 0.8))).value == 50


def test_differences_and_ratios_have_the_intervals_of_independent_numbers() -> None:
    rows = [*four(0.8, 0.8, 0.8, 0.8), mesh("none", 1.0, 0.72, 600.0, 4.0)]
    slower = measures.slower(evidence(figure_3=rows), "latency", "none", measures.BEST, 1.0)
    # 600 - 500 us; half-widths of 4 and 3 us combine to 5.
    assert (slower.value, slower.low, slower.high) == pytest.approx((100.0, 95.0, 105.0))
    ratio = pooling.over(Measurement(8, 7.2, 8.8), Measurement(2))
    assert (ratio.value, ratio.high) == pytest.approx((4.0, 4.4))


def test_replications_are_pooled_and_a_run_without_an_interval_leaves_it_to_them() -> None:
    rows = [mesh("none", 1.0, 0.8, of, 4.0) for of in (100.0, 110.0)]
    found = pooling.pooled(rows, "latency")
    assert found.value == pytest.approx(105.0)
    assert pooling.half_width(found) == pytest.approx(math.hypot(4, 4) / 2)
    rows[0]["latency_half_width_ns"] = math.nan
    # Student's t of one degree of freedom, 12.7, times the standard error of 5 us.
    assert pooling.half_width(pooling.pooled(rows, "latency")) == pytest.approx(63.53, rel=1e-3)
    alone = pooling.pooled(rows[:1], "latency")
    assert pooling.half_width(alone) == 0
    rows[0]["latency_mean_ns"] = math.nan
    assert math.isnan(pooling.pooled(rows[:1], "latency").value)


def test_what_a_network_goes_on_taking_is_that_of_the_last_load_over_the_most() -> None:
    rows = [
        mesh("none", load, taken, 10, 1) for load, taken in ((0.8, 0.8), (0.9, 0.82), (1, 0.779))
    ]
    found = measures.stays(evidence(figure_3=rows), "none")
    assert found.value == pytest.approx(0.95)
    assert found.note == "most at load 0.9"


def video(control: str, **columns: Any) -> dict[str, Any]:
    return {"class": "video", "control": control, "verdict": "ok", **columns}


def test_a_shortfall_is_what_was_generated_and_not_accepted() -> None:
    row = video("none", generated_load=0.64, accepted_load=0.48, accepted_load_half_width=0.064)
    found = measures.shortfall(evidence(unscaled=[row]), "unscaled", "video", {"control": "none"})
    assert (found.value, found.low, found.high) == pytest.approx((0.25, 0.15, 0.35))


def test_missed_deadlines_are_held_against_the_law_of_records() -> None:
    half = {"deadlines_missed": 0.06, "deadlines_missed_half_width": 0.01}
    row = video("A, C", **half, deadlines_missed_law=0.05)
    found = measures.over_law(evidence(unscaled=[row]), "unscaled", {"control": "A, C"})
    assert (found.value, found.low) == pytest.approx((1.2, 1.0))


def test_control_is_affected_less_where_its_factor_is_smaller() -> None:
    rows = [
        {**mesh(control, 0.9, 0.5, latency, 0.0), "class": name}
        for name, (without, with_) in {"bursts": (600.0, 200.0), "control": (5.0, 4.0)}.items()
        for control, latency in (("none", without), ("A", with_))
    ]
    found = measures.less_affected(
        evidence(figure_5=rows), "figure-5", ["bursts", "control"], "A", "none", 0.9
    )
    assert found.value == pytest.approx(3 - 1.25)


# Properties of the readings.


def test_a_figure_on_request_is_made_only_when_it_is_named() -> None:
    keys = [one.key for one in STUDY.chosen(None)]
    assert keys == ["3", "4", "5", "minimum"]
    assert [one.key for one in STUDY.chosen("film")] == ["film"]
    assert {one.key for one in STUDY.figures} - set(keys) == {"400-frames", "1350-frames", "film"}


def short(scenario: gingham.Scenario, **changes: Any) -> gingham.Scenario:
    return scenario.with_({"stop": {"time": "1500 us", "warm_up": "300 us"}, **changes})


def accepted(control: dict[str, Any]) -> float:
    folder = STUDY.folder
    changes = {"traffic.best.load": 1.0, **control}
    scenario = short(gingham.Scenario.load(folder / "mesh-4x4.toml"), **changes)
    found: float = gingham.run(scenario).classes[0]["accepted_load"]
    return found


def test_no_control_is_one_pool_of_as_many_credits_as_the_buffer_holds() -> None:
    choices = tomllib.loads((STUDY.folder / "figure-3.toml").read_text())["axis"][0]["choices"]
    assert accepted(choices["none"]) == accepted(choices["credits 400"])


def test_on_any_lane_credits_beyond_the_lanes_change_nothing() -> None:
    def taken(credits_: int) -> float:
        return accepted(
            {
                "traffic.best.lane": "any",
                "network.adapters": {"send_buffer": 400, "congestion_control": "credits"},
                "traffic.best.post": {"credits": {"per-host": credits_}},
            }
        )

    assert taken(15) == taken(50)
    assert taken(4) < taken(15)


@pytest.mark.parametrize(("interval", "credits_"), [("33.3 ms", 1), ("3.33 ms", 10)])
def test_a_stream_has_as_many_credits_as_it_is_fast(interval: str, credits_: int) -> None:
    # b_j M / B: 16,666 B in 33.3 ms are 1/400 of 200 MB/s, of 400 places one. All of a host fit in.
    scenario = gingham.Scenario.load(STUDY.folder / "switch.toml").with_(
        {
            "traffic.video.streams.interval": interval,
            "traffic.video.load": 0.8,
            "network.adapters.congestion_control": "credits",
            "traffic.video.post.credits": "by-rate",
            "traffic.best.post": {"credits": {"per-host": 80}},
            "traffic.control.post": {"credits": "exempt"},
        }
    )
    gingham.run(short(scenario))
    streams = 320 // credits_
    assert streams * credits_ + 80 == 400
    with pytest.raises(gingham.InputError, match="credits or more together"):
        gingham.run(short(scenario, **{"traffic.best.post": {"credits": {"per-host": 81}}}))
