"""Latency and accepted load of the 8x8 mesh and torus, with the closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham.plots._style import CLASS_COLOURS, styled
from gingham.studies._bands import Measurement
from gingham.studies._drawing import CLAIMED, curve, lanes_text, line, named, two_panels
from gingham_studies.virtual_lanes import closed_forms
from gingham_studies.virtual_lanes.measures import (
    TIMES,
    accepted,
    bound,
    excess_cycles,
    latency,
    shape_of,
    zero_load,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.studies._evidence import Evidence

BLUE, ORANGE, GREEN, RED, *_ = CLASS_COLOURS
COLOURS = {1: BLUE, 2: ORANGE, 4: GREEN}
OFFERED = "offered load (flits for each host and cycle)"
LATENCY = "mean latency (cycles)"
# Smallest buffer of a channel in flits; number of configurations above which it is drawn dashed.
LANE_FLITS, MOST = 8, 3
# Highest latency shown, as a multiple of that of an empty network.
SHOWN = 5.0


@styled
def figure_empty(evidence: Evidence) -> Figure:
    """Draw the latency of each message of a nearly empty network over its switches."""
    figure, panels = two_panels(
        "Latency without load",
        "8x8 mesh (left) and torus; lines: 5 cycles a switch and the flits; dots: messages",
        sharey=True,
    )
    for axes, shape in zip(panels, ("mesh", "torus"), strict=True):
        for flits, colour in ((20, BLUE), (5, ORANGE)):
            row = evidence.rows("empty", shape=shape, flits=str(flits))[0]
            switches = evidence.kept("empty", "messages", row["key"])["switches"].to_pylist()
            alone = [closed_forms.zero_load_cycles(one, flits) for one in switches]
            more = excess_cycles(evidence, row)
            took = [one + other for one, other in zip(alone, more, strict=True)]
            axes.plot(switches, took, ".", color=colour, alpha=0.3, label=f"{flits} flits")
            places = sorted(set(switches))
            line_ = [closed_forms.zero_load_cycles(one, flits) for one in places]
            axes.plot(places, line_, color=colour, linewidth=1)
        named(axes, "switches on the path", "latency from entry (cycles)")
    return figure


@styled
def figure_mesh(evidence: Evidence) -> Figure:
    """Draw the latency of the mesh over the offered load, by lanes."""
    lanes = ((1, 8), (2, 8), (4, 8))
    title = "8x8 mesh: 1, 2 and 4 lanes of 8 flits"
    return latencies(evidence, title, ("mesh-20", "mesh-5"), lanes)


@styled
def figure_torus(evidence: Evidence) -> Figure:
    """Draw the latency of the torus over the offered load, by lanes."""
    title = "8x8 torus with a dateline: 2 and 4 lanes of 8 flits"
    return latencies(evidence, title, ("torus-20", "torus-5"), ((2, 8), (4, 8)))


@styled
def figure_storage(evidence: Evidence) -> Figure:
    """Draw the latency of the mesh with one buffer divided among lanes."""
    lanes = ((1, 16), (2, 8), (4, 4))
    title = "8x8 mesh: 16 flits of buffer for all lanes of a channel"
    return latencies(evidence, title, ("mesh-20", "mesh-5"), lanes)


@styled
def figure_peh(evidence: Evidence) -> Figure:
    """Draw the latency of the mesh with short packets, on our switch and on one like theirs."""
    lanes = ((1, 8), (2, 4), (1, 16), (2, 8), (4, 4))
    title = "8x8 mesh, packets of 5 flits: 8 and 16 flits of buffer"
    words = "our switch (left), and buffers at inputs alone, cables of a cycle; dashed: capacity"
    return latencies(evidence, title, ("mesh-5", "bare-5"), lanes, words)


def latencies(
    evidence: Evidence,
    title: str,
    sweeps: Sequence[str],
    configurations: Sequence[tuple[int, int]],
    words: str = "packets of 20 flits (left) and of 5; diamond: closed form without load",
) -> Figure:
    """Return a figure with a panel of latencies for each of two sweeps.

    Beyond saturation a latency depends on the length of the run, and has no interval.
    """
    figure, panels = two_panels(title, words)
    for axes, sweep in zip(panels, sweeps, strict=True):
        empty = zero_load(sweep)
        for lanes, depth in configurations:
            label = f"{lanes_text(lanes)} of {depth} flits"
            found = latency(evidence, sweep, lanes, depth)
            means = found.means()
            style = "--" if lanes * depth == LANE_FLITS and len(configurations) > MOST else "-"
            spread = [one if one.value < TIMES * empty else Measurement(one.value) for one in means]
            colour = COLOURS[lanes]
            curve(axes, found, spread=spread, color=colour, label=label, linestyle=style)
        axes.plot([0], [empty], "D", color=CLAIMED, markersize=5, clip_on=False, zorder=5)
        axes.axhline(TIMES * empty, color="#999999", linewidth=0.8, linestyle=":")
        most = bound(shape_of(sweep))
        line(axes, most, f"bound of the routes, {most:.3f}")
        axes.set_xlim(0, 1.1 * most)
        axes.set_ylim(0, SHOWN * empty)
        named(axes, OFFERED, LATENCY)
    return figure


@styled
def figure_accepted(evidence: Evidence) -> Figure:
    """Draw the accepted load over the offered one, by lanes."""
    figure, panels = two_panels(
        "Accepted load, packets of 20 flits", "8x8 mesh (left) and torus; lanes of 8 flits"
    )
    for axes, sweep in zip(panels, ("mesh-20", "torus-20"), strict=True):
        for lanes in (1, 2, 4):
            if shape_of(sweep) == "torus" and lanes == 1:
                continue
            found = accepted(evidence, sweep, lanes, 8)
            curve(axes, found, color=COLOURS[lanes], label=lanes_text(lanes))
        against_offered(axes, bound(shape_of(sweep)))
    return figure


def against_offered(axes: Axes, most: float) -> None:
    """Mark the offered load and the bound of the routes."""
    axes.plot([0, most], [0, most], color="#999999", linewidth=0.8, label="all of it")
    axes.axhline(most, color=CLAIMED, linewidth=0.9, linestyle="--", label=f"bound, {most:.3f}")
    axes.set_xlim(0, None)
    axes.set_ylim(0, 1.1 * most)
    named(axes, OFFERED, "accepted load")
