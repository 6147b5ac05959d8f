"""Studies: claims, curves with replications, and the files of each paper."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from gingham import studies
from gingham.errors import InputError
from gingham.studies import ClaimOutcome, Measurement, counted
from gingham.studies._assumptions import read_assumption
from gingham.studies._claims import Claim, each_of, judge, read_claim
from gingham.studies._series import Series, crossing, dip
from gingham.studies._study import changed
from gingham_studies.kwan1996 import closed_forms
from tests.refusals import raises

# Student's t for 2 degrees of freedom, 97.5 %.
T2 = 4.302653


# Far from every band of these tests.
NULL = {"value": -100, "of": "no mechanism"}


def claim(**keys: object) -> Claim:
    named = {"key": "k", "figure": "1", "section": "1", "claim": "c", "measure": "m", "how": "h"}
    return read_claim({**named, "null": NULL, **keys})


def verdict(wanted: Claim, value: float, half_width: float | None = None) -> str:
    return judge(wanted, Measurement.around(value, half_width)).verdict


# Claims.


def test_a_band_is_met_by_the_value_whatever_its_interval() -> None:
    wanted = claim(expected=0.913, tolerance=0.02)
    assert verdict(wanted, 0.9, 0.05) == "passed"
    assert verdict(wanted, 0.88, 0.05) == "failed"


def test_a_bound_is_met_by_the_whole_interval_and_not_by_the_bound() -> None:
    wanted = claim(above=0)
    assert verdict(wanted, 1.0, 0.9) == "passed"
    assert verdict(wanted, 1.0, 1.1) == "failed"
    assert verdict(wanted, 0.0) == "failed"
    assert verdict(claim(below=2, null={"value": 2, "of": "as before"}), 1.0) == "passed"


def test_no_number_meets_nothing() -> None:
    assert verdict(claim(between=[0, 1]), math.nan) == "failed"
    assert verdict(claim(above=0), math.nan) == "failed"


def test_a_factor_and_a_tolerance_give_the_wider_band_of_both() -> None:
    band = claim(expected=2.0, factor=1.6, tolerance=1.0).band
    assert (band.low, band.high, band.at) == (1.0, 3.2, 2.0)
    band = claim(expected=-10.0, factor=2.0).band
    assert (band.low, band.high) == (-20.0, -5.0)


DIFFERS = {"because": "b", "between": [4, 6]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5, "differs"), (10.5, "now_met"), (7, "failed"), (3, "failed"), (math.nan, "failed")],
)
def test_what_differs_is_held_against_its_own_band(value: float, expected: str) -> None:
    assert verdict(claim(expected=10, tolerance=1, differs=DIFFERS), value) == expected


def test_a_band_that_admits_its_null_is_refused_or_cannot_tell() -> None:
    null = {"value": 1.0, "of": "no policy"}
    with raises(InputError, "refused", key="null"):
        read_claim({**BARE, "expected": 1.1, "tolerance": 0.1, "null": null}, "a.toml")
    unsure = claim(expected=1.1, tolerance=0.1, null=null, cannot_tell="the interval is wide")
    assert verdict(unsure, 1.1) == "cannot_tell"
    assert verdict(unsure, 1.3) == "failed"
    with raises(InputError, "refused", key="cannot_tell"):
        claim(expected=1.2, tolerance=0.1, null=null, cannot_tell="the interval is wide")
    # A bound does not admit the number at its end.
    assert claim(above=1, null=null).null is not None


BARE = {"key": "k", "figure": "1", "section": "1", "claim": "c", "measure": "m", "how": "h"}


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"expected": 1, "tolerance": 0}, {"code": "missing-key", "key": "null"}),
        (
            {"expected": 1, "tolerance": 0, "exact": True, "null": NULL},
            {"code": "missing-key", "key": "null"},
        ),
        ({"expected": 1, "tolerance": 1, "exact": True}, {"code": "refused", "key": "exact"}),
        ({"between": [2, 1], "null": NULL}, {"code": "refused", "key": "between"}),
        ({"expected": 1, "tolerance": -1, "null": NULL}, {"code": "refused", "key": "tolerance"}),
        ({"expected": 1, "factor": 0.5, "null": NULL}, {"code": "refused", "key": "factor"}),
        ({"between": [1], "null": NULL}, {"code": "wrong-type", "key": "between"}),
        ({"null": NULL}, {"code": "missing-key", "key": "expected"}),
        ({"expected": 1, "null": NULL}, {"code": "missing-key", "key": "expected"}),
        ({"above": 0, "tolerance": 1, "null": NULL}, {"code": "missing-key", "key": "expected"}),
        ({"above": 0, "below": 1, "null": NULL}, {"code": "missing-key", "key": "expected"}),
        ({"above": "0", "null": NULL}, {"code": "wrong-type", "key": "above"}),
        ({"above": 0, "null": {"value": 0}}, {"code": "missing-key", "key": "of"}),
        (
            {"above": 0, "null": {"value": 0, "off": "x"}},
            {"code": "unknown-key", "key": "off", "nearest": "of"},
        ),
        ({"above": 0, "nul": NULL}, {"code": "unknown-key", "key": "nul", "nearest": "null"}),
        (
            {"above": 0, "null": NULL, "differs": "because"},
            {"code": "wrong-type", "key": "differs"},
        ),
        (
            {"above": 0, "null": NULL, "differs": {"between": [-2, -1]}},
            {"code": "missing-key", "key": "because"},
        ),
        ({"above": 0, "null": NULL, "differs": DIFFERS}, {"code": "refused", "key": "differs"}),
    ],
)
def test_a_claim_that_cannot_fail_or_cannot_be_read_is_refused_with_its_place(
    keys: dict[str, object], facts: dict[str, Any]
) -> None:
    with raises(InputError, **facts) as raised:
        read_claim({**BARE, **keys}, "studies/expected.toml")
    assert str(raised.value).startswith('studies/expected.toml: the claim "k"')


def test_claims_of_the_paper_and_of_ours_are_counted_apart() -> None:
    outcomes = [
        judge(claim(above=0), Measurement(1.0)),
        judge(claim(above=0, ours=True), Measurement(-1.0)),
        ClaimOutcome(claim(above=0), "left_out", None),
    ]
    counts = counted(outcomes)
    assert {word: n for word, n in counts["paper"].items() if n} == {"passed": 1, "left_out": 1}
    assert {word: n for word, n in counts["ours"].items() if n} == {"failed": 1}


# Assumptions.

ASSUMPTION = {
    "key": "delay",
    "title": "delay of a switch",
    "because": "measured elsewhere",
    "ours": "150 ns",
    "claims": ["k"],
    "alternatives": [
        {"value": "300 ns", "set": {"a": 1}, "sweep": {"s": {"set": {"b": 2}, "title": "t"}}},
        {"value": "1/2", "options": {"UD": "UD_spread"}},
        {
            "value": "deeper",
            "axis": {"x": {"values": [2]}},
            "sweep": {"s": {"axis": {"y": {"values": [3]}}}},
        },
    ],
}


def test_an_alternative_changes_settings_sweeps_and_options() -> None:
    first, second, third = read_assumption(ASSUMPTION, "study.toml").alternatives
    assert first.changes("s") == {"set": {"a": 1, "b": 2}, "title": "t"}
    assert first.changes("other") == {"set": {"a": 1}}
    assert third.changes("s") == {"axis": {"x": {"values": [2]}, "y": {"values": [3]}}}
    assert third.changes("other") == {"axis": {"x": {"values": [2]}}}
    assert first.options_of({"one": "UD", "n": 1}) == {"one": "UD", "n": 1}
    assert second.runs_as_ours("s")
    assert second.options_of({"one": "UD", "n": 1}) == {"one": "UD_spread", "n": 1}
    # A folder can have its name.
    assert second.name == "delay 1_2"


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"because": None}, {"code": "missing-key", "key": "because"}),
        ({"alternatives": [{"value": "x"}]}, {"code": "refused", "key": "alternatives"}),
        ({"alternatives": [{"set": {"a": 1}}]}, {"code": "missing-key", "key": "value"}),
        (
            {"alternatives": [{"value": "x", "sets": {}}]},
            {"code": "unknown-key", "key": "sets", "nearest": "set"},
        ),
        ({"sweep": ["s"]}, {"code": "unknown-key", "key": "sweep", "nearest": "sweeps"}),
    ],
)
def test_an_assumption_that_says_too_little_is_refused(
    keys: dict[str, object], facts: dict[str, Any]
) -> None:
    table = {key: value for key, value in {**ASSUMPTION, **keys}.items() if value is not None}
    with raises(InputError, **facts) as raised:
        read_assumption(table, "study.toml")
    assert str(raised.value).startswith('study.toml: the assumption "delay"')


@pytest.mark.parametrize("key", studies.names())
def test_every_assumption_names_claims_and_sweeps_that_there_are(key: str, tmp_path: Path) -> None:
    study = studies.load(key)
    for evidence, sweep in studies.needed(study, tmp_path, study.assumptions).values():
        assert study.sweep(sweep, "coarse", evidence.under).count() > 0
    known = set(studies.sweeps_of(study.figures))
    for assumption in study.assumptions:
        assert all(study.claim(claim) for claim in assumption.claims)
        assert all(set(one.sweeps) <= known for one in assumption.alternatives)
        assert set(assumption.sweeps) <= known


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
        # A text that is only a placeholder keeps the type of the value.
        "options": {"sweep": "short-8", "size": 8, "list": [8]},
        "tolerance": 0.1,
        "expected": 1.0,
    }
    assert (second["key"], second["expected"], second["tolerance"]) == ("factor-16", 1.4, 0.2)
    # Without rows a claim is used as written, including braces.
    assert list(each_of(common)) == [common]


def test_an_assumption_runs_the_sweeps_of_its_claims_figures_or_those_it_names(
    tmp_path: Path,
) -> None:
    study = studies.load("flich2001")
    claim = study.claim("table-2-ud-itb-short-latency-16")
    table = {**ASSUMPTION, "claims": [claim.key], "alternatives": ASSUMPTION["alternatives"][:1]}

    def sweeps(**keys: object) -> set[str]:
        assumption = read_assumption({**table, **keys}, "study.toml")
        return {sweep for _, sweep in studies.needed(study, tmp_path, [assumption]).values()}

    assert sweeps() == set(study.figure("table-2").sweeps)
    assert sweeps(sweeps=["short-16"]) == {"short-16"}


# Curves.


def test_rows_that_differ_in_something_else_make_no_series() -> None:
    rows = [{"x": 1, "load": load, "y": 2.0, "replication": 0} for load in (0.1, 0.2)]
    assert Series.of(rows[:1], "x", "y").places == [1]
    with pytest.raises(AssertionError):
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
    # The values at 30 exceed those at 20 by 0.1, -0.1 and 0.1: by 0.033 ± 0.29.
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
        full, quick = study.sweep(name), study.sweep(name, "quick")
        assert 0 < quick.count() <= full.count()
    for less in study.less.values():
        assert set(less) <= set(studies.sweeps_of(study.figures))
    assert (study.folder / "README.md").is_file()


def test_an_unknown_study_or_figure_is_told_with_those_known() -> None:
    with raises(InputError, "unknown-name", nearest="kwan1996"):
        studies.load("kwan1969")
    study = studies.load("kwan1996")
    with raises(InputError, "unknown-name") as refused:
        study.figure("9")
    assert refused.value.expected == [figure.key for figure in study.figures]


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
    zipped = {"name": ["x", "z"], "zip": {"a": [1, 2], "b": [3, 4]}}
    less = {"zip": {"a": [1], "b": [5]}}
    assert changed({"axis": [zipped]}, {"axis": {"x": less}}, "v")["axis"] == [{**zipped, **less}]
    with pytest.raises(AssertionError):
        changed(sweep, {"axis": {"z": {"keys": {}}}}, "v")


# Closed forms, by hand.


def test_round_robin_shares_the_link_by_the_lengths_of_worms() -> None:
    # Messages of 1000 bytes make 1 / (1 - e^-0.1) = 10.508 segments of 95.16 bytes on average.
    assert closed_forms.mean_segment(1000, 100) == pytest.approx(95.16, abs=0.01)
    assert closed_forms.two_hosts(1, 1) == pytest.approx((0.9131, 0.0869), abs=1e-4)
    assert closed_forms.two_hosts(0.7, 0.7) == pytest.approx((0.7, 0.3))


def test_the_mean_delay_of_h3_is_that_over_all_phases() -> None:
    # A buffer of two segments of 40 bytes: cycles of 1040. Messages created u after the start of a
    # turn wait for the rest of the cycle, another cycle and one message of H1.
    phases = [u + 0.5 for u in range(1040)]
    delays = [(1040 - u) + 1040 + 1000 for u in phases]
    assert sum(delays) / len(delays) == closed_forms.mean_delay(80, 40)
