"""Pictures of `make bench-stripe`: rate of each channel over time, one panel per transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from striping_measures import STEP_S, WINDOW_S

from gingham.plots import _style as style
from gingham.plots._file import encoded

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from striping_measures import Told
    from striping_rows import Row
    from tests.system.flows import Course


def draw(name: str, row: Row, told: dict[str, Told], path: Path) -> None:
    """Draw the runs of a row, and write the picture to a file."""
    path.write_bytes(encoded(figure(name, row, told), "png"))


@style.styled
def figure(name: str, row: Row, told: dict[str, Told]):  # noqa: ANN201 - Figure
    """Return a figure with one panel per transport."""
    lines = " and ".join(_words(line.rate, line.delay) for line in row.lines)
    subtitle = (
        f"{lines}. Frames that came on each channel, and TCP in them; behind it datagrams go. "
        f"Means of {WINDOW_S} s."
    )
    made = style.new_figure(
        9, 1.2 + 1.7 * len(told), f"What each channel carried: {name}", subtitle
    )
    panels = made.subplots(len(told), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, (by, one) in zip(panels, told.items(), strict=True):
        _panel(axes, one)
        axes.set_ylabel("Mbit/s")
        axes.set_title(by)
    panels[0].legend(loc="upper left", bbox_to_anchor=(1.01, 1.02))
    panels[-1].set_xlabel("time (s)")
    return made


def _words(rate: float | None, delay: float) -> str:
    return "no limit" if rate is None else f"{rate:g} Mbit/s" + (f", {delay:g} ms" if delay else "")


def _panel(axes: Axes, told: Told) -> None:
    start = told.channels[0].times[0]
    for number, course in enumerate(told.channels):
        _course(axes, course, start, f"channel {number}", style.CLASS_COLOURS[number], 1.4)
    if told.flow.times:
        _course(axes, told.flow, start, "TCP", style.INK, 0.8)
        if told.outage:
            first, last = (told.flow.times[0] - start + at for at in told.outage)
            axes.axvspan(first, last, color=style.GROUND, lw=0, zorder=0)


def _course(
    axes: Axes, course: Course, start: float, label: str, colour: str, width: float
) -> None:
    ends = np.arange(course.times[0] + WINDOW_S, course.times[-1], STEP_S)
    values = [course.bits_per_s(end - WINDOW_S, end) / 1e6 for end in ends]
    style.course(axes, ends - start, np.array(values), color=colour, lw=width, label=label)
