"""Rates over time, root and fairness over buffers, and the table of readings."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import ListedColormap

from gingham.plots._style import CLASS_COLOURS, new_figure, styled
from gingham.studies._drawing import CLAIMED, curve, half_width, named, panel, two_panels
from gingham.studies._series import Series, mean
from gingham_studies.santos2002 import readings
from gingham_studies.santos2002.cells import CELLS, LEAD, PACKET_BYTES
from gingham_studies.santos2002.measures import CALIBRATED, rate_of, values_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.studies._evidence import Evidence

BLUE, ORANGE, GREEN, RED, PINK, SKY, BLACK, GREY = CLASS_COLOURS
# Wire bytes per payload byte for a payload of 2,048 bytes.
ON_THE_WIRE = 2068 / 2048 / 1e9
PS_PER_MS = 1e9
COLOURS = {
    "none": GREY,
    "naive": PINK,
    "input": BLUE,
    "output 4": ORANGE,
    "output 6": GREEN,
    "output 8": RED,
    "output 16": SKY,
}
WORDS = {
    "none": "no control",
    "naive": "naive",
    "input": "input-triggered",
    "output 4": "and more than 4",
    "output 6": "and more than 6",
    "output 8": "and more than 8",
    "output 16": "and more than 16",
}
COURSES = {
    "local": ("local flows", ORANGE),
    "remote": ("remote flows", BLUE),
    "victim": ("victim", RED),
}
# Shares of the paper's victim and inter-switch link without control.
VICTIM, INTER = 0.04, 0.325


# Over time.


@styled
def figure_2(evidence: Evidence) -> Figure:
    """Draw rates over time without control."""
    words = (
        "the victim sends from 40 to 60 ms; means over 2 ms, one start; dashed: the paper's shares"
    )
    figure, axes = panel("Congestion spreads", words)
    courses(axes, evidence, "none")
    for at in (VICTIM, INTER):
        axes.axhline(at, color=CLAIMED, linewidth=0.9, linestyle="--")
    named(axes, "time (ms)", "share of a link", ncols=3)
    return figure


@styled
def figure_3(evidence: Evidence) -> Figure:
    """Draw rates over time under four policies."""
    words = "the victim sends from 40 to 60 ms; means over 2 ms; dashed: the paper's 90 %"
    figure = new_figure(8.6, 7.4, "Marking policies, buffers of 4 packets", words)
    panels = figure.subplots(2, 2, sharex=True, sharey=True).flatten()
    for axes, policy in zip(panels, ("naive", "input", "output 4", "output 8"), strict=True):
        courses(axes, evidence, policy)
        axes.set_title(WORDS[policy], loc="left")
        named(axes, "time (ms)", "share of a link", ncols=3)
    panels[0].axhline(CALIBRATED, color=CLAIMED, linewidth=0.9, linestyle="--")
    return figure


def courses(axes: Axes, evidence: Evidence, policy: str) -> None:
    """Draw the rates of the first run under a policy, flows of a type together."""
    key = evidence.runs("courses", policy=policy, replication=0)[0]["key"]
    links = evidence.kept("courses", "link_series", key).to_pylist()
    for link, words, colour in (("BC", "root", BLACK), ("B", "inter-switch", GREEN)):
        rows = [row for row in links if row["to"] == link]
        shares = [row["utilisation_smoothed"] for row in rows]
        axes.plot(times(rows), shares, color=colour, linewidth=1.1, label=words)
    flows = evidence.kept("courses", "flow_series", key).to_pylist()
    for traffic, (words, colour) in COURSES.items():
        of = [row for row in flows if row["class"] == traffic]
        by_source: dict[str, list[Mapping[str, Any]]] = {}
        for row in of:
            by_source.setdefault(row["source"], []).append(row)
        rates = [
            [row["accepted_bytes_per_s_smoothed"] or 0.0 for row in one]
            for one in by_source.values()
        ]
        together = np.sum(rates, axis=0) * ON_THE_WIRE
        axes.plot(
            times(next(iter(by_source.values()))),
            together,
            color=colour,
            linewidth=1.1,
            label=words,
        )
    axes.set_ylim(0, 1.05)


def times(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the middle of each step, in milliseconds."""
    return [(row["from_ps"] + row["to_ps"]) / 2 / PS_PER_MS for row in rows]


