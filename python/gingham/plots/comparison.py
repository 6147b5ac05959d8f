"""Picture of compared routings: a panel per measure, a line per engine or algorithm.

::

    minhop      ●               ●            ○ ●          can deadlock
    updn          ●           ●            ○   ●          free of deadlock
              busiest link   lanes     bandwidth

Filled marks are the undamaged fabric, hollow ones the damaged one. Routes that can deadlock are red
with crosses, and so visible without colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.ticker import MaxNLocator

from gingham.plots import _style as style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FREE, DEADLOCK = "#3d6a9e", "#b3282d"
LINE_INCHES, PANEL_INCHES, MARGIN_INCHES = 0.32, 2.3, 1.6
MARGIN = 0.12


@dataclass(frozen=True, slots=True)
class Measure:
    """A panel."""

    # Key of the value in a line, and of its half-width, if it has one.
    key: str
    title: str
    half_width: str | None = None
    integer: bool = False


# Measures that compare engines of a subnet manager.
MEASURES = (
    Measure("mean_switches", "switches on a path\n(mean)"),
    Measure("lanes", "lanes in use", integer=True),
    Measure("max_channel_paths", "pairs on the busiest link\n(all to all)"),
    Measure("bandwidth", "effective bisection\nbandwidth", "bandwidth_half_width"),
)


# Measures that compare algorithms.
ROUTING_MEASURES = (
    Measure("mean_distance", "channels between switches\non a path (mean)"),
    Measure("minimal_percent", "minimal paths (%)"),
    Measure("mean_in_transit_hosts", "in-transit hosts\non a path (mean)"),
    Measure("max_channel_paths", "pairs on the busiest link\n(all to all)"),
    Measure("all_to_all", "bound on\nall-to-all load"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """Results of one engine or algorithm on the fabric."""

    # Equal for the undamaged and the damaged fabric.
    key: str
    label: str
    # By key of the measure; missing values are not drawn.
    values: Mapping[str, float]
    deadlock_free: bool


def write(handle: BinaryIO, title: str, lines: Sequence[Line], broken: Sequence[Line] = ()) -> None:
    """Write a PNG of the lines; those of the damaged fabric are matched by key."""
    figure = draw(title, lines, broken)
    FigureCanvasAgg(figure)
    figure.savefig(handle, format="png")


def draw(
    title: str,
    lines: Sequence[Line],
    broken: Sequence[Line] = (),
    measures: Sequence[Measure] = MEASURES,
) -> Figure:
    """Return the picture as a figure."""
    width = MARGIN_INCHES + PANEL_INCHES * len(measures)
    height = MARGIN_INCHES + LINE_INCHES * len(lines)
    figure = style.Picture(figsize=(width, height), layout="constrained", dpi=150)
    figure.suptitle(title)
    panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    places = {line.key: place for place, line in enumerate(lines)}
    for axis, measure in zip(panels, measures, strict=True):
        panel(axis, measure, places, lines, hollow=False)
        panel(axis, measure, places, broken, hollow=True)
        axis.set_xlim(0, reach(measure, [*lines, *broken]))
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=measure.integer))
    panels[0].set_yticks(list(places.values()), [line.label for line in lines])
    panels[0].set_ylim(len(lines) - 0.5, -0.5)
    marks, words = legend(panels[0], broken)
    figure.legend(marks, words, loc="outside lower center", ncols=len(words), frameon=False)
    return figure


def panel(
    axis: Axes,
    measure: Measure,
    places: Mapping[str, int],
    lines: Sequence[Line],
    *,
    hollow: bool,
) -> None:
    """Draw the marks of one measure."""
    axis.set_title(measure.title, size=9)
    axis.grid(axis="y", color="#e0e0e0", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    for line in lines:
        value = line.values.get(measure.key)
        if value is None or line.key not in places:
            continue
        colour = FREE if line.deadlock_free else DEADLOCK
        half_width = line.values.get(measure.half_width or "")
        axis.errorbar(
            value,
            places[line.key],
            xerr=half_width,
            marker="o" if line.deadlock_free else "X",
            markersize=7,
            color=colour,
            markerfacecolor="white" if hollow else colour,
            linestyle="none",
            # Shows a mark at zero completely.
            clip_on=False,
            zorder=2 if hollow else 3,
        )


def reach(measure: Measure, lines: Sequence[Line]) -> float:
    """Return the end of a measure's axis."""
    values = [line.values[measure.key] for line in lines if measure.key in line.values]
    return max(values, default=1.0) * (1 + MARGIN) or 1.0


def legend(axis: Axes, broken: Sequence[Line]) -> tuple[list[Artist], list[str]]:
    """Return the marks and texts of the legend."""
    marks: list[Artist] = []
    words = ["free of deadlock", "can deadlock"]
    for marker, colour in (("o", FREE), ("X", DEADLOCK)):
        marks += axis.plot([], [], marker=marker, color=colour, linestyle="none")
    if broken:
        marks += axis.plot(
            [], [], marker="o", color=FREE, markerfacecolor="white", linestyle="none"
        )
        words.append("with something broken")
    return marks, words
