"""Plots of curves: lines, markers of points without a steady state, and axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from gingham import plots
from gingham.plots._curve import UNSTEADY


def points(*rows: dict[str, Any]) -> pa.Table:
    base = {
        "routing": "up-down",
        "replications": 3,
        "accepted_load": 0.1,
        "accepted_load_half_width": 0.01,
        "latency_mean_ns": 1000.0,
        "latency_half_width_ns": 100.0,
        "latency_p99_ns": None,
        "not_converged": 0,
        "censored": 0,
        "saturated": 0,
        "deadlocked": 0,
    }
    return pa.Table.from_pylist([base | row for row in rows])


def marks(figure: Figure, gid: str) -> int:
    (axes,) = figure.axes
    return sum(one[0].get_gid() == gid for one in axes.containers)


def test_a_picture_has_a_line_a_routing_and_hollow_points_of_no_steady_state() -> None:
    figure = plots.curve(
        points(
            {},
            {"accepted_load": 0.2, "latency_mean_ns": 90_000.0, "latency_p99_ns": 120_000.0},
            {"accepted_load": 0.15, "latency_mean_ns": None, "saturated": 2},
            {"routing": "other", "latency_half_width_ns": None, "not_converged": 1},
            {"routing": "none", "latency_mean_ns": None},
        ),
        title="Curves",
    )
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    lines = [one for one in axes.lines if one.get_gid() == "curve"]
    assert [np.asarray(one.get_ydata()).tolist() for one in lines] == [[1.0, 90.0], [1.0], []]
    assert axes.get_ylabel() == "mean latency, p99 (µs)"
    [p99] = [one for one in axes.lines if one.get_gid() == "p99"]
    assert np.asarray(p99.get_ydata()).tolist() == [120.0]
    # The saturated point is drawn at its accepted load, at the top and on no line.
    [top] = [one for one in axes.lines if one.get_gid() == "without-latency"]
    assert (np.asarray(top.get_xdata()).tolist(), top.get_marker()) == ([0.15], "s")
    explained = axes.get_legend()
    assert explained is not None
    told = [text.get_text() for text in explained.get_texts()]
    assert told[:3] == ["up-down", "other", "none: no run could be made"]
    assert told[3:5] == [UNSTEADY["not_converged"], UNSTEADY["saturated"]]
    hollow = [one[0] for one in axes.containers if one[0].get_gid() == "unsteady"]
    assert [one.get_marker() for one in hollow] == ["o"]
    assert (marks(figure, "steady"), marks(figure, "unsteady")) == (2, 1)


def test_a_picture_of_nothing_says_so() -> None:
    figure = plots.curve(points({"latency_mean_ns": None}), title="Nothing")
    assert figure.axes[0].texts[0].get_text() == "no run measured a latency"


def test_a_long_interval_does_not_stretch_the_logarithmic_axis() -> None:
    figure = plots.curve(
        points(
            {"accepted_load": 0.01, "accepted_load_half_width": 0.05},
            {"latency_mean_ns": 90_000.0, "latency_half_width_ns": 500_000.0},
        ),
        title="Curves",
    )
    (axes,) = figure.axes
    # The smallest mean is 1 µs; an interval two decades wide extends below the axis.
    assert axes.get_ylim()[0] == pytest.approx(0.5)
    first, second = axes.containers
    # Error bars do not extend to negative loads, and have caps.
    (xbar, _) = first[2]
    assert xbar.get_segments()[0][0][0] == 0
    assert len(second[1]) == 4


def test_a_picture_of_saturated_points_alone_says_why_it_is_empty() -> None:
    figure = plots.curve(points({"latency_mean_ns": None, "saturated": 3}), title="Saturated")
    assert "saturated" in figure.axes[0].texts[0].get_text()
