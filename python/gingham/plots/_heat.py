"""The use of channels over time: one row per channel, one column per step.

::

    s3[2] → s7[1]  ░░▒▒▓▓██▓▓▒▒░░░   the busiest channel first
    s0[1] → s3[4]  ░░░▒▒▒▓▓▒▒░░░░░   colour: utilisation in the step
    h4[1] → s0[2]  ░░░░░░░▒▒░░░░░░   dashed: begin and end of the window
                   └── time ──────

Data is from the table `link_series`. Adjacent steps are averaged if there are too many to see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import Normalize

from gingham.errors import counted
from gingham.plots import _style as style
from gingham.plots._followed import followed, short_ends
from gingham.plots._tables import numbers, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats, Indices

# Maximum numbers of steps before averaging, of channels drawn, and of rows with names.
STEPS_MAX, ROWS_MAX, NAMED_MAX = 400, 300, 44
WIDTH, ROW_INCHES, HEIGHT_MIN, HEIGHT_MAX = 9.5, 0.19, 2.2, 8.0
NAME_LENGTH, NAME_SIZE = 44, 7
DASHES = (0, (4, 3))


@style.styled
def draw(series: pa.Table, summary: Mapping[str, Any], *, title: str) -> Figure:
    """Return the picture of the table `link_series`; the summary holds the window."""
    count = followed(series) if series.num_rows else 0
    if not count:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "no channel was followed")
        return figure
    # Rows are ordered by channel.
    steps = series.num_rows // count
    values = joined(numbers(series, "utilisation").reshape(count, steps))
    shown = busiest(values)
    end_ps = float(numbers(series, "to_ps").max())
    unit, unit_ps = style.unit_for(end_ps)
    height = min(max(ROW_INCHES * len(shown), HEIGHT_MIN), HEIGHT_MAX)
    names = channel_names(series, steps)
    said = headline(values, names, int(shown[0]), len(shown))
    figure = style.new_figure(WIDTH, height + 1.7, title, said)
    axes = figure.subplots()
    top = style.nice_ceiling(float(values.max()))
    axes.set_facecolor(style.IDLE)
    mesh = axes.imshow(
        np.ma.masked_equal(values[shown], 0.0),
        aspect="auto",
        interpolation="nearest",
        cmap=style.LOAD_COLOURS,
        norm=Normalize(0, top),
        extent=(0, end_ps / unit_ps, len(shown), 0),
    )
    mesh.set_gid("heat")
    figure.colorbar(mesh, ax=axes, pad=0.01, fraction=0.03, format=style.percent_tick)
    mark_window(axes, summary, end_ps, unit_ps)
    axes.set_xlabel(f"simulated time ({unit}); colour: utilisation (grey: idle)")
    name_rows(axes, [names[row] for row in shown])
    return figure


def joined(values: Floats) -> Floats:
    """Return fewer steps, each the mean of adjacent ones."""
    steps = values.shape[1]
    together = -(-steps // STEPS_MAX)
    firsts = np.arange(0, steps, together)
    sums = np.add.reduceat(np.nan_to_num(values), firsts, axis=1)
    return np.asarray(sums / np.diff(np.append(firsts, steps)))


def busiest(values: Floats) -> Indices:
    """Return the rows to draw, the busiest first; equal rows in given order."""
    order = np.argsort(-values.mean(axis=1), kind="stable")
    return np.asarray(order[:ROWS_MAX], dtype=np.int64)


def channel_names(series: pa.Table, steps: int) -> list[str]:
    """Return the channel of each row of the picture."""
    firsts = series.take(list(range(0, series.num_rows, steps)))
    parts = [words(firsts, column) for column in ("from", "from_port", "to", "to_port")]
    short = short_ends(parts[0] + parts[2])
    return [
        f"{short[start]}[{port}] → {short[end]}[{at}]"
        for start, port, end, at in zip(*parts, strict=True)
    ]


def headline(values: Floats, names: list[str], first: int, shown: int) -> str:
    """Return a caption with idle and busiest channels."""
    count = len(names)
    mean = style.percent(float(values[first].mean()))
    most = "" if shown == count else f" The {shown} busiest are drawn."
    idle = int((values.max(axis=1) == 0).sum())
    return (
        f"{counted(count, 'channel')}, {idle:,} idle all the time. "
        f"Busiest: {names[first]}, {mean} on average.{most}"
    )


def mark_window(axes: Axes, summary: Mapping[str, Any], end_ps: float, unit_ps: float) -> None:
    """Mark begin and end of the window if they are within the picture."""
    for key, name, side in (
        ("warm_up_ps", "warm-up ends", "left"),
        ("window_end_ps", "window ends", "right"),
    ):
        at = float(summary[key])
        if 0 < at < end_ps:
            axes.axvline(at / unit_ps, color=style.INK, lw=0.9, ls=DASHES, gid=key)
            text = axes.text(at / unit_ps, 1.01, name, size=8, ha=side, color=style.FAINT)
            text.set(transform=axes.get_xaxis_transform(), va="bottom")


def name_rows(axes: Axes, names: list[str]) -> None:
    """Label each row, or describe rows collectively if there are too many."""
    if len(names) <= NAMED_MAX:
        places = np.arange(len(names)) + 0.5
        axes.set_yticks(places, [style.clipped(name, NAME_LENGTH) for name in names])
        axes.tick_params(axis="y", length=0, labelsize=NAME_SIZE)
    else:
        axes.set_ylabel("channels, the busiest first")
