"""Figures 3 to 5, and the share left for best effort.

Points of saturated runs are hollow: latency there depends on the length of the run. Bars are 95 %
intervals by batch means within runs, pooled over replications.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gingham.plots._style import CLASS_COLOURS, log_ticks, new_figure, styled
from gingham.studies._drawing import CLAIMED, named
from gingham_studies.yum2002.pooling import half_width, pooled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.studies._evidence import Evidence

BLUE, ORANGE, GREEN, RED, PINK, SKY, BLACK, GREY = CLASS_COLOURS
OFFERED = "offered load (share of a host's link)"
# Rows of figure 3; rows that a sweep lacks are omitted.
CONTROLS: Mapping[str, tuple[str, str]] = {
    "none": ("no control", GREY),
    "credits 50": ("50 credits", SKY),
    "credits 100": ("100 credits", BLUE),
    "credits 200": ("200 credits", GREEN),
    "credits 400": ("400 credits", BLACK),
    "at-least-one": ("At-Least-One", ORANGE),
    "self-tuned": ("Self-Tuned", RED),
    "unbounded": ("no send buffer", PINK),
}
# Admission and congestion control.
FOUR: Mapping[str, tuple[str, str]] = {
    "no A, no C": ("no A, no C", GREY),
    "A": ("A: admission", ORANGE),
    "C": ("C: credits", BLUE),
    "A, C": ("A, C: both", GREEN),
}
STYLES = {"at once": "-", "spread": "--", "any lane": ":"}


def points(
    rows: Sequence[Mapping[str, Any]], of: str, axes: Axes, *, label: str, **style: Any
) -> None:
    """Draw a number over the offered load; hollow where runs are saturated."""
    loads = sorted({row["load"] for row in rows})
    at = {load: [row for row in rows if row["load"] == load] for load in loads}
    found = {load: pooled(at[load], of) for load in loads}
    shown = [load for load in loads if not math.isnan(found[load].value)]
    values = [found[load].value for load in shown]
    # Bars end above the lower limit of a logarithmic axis.
    bars = [min(half_width(found[load]), 0.9 * found[load].value) for load in shown]
    given = {"marker": "o", "markersize": 3.5, "linewidth": 1.2, "capsize": 2, **style}
    axes.errorbar(shown, values, yerr=bars, label=label, **given)
    hollow = [load for load in shown if any(row["verdict"] == "saturated" for row in at[load])]
    axes.plot(
        hollow,
        [found[load].value for load in hollow],
        "o",
        markersize=3.5,
        markerfacecolor="white",
        markeredgecolor=given.get("color"),
        zorder=5,
    )


def upright(axes: Axes) -> None:
    """Make the vertical axis logarithmic."""
    axes.set_yscale("log")
    log_ticks(axes.yaxis)


@styled
def figure_3(evidence: Evidence) -> Figure:
    """Draw latency from creation, latency from the accepted post, and throughput."""
    figure = new_figure(
        10.4,
        5.0,
        "4x4 mesh, best effort alone: congestion control",
        "messages of 640 B bound to one of 15 lanes, send buffers of 400; bars: 95 %; "
        "hollow: saturated, latency from creation says how long the run was",
    )
    panels = figure.subplots(1, 3)
    numbers = ("latency", "posted latency", "accepted")
    names = ("latency from creation (µs)", "latency from the accepted post (µs)", "accepted load")
    for axes, of, name in zip(panels, numbers, names, strict=True):
        for control, (label, colour) in CONTROLS.items():
            rows = evidence.rows("figure-3", "best", control=control)
            # Without an adapter nothing is posted.
            if rows and not (control == "unbounded" and of == "posted latency"):
                # The curves of no control and of 400 credits coincide.
                style = {"linestyle": "--", "zorder": 4} if control == "none" else {}
                points(rows, of, axes, label=label, color=colour, **style)
        if of == "accepted":
            axes.plot([0, 1], [0, 1], color=CLAIMED, linewidth=0.7, linestyle=":")
            axes.set_ylim(0, 1)
        else:
            upright(axes)
        named(axes, OFFERED, name, ncols=2)
    return figure


def both_sweeps(evidence: Evidence, traffic: str, **fixed: Any) -> list[dict[str, Any]]:
    """Return the rows of the scaled sweeps of figure 4, up to 100 % and above."""
    return [row for sweep in ("scaled", "over") for row in evidence.rows(sweep, traffic, **fixed)]


@styled
def figure_4(evidence: Evidence) -> Figure:
    """Draw missed deadlines beside the law of records, and latencies."""
    figure = new_figure(
        9.6,
        8.8,
        "Switch of 8 ports: video, best effort and control",
        "left above: streams of 4 Mbit/s (k = 1), 10 frames each; elsewhere ten times fewer and "
        "faster (k = 10), frames at once; bars: 95 %; hollow: saturated",
    )
    (left, right), (below, beside) = figure.subplots(2, 2)
    missed(evidence, left)
    for axes, of, traffic, name in (
        (right, "deviation", "video", "deviation of the delivery interval (ms)"),
        (below, "latency", "best", "latency of best effort from creation (µs)"),
        (beside, "latency", "control", "latency of control from creation (µs)"),
    ):
        for control, (label, colour) in FOUR.items():
            rows = both_sweeps(evidence, traffic, control=control, reading="at once")
            points(rows, of, axes, label=label, color=colour)
            if of == "latency":
                unscaled(evidence, axes, traffic, control)
        rise(axes, traffic)
        named(axes, OFFERED, name)
    return figure


def rise(axes: Axes, traffic: str) -> None:
    """Make the vertical axis logarithmic, except for control, whose latencies are about equal."""
    if traffic == "control":
        axes.set_ylim(0, None)
    else:
        upright(axes)


def unscaled(evidence: Evidence, axes: Axes, traffic: str, control: str) -> None:
    """Mark latencies without scaling."""
    rows = evidence.rows("unscaled", traffic, control=control, reading="at once")
    for row in rows:
        label = "k = 1" if row is rows[0] and control == "no A, no C" else None
        axes.plot(
            [row["load"]],
            [pooled([row], "latency").value],
            "D",
            markersize=5,
            markerfacecolor="none",
            markeredgecolor=FOUR[control][1],
            label=label,
            zorder=6,
        )


def missed(evidence: Evidence, axes: Axes) -> None:
    """Draw the share of missed deadlines with that of independent frames."""
    for reading in ("at once", "spread", "any lane"):
        for control in ("no A, no C", "A, C"):
            rows = evidence.rows("unscaled", "video", control=control, reading=reading)
            if not rows:
                continue
            words = {"at once": "", "spread": ", spread", "any lane": ", any lane"}[reading]
            marks = {"at once": "o", "spread": "s", "any lane": "^"}
            points(
                rows,
                "missed",
                axes,
                label=FOUR[control][0].partition(":")[0] + words,
                color=FOUR[control][1],
                marker=marks[reading],
                linestyle=STYLES[reading],
            )
    law = [row["deadlines_missed_law"] for row in evidence.rows("unscaled", "video")]
    axes.axhspan(min(law), max(law), color=CLAIMED, alpha=0.3, label="independent frames (law)")
    axes.set_ylim(0, None)
    axes.set_xlim(0.55, 0.85)
    named(axes, OFFERED, "missed deadlines (DMP)")


@styled
def figure_5(evidence: Evidence) -> Figure:
    """Draw the latency of each class on the mesh, from creation and from the accepted post."""
    figure = new_figure(
        10.4,
        7.4,
        "5x5 mesh: bursts, best effort and control",
        "above: latency from creation; below: from the accepted post, as the paper has it; "
        "bars: 95 %; hollow: saturated",
    )
    panels = figure.subplots(2, 3, sharex=True)
    for row, of in zip(panels, ("latency", "posted latency"), strict=True):
        for axes, traffic, words in zip(
            row, ("control", "bursts", "best"), ("control", "real time", "best effort"), strict=True
        ):
            for control, (label, colour) in FOUR.items():
                rows = evidence.rows("figure-5", traffic, control=control)
                points(rows, of, axes, label=label, color=colour)
            rise(axes, traffic)
            axes.set_title(words, loc="left")
            start = "from creation" if of == "latency" else "from the post"
            named(axes, OFFERED, f"latency {start} (µs)")
    return figure


@styled
def figure_minimum(evidence: Evidence) -> Figure:
    """Draw the share of best effort beside streams that may reserve the whole link."""
    figure = new_figure(
        6.4,
        3.6,
        "What best effort is left",
        "video offers 1.1 of each link and best effort .4; bars: 95 %",
    )
    axes = figure.add_subplot()
    rows = {row["row"]: row for row in evidence.rows("minimum", "best")}
    video = {row["row"]: row for row in evidence.rows("minimum", "video")}
    for place, (name, row) in enumerate(rows.items()):
        for classes, of, colour, shift in (
            (video[name], "video", BLUE, 0.2),
            (row, "best effort", ORANGE, -0.2),
        ):
            found = pooled([classes], "accepted")
            label = of if place == 0 else None
            axes.barh(
                place + shift, found.value, 0.36, xerr=half_width(found), color=colour, label=label
            )
    axes.set_yticks(range(len(rows)), list(rows))
    named(axes, "accepted load (share of a host's link)", "")
    return figure