# Over buffers.


@styled
def figure_4(evidence: Evidence) -> Figure:
    """Draw root and fairness over the buffer, by threshold."""
    figure, panels = two_panels(
        "Root link and fairness over the buffer",
        "bars: 95 % over starts; dashed: what the paper calls high (left), and equal shares",
    )
    for axes, of, at in zip(panels, ("root", "ratio"), (0.9, 1.0), strict=True):
        for policy in ("input", "output 4", "output 6", "output 8", "output 16"):
            found = over_buffers(evidence, of, policy)
            # If an output trigger of 16 has no effect, both curves coincide.
            style: dict[str, Any] = {"linestyle": "--", "zorder": 4} if policy == "input" else {}
            curve(axes, found, color=COLOURS[policy], label=WORDS[policy], **style)
        axes.axhline(at, color=CLAIMED, linewidth=0.9, linestyle="--")
        axes.set_ylim(0, None)
    named(panels[0], "buffer (packets)", "share of the root link")
    named(panels[1], "buffer (packets)", "remote / local")
    return figure


def over_buffers(evidence: Evidence, of: str, policy: str) -> Series:
    """Return a number over the buffer, in the leading cell."""
    fixed = {"switch": LEAD.switch, "policy": policy}
    buffers = {row["buffer"] for row in evidence.rows("lead", "local", **fixed)}
    return Series(
        {
            at / PACKET_BYTES: values_in(evidence, of, "lead", {**fixed, "buffer": at})
            for at in sorted(buffers)
        }
    )


@styled
def figure_flows(evidence: Evidence) -> Figure:
    """Draw root and fairness over the number of flows, by policy."""
    figure, panels = two_panels(
        "5 to 20 flows of each type",
        "buffers of 4 packets; bars: 95 % over starts; left the victim, right the fairness",
    )
    for axes, of in zip(panels, ("victim", "ratio"), strict=True):
        for policy in ("none", "naive", "input", "output 4", "output 6", "output 8"):
            curve(
                axes, over_flows(evidence, of, policy), color=COLOURS[policy], label=WORDS[policy]
            )
        axes.set_ylim(0, None)
    named(panels[0], "flows of each type", "victim's share of the inter-switch link")
    named(panels[1], "flows of each type", "remote / local")
    return figure


def over_flows(evidence: Evidence, of: str, policy: str) -> Series:
    """Return a number over the flows of each type, with buffers of 4 packets."""
    fixed = {"policy": policy, "buffer": 4 * PACKET_BYTES}
    numbers = sorted({int(row["flows"]) for row in evidence.rows("flows", "local", **fixed)})
    found = {n: values_in(evidence, of, "flows", {**fixed, "flows": str(n)}) for n in numbers}
    found[10] = values_in(evidence, of, "lead", {**fixed, "switch": LEAD.switch})
    return Series({float(n): found[n] for n in sorted(found)})


# Bars.


@styled
def figure_responses(evidence: Evidence) -> Figure:
    """Draw root and fairness by response and policy."""
    figure, panels = two_panels(
        "Responses of sources", "buffers of 4 packets, lowest rate 1/128; bars: 95 % over starts"
    )
    for axes, of in zip(panels, ("root", "ratio"), strict=True):
        groups = {
            WORDS[policy]: {
                response.upper(): {"response": response, "policy": policy}
                for response in ("lipd", "fimd", "aimd")
            }
            for policy in ("naive", "input", "output 8")
        }
        bars(axes, evidence, "responses", of, groups, (BLUE, ORANGE, GREEN))
    named(panels[0], "", "share of the root link", ncols=3)
    named(panels[1], "", "remote / local", ncols=3)
    return figure


