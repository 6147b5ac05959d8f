"""Contention coefficients of hosts over the run, and the paths that their packets took.

::

    coefficient  ┌────┬──────────────┬───┐   solid: mean over hosts; thin: the highest
                 │////│  ══════════  │///│   dashed: the thresholds of the choice
    alternative  │////│  ▒▒▒▒▒▒▒▒▒▒  │///│   share of the hosts whose packets take alternative paths
                 └────┴──────────────┴───┘   shaded: warm-up, and the time after the window

A point is the end of a step of the table `contention`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.plots import _style as style
from gingham.plots._series import shade
from gingham.plots._tables import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats

MEAN, HIGHEST = style.CLASS_COLOURS[0], style.CLASS_COLOURS[3]
DASHES = (0, (4, 2))
# Beyond this the axis is logarithmic; otherwise the thresholds would merge.
LINEAR_MAX = 4.0


@style.styled
def draw(
    contention: pa.Table,
    summary: Mapping[str, Any],
    *,
    title: str,
    thresholds: Mapping[str, float],
) -> Figure:
    """Return the picture of the table `contention`, with named thresholds."""
    if contention.num_rows == 0:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "no packet chose its path by contention")
        return figure
    end_ps = max(float(summary["end_ps"]), float(numbers(contention, "to_ps")[-1]))
    unit, unit_ps = style.unit_for(end_ps)
    time = numbers(contention, "to_ps") / unit_ps
    figure = style.new_figure(9.5, 6, title, "Contention coefficients of the hosts that send.")
    coefficient, alternative = figure.subplots(2, 1, sharex=True)
    draw_coefficients(coefficient, time, contention, thresholds)
    draw_share(alternative, time, contention)
    shade([coefficient, alternative], summary, end_ps, unit_ps)
    alternative.set_xlim(0, end_ps / unit_ps)
    alternative.set_xlabel(f"simulated time ({unit})")
    return figure


def draw_coefficients(
    axes: Axes, time: Floats, contention: pa.Table, thresholds: Mapping[str, float]
) -> None:
    """Draw the mean and the highest coefficient, between the thresholds."""
    highest, mean = numbers(contention, "coefficient_max"), numbers(contention, "coefficient_mean")
    style.course(axes, time, highest, color=HIGHEST, lw=0.9, label="highest", gid="highest")
    style.course(axes, time, mean, color=MEAN, lw=1.6, label="mean", gid="mean")
    for name, value in thresholds.items():
        axes.axhline(value, color=style.FAINT, lw=0.9, ls=DASHES, gid=name)
        axes.annotate(
            f"{name} {value:g}",
            (1.0, value),
            xycoords=("axes fraction", "data"),
            size=8,
            ha="right",
            va="bottom",
        )
    axes.set_ylabel("coefficient")
    top = float(highest.max())
    if top > LINEAR_MAX:
        axes.set_yscale("log")
    axes.set_ylim(1.0, 1.15 * max(top, *thresholds.values(), 1.0))
    if top > LINEAR_MAX:
        style.log_ticks(axes.yaxis)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.1)


def draw_share(axes: Axes, time: Floats, contention: pa.Table) -> None:
    """Draw the share of the hosts on alternative paths."""
    share = numbers(contention, "alternative_share")
    axes.fill_between(time, share, color=MEAN, alpha=0.25, lw=0, step="pre")
    looks = {"color": MEAN, "lw": 1.3, "drawstyle": "steps-pre", "gid": "alternative"}
    style.course(axes, time, share, **looks)
    axes.set_ylabel("hosts on alternative paths")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(style.percent_tick)
