"""The figures of Adiseshu et al. 1996, drawn from our runs, with the paper's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gingham.plots._style import CLASS_COLOURS, styled
from gingham.studies._drawing import (
    CLAIMED,
    curve,
    half_width,
    line,
    logarithmic,
    named,
    panel,
    two_panels,
)
from gingham.studies._series import Series, mean
from gingham_studies.adiseshu1996 import closed_forms, films, measures, recoveries
from gingham_studies.adiseshu1996.small import drawn_deficits, drawn_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gingham.studies._evidence import Evidence

BLUE, ORANGE, GREEN, RED, *_ = CLASS_COLOURS
OUT_OF_ORDER = "packets out of order (%)"
SCHEMES = {
    "SRR": "SRR, logical reception",
    "SRR, header": "SRR, sequence numbers",
    "round robin": "round robin",
    "round robin, header": "round robin, sequence numbers",
    "random": "random",
    "shortest queue": "shortest queue first",
    "address hash": "address hash",
}


@styled
def figure_table_1(evidence: Evidence) -> Figure:
    """Draw sharing and order of each scheme."""
    figure, (sharing, order) = two_panels(
        "Table 1, measured",
        "two links of 6 Mbit/s, delays of 2 and 12 ms, 1000 and 200 bytes in turn",
        height=3.8,
        sharey=True,
    )
    places = np.arange(len(SCHEMES))[::-1]
    shares = [measures.share_of_sum(evidence, name, "skew").value for name in SCHEMES]
    sharing.barh(places, shares, 0.6, color=BLUE)
    sharing.axvline(0.6, color=CLAIMED, linewidth=0.9, linestyle="--", label="7.2 of 12")
    sharing.set_yticks(places, list(SCHEMES.values()))
    named(sharing, "goodput over the sum of the links", "")
    for case, shift, colour, words in (
        ("skew", 0.17, BLUE, "no loss"),
        ("loss", -0.17, ORANGE, "5 % of loss"),
    ):
        found = [measures.disorder(evidence, name, case).value for name in SCHEMES]
        order.barh(places + shift, found, 0.32, color=colour, label=words)
    named(order, OUT_OF_ORDER, "")
    return figure


@styled
def figure_5(_evidence: Evidence) -> Figure:
    """Draw the deficits of the small example."""
    return drawn_deficits("Figures 2, 3, 5 and 6: surplus round robin")


@styled
def figure_9(evidence: Evidence) -> Figure:
    """Draw fourteen packets that arrive in order."""
    return drawn_trace(evidence, "clean", "Figures 8 and 9: sender and receiver in synchronisation")


@styled
def figure_11(evidence: Evidence) -> Figure:
    """Draw the effect of the loss of one packet."""
    return drawn_trace(evidence, "7 lost", "Figures 10 and 11: a packet is lost")


@styled
def figure_13(evidence: Evidence) -> Figure:
    """Draw the recovery by a marker."""
    return drawn_trace(evidence, "7 lost, markers", "Figures 12 and 13: a marker puts it right")


@styled
def figure_15(evidence: Evidence) -> Figure:
    """Draw throughput over the rate of the second link."""
    figure, axes = panel(
        "Figure 15: throughput over the rate of the second link",
        "one Reno flow, 1000 and 200 bytes at random; the first link carries 6 Mbit/s",
    )
    styles: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("sum", "sum of both links alone", {"color": "#bbbbbb", "linewidth": 5, "marker": ""}),
        ("SRR", "SRR", {"color": BLUE}),
        ("GRR", "GRR", {"color": GREEN}),
        ("GRR, no resequencing", "GRR, no resequencing", {"color": ORANGE}),
        ("RR, resequenced", "round robin", {"color": RED}),
        ("RR", "round robin, no resequencing", {"color": RED, "linestyle": ":"}),
    )
    for variant, words, style in styles:
        curve(axes, measures.curve(evidence, variant), label=words, **style)
    line(axes, 11.0, "the paper's processor is busy")
    rates = np.linspace(2, 16, 100)
    slowest = [closed_forms.round_robin([measures.ETHERNET, rate]) for rate in rates]
    axes.plot(rates, slowest, color=CLAIMED, linewidth=0.8, label="closed form: twice the slower")
    axes.set_ylim(0, 34)
    named(axes, "second link (Mbit/s)", "goodput (Mbit/s)", ncols=2)
    return figure


@styled
def figure_6_2(evidence: Evidence) -> Figure:
    """Draw the goodput with packets in turn."""
    figure, axes = panel(
        "1000 and 200 bytes in turn over two links of 6 Mbit/s",
        "bars: ours; marks: the paper's TCP",
    )
    for place, (source, colour, words) in enumerate(
        (("backlogged", BLUE, "backlogged source"), ("reno", ORANGE, "one Reno flow"))
    ):
        found = [measures.in_turn(evidence, name, source).value for name in ("SRR", "GRR")]
        axes.bar(np.arange(2) + 0.3 * place - 0.15, found, 0.28, color=colour, label=words)
    axes.plot([0.15, 1.15], [11.2, 6.8], "_", color=CLAIMED, markersize=26, label="the paper")
    axes.set_xticks([0, 1], ["SRR", "GRR"])
    axes.set_ylim(0, 15)
    named(axes, "", "goodput (Mbit/s)")
    return figure


@styled
def figure_5_1(evidence: Evidence) -> Figure:
    """Draw the time until order is restored, over the loss rate."""
    figure, axes = panel(
        "Theorem 5.1: order after losses have stopped",
        "four channels of 10 Mbit/s, delays of 5 to 20 ms; mean of 20 runs, dotted: largest",
    )
    found = recoveries.of_all(evidence)
    losses = sorted({one.loss for one in found})
    for words, of, colour in (
        ("last packet out of order", "recovery_ns", BLUE),
        ("markers have come on all channels", "bound_ns", CLAIMED),
    ):
        times = [[getattr(one, of) / 1e6 for one in found if one.loss == loss] for loss in losses]
        axes.plot(
            losses, [mean(of_loss).value for of_loss in times], "o-", color=colour, label=words
        )
        axes.plot(losses, [max(of_loss) for of_loss in times], ":", color=colour)
    axes.set_ylim(0, None)
    named(axes, "share of packets lost before", "since losses stopped (ms)")
    return figure


@styled
def figure_frequency(evidence: Evidence) -> Figure:
    """Draw the share out of order over the rounds between markers."""
    figure, axes = panel(
        "How often markers go", "four channels of 10 Mbit/s, delays of 5 to 20 ms; means of 20 runs"
    )
    for loss, colour in coloured(measures.losses(evidence, "frequency")):
        found = measures.shares(evidence, "frequency", "every_rounds", loss)
        curve(axes, found, color=colour, label=f"{100 * loss:g} % of loss")
    axes.set_xscale("log", base=2)
    axes.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.set_ylim(0, 100)
    named(axes, "rounds from one marker to the next", OUT_OF_ORDER, ncols=3)
    return figure


@styled
def figure_position(evidence: Evidence) -> Figure:
    """Draw the share out of order over the position of markers."""
    figure, panels = two_panels(
        "Where in a round markers go",
        "packets out of order, less those with markers at the edge; the paper: the edge is best",
        height=3.8,
    )
    for axes, sweep, words in (
        (panels[0], "position", "markers tell round and deficit"),
        (panels[1], "position-round", "markers tell the round alone"),
    ):
        for loss, colour in coloured(measures.losses(evidence, sweep)):
            found = measures.shares(evidence, sweep, "position", loss)
            steps = found.differences(1)
            # Side by side, because the axis has names.
            places = [place + loss / 4 for place in found.places]
            widths = [half_width(one) for one in steps]
            middles = [one.value for one in steps]
            label = f"{100 * loss:g} % of loss"
            axes.errorbar(places, middles, widths, fmt="o", capsize=2, color=colour, label=label)
        axes.axhline(0, color=CLAIMED, linewidth=0.9)
        axes.set_title(words)
        axes.set_xticks([1, 2, 3, 4], ["1: the edge", "2", "3", "4"])
        named(axes, "markers go before the turn of channel", "difference (% of packets)")
    return figure


def coloured(losses: list[float]) -> list[tuple[float, str]]:
    """Return a colour for each loss."""
    return list(zip(losses, (BLUE, ORANGE, GREEN, RED), strict=False))


@styled
def figure_credits(evidence: Evidence) -> Figure:
    """Draw losses by congestion, with and without credits."""
    figure, axes = panel(
        "Credits against loss by congestion",
        "a receiver that reads 12 Mbit/s, channels of 20 Mbit/s together, buffers of 64 packets",
    )
    for place, on in enumerate((False, True)):
        rows = evidence.runs("credits", credits=on)
        lost = mean([100 * row["packets_lost"] / row["packets_sent"] for row in rows]).value
        goodput = mean([measures.goodput(row) for row in rows]).value
        bar = axes.bar(place, lost, 0.5, color=ORANGE)
        axes.bar_label(bar, [f"{lost:.3g} % lost\n{goodput:.1f} Mbit/s delivered"], padding=3)
    axes.set_xticks([0, 1], ["without credits", "with credits"])
    axes.margins(y=0.25)
    axes.set_ylabel("packets lost (%)")
    return figure


@styled
def figure_video(evidence: Evidence) -> Figure:
    """Draw the frames damaged by loss and by reordering."""
    figure, panels = two_panels(
        "Frames of video damaged by loss and by reordering",
        "delays of 5 to 80 ms; reordering: all packets came, one of them after a later frame",
        height=4.0,
        sharey=True,
    )
    for axes, trace in zip(panels, ("film", "small frames"), strict=True):
        styles: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
            ("by loss", "logical", "by_loss", {"color": ORANGE}),
            ("by reordering alone", "logical", "by_reordering", {"color": BLUE}),
            (
                "the same, as they arrive",
                "none",
                "by_reordering",
                {"color": BLUE, "linestyle": ":"},
            ),
        )
        for words, reception, of, style in styles:
            curve(axes, damaged(evidence, trace, reception, of), label=words, **style)
        logarithmic(axes)
        axes.set_title(trace)
        line(axes, 0.4, "the paper: 40 %")
        axes.set_ylim(-5, 105)
        named(axes, "share of packets lost", "frames damaged (%)")
    return figure


def damaged(evidence: Evidence, trace: str, reception: str, of: str) -> Series:
    """Return the share of frames damaged by one cause in per cent, over the loss rate."""
    fixed = {"trace": trace, "reception": reception}
    losses = sorted({row["loss"] for row in evidence.runs("video", **fixed)})
    return Series(
        {
            loss: {
                number: 100 * getattr(one, of) / one.frames
                for number, one in enumerate(films.damages(evidence, loss=loss, **fixed))
            }
            for loss in losses
        }
    )