@styled
def figure_others(evidence: Evidence) -> Figure:
    """Draw the root link, the victim and the fairness of all further rows."""
    words = "bars: 95 % over starts; other rows than these stand in figures 3 and 4"
    figure = new_figure(8.6, 7.6, "Footnotes and further rows", words)
    rows = list(dict.fromkeys(row["row"] for row in evidence.rows("others", "local")))
    half = (len(rows) + 1) // 2
    for axes, own in zip(figure.subplots(2), (rows[:half], rows[half:]), strict=True):
        groups = {row: {of: {"row": row} for of in ("root", "victim", "ratio")} for row in own}
        bars(axes, evidence, "others", None, groups, (BLACK, RED, BLUE))
        named(axes, "", "share of a link; remote / local", ncols=3)
    return figure


def bars(
    axes: Axes,
    evidence: Evidence,
    sweep: str,
    of: str | None,
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]],
    colours: Sequence[str],
) -> None:
    """Draw groups of bars of the number `of`, or of the number named by each bar."""
    names = list(next(iter(groups.values())))
    width = 0.8 / len(names)
    for place, (name, colour) in enumerate(zip(names, colours, strict=True)):
        found = [
            mean(values_in(evidence, of or name, sweep, group[name]).values())
            for group in groups.values()
        ]
        at = np.arange(len(groups)) + (place - (len(names) - 1) / 2) * width
        axes.bar(
            at,
            [one.value for one in found],
            width,
            yerr=[half_width(one) for one in found],
            color=colour,
            label=name,
            error_kw={"linewidth": 0.8, "capsize": 2},
        )
    # Names of several words are broken into lines.
    axes.set_xticks(range(len(groups)), [textwrap.fill(name, 10) for name in groups])


# Readings.


@styled
def figure_calibration(evidence: Evidence) -> Figure:
    """Draw the local hosts' share under naive over the lowest rate, by interpretation."""
    figure, axes = panel(
        "The lowest rate",
        "naive, buffers of 4 packets; bars: 95 % over starts; dashed: the paper's 90 %",
    )
    rows = evidence.rows("calibration", "local")
    switches = list(dict.fromkeys(row["switch"] for row in rows))
    for switch, colour in zip(switches, CLASS_COLOURS, strict=False):
        rungs = {row["rung"] for row in rows if row["switch"] == switch}
        found = {
            rate_of(of): values_in(evidence, "local", "calibration", {"switch": switch, "rung": of})
            for of in rungs
        }
        curve(axes, Series(dict(sorted(found.items()))), color=colour, label=switch)
    axes.axhline(CALIBRATED, color=CLAIMED, linewidth=0.9, linestyle="--")
    axes.set_xscale("log", base=2)
    axes.set_xticks([64, 91, 128, 181, 256], ["1/64", "1/91", "1/128", "1/181", "1/256"])
    axes.minorticks_off()
    named(axes, "lowest rate", "local flows' share of the root")
    return figure


@styled
def figure_readings(evidence: Evidence) -> Figure:
    """Draw the claims that each cell meets."""
    claims = readings.columns(evidence)
    found = readings.table(evidence)
    words = (
        "filled: met; a column a claim of the paper, a row a way to read it; the first row leads"
    )
    figure = new_figure(11.4, 6.4, "Readings of the paper", words)
    axes = figure.add_subplot()
    order = [LEAD.name, *(name for name in CELLS if name != LEAD.name)]
    cells = np.array([found[name] for name in order], dtype=float)
    axes.pcolormesh(
        cells,
        cmap=ListedColormap(["#f4f4f4", BLUE]),
        vmin=0,
        vmax=1,
        edgecolors="white",
        linewidth=1,
    )
    counts = [f"{name}   {int(row.sum())}" for name, row in zip(order, cells, strict=True)]
    axes.set_yticks(np.arange(len(order)) + 0.5, counts)
    keys = [claim.key for claim in claims]
    axes.set_xticks(np.arange(len(keys)) + 0.5, keys, rotation=90)
    axes.tick_params(length=0, labelsize=8)
    axes.invert_yaxis()
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure
