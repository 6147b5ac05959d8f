"""The figures and tables of Flich et al. 2001, drawn from our runs, with the paper's values."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from gingham.plots._style import CLASS_COLOURS, new_figure, styled
from gingham.studies._drawing import CLAIMED, half_width, named, two_panels
from gingham.studies._series import mean
from gingham_studies.flich2001 import closed_forms, routed
from gingham_studies.flich2001.measures import latency, rows_of, throughput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.studies._bands import Measurement
    from gingham.studies._evidence import Evidence

COLOURS = dict(
    zip(
        ("UD", "UD_ITB", "UD_MITB", "UD_ITB_5x", "UD_ITB_ML", "UD_ITB_50", "UD_ITB_DET"),
        [*CLASS_COLOURS, *CLASS_COLOURS],
        strict=False,
    )
) | {"DFS": CLASS_COLOURS[2], "DFS_ITB": CLASS_COLOURS[3], "smart": CLASS_COLOURS[4]}
US = 1e-3
SIZES = (8, 16, 32, 64)
ACCEPTED = "accepted traffic (payload flits/ns/switch)"
LATENCY = "mean latency (µs)"
SWITCHES = "switches"
FACTOR = "throughput over UD's"
INCREASE = "latency above UD's at low load (%)"
# Curves are shown up to this multiple of the lowest latency, and up to the highest accepted load:
# beyond saturation a latency depends only on the length of the run.
SHOWN = 6.0


def latencies(evidence: Evidence, axes: Axes, sweep: str, routings: Sequence[str]) -> None:
    """Draw the latency over the accepted traffic in a panel, as means over topologies."""
    curves = {routing: points_of(evidence, sweep, routing) for routing in routings}
    lowest = min(points[0][1].value for points in curves.values())
    for routing, points in curves.items():
        style: dict[str, Any] = {"color": COLOURS[routing], "linewidth": 1.2}
        axes.plot(*zip(*[(one.value, two.value) for one, two in points], strict=True), **style)
        below = [pair for pair in points if pair[1].value < SHOWN * lowest]
        axes.errorbar(
            [taken.value for taken, _ in below],
            [delay.value for _, delay in below],
            xerr=[half_width(taken) for taken, _ in below],
            yerr=[half_width(delay) for _, delay in below],
            label=routing,
            marker="o",
            markersize=3,
            elinewidth=0.6,
            **style,
        )
    axes.set_ylim(0, SHOWN * lowest)
    axes.set_xlim(0, None)
    named(axes, ACCEPTED, LATENCY)


def points_of(
    evidence: Evidence, sweep: str, routing: str
) -> list[tuple[Measurement, Measurement]]:
    """Return accepted traffic and latency at each load, up to the load with the most traffic."""
    by_load: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for row in rows_of(evidence, sweep, routing):
        taken = closed_forms.flits_per_ns_and_switch(row["accepted_load"])
        by_load[row["load"]].append((taken, row["latency_mean_ns"] * US))
    found = []
    for load in sorted(by_load):
        traffic, delays = zip(*by_load[load], strict=True)
        found.append((mean(traffic), mean(delays)))
    most = max(range(len(found)), key=lambda place: found[place][0].value)
    return found[: most + 1]


@styled
def figure_routes(evidence: Evidence) -> Figure:
    """Draw lengths of paths, their in-transit hosts, and the bounds of the routes."""
    figure = new_figure(
        9.6,
        3.9,
        "What the routes promise",
        "means of 10 clusters; crosses: a quick model of the same rules on other clusters",
    )
    panels = (
        ("cables between switches on a path", routed.path_cables),
        ("in-transit hosts on a path", routed.in_transit_hosts),
        ("bound of uniform traffic (flits/ns/switch)", routed.bound_of),
    )
    for axes, (name, measure) in zip(figure.subplots(1, 3), panels, strict=True):
        for shift, (kind, routing) in enumerate(
            (("short", "UD"), ("mixed", "UD_MITB"), ("short", "UD_ITB"))
        ):
            against_sizes(evidence, axes, measure, kind, routing, shift - 1)
        axes.set_xticks(range(len(SIZES)), [str(size) for size in SIZES])
        axes.set_ylim(0, None)
        named(axes, SWITCHES, name)
    return figure


@styled
def figure_2(evidence: Evidence) -> Figure:
    """Draw latencies with in-transit hosts five times as slow, for both lengths."""
    figure, panels = two_panels(
        "Figure 2: in-transit hosts five times as slow, 32 switches",
        "32 bytes (left) and 512 bytes; the paper: latency doubles, throughput stays",
    )
    for axes, sweep in zip(panels, ("short-32", "long-32"), strict=True):
        latencies(evidence, axes, sweep, ("UD", "UD_ITB", "UD_ITB_5x"))
    return figure


@styled
def figure_3(evidence: Evidence) -> Figure:
    """Draw latencies under two lengths of messages."""
    return one_panel(
        evidence,
        "Figure 3: 70 % of 32 and 30 % of 512 bytes",
        "mixed-32",
        ("UD", "UD_MITB", "UD_ITB", "UD_ITB_ML"),
    )


@styled
def figure_4(evidence: Evidence) -> Figure:
    """Draw latencies with half of the messages on paths over in-transit hosts."""
    return one_panel(
        evidence,
        "Figure 4: half over in-transit hosts, 32 bytes",
        "short-32",
        ("UD", "UD_ITB", "UD_ITB_50"),
    )


@styled
def figure_5(evidence: Evidence) -> Figure:
    """Draw latencies with a choice by contention at the hosts."""
    return one_panel(
        evidence,
        "Figure 5: by contention, 32 bytes",
        "short-32",
        ("UD", "UD_ITB", "UD_ITB_DET"),
    )


def one_panel(evidence: Evidence, title: str, sweep: str, routings: Sequence[str]) -> Figure:
    """Return a figure of one panel of latencies."""
    figure = new_figure(
        6.4, 4.2, title, "32 switches; means of 10 clusters with their 95 % intervals"
    )
    latencies(evidence, figure.add_subplot(), sweep, routings)
    return figure


def table(
    evidence: Evidence, title: str, kind: str, routings: Sequence[str], words: str = ""
) -> Figure:
    """Return a figure of throughputs and latencies over the size of the cluster."""
    figure, (left, right) = two_panels(
        title, words or "crosses: the paper; bars: 95 % over 10 clusters"
    )
    for axes, measure, name in ((left, throughput, FACTOR), (right, latency, INCREASE)):
        for place, routing in enumerate(routings):
            against_sizes(evidence, axes, measure, kind, routing, place - (len(routings) - 1) / 2)
        axes.axhline(1.0 if axes is left else 0.0, color="#999999", linewidth=0.8)
        axes.set_xticks(range(len(SIZES)), [str(size) for size in SIZES])
        named(axes, SWITCHES, name)
    return figure


def against_sizes(
    evidence: Evidence,
    axes: Axes,
    measure: Callable[[Evidence, str, str], Measurement],
    kind: str,
    routing: str,
    shift: float,
) -> None:
    """Draw the throughput of a routing at each size beside the paper's numbers."""
    places = [place + 0.14 * shift for place in range(len(SIZES))]
    found = [measure(evidence, f"{kind}-{size}", routing) for size in SIZES]
    axes.errorbar(
        places,
        [one.value for one in found],
        yerr=[half_width(one) for one in found],
        color=COLOURS[routing],
        label=routing,
        marker="o",
        markersize=4,
        linewidth=1.0,
        capsize=2,
    )
    claims = [
        (places[place], claim.band.at)
        for place, size in enumerate(SIZES)
        for claim in evidence.study.claims
        if claim.measure == measure.__name__
        and dict(claim.options) == {"sweep": f"{kind}-{size}", "routing": routing}
        and (claim.key.startswith("table") or claim.figure == "routes")
        and not claim.band.one_sided
    ]
    if claims:
        axes.plot(*zip(*claims, strict=True), "x", color=CLAIMED, markersize=6)


@styled
def figure_table_1(evidence: Evidence) -> Figure:
    """Draw table I."""
    routings = ("UD_MITB", "UD_ITB", "UD_ITB_ML")
    return table(evidence, "Table I: 70 % of 32 and 30 % of 512 bytes", "mixed", routings)


@styled
def figure_table_2(evidence: Evidence) -> Figure:
    """Draw table II."""
    return table(evidence, "Table II: 32 bytes", "short", ("UD_ITB", "UD_ITB_50"))


@styled
def figure_table_3(evidence: Evidence) -> Figure:
    """Draw table III, for the longer messages: the shorter ones of UD_ITB are table II's."""
    return table(evidence, "Table III: 512 bytes", "long", ("UD_ITB", "UD_ITB_DET"))


@styled
def figure_others(evidence: Evidence) -> Figure:
    """Draw the rivals."""
    return table(
        evidence,
        "Depth-first trees and smart routing, 32 bytes",
        "short",
        ("DFS", "smart", "DFS_ITB", "UD_ITB"),
        "crosses: the paper's UD_ITB, the one that it gives; bars: 95 % over 10 clusters",
    )
