"""Common style of all pictures: colours, sizes, titles, units.

Colours are those of Okabe and Ito ("Color Universal Design", 2008), which people with any of the
common kinds of colour blindness can distinguish; loads run from light to dark, so that they also
survive a photocopy. Figures are plain objects that can be saved; no window is opened.
"""

from __future__ import annotations

import re
import textwrap
from functools import wraps
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import TextPath
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from gingham import _texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from gingham.plots._tables import Floats

P = ParamSpec("P")
R = TypeVar("R")

DPI = 150
# Maximum width and height of the picture of a fabric, in pixels.
PIXELS_MAX = 3000
POINTS_PER_INCH = 72
# Okabe and Ito without the yellow, which vanishes on white.
CLASS_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#000000",
    "#888888",
)
CLASSES_MAX = len(CLASS_COLOURS)
# Minimum number of characters in a line of a title, regardless of space.
CHARACTERS_MIN = 12
INK, FAINT, GROUND, IDLE = "#222222", "#6b6b6b", "#e9e9e9", "#d9dde1"
# Colour of cables that are too numerous to be distinguished.
QUIET = "#a9b2ba"
NODE_FACE, NODE_EDGE = "#ffffff", "#33414e"
# From low to high load, with monotonically decreasing lightness.
LOAD_COLOURS = LinearSegmentedColormap.from_list(
    "load", ["#f9dda4", "#f5a35c", "#e2603f", "#bf2a44", "#8e1148"]
)
UNITS = (("s", 1e12), ("ms", 1e9), ("µs", 1e6), ("ns", 1e3), ("ps", 1.0))
PS_PER_NS = 1e3

SETTINGS: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    # Names are the user's: dollar signs are literal.
    "text.parse_math": False,
    # Journals refuse Type 3 fonts; text in an SVG remains text, which can be searched and edited.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
}

TITLE_SIZE, SUBTITLE_SIZE = 12, 9
# Average character widths of the title and of the subtitle, in points.
TITLE_CHARACTER, SUBTITLE_CHARACTER = 7.4, 4.8
MARGIN = 10.0
# Size of the mark of an isolated point, in points.
LONE_MARK = 3.0
# A logarithmic axis over a larger range has one tick per decade.
SUBDIVIDED_MAX = 500
# A shorter common prefix of names is kept.
WORTH_CUTTING = 4


class Picture(Figure):
    """A figure that notebooks display without a backend."""

    def _repr_png_(self) -> bytes:
        """Return the PNG image that notebooks display."""
        from gingham.plots import _file

        return _file.encoded(self, "png")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Make a function draw with our settings, regardless of the user's own."""

    @wraps(draw)
    def inside(*arguments: P.args, **options: P.kwargs) -> R:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(SETTINGS)
            return draw(*arguments, **options)

    return inside


def new_figure(width: float, height: float, title: str, subtitle: str = "") -> Figure:
    """Return an empty figure of a size in inches, titled, with room below for axes."""
    figure = Picture(figsize=(width, height), dpi=DPI, layout="constrained")
    room = head(figure, title, subtitle) / (height * POINTS_PER_INCH)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine), "the figure was made with it"
    engine.set(rect=(0, 0, 1, 1 - room), w_pad=0.09, h_pad=0.06, wspace=0.04)
    return figure


def head(figure: Figure, title: str, subtitle: str) -> float:
    """Write the title and the subtitle; return their height in points."""
    width, height = (inches * POINTS_PER_INCH for inches in figure.get_size_inches())
    room = width - 2 * MARGIN
    lines = wrapped(title, room, TITLE_CHARACTER, 2, FontProperties(size=TITLE_SIZE, weight="bold"))
    below = wrapped(subtitle, room, SUBTITLE_CHARACTER, 3, FontProperties(size=SUBTITLE_SIZE))
    used = MARGIN
    for line, size, colour in [
        *((line, TITLE_SIZE, INK) for line in lines),
        *((line, SUBTITLE_SIZE, FAINT) for line in below),
    ]:
        weight = "bold" if size == TITLE_SIZE else "normal"
        place = (MARGIN / width, 1 - used / height)
        figure.text(*place, line, size=size, color=colour, weight=weight, va="top")
        used += 1.35 * size
    return used


def wrapped(
    text: str, room: float, character: float, lines_max: int, font: FontProperties
) -> list[str]:
    """Return the lines of a text, none wider than `room`, in points.

    `character` is the typical width of a character; capitals are wider.
    """
    count = int(room / character)
    while True:
        lines = textwrap.wrap(text, count, max_lines=lines_max)
        widest = max((width_of(line, font) for line in lines), default=0.0)
        if widest <= room or count <= CHARACTERS_MIN:
            return lines
        count = max(min(count - 1, int(count * room / widest)), CHARACTERS_MIN)


def width_of(text: str, font: FontProperties) -> float:
    """Return the width of a line, in points."""
    return float(TextPath((0, 0), text, prop=font).get_extents().width)


def say_nothing_to_draw(axes: Axes, why: str) -> None:
    """Write a text in place of a picture: that there is nothing to draw, and why."""
    axes.set_axis_off()
    frame = axes.transAxes
    axes.text(0.5, 0.5, why, transform=frame, ha="center", va="center", color=FAINT, size=11)


def course(axes: Axes, times: Floats, values: Floats, **looks: Any) -> None:
    """Draw values over time as a line, with a mark for isolated points.

    A line would not show an isolated point. Unknown values leave gaps.
    """
    lone = without_neighbours(values)
    marker = "o" if lone else ""
    axes.plot(times, values, marker=marker, ms=LONE_MARK, markevery=lone, **looks)


def without_neighbours(values: Floats) -> list[int]:
    """Return the indices of known values between unknown ones or ends."""
    known = np.pad(np.isfinite(values), 1)
    return np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:]).tolist()


def node_box(shape: str, padding: float) -> dict[str, Any]:
    """Return the style of the box around the text of a node."""
    return {
        "boxstyle": f"{shape},pad={padding}",
        "facecolor": NODE_FACE,
        "edgecolor": NODE_EDGE,
        "linewidth": 0.7,
    }


def unit_for(largest_ps: float) -> tuple[str, float]:
    """Return the largest unit that makes `largest_ps` at least 2, and its picoseconds."""
    return next((unit for unit in UNITS if largest_ps >= 2 * unit[1]), UNITS[-1])


def log_ticks(axis: Axis) -> None:
    """Set the ticks of a logarithmic axis: 1, 2, 5, 10, or on a long axis 1, 10, 100."""
    low, high = axis.get_view_interval()
    short = high <= low * SUBDIVIDED_MAX
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def nice_ceiling(value: float) -> float:
    """Return the least of 1, 2, 5 times a power of ten not below `value`, at most 1.

    Returns 1 for `value` 0, too.
    """
    if value <= 0:
        return 1.0
    steps = (step * 10.0**power for power in range(-6, 1) for step in (1, 2, 5))
    return min(next((step for step in steps if value <= step), 1.0), 1.0)


def percent(share: float) -> str:
    """Return a share as a percentage of two or three digits."""
    return f"{_texts.number(100 * _texts.clipped_share(share), 3)}\N{NO-BREAK SPACE}%"


def percent_with_interval(share: float, half_width: float) -> str:
    """Return a share as a percentage with its interval, unless the half-width is NaN."""
    if np.isnan(half_width):
        return percent(share)
    return _texts.percent_with_interval(share, half_width).replace(" ", "\N{NO-BREAK SPACE}")


def percent_tick(share: float, _position: object = None) -> str:
    """Return the text of a tick at a share."""
    return f"{_texts.number(100 * share, 6)}\N{NO-BREAK SPACE}%"


def clipped(name: str, length: int) -> str:
    """Return a name of at most `length` characters; longer names lose their middle."""
    if len(name) <= length:
        return name
    kept = length - 1
    return f"{name[: kept - kept * 2 // 3]}…{name[-(kept * 2 // 3) :]}"


def short_names(names: Sequence[str], length: int = 26) -> dict[str, str]:
    """Return each name without the common prefix and suffix of all, clipped.

    Prefix and suffix end at the border of a word or a number. Names stay distinct: if clipping
    would make two equal, all are clipped less.
    """
    start = common_start(names)
    end = common_start([name[start:][::-1] for name in names])
    bare = {name: name[start : len(name) - end] for name in names}
    while True:
        short = {name: clipped(rest, length) for name, rest in bare.items()}
        # Reached at the latest with unclipped names.
        if len(set(short.values())) == len(bare):
            return short
        length += 1


def common_start(names: Sequence[str]) -> int:
    """Return the number of characters that can be cut from the front of all names."""
    if len(names) < 2:  # noqa: PLR2004  (of one name, all is common)
        return 0
    # The common prefix of the first and the last name in sorted order is that of all.
    pairs = zip(min(names), max(names), strict=False)
    prefix = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    match = re.match(r"(.*[^0-9A-Za-z])", prefix, flags=re.DOTALL)
    cut = len(match[1]) if match else 0
    return cut if cut >= WORTH_CUTTING and all(len(name) > cut for name in names) else 0


def natural(name: str) -> list[tuple[int, int | str]]:
    """Return the sort key of a name: `leaf9` precedes `leaf10`."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts if part]
