"""Studies: claims, curves with replications, and the files of each paper."""

from __future__ import annotations

import math

import pytest

from gingham import studies
from gingham.errors import InputError
from gingham.studies._claims import Claim, Measurement, each_of, judge, met, read_claim
from gingham.studies._series import Series, crossing, dip
from gingham.studies._study import changed
from gingham.studies.kwan1996 import closed_forms

# Student's t for 2 degrees of freedom, 97.5 %.
T2 = 4.302653


def claim(**keys: object) -> Claim:
    named = {"key": "k", "figure": "1", "section": "1", "claim": "c", "measure": "m", "how": "h"}
    return read_claim({**named, **keys})


# Claims.


def test_a_band_is_met_by_the_value_whatever_its_interval() -> None:
    wanted = claim(expected=0.913, tolerance=0.02)
    assert met(wanted, Measurement.around(0.9, 0.05))
    assert not met(wanted, Measurement.around(0.88, 0.05))


def test_a_bound_is_met_by_the_whole_interval() -> None:
    wanted = claim(above=0)
    assert met(wanted, Measurement.around(1.0, 0.9))
    assert not met(wanted, Measurement.around(1.0, 1.1))
    assert met(claim(below=2), Measurement(1.0))


def test_no_number_meets_nothing() -> None:
    assert not met(claim(between=[0, 1]), Measurement(math.nan))
    assert not met(claim(above=0), Measurement(math.nan))


def test_a_claim_that_differs_is_counted_apart_even_where_it_is_met() -> None:
    assert judge(claim(above=0), Measurement(1.0)).verdict == "passed"
    assert judge(claim(above=0), Measurement(-1.0)).verdict == "failed"
    assert judge(claim(above=0, differs="because"), Measurement(-1.0)).verdict == "differs"


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"expected": 1},
        {"above": 0, "tolerance": 1},
        {"above": 0, "below": 1},
        {"above": 0, "colour": "red"},
    ],
)
def test_a_claim_without_one_expectation_is_refused(keys: dict[str, object]) -> None:
    with pytest.raises(InputError):
        claim(**keys)


def test_a_table_of_claims_has_one_for_each_row() -> None:
    common = {
        "key": "factor-{size}",
        "claim": "{size} switches of {name}",
        "options": {"sweep": "{name}-{size}", "size": "{size}", "list": ["{size}"]},
        "tolerance": 0.1,
    }
    rows = [
        {"size": 8, "name": "short", "expected": 1.0},
        {"size": 16, "name": "long", "expected": 1.4, "tolerance": 0.2},
    ]
    first, second = each_of({**common, "each": rows})
    assert first == {
        "key": "factor-8",
        "claim": "8 switches of short",
        # A name that stands alone keeps its kind.
        "options": {"sweep": "short-8", "size": 8, "list": [8]},
        "tolerance": 0.1,
        "expected": 1.0,
    }
    assert (second["key"], second["expected"], second["tolerance"]) == ("factor-16", 1.4, 0.2)
    # Without rows a claim stands as it is written, braces and all.
    assert list(each_of(common)) == [common]


# Curves.


def test_rows_that_differ_in_something_else_make_no_series() -> None:
    rows = [{"x": 1, "load": load, "y": 2.0, "replication": 0} for load in (0.1, 0.2)]
    assert Series.of(rows[:1], "x", "y").places == [1]
    with pytest.raises(AssertionError, match="differ otherwise"):
        Series.of(rows, "x", "y")


def test_means_and_paired_differences_have_student_intervals() -> None:
    # Two places, three replications that share their ups and downs.
    series = Series({1.0: {0: 10.0, 1: 20.0, 2: 30.0}, 2.0: {0: 11.0, 1: 22.0, 2: 33.0}})
    at = series.at(1.0)
    assert at.value == 20.0
    assert at.high == pytest.approx(20 + T2 * 10 / math.sqrt(3), rel=1e-6)
    step = series.difference(2.0, 1.0)
    # Differences 1, 2, 3.
    assert step.value == 2.0
    assert step.low == pytest.approx(2 - T2 * 1 / math.sqrt(3), rel=1e-6)


def test_the_minimum_comes_with_the_places_that_are_not_surely_above_it() -> None:
    series = Series(
        {
            10: {0: 5.0, 1: 6.0, 2: 7.0},
            20: {0: 3.0, 1: 4.0, 2: 5.0},
            30: {0: 3.1, 1: 3.9, 2: 5.1},
            40: {0: 4.0, 1: 5.0, 2: 6.0},
        }
    )
    best = series.minimum()
    # 30 is above 20 by 0.1, -0.1 and 0.1: by 0.033 give or take 0.29.
    assert (best.value, best.low, best.high) == (20, 20, 30)


