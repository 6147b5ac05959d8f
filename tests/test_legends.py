"""No legend hides a curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import gingham
from gingham import plots, stripe
from gingham.studies._drawing import named, panel, two_panels


def hidden(figure: Figure) -> list[tuple[str, int]]:
    """Return the legends of a picture that cover points of curves, with the number of points.

    Points of a curve are its own and a hundred interpolated ones between successive ones.
    """
    figure.canvas.draw()
    found = []
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend is None:
            continue
        box = legend.get_window_extent()
        count = sum(
            int(box.contains(x, y))
            for drawn in figure.axes
            for line in drawn.lines
            if line.get_visible()
            for x, y in places(line)
            if drawn.bbox.contains(x, y)
        )
        if count:
            found.append((axes.get_ylabel(), count))
    return found


def places(line: Any) -> np.ndarray[Any, Any]:
    """Return points and interpolated points of a line, in pixels."""
    points = line.get_transform().transform(line.get_path().vertices)
    points = points[np.isfinite(points).all(axis=1)]
    share = np.linspace(0, 1, 101)[:, None, None]
    if len(points) < 2:
        return np.asarray(points)
    between = points[:-1] + share * (points[1:] - points[:-1])
    return np.concatenate([points, between.reshape(-1, 2)])


def test_a_legend_on_a_curve_is_found() -> None:
    figure, axes = panel("title", "subtitle")
    axes.plot([0, 1], [0, 1], label="curve")
    axes.legend(loc="lower left")
    assert hidden(figure)
    axes.legend(loc="upper left")
    assert not hidden(figure)


@pytest.mark.parametrize("curves", [1, 4, 7])
def test_legends_of_studies_hide_nothing(curves: int) -> None:
    """Curves everywhere: up, down and level."""
    figure, pair = two_panels("title", "subtitle")
    for axes in pair:
        for place in range(curves):
            axes.plot([0, 1, 2], [place, 7 - place, 3.5], label=f"policy number {place}")
        named(axes, "load", "delay")
    assert hidden(figure) == []
    for axes in pair:
        legend = axes.get_legend()
        assert legend is not None
        box = legend.get_window_extent()
        # Nor is any of it cut off, by the picture or by the title above.
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("kind", ["latency", "series", "links"])
def test_legends_of_a_run_hide_nothing(kind: Any) -> None:
    result = gingham.run(gingham.Scenario.example("torus"))
    assert hidden(plots.draw(kind, result)) == []


def test_legends_of_a_pipe_hide_nothing() -> None:
    scenario = stripe.StripeScenario.example("stripe-rate-changes")
    assert hidden(plots.channels(stripe.run(scenario))) == []
