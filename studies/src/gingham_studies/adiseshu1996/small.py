"""Pictures of the small examples: packets as boxes, by round and in the order of delivery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Rectangle

from gingham.plots._style import CLASS_COLOURS, FAINT, INK, NODE_EDGE, NODE_FACE, new_figure
from gingham_studies.adiseshu1996 import comparisons, traces
from gingham_studies.adiseshu1996.recoveries import out_of_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.studies._evidence import Evidence

BLUE, ORANGE, *_ = CLASS_COLOURS
LOST, LATE, MARKED = "#d9dde1", "#f5d9a8", "#cfe3f1"


def box(axes: Axes, left: float, low: float, width: float, words: str, face: str) -> None:
    """Draw a packet."""
    patch = Rectangle((left, low), width, 0.7, facecolor=face, edgecolor=NODE_EDGE, linewidth=0.9)
    axes.add_patch(patch)
    axes.text(left + width / 2, low + 0.35, words, ha="center", va="center", color=INK)


def bare(axes: Axes, rows: dict[float, str]) -> None:
    """Remove ticks and frame of the axes, and label the rows."""
    axes.set_yticks([low + 0.35 for low in rows], list(rows.values()))
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def drawn_deficits(title: str) -> Figure:
    """Draw the bytes of each channel against its quanta."""
    figure = new_figure(
        6.4, 2.9, title, "boxes: bytes of each packet; lines: quanta; below: deficit after it"
    )
    axes = figure.add_subplot()
    quantum = traces.QUANTA[0]
    begun = {1: 0, 2: 0}
    for name, turn in comparisons.served().items():
        low = 2.4 - 1.2 * turn.channel
        length = traces.LENGTHS[name]
        left, begun[turn.channel] = begun[turn.channel], begun[turn.channel] + length
        box(axes, left, low, length, f"{name} {length}", MARKED if turn.round > 1 else NODE_FACE)
        after = f"{turn.deficit_bytes - length}"
        axes.text(left + length, low - 0.22, after, ha="center", color=FAINT, fontsize=8)
    for rounds in (1, 2):
        axes.axvline(rounds * quantum, color="#b3282d", linewidth=0.9, linestyle="--")
    bare(axes, {1.2: "channel 1", 0.0: "channel 2"})
    axes.set_xlim(-10, 1110)
    axes.set_ylim(-0.4, 2.1)
    axes.set_xticks([0, quantum, 2 * quantum], ["0", "500", "1000 bytes"])
    return figure


def drawn_trace(evidence: Evidence, case: str, title: str) -> Figure:
    """Draw the packets sent in each round, and their order of delivery."""
    events = comparisons.events_of(evidence, case)
    lost = {one.packet for one in events if one.what == "lose"}
    given = [one.packet for one in events if one.what == "deliver"]
    late = {int(one["packet"]) for one in out_of_order([{"packet": number} for number in given])}
    figure = new_figure(
        7.2,
        3.0,
        title,
        "above: packets by round, M markers, grey lost; below: in the order of delivery",
    )
    axes = figure.add_subplot()
    for one in events:
        low = 3.6 - 1.0 * one.channel
        if one.what == "send":
            box(
                axes,
                2 * one.round,
                low,
                0.9,
                str(one.packet),
                LOST if one.packet in lost else NODE_FACE,
            )
        elif one.what == "marker":
            box(axes, 2 * one.round - 0.65, low, 0.45, "M", MARKED)
    for place, packet in enumerate(given):
        box(axes, 2 + place, 0, 0.9, str(packet), LATE if packet in late else NODE_FACE)
    bare(axes, {2.6: "channel 1", 1.6: "channel 2", 0.0: "delivered"})
    axes.set_xticks(
        [2 * number + 0.45 for number in range(1, 8)], [f"round {number}" for number in range(1, 8)]
    )
    axes.xaxis.tick_top()
    axes.set_xlim(1, 17)
    axes.set_ylim(-0.2, 3.5)
    return figure
