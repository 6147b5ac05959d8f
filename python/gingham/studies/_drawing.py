"""Pictures of a study: our curves with their intervals, the paper's claims marked in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from gingham.studies._bands import Measurement
    from gingham.studies._evidence import Evidence
    from gingham.studies._series import Series
    from gingham.studies._study import Figure, Study

# Colour of the paper's claims, distinct from our measurements.
CLAIMED = "#b3282d"


def draw(evidence: Evidence, figure: Figure) -> Picture | None:
    """Return our picture of a figure; `None` if it consists only of numbers."""
    function = drawer(evidence.study, figure)
    return None if function is None else function(evidence)


def has_picture(study: Study, figure: Figure) -> bool:
    """Whether `draw` has a picture of a figure, before anything is run."""
    return drawer(study, figure) is not None


def drawer(study: Study, figure: Figure) -> Callable[[Evidence], Picture] | None:
    """Return the function of a study that draws a figure."""
    module = study.module("pictures")
    return getattr(module, f"figure_{re.sub(r'[.-]', '_', figure.key)}", None)


def panel(title: str, subtitle: str) -> tuple[Picture, Axes]:
    """Return a picture with one panel."""
    from gingham.plots._style import new_figure

    figure = new_figure(6.4, 4.0, title, subtitle)
    return figure, figure.add_subplot()


def two_panels(
    title: str, subtitle: str, *, height: float = 4.2, sharey: bool = False
) -> tuple[Picture, Sequence[Axes]]:
    """Return a picture with two panels side by side."""
    from gingham.plots._style import new_figure

    figure = new_figure(8.6, height, title, subtitle)
    left, right = figure.subplots(1, 2, sharey=sharey)
    return figure, (left, right)


def logarithmic(axes: Axes) -> None:
    """Make the horizontal axis logarithmic."""
    from gingham.plots._style import log_ticks

    axes.set_xscale("log")
    log_ticks(axes.xaxis)


def lanes_text(lanes: int) -> str:
    """Return a number of lanes as text."""
    return f"{lanes} lane{'s' * (lanes > 1)}"


def curve(
    axes: Axes,
    series: Series,
    *,
    scale: float = 1.0,
    spread: Sequence[Measurement] | None = None,
    **style: Any,
) -> None:
    """Draw the means of a series with their 95 % intervals, or with those of `spread`."""
    middle = [one.value * scale for one in series.means()]
    widths = [half_width(one) * scale for one in (series.means() if spread is None else spread)]
    given = {"marker": "o", "markersize": 3.5, "linewidth": 1.2, "capsize": 2, **style}
    axes.errorbar(series.places, middle, yerr=widths, **given)


def half_width(one: Measurement) -> float:
    """Return the half-width of an interval, 0 without one."""
    return 0.0 if one.high is None else one.high - one.value


def band(axes: Axes, low: float, high: float, words: str) -> None:
    """Mark the range on the horizontal axis that the paper claims."""
    axes.axvspan(low, high, color=CLAIMED, alpha=0.1, linewidth=0, label=words)


def line(axes: Axes, at: float, words: str, **style: Any) -> None:
    """Mark a position on the horizontal axis that the paper names."""
    given = {"color": CLAIMED, "linewidth": 0.9, "linestyle": "--", **style}
    axes.axvline(at, label=words, **given)


def named(axes: Axes, x: str, y: str, ncols: int = 2) -> None:
    """Label the axes of a panel, and place its legend above it, clear of the curves.

    The title of a panel becomes that of its legend, which takes its place.
    """
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(
        title=axes.get_title(loc="left") or None,
        loc="lower left",
        alignment="left",
        bbox_to_anchor=(0, 1),
        ncols=ncols,
        borderaxespad=0.2,
        columnspacing=1.2,
    )
    axes.set_title("", loc="left")
