"""Picture of the cabled fabric, without a run.

::

    spine           ▐█▌     ▐█▌        colour of a line: speed of its cable
                   ║ │ │   │ │ ║
    leaf         ▐█▌    ▐█▌    ▐█▌
    hosts        ···    ···    ···     or their number, with one line for all their cables

Nodes have the positions of `_fabric`, so that both pictures can be compared side by side.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from matplotlib.collections import LineCollection

from gingham.errors import counted
from gingham.plots import _fold, _hottest
from gingham.plots import _style as style
from gingham.plots._fabric import (
    canvas,
    draw_hosts,
    draw_hottest,
    draw_label,
    draw_switches,
    extent,
    is_wide,
)
from gingham.plots._fabric_key import LEFT, LINE, MARGIN, TEXT_SIZE, draw_text, key_height, marks
from gingham.plots._network import Network
from gingham.plots._scene import Scene, scene

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Width as a share of that of a full channel in the picture of a run, and minimum in points.
WIDTH_SHARE, WIDTH_MIN = 0.4, 0.5
# Distance between the two halves of a cable, in points, unless it wraps around.
GAP = 8.0
# Width of a speed's sample in the key, and left edge of the legend of marks, in points.
SAMPLE, MARKS_LEFT = 22.0, 250.0
UNTOLD = "no speed told"
SEVERAL = {"switch": "switches", "aggregation": "aggregation nodes"}


class NodeLike(Protocol):
    """The part of a node that the picture uses."""

    @property
    def name(self) -> str:
        """Unique in its fabric."""

    @property
    def kind(self) -> str:
        """Such as "switch"."""


class CableLike(Protocol):
    """The part of a cable that the picture uses."""

    @property
    def ends(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """Node and port at each end."""

    @property
    def speed(self) -> str | None:
        """Speed of the cable, if it is known."""


@style.styled
def draw(
    nodes: Sequence[NodeLike],
    cables: Sequence[CableLike],
    *,
    title: str,
    busiest: Sequence[Mapping[str, Any]] = (),
) -> Figure:
    """Return the picture of nodes and cables, with the channels of `busiest` in colour."""
    fabric = network(nodes, cables)
    if not cables:
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "the fabric has no cables")
        return figure
    large = _fold.is_large(fabric)
    drawn = None if large else scene(fabric)
    if (drawn is None or is_wide(drawn)) and (folded := _fold.fold(fabric)):
        from gingham.plots import _folded

        counts = Counter(cable.speed or UNTOLD for cable in cables)
        of_cables = [cable.speed for cable in cables]
        numbers = headline(nodes, counts)
        return _folded.draw(
            fabric,
            folded,
            title=title,
            headline=numbers,
            speeds=() if busiest else of_cables,
            hottest=_hottest.most_paths(fabric, busiest),
        )
    drawn = drawn or scene(fabric)
    speeds = Counter(cable.speed or UNTOLD for cable in cables)
    told = [speed for speed in speeds if speed != UNTOLD]
    colours = dict(zip(told, style.CLASS_COLOURS, strict=False))
    if told and UNTOLD in speeds:
        colours[UNTOLD] = style.NODE_EDGE
    low, high = extent(drawn)
    said = marks(drawn)
    if busiest:
        return draw_busiest(fabric, drawn, said, busiest, title, headline(nodes, speeds))
    lines = said if len(said) > len(colours) else [""] * len(colours)
    below = headline(nodes, speeds)
    figure, axes, key = canvas(high - low, low, key_height(lines), title, below)
    # If all cables have one speed, its colour would only hide the switches.
    plain = style.QUIET if large and len(speeds) == 1 else None
    shades = [plain or colours.get(one.speed or UNTOLD, style.NODE_EDGE) for one in cables]
    if plain:
        colours = dict.fromkeys(colours, plain)
    draw_cables(axes, drawn, shades)
    draw_switches(axes, drawn)
    draw_hosts(axes, drawn)
    for label in drawn.labels:
        draw_label(axes, label)
    draw_key(key, colours, said)
    return figure


def draw_busiest(
    fabric: Network,
    drawn: Scene,
    notes: list[str],
    busiest: Sequence[Mapping[str, Any]],
    title: str,
    below: str,
) -> Figure:
    """Return the picture in grey, with the most used channels in colour."""
    hottest = _hottest.most_paths(fabric, busiest)
    low, high = extent(drawn)
    rows = [""] * max(len(notes), len(hottest) + 1)
    figure, axes, key = canvas(high - low, low, key_height(rows), title, below)
    draw_hottest(axes, drawn, hottest)
    draw_switches(axes, drawn)
    draw_hosts(axes, drawn)
    for label in drawn.labels:
        draw_label(axes, label)
    draw_text(key, notes)
    _hottest.draw_hot_key(key, hottest, _hottest.LIST_LEFT if notes else LEFT)
    return figure


def network(nodes: Sequence[NodeLike], cables: Sequence[CableLike]) -> Network:
    """Return nodes and cables as the network of a run that carried nothing."""
    number = {node.name: index for index, node in enumerate(nodes)}
    ends = [[number[name] for name, _ in cable.ends] for cable in cables]
    channels = [(*start, *end) for cable in cables for start, end in (cable.ends, cable.ends[::-1])]
    unknown = np.full(len(channels), np.nan)
    return Network(
        names=[node.name for node in nodes],
        kinds=[node.kind for node in nodes],
        ends=np.asarray(ends, dtype=np.int64).reshape(-1, 2),
        rows=np.arange(len(channels), dtype=np.int64).reshape(-1, 2),
        utilisation=unknown,
        utilisation_half_width=unknown,
        stopped_share=unknown,
        stopped_half_width=unknown,
        fill=unknown,
        fill_half_width=unknown,
        channels=channels,
    )


def headline(nodes: Sequence[NodeLike], speeds: Mapping[str, int]) -> str:
    """Return the number of nodes and cables as text."""
    kinds = Counter(node.kind for node in nodes)
    told = [counted(count, kind, SEVERAL.get(kind, "")) for kind, count in kinds.items()]
    cables = counted(sum(speeds.values()), "cable")
    by_speed = ", ".join(f"{count:,} x {speed}" for speed, count in speeds.items())
    speed = "; no cable tells a speed" if list(speeds) == [UNTOLD] else f": {by_speed}"
    return f"{', '.join([*told, cables])}{speed}."


def draw_cables(axes: Axes, drawn: Scene, colours: Sequence[str]) -> None:
    """Draw each cable in the colour of its speed."""
    paths, shades, widths = [], [], []
    for index in range(0, len(drawn.strokes), 2):
        here, there = drawn.strokes[index : index + 2]
        halves = [here.path, there.path]
        if np.hypot(*(here.path[-1] - there.path[-1])) <= GAP:
            halves = [np.vstack([here.path, there.path[::-1]])]
        paths += halves
        # The line may represent several cables to hosts; each cable has two rows.
        shades += [colours[here.rows[0] // 2]] * len(halves)
        widths += [max(float(drawn.line_widths[index]) * WIDTH_SHARE, WIDTH_MIN)] * len(halves)
    found = LineCollection(paths, gid="cables", colors=shades, linewidths=widths, zorder=2)
    axes.add_collection(found, autolim=False)


def draw_key(axes: Axes, colours: Mapping[str, str], said: Sequence[str]) -> None:
    """Draw the legend of speeds and marks."""
    top = axes.get_ylim()[1] - MARGIN
    for line, (speed, colour) in enumerate(colours.items()):
        level = top - LINE * line
        axes.plot((LEFT, LEFT + SAMPLE), (level, level), color=colour, linewidth=2.0)
        axes.text(LEFT + SAMPLE + 8, level, speed, size=TEXT_SIZE, va="center")
    left = MARKS_LEFT if colours else LEFT
    for line, text in enumerate(said):
        axes.text(left, top - LINE * line, text, size=TEXT_SIZE, va="center")
