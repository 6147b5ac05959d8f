"""The picture of latencies: all messages in their bins, marks and intervals where they belong."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch

from gingham.plots import _latency
from tests.pictures import classes, histogram, percentiles, texts

NS = 1000
NAN = math.nan


def drawn(bins: pa.Table, marks: pa.Table | None = None, means: pa.Table | None = None) -> Figure:
    named = list(dict.fromkeys(bins["class"].to_pylist()))
    means = means or classes(**dict.fromkeys(named, (0.1, 0.01, NAN, NAN)))
    return _latency.draw(bins, marks or percentiles(), means, title="Latency")


def bars(axes: Axes) -> tuple[np.ndarray, np.ndarray]:
    (filled,) = [one for one in axes.patches if isinstance(one, StepPatch) and one.get_fill()]
    values, edges, _ = filled.get_data()
    return np.asarray(edges), np.asarray(values)


def at(axes: Axes, gid: str) -> float:
    (line,) = [line for line in axes.lines if line.get_gid() == gid]
    return float(np.asarray(line.get_xdata())[0])


def band(axes: Axes, gid: str) -> tuple[float, float]:
    (found,) = [one for one in axes.patches if one.get_gid() == f"{gid} interval"]
    assert isinstance(found, Rectangle)
    return found.get_x(), found.get_x() + found.get_width()


def legend_of(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_messages_stand_in_the_bins_of_their_latencies() -> None:
    # A quarter at 5 to 6 us, three quarters at 20 to 21 us; the axis ends beyond the slowest.
    figure = drawn(histogram(bulk={(5_000 * NS, 6_000 * NS): 25, (20_000 * NS, 21_000 * NS): 75}))
    edges, shares = bars(figure.axes[0])
    assert edges[[0, -1]] == pytest.approx([0, 1.05 * 21])
    middles = (edges[1:] + edges[:-1]) / 2
    assert shares[middles < 15].sum() == pytest.approx(25)
    assert shares[middles > 15].sum() == pytest.approx(75)
    assert shares[(middles < 4.8) | ((middles > 6.2) & (middles < 19.8))].max() == 0
    assert figure.axes[-1].get_xlabel() == "latency from creation to delivery (µs)"


def test_latencies_that_are_all_alike_stand_in_the_middle_of_their_axis() -> None:
    axes = drawn(histogram(only={(28_000 * NS, 28_100 * NS): 1432})).axes[0]
    low, high = axes.get_xlim()
    assert 25 < low < 28
    assert 28.1 < high < 31


def test_a_fine_bin_is_shared_among_those_that_it_covers() -> None:
    bins = _latency.Distribution(
        np.array([10.0, 40.0]), np.array([20.0, 50.0]), np.array([8.0, 2.0])
    )
    assert bins.below(np.array([5.0, 10.0, 15.0, 30.0, 45.0, 60.0])).tolist() == [0, 0, 4, 8, 9, 10]
    assert bins.quantile(0.5) == 20
    assert bins.quantile(0.81) == 50


def test_marks_stand_at_their_values_in_the_bands_of_their_intervals() -> None:
    bins = histogram(bulk={(1000 * NS, 9000 * NS): 1000})
    marks = percentiles(
        bulk={50: (4000, 3900, 4200), 99: (8000, 7500, NAN), 90: (7000, 6900, 7100)}
    )
    axes = drawn(bins, marks, classes(bulk=(0.1, 0.01, 4500, 250))).axes[0]
    assert at(axes, "mean") == pytest.approx(4.5)
    assert band(axes, "mean") == pytest.approx((4.25, 4.75))
    assert at(axes, "p50") == pytest.approx(4.0)
    assert band(axes, "p50") == pytest.approx((3.9, 4.2))
    assert at(axes, "p99") == pytest.approx(8.0)
    # An interval without an upper end goes on to the end of the axis.
    assert band(axes, "p99") == pytest.approx((7.5, axes.get_xlim()[1]))
    assert legend_of(axes) == ["mean 4.50 ± 0.25", "p50 4 (3.9 to 4.2)", "p99 8 (7.5 to ?)"]


def test_the_tail_falls_to_the_share_that_took_longer() -> None:
    bins = histogram(bulk={(10 * NS, 20 * NS): 90, (30 * NS, 40 * NS): 9, (60 * NS, 70 * NS): 1})
    marks = percentiles(bulk={90: (20, 18, 22), 99: (40, 35, NAN)})
    tail = drawn(bins, marks).axes[-1]
    assert tail.get_yscale() == "log"
    (line,) = [line for line in tail.lines if line.get_gid() == "tail"]
    assert np.asarray(line.get_xdata()).tolist() == pytest.approx([10, 20, 40, 70])
    assert np.asarray(line.get_ydata())[:3].tolist() == pytest.approx([1, 0.1, 0.01])
    dots = [line.get_xydata() for line in tail.lines if line.get_gid() == "percentile"]
    assert np.vstack(dots).tolist() == [pytest.approx([20, 0.1]), pytest.approx([40, 0.01])]
    intervals = [line.get_xdata() for line in tail.lines if line.get_gid() == "interval"]
    assert np.vstack(intervals).tolist() == [pytest.approx([18, 22]), pytest.approx([35, 40])]


def test_each_class_has_its_panel() -> None:
    figure = drawn(histogram(bulk={(3 * NS, 4 * NS): 30}, urgent={(2 * NS, 3 * NS): 1}))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:2] == ["bulk: 30 messages", "urgent: 1 message"]
    assert len(titles) == 3
    colours = [axes.patches[0].get_facecolor()[:3] for axes in figure.axes[:2]]
    assert colours[0] != colours[1]


def test_six_classes_fit_and_no_legend_covers_a_title_or_data() -> None:
    marks = {50.0: (123_456.0, 119_999.0, 130_000.0), 99.0: (1_234_567.0, 1_200_000.0, 1_300_000.0)}
    names = [f"a class with a name {index}" for index in range(6)]
    bins = {name: {(100_000 * NS, 1_300_000 * NS): 12_345_678} for name in names}
    means = classes(**dict.fromkeys(names, (0.1, 0.01, 456_789.0, 12_345.0)))
    figure = drawn(histogram(**bins), percentiles(**dict.fromkeys(names, marks)), means)
    figure.canvas.draw()
    for axes in figure.axes[:6]:
        legend = axes.get_legend()
        assert legend is not None
        assert not legend.get_window_extent().overlaps(axes.get_window_extent())
        # The left title is the third of the three that axes have.
        title = next(text for text in axes.get_children() if text is axes._left_title)  # type: ignore[attr-defined]
        assert not legend.get_window_extent().overlaps(title.get_window_extent())


def test_a_long_tail_has_a_logarithmic_axis_that_ends_beyond_the_slowest() -> None:
    long = histogram(bulk={(2000 * NS, 2100 * NS): 990, (90_000 * NS, 91_000 * NS): 10})
    axes = drawn(long).axes[-1]
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[1] > 91 > axes.get_xlim()[0] > 1
    edges, shares = bars(drawn(long).axes[0])
    assert shares.sum() == pytest.approx(100)
    assert np.diff(np.log(edges)) == pytest.approx([np.diff(np.log(edges))[0]] * _latency.BINS)


def test_stragglers_are_counted_and_do_not_flatten_the_picture() -> None:
    bins = histogram(only={(2000 * NS, 2100 * NS): 9_999, (90_000 * NS, 91_000 * NS): 1})
    axes = drawn(bins, means=classes(only=(0.1, 0.01, 2088, 120))).axes[0]
    # 1.25 times the upper end of the mean's interval, which lies beyond the percentiles.
    assert axes.get_xlim()[1] == pytest.approx(1.25 * 2.208)
    (said,) = [text.get_text() for text in axes.texts]
    assert said == "1 beyond, up to 91 µs →"


def test_too_many_classes_show_the_first_and_say_so() -> None:
    figure = drawn(histogram(**{f"c{index}": {(NS, 2 * NS): 3} for index in range(12)}))
    assert len(figure.axes) == 8 + 1
    assert any("The first 8 classes; 4 more." in text for text in texts(figure))


def test_a_class_without_messages_is_said_and_not_drawn() -> None:
    bins = histogram(busy={(NS, 2 * NS): 3})
    figure = drawn(bins, means=classes(busy=(0.1, 0.1, 1.5, NAN), silent=(0, 0, NAN, NAN)))
    assert len(figure.axes) == 2
    assert any("No message of silent was followed." in text for text in texts(figure))


def test_no_messages_at_all_are_said() -> None:
    figure = drawn(histogram(), means=classes(silent=(0, 0, NAN, NAN)))
    assert "no message was followed to its delivery" in texts(figure)


@pytest.mark.parametrize(
    "bins", [{(0, 1): 1}, {(5, 6): 1}, {(7, 8): 40}, {(0, 1): 5, (10**12, 10**12 + 1): 5}]
)
def test_any_histogram_becomes_a_picture(bins: dict[tuple[int, int], int]) -> None:
    figure = drawn(histogram(only=bins))
    figure.canvas.draw()
    _, shares = bars(figure.axes[0])
    assert shares.sum() == pytest.approx(100)
