"""Small pictures beside a table in notebooks: without a title, one quantity each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from gingham.plots import _style as style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.2, 2.1
BAR = 0.75


@style.styled
def bars(heights: Sequence[float], *, across: str, up: str) -> Figure:
    """Return a bar chart over 0, 1, 2 and so on."""
    figure = style.Picture(figsize=(WIDTH, HEIGHT), dpi=style.DPI, layout="constrained")
    axes = figure.subplots()
    axes.bar(range(len(heights)), heights, width=BAR, color=style.CLASS_COLOURS[0])
    axes.set(xlabel=across, ylabel=up)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


@style.styled
def courses(
    lines: Mapping[str, Sequence[tuple[float, float, float]]], *, across: str, up: str
) -> Figure:
    """Return one line per name, with the half-widths of intervals as error bars."""
    figure = style.Picture(figsize=(WIDTH, HEIGHT), dpi=style.DPI, layout="constrained")
    axes = figure.subplots()
    for colour, (name, points) in zip(style.CLASS_COLOURS, lines.items(), strict=False):
        at, mean, half = zip(*points, strict=True)
        axes.errorbar(at, mean, yerr=half, color=colour, marker="o", ms=3, lw=1.1, label=name)
    axes.set(xlabel=across, ylabel=up)
    axes.set_ylim(bottom=0)
    if len(lines) > 1:
        axes.legend()
    return figure
