"""What the picture of latencies marks, and that it is a picture."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes

from gingham.plots import latency


def table(**classes: list[int]) -> pa.Table:
    rows = [(name, value) for name, values in classes.items() for value in values]
    names, values = zip(*rows, strict=True) if rows else ((), ())
    return pa.table(
        {"class": pa.array(names, pa.string()), "latency_ps": pa.array(values, pa.uint64())}
    )


def legend_of(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_marks_agree_with_a_hand_calculation() -> None:
    # 1 to 100: mean 50.5; linear interpolation puts the median at 50.5, p99 at 99.01. The 20
    # batches of five have the means 3, 8, ... 98: variance 25 * (20^2 - 1) / 12 * 20 / 19.
    marks = latency.Marks.of(np.arange(1.0, 101.0))
    assert marks.mean_ps == pytest.approx(50.5)
    assert marks.p50_ps == pytest.approx(50.5)
    assert marks.p99_ps == pytest.approx(99.01)
    deviation = (25 * 399 / 12 * 20 / 19) ** 0.5
    assert marks.half_width_ps == pytest.approx(2.093 * deviation / 20**0.5)


def test_few_messages_have_no_interval() -> None:
    assert latency.Marks.of(np.arange(1.0, 20.0)).half_width_ps is None


def test_each_class_has_its_panel_and_its_marks() -> None:
    two = table(bulk=[3_000_000] * 30, urgent=[2_000_000, 4_000_000])
    known = latency.Marks(mean_ps=3_500_000, half_width_ps=500_000, p50_ps=3e6, p99_ps=4e6)
    figure = latency.draw(two, title="Latency", marks={"bulk": known})
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles == ["bulk: 30 messages", "urgent: 2 messages"]
    assert figure.axes[-1].get_xlabel().endswith("(µs)")
    assert legend_of(figure.axes[0]) == [
        "mean 3.5 ± 0.5 µs (95 % interval)",
        "p50 3 µs",
        "p99 4 µs",
    ]
    assert legend_of(figure.axes[1]) == ["mean 3 µs", "p50 3 µs", "p99 3.98 µs"]


def test_stragglers_are_counted_and_do_not_flatten_the_picture() -> None:
    straggling = table(only=[2_000_000] * 999 + [90_000_000])
    known = latency.Marks(mean_ps=2_088_000, half_width_ps=12_000, p50_ps=2e6, p99_ps=2e6)
    (axes,) = latency.draw(straggling, title="Latency", marks={"only": known}).axes
    # 1.25 times the upper end of the mean's interval, which lies beyond the percentiles.
    assert axes.get_xlim()[1] == pytest.approx(1.25 * 2.1)
    assert [text.get_text() for text in axes.texts] == ["1 beyond, up to 90 µs →"]


def test_many_classes_show_the_first_and_say_so() -> None:
    many = table(**{f"class{index}": [1000, 2000] for index in range(12)})
    figure = latency.draw(many, title="Latency", marks={})
    assert len(figure.axes) == latency.PANELS_MAX
    assert figure.get_suptitle() == "Latency (first 8 of 12 classes)"


@pytest.mark.parametrize("values", [[], [5], [7] * 40])
def test_any_table_becomes_a_png(values: list[int]) -> None:
    handle = io.BytesIO()
    latency.write(handle, table(only=values))
    assert handle.getvalue().startswith(b"\x89PNG\r\n")