def test_a_local_minimum_is_as_deep_as_its_lower_shoulder() -> None:
    heights = {50: 9.0, 70: 8.0, 80: 5.0, 90: 6.0, 100: 7.0, 120: 3.0}
    series = Series({at: {0: y, 1: y + 1, 2: y + 2} for at, y in heights.items()})
    # Looked for in [64, 96], shoulders in [40, 80] and [80, 120].
    found = dip(series, near=80, within=0.2, reach=40)
    assert found.value == found.low == 2.0
    assert "80, shoulders at 50 and 100" in found.note


def test_where_there_is_no_local_minimum_the_depth_is_nothing() -> None:
    series = Series({at: {0: -float(at), 1: 1.0 - at} for at in (50, 60, 70, 80, 90, 100, 120)})
    assert dip(series, near=80, within=0.2, reach=40).value == 0.0


def test_curves_cross_between_two_places() -> None:
    places = {0.1: -2.0, 0.2: -1.0, 0.3: 3.0}
    one = Series({at: {0: 10.0 + gap, 1: 20.0 + gap} for at, gap in places.items()})
    other = Series({at: {0: 10.0, 1: 20.0} for at in places})
    found = crossing(one, other)
    # From -1 to 3 in 0.1: after a quarter of it.
    assert found.value == pytest.approx(0.225)
    assert (found.low, found.high) == (0.2, 0.3)
    assert math.isnan(crossing(other, Series({0.1: {0: 0.0}})).value)


# The files of each study.


@pytest.mark.parametrize("key", studies.names())
def test_every_claim_can_be_measured_and_every_sweep_read(key: str) -> None:
    study = studies.load(key)
    keys = [one.key for one in study.claims]
    assert len(set(keys)) == len(keys)
    for one in study.claims:
        assert callable(studies.measure_of(key, one.measure))
    for name in studies.sweeps_of(study.figures):
        full, quick = study.sweep(name), study.sweep(name, quick=True)
        assert 0 < quick.count() <= full.count()
    assert set(study.quick) <= set(studies.sweeps_of(study.figures))
    assert (study.folder / "README.md").is_file()


def test_an_unknown_study_or_figure_is_told_with_those_known() -> None:
    with pytest.raises(InputError, match='did you mean "kwan1996"'):
        studies.load("kwan1969")
    with pytest.raises(InputError, match='no figure "9"'):
        studies.load("kwan1996").figure("9")


def test_quick_changes_only_what_it_names() -> None:
    sweep = {"replications": 5, "set": {"a": 1}, "axis": [{"name": "x", "values": [1, 2, 3]}]}
    quick = {"replications": 2, "set": {"b": 2}, "values": {"x": [1]}}
    assert changed(sweep, quick, "s") == {
        "replications": 2,
        "set": {"a": 1, "b": 2},
        "axis": [{"name": "x", "values": [1]}],
    }
    assert changed(sweep, {}, "s") == sweep


def test_a_variant_is_a_sweep_with_another_title_and_other_keys_of_its_axes() -> None:
    axis = {"name": "x", "keys": {"load": 1}, "range": {"from": 1}}
    sweep = {"title": "all", "set": {}, "axis": [axis, {"key": "y"}]}
    other = {"of": "s", "title": "one", "axis": {"x": {"keys": {"load": 2}}}}
    assert changed(sweep, other, "v") == {
        "title": "one",
        "set": {},
        "axis": [{**axis, "keys": {"load": 2}}, {"key": "y"}],
    }
    with pytest.raises(AssertionError, match="v lacks axes"):
        changed(sweep, {"axis": {"z": {"keys": {}}}}, "v")


# Closed forms, by hand.


def test_round_robin_shares_the_link_by_the_lengths_of_worms() -> None:
    # Messages of 1000 bytes make 1 / (1 - e^-0.1) = 10.508 segments of 95.16 bytes on average.
    assert closed_forms.mean_segment(1000, 100) == pytest.approx(95.16, abs=0.01)
    assert closed_forms.two_hosts(1, 1) == pytest.approx((0.9131, 0.0869), abs=1e-4)
    assert closed_forms.two_hosts(0.7, 0.7) == pytest.approx((0.7, 0.3))


def test_the_mean_delay_of_h3_is_that_over_all_phases() -> None:
    # A buffer of two segments of 40 bytes: cycles of 1040. Messages that come u after a turn began
    # wait for the rest of the cycle, one cycle more and one message of H1.
    phases = [u + 0.5 for u in range(1040)]
    delays = [(1040 - u) + 1040 + 1000 for u in phases]
    assert sum(delays) / len(delays) == closed_forms.mean_delay(80, 40)
