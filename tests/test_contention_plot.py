"""The picture of contention coefficients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib.lines import Line2D

import gingham
from gingham import plots
from gingham.plots import _contention
from tests.pictures import texts

US = 1_000_000
SUMMARY = {"warm_up_ps": 1 * US, "window_end_ps": 4 * US, "end_ps": 5 * US}
THRESHOLDS = {"above": 1.5, "below": 1.1}
# Two hosts that send to the third alternately, without a pause.
SHARED = """
title = "Two senders"
[topology.generate.star]
hosts = 3
[routing]
algorithm = "up-down"
alternative = { algorithm = "up-down", choose = { by-contention = { above = 1.25 } } }
[[traffic]]
hosts = ["h0", "h1"]
arrivals = "backlogged"
length = { fixed = "512 B" }
destinations = { host = "h2" }
[stop]
time = "200 us"
"""


def table(*rows: tuple[float, float, float]) -> pa.Table:
    steps = range(len(rows))
    mean, highest, alternative = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "from_ps": [step * US for step in steps],
            "to_ps": [(step + 1) * US for step in steps],
            "coefficient_mean": mean,
            "coefficient_max": highest,
            "alternative_share": alternative,
        }
    )


def heights(line: Line2D) -> list[float]:
    values: list[float] = np.asarray(line.get_ydata()).tolist()
    return values


def test_lines_are_the_columns_at_the_ends_of_steps() -> None:
    rows = [(1.0, 1.0, 0.0), (1.2, 1.7, 0.25), (1.6, 2.0, 0.75), (1.4, 1.8, 0.5)]
    figure = _contention.draw(table(*rows), SUMMARY, title="A run", thresholds=THRESHOLDS)
    coefficient, alternative = figure.axes
    lines = {line.get_gid(): line for line in coefficient.lines}
    assert heights(lines["mean"]) == [1.0, 1.2, 1.6, 1.4]
    assert heights(lines["highest"]) == [1.0, 1.7, 2.0, 1.8]
    assert np.asarray(lines["mean"].get_xdata()).tolist() == [1.0, 2.0, 3.0, 4.0], "microseconds"
    assert [heights(lines[name])[0] for name in THRESHOLDS] == [1.5, 1.1]
    assert heights(alternative.lines[0]) == [0.0, 0.25, 0.75, 0.5]
    assert coefficient.get_yscale() == "linear"
    assert {patch.get_gid() for patch in coefficient.patches} == {"warm-up", "after the window"}


def test_a_long_axis_is_logarithmic_so_that_thresholds_stand_apart() -> None:
    rows = [(1.0, 1.0, 0.0), (4.0, 30.0, 1.0)]
    figure = _contention.draw(table(*rows), SUMMARY, title="A run", thresholds=THRESHOLDS)
    assert figure.axes[0].get_yscale() == "log"


def test_a_single_step_is_a_point() -> None:
    figure = _contention.draw(table((1.2, 1.7, 0.5)), SUMMARY, title="A run", thresholds={})
    lines = [line for axes in figure.axes for line in axes.lines]
    assert [(line.get_marker(), line.get_markevery()) for line in lines] == [("o", [0])] * 3


def test_without_rows_the_picture_says_why() -> None:
    figure = _contention.draw(table(), SUMMARY, title="A run", thresholds={})
    assert any("no packet chose its path by contention" in text for text in texts(figure))


def test_a_run_by_contention_has_the_picture_with_its_own_thresholds(tmp_path: Path) -> None:
    result = gingham.run(gingham.Scenario.parse(SHARED), output=tmp_path / "run")
    others = ("followed", "heat", "tree")
    assert plots.usual(result) == tuple(kind for kind in plots.KINDS if kind not in others)
    assert plots.by_contention(result) == {
        "alpha": 0.7,
        "beta": 0.95,
        "start": 1.0,
        "above": 1.25,
        "below": 1.1,
    }
    coefficient, alternative = plots.contention(gingham.load_result(tmp_path / "run")).axes
    assert {line.get_gid() for line in coefficient.lines} == {"mean", "highest", "above", "below"}
    assert heights(alternative.lines[0])[-1] == 1.0, "both share one output, and see it"
