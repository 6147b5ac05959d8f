"""The picture of the course of a run: lines at their instants, the window apart from the rest."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gingham.plots import _series
from gingham.plots import _style as style
from tests import pictures
from tests.pictures import series, texts

US = 1_000_000
SUMMARY = {"warm_up_ps": 2 * US, "window_end_ps": 8 * US, "end_ps": 10 * US}
STEPS = [(0.1 * index, 0.05 * index, 10 * index, 100.0 + index) for index in range(10)]
MEANS = pictures.classes(bulk=(0.3, 0.02, 104.0, 3.0))


def drawn(table: pa.Table, classes: pa.Table = MEANS) -> Figure:
    return _series.draw(table, classes, SUMMARY, title="A run")


def points(axes: Axes, gid: str, number: int = 0) -> tuple[list[float], list[float]]:
    line = [line for line in axes.lines if line.get_gid() == gid][number]
    return np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()


def patches(axes: Axes, gid: str) -> list[Rectangle]:
    return [one for one in axes.patches if one.get_gid() == gid and isinstance(one, Rectangle)]


def test_lines_stand_at_the_middles_of_their_steps() -> None:
    load, latency = drawn(series(US, bulk=STEPS)).axes
    middles = [index + 0.5 for index in range(10)]
    for name, slope in (("generated", 0.1), ("accepted", 0.05)):
        times, loads = points(load, name)
        assert times == pytest.approx(middles)
        assert loads == pytest.approx([slope * i for i in range(10)])
    # The first step has no messages, so the number in its mean is ignored.
    times, means = points(latency, "latency")
    assert times == pytest.approx(middles)
    assert math.isnan(means[0])
    assert means[1:] == pytest.approx([100.0 + i for i in range(1, 10)])
    assert latency.get_ylabel() == "mean latency (ns), by creation"
    assert latency.get_xlabel() == "simulated time (µs)"


def test_warm_up_and_what_follows_are_shaded() -> None:
    for axes in drawn(series(US, bulk=STEPS)).axes:
        (before,) = patches(axes, "warm-up")
        assert (before.get_x(), before.get_width()) == pytest.approx((0, 2))
        (after,) = patches(axes, "after the window")
        assert (after.get_x(), after.get_width()) == pytest.approx((8, 2))


def test_a_window_over_the_whole_run_has_no_shades() -> None:
    summary = {"warm_up_ps": 0, "window_end_ps": 10 * US, "end_ps": 10 * US}
    figure = _series.draw(series(US, bulk=STEPS), MEANS, summary, title="All")
    assert not any(patches(axes, "warm-up") for axes in figure.axes)
    assert "after the window" not in texts(figure)


def test_means_of_the_window_are_bands_of_their_intervals() -> None:
    load, latency = drawn(series(US, bulk=STEPS)).axes
    for axes, low, high in ((load, 0.28, 0.32), (latency, 101.0, 107.0)):
        (band,) = [one for one in axes.get_children() if one.get_gid() == "mean"]
        assert isinstance(band, Rectangle)
        assert (band.get_x(), band.get_width()) == pytest.approx((2, 6))
        assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((low, high))


def test_an_unknown_interval_has_no_band() -> None:
    unknown = pictures.classes(bulk=(0.3, math.nan, 104.0, math.nan))
    figure = drawn(series(US, bulk=STEPS), unknown)
    assert not [
        one for axes in figure.axes for one in axes.get_children() if one.get_gid() == "mean"
    ]


def test_many_steps_are_joined_loads_by_time_and_latencies_by_messages() -> None:
    # 256 steps become 128: of each pair the second has three times the messages of the first.
    steps = [
        (0.2, 0.1 if i % 2 else 0.3, 3 if i % 2 else 1, 200.0 if i % 2 else 100.0)
        for i in range(256)
    ]
    figure = drawn(series(US, bulk=steps))
    load, latency = figure.axes
    times, accepted = points(load, "accepted")
    assert times == pytest.approx([2 * i + 1.0 for i in range(128)])
    assert accepted == pytest.approx([0.2] * 128)
    assert points(latency, "latency")[1] == pytest.approx([175.0] * 128)
    assert "A point is the mean of 2 µs." in texts(figure)


def test_classes_have_their_colours_and_their_names_beside_the_axes() -> None:
    names = [f"class {index}" for index in range(6)]
    figure = drawn(series(US, **dict.fromkeys(names, STEPS)))
    load, _ = figure.axes
    colours = [line.get_color() for line in load.lines if line.get_gid() == "accepted"]
    assert colours == list(style.CLASS_COLOURS[:6])
    legend = load.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][:6] == names
    figure.canvas.draw()
    assert not legend.get_window_extent().overlaps(load.get_window_extent())


def test_too_many_classes_are_said() -> None:
    figure = drawn(series(US, **{f"c{index}": STEPS for index in range(12)}))
    assert any("The first 8 of 12 classes." in text for text in texts(figure))


def test_a_latency_that_explodes_has_a_logarithmic_axis() -> None:
    steps = [(0.5, 0.3, 10, 100.0 * 2**index) for index in range(8)]
    _, latency = drawn(series(US, bulk=steps)).axes
    assert latency.get_yscale() == "log"
    _, calm = drawn(series(US, bulk=STEPS)).axes
    assert calm.get_yscale() == "linear"
    assert calm.get_ylim()[0] == 0


def test_a_class_that_starts_and_stops_leaves_gaps() -> None:
    silent = (0.0, 0.0, 0, math.nan)
    steps = [silent, silent, (0.2, 0.1, 5, 150.0), (0.2, 0.2, 5, 160.0), silent]
    load, latency = drawn(series(US, bulk=STEPS[:5], late=steps)).axes
    assert points(load, "generated", 1)[1] == pytest.approx([0, 0, 0.2, 0.2, 0])
    known = np.isfinite(points(latency, "latency", 1)[1])
    assert known.tolist() == [False, False, True, True, False]


def test_a_step_alone_is_a_point_in_every_panel() -> None:
    silent = (0.0, 0.0, 0, math.nan)
    _, latency = drawn(series(US, bulk=[silent, STEPS[1], silent, STEPS[3]])).axes
    (line,) = [line for line in latency.lines if line.get_gid() == "latency"]
    assert (line.get_marker(), line.get_markevery()) == ("o", [1, 3])
    for axes in drawn(series(US, bulk=STEPS[1:2])).axes:
        assert axes.lines
        assert {line.get_marker() for line in axes.lines} == {"o"}


def test_a_class_without_a_generated_load_is_drawn_all_the_same() -> None:
    backlogged = [(math.nan, 0.4, 10, 500.0)] * 4
    load, _ = drawn(series(US, bulk=backlogged)).axes
    assert points(load, "accepted")[1] == pytest.approx([0.4] * 4)


@pytest.mark.parametrize("steps", [[], [(0.0, 0.0, 0, math.nan)]])
def test_nothing_to_draw_is_no_fault(steps: list[tuple[float, float, int, float]]) -> None:
    figure = drawn(series(US, bulk=steps))
    assert ("no slice of time was recorded" in texts(figure)) == (not steps)
