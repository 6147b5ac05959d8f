"""The figures of Kwan et al. 1996, drawn from our runs, with the paper's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gingham.plots._style import CLASS_COLOURS, log_ticks, styled
from gingham.studies._drawing import (
    CLAIMED,
    band,
    curve,
    lanes_text,
    line,
    logarithmic,
    named,
    panel,
    two_panels,
)
from gingham.studies._series import Series
from gingham_studies.kwan1996 import closed_forms
from gingham_studies.kwan1996.measures import DELAY, delays, lane_delays

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.studies._evidence import Evidence

BLUE, ORANGE, GREEN, RED, *_ = CLASS_COLOURS
US = 1e-3
SEGMENT, LOAD = "low-priority segment (bytes)", "offered load of each host"
HIGH_DELAY = "mean delay of high priority (µs)"


@styled
def figure_2(evidence: Evidence) -> Figure:
    """Draw the delays of both hosts."""
    figure, axes = panel(
        "Figure 2: delays of two hosts at load 1",
        "entry to arrival of the head of the last packet; H2 in segments of 100 bytes",
    )
    samples = delays_us(
        evidence, "figure-2", {"long": "H1, whole messages", "short": "H2, segments"}
    )
    edges = np.geomspace(0.5, 2000, 80)
    density(axes, samples, edges)
    return figure


@styled
def figure_5(evidence: Evidence) -> Figure:
    """Draw the delays of the stream and of all others."""
    figure, axes = panel(
        "Figure 5: delays in the 3x3 torus at load 1",
        "one stream of whole messages; all other hosts in segments of 100 bytes",
    )
    samples = delays_us(evidence, "figure-5", {"stream": "the stream", "others": "all others"})
    density(axes, samples, np.geomspace(0.5, 5000, 80))
    return figure


def delays_us(evidence: Evidence, sweep: str, names: dict[str, str]) -> dict[str, np.ndarray]:
    """Return the delays of classes in microseconds, under the names of a legend."""
    return {
        words: np.concatenate(
            [
                evidence.delays_ns(sweep, traffic, row["key"]).to_numpy() * US
                for row in evidence.rows(sweep, traffic)
            ]
        )
        for traffic, words in names.items()
    }


def density(axes: Axes, samples: dict[str, np.ndarray], edges: np.ndarray) -> None:
    """Draw shares of messages by delay, on a logarithmic axis."""
    colours = dict(zip(samples, (BLUE, ORANGE), strict=True))
    for name, values in samples.items():
        weights = np.full(len(values), 1 / len(values))
        axes.hist(
            values, edges.tolist(), weights=weights, alpha=0.55, color=colours[name], label=name
        )
    logarithmic(axes)
    named(axes, "delay (µs)", "share of messages")


@styled
def figure_3(evidence: Evidence) -> Figure:
    """Draw the throughputs of both hosts."""
    figure, axes = panel(
        "Figure 3: throughput of two hosts",
        "lines: closed form, with the gap of 12 bytes between two segments of H2",
    )
    loads = np.linspace(0.05, 1, 200).tolist()
    forms = np.array([closed_forms.two_hosts(load, load, gap=12) for load in loads])
    for place, (name, words, colour) in enumerate(
        [("long", "H1, whole messages", BLUE), ("short", "H2, segments of 100 bytes", ORANGE)]
    ):
        axes.plot(loads, forms[:, place], color=colour, linewidth=1)
        found = evidence.series("figure-3", name, "load", "accepted_load")
        curve(axes, found, color=colour, linestyle="none", label=words)
    line(axes, 0.5, "paper: the curves part at 0.5")
    line(axes, 0.9, "paper: H1 suffers above 0.9", linestyle=":")
    named(axes, LOAD, "throughput")
    return figure


@styled
def figure_6(evidence: Evidence) -> Figure:
    """Draw the throughputs of the stream and of the others."""
    figure, axes = panel(
        "Figure 6: throughput in the 3x3 torus",
        "one stream of whole messages; all other hosts in segments of 100 bytes, "
        "and in whole messages (dotted)",
    )
    for name, words, colour in (
        ("stream", "the stream", BLUE),
        ("others", "a host of the others", ORANGE),
    ):
        cut, whole = (
            evidence.series(sweep, name, "load", "accepted_load")
            for sweep in ("figure-6", "figure-6-whole")
        )
        curve(axes, cut, color=colour, label=words)
        curve(axes, whole, color=colour, linestyle=":", marker="none", label="")
    band(axes, 0.15, 0.25, "paper: they split at 0.2")
    named(axes, LOAD, "throughput")
    return figure


@styled
def figure_7(evidence: Evidence) -> Figure:
    """Draw the delay of high priority over the segment size under light load."""
    figure, axes = panel(
        "Figure 7: segment size in a lightly loaded 3x3 torus",
        "load 0.02, 30 % of it high priority; the paper: shorter is better",
    )
    curve(axes, delays(evidence, "figure-7"), scale=US, color=BLUE, label="3x3 torus, load 0.02")
    named(axes, SEGMENT, HIGH_DELAY)
    return figure


@styled
def figure_8(evidence: Evidence) -> Figure:
    """Draw the delay of high priority over the segment size, by buffer, with the minima."""
    figure, panels = two_panels(
        "Figure 8: segment size in a 3x3 torus at load 0.2",
        "bars: 95 % intervals of the difference from the least; "
        "dotted: B and 2B, where the paper sees local minima",
    )
    for axes, buffer, colour, best in zip(
        panels, (80, 150), (BLUE, GREEN), (250, 450), strict=True
    ):
        found = delays(evidence, "figure-8", {"buffer": buffer})
        spread = found.differences(found.lowest())
        words = f"slack buffers of {buffer} bytes"
        curve(axes, found, scale=US, spread=spread, color=colour, label=words)
        for multiple in (1, 2):
            line(axes, buffer * multiple, "", linestyle=":")
        line(axes, best, f"paper: least at {best} bytes")
        logarithmic(axes)
        named(axes, SEGMENT, HIGH_DELAY)
    return figure


@styled
def figure_8_lanes(evidence: Evidence) -> Figure:
    """Draw figure 8 by virtual lanes: of 80 bytes each on the left, of 80 in all on the right."""
    figure, panels = two_panels(
        "Figure 8 with virtual lanes: segment size in a 3x3 torus at load 0.2",
        "80 bytes a lane (left), and 80 bytes for all lanes of a channel; bars: 95 % intervals",
        sharey=True,
    )
    for axes, depths in zip(panels, ((40, 40, 40), (40, 20, 10)), strict=True):
        for lanes, depth, colour in zip((1, 2, 4), depths, (BLUE, ORANGE, GREEN), strict=True):
            found = lane_delays(evidence, {"lanes": lanes, "depth": depth})
            words = f"{lanes_text(lanes)} of {2 * depth} bytes"
            curve(axes, found, scale=US, color=colour, label=words)
        logarithmic(axes)
        named(axes, SEGMENT, HIGH_DELAY)
    slack = delays(evidence, "figure-8", {"buffer": 80})
    words = "figure 8: slack buffer of 80 bytes"
    curve(panels[0], slack, scale=US, label=words, color="#777777", linestyle=":", marker="none")
    panels[0].set_ylim(bottom=0)
    named(panels[0], SEGMENT, HIGH_DELAY)
    return figure


@styled
def figure_10(evidence: Evidence) -> Figure:
    """Draw the delay of H3 over the segment size of H2, with both formulas."""
    figure, axes = panel(
        "Figure 10: the delay of H3 in figure 9",
        "H1 and H2 backlogged, messages of 1000 bytes, slack buffer of 80 bytes",
    )
    sizes = np.arange(14, 420)
    for form, words, colour in (
        ("least_delay", "the paper: ceil(B / L) (L + m)", CLAIMED),
        ("mean_delay", "with the rest of the cycle it comes into", BLUE),
    ):
        values = [
            getattr(closed_forms, form)(80, size) * closed_forms.BYTE_NS * US for size in sizes
        ]
        axes.plot(sizes, values, linewidth=1, label=words, color=colour)
    found = evidence.series("figure-10", "h3", "segment", DELAY)
    curve(axes, found, scale=US, color=BLUE, linestyle="none", label="mean, measured")
    least = {
        row["segment"]: min(evidence.delays_ns("figure-10", "h3", row["key"]).to_pylist()) * US
        for row in evidence.rows("figure-10", "h3")
    }
    axes.plot(
        list(least), list(least.values()), "v", color=CLAIMED, markersize=4, label="least, measured"
    )
    axes.set_ylim(0, None)
    named(axes, "segment of H2 (bytes)", "delay of H3 (µs)")
    return figure


@styled
def figure_11(evidence: Evidence) -> Figure:
    """Draw the delay of high priority over the segment size in both tori."""
    figure, (small, large) = two_panels(
        "Figure 11: segment size in a 3x3 and a 5x5 torus", "slack buffers of 80 bytes"
    )
    found = delays(evidence, "figure-8", {"buffer": 80})
    curve(small, found, scale=US, color=BLUE, label="3x3, load 0.2")
    line(small, 250, "paper: least at 250 bytes")
    for load, colour in ((0.07, ORANGE), (0.06, GREEN)):
        if rows := evidence.rows("figure-11", "high", load=load):
            found = Series.of(rows, "segment", DELAY)
            curve(large, found, scale=US, color=colour, label=f"5x5, load {load:g}")
    line(large, 450, "paper: least at 450 bytes, medium load")
    large.set_yscale("log")
    log_ticks(large.yaxis)
    for axes in (small, large):
        logarithmic(axes)
        named(axes, SEGMENT, HIGH_DELAY)
    return figure


@styled
def figure_12(evidence: Evidence) -> Figure:
    """Draw the delay of high priority over load, by scheme."""
    figure, axes = panel(
        "Figure 12: delay of high priority over load",
        "3x3 torus; low priority in segments of 33, 250 and 300 bytes and of L = B h",
    )
    for scheme, colour in (("33 B", ORANGE), ("250 B", GREEN), ("300 B", RED), ("adaptive", BLUE)):
        found = evidence.series("figure-12", "high", "load", DELAY, scheme=scheme)
        curve(axes, found, scale=US, color=colour, label=scheme)
    line(axes, 0.15, "paper: above 0.15, 33 B is worse")
    named(axes, LOAD, HIGH_DELAY)
    return figure


@styled
def figure_13(evidence: Evidence) -> Figure:
    """Draw the delay of high priority over the segment size, with and without switch priority."""
    figure, axes = panel(
        "Figure 13: priority at the switches", "3x3 torus, load 0.2, slack buffers of 80 bytes"
    )
    plain = delays(evidence, "figure-8", {"buffer": 80})
    curve(axes, plain, scale=US, color=BLUE, label="round robin at the switches")
    better = delays(evidence, "figure-13")
    curve(axes, better, scale=US, color=ORANGE, label="priority at the switches")
    logarithmic(axes)
    named(axes, SEGMENT, HIGH_DELAY)
    return figure
