"""Picture of a fabric, coloured by load.

::

    spine           ▐█▌     ▐█▌        half of a cable at a node: the channel that leaves it
                   ║ │ │   │ │ ║       its colour and width:      utilisation
    leaf         ▐█▌    ▐█▌    ▐█▌     black core of a half:      share of time it was stopped
                 │││    │││    │││
    hosts        ···    ···    ···     or their number, with one line in the colour of the busiest

Over virtual lanes, credit waits are not counted, so channels have no black core.

Large fabrics are folded (`_fold`), or else drawn in grey with their hottest channels in colour.

The scale of colours ends at the next 1, 2 or 5 x 10^n % above the busiest channel. A unit of the
axes is one point on paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from gingham._texts import among_equals, equals_text
from gingham.plots import _fold, _hottest
from gingham.plots import _style as style
from gingham.plots._fabric_key import LEFT, draw_key, draw_text, key_height, key_lines, marks
from gingham.plots._fringe import tight
from gingham.plots._marks import DOT, Label
from gingham.plots._network import Network, network
from gingham.plots._scene import Scene, scene
from gingham.plots._strokes import Stroke, cut

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

    from gingham.plots._hottest import Hot
    from gingham.plots._tables import Floats, Indices

# Channels with a smaller stopped share have no core.
STOPPED_MIN = 0.005
# Line widths of idle, least used and full channels; width of a core relative to its line.
WIDTH_IDLE, WIDTH_LEAST, WIDTH_MOST, CORE_WIDTH = 0.4, 0.55, 1.25, 0.42
# Minimum line widths, in points.
IDLE_MIN, CORE_MIN, HOT_MIN = 0.4, 0.5, 1.6
# Margin around the drawing, and minimum width of the picture, in points.
AROUND, WIDTH_MIN = 22.0, 540.0
LABEL_SIZE, LABEL_CHARACTER = 6.0, 3.5
# Names stay readable in a drawing that is scaled down by up to this factor.
WIDE = 1.5


@style.styled
def draw(links: pa.Table, nodes: pa.Table, *, title: str) -> Figure:
    """Return the picture of the tables `links` and `nodes`."""
    fabric = network(links, nodes)
    if not len(fabric.ends):
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "the fabric has no cables")
        return figure
    large = _fold.is_large(fabric)
    drawn = None if large else scene(fabric)
    if (drawn is None or is_wide(drawn)) and (folded := _fold.fold(fabric)):
        from gingham.plots import _folded

        looks = {"title": title, "headline": headline(fabric)}
        return _folded.draw(fabric, folded, **looks, hottest=_hottest.hottest_of(fabric))
    drawn = drawn or scene(fabric)
    hottest = _hottest.hottest_of(fabric) if large else []
    cores = not fabric.has_credits()
    explained = marks(drawn) if large else key_lines(drawn, cores=cores)
    low, high = extent(drawn)
    rows = [*explained, *[""] * (len(hottest) + 1 - len(explained))] if large else explained
    figure, axes, key = canvas(high - low, low, key_height(rows), title, headline(fabric))
    top = style.nice_ceiling(float(np.nanmax(fabric.utilisation, initial=0.0)))
    if large:
        draw_hottest(axes, drawn, hottest)
    else:
        draw_channels(axes, drawn, fabric, top)
    draw_switches(axes, drawn)
    draw_hosts(axes, drawn)
    for label in drawn.labels:
        draw_label(axes, label)
    if large:
        draw_text(key, explained)
        _hottest.draw_hot_key(key, hottest, _hottest.LIST_LEFT if explained else LEFT)
    else:
        draw_key(key, top, explained, cores=cores)
    return figure


def headline(fabric: Network) -> str:
    """Return the busiest and the most stopped channel as a caption."""
    busy, stopped = np.nan_to_num(fabric.utilisation), np.nan_to_num(fabric.stopped_share)
    idle = int((busy == 0).sum())
    busiest, most = int(np.argmax(busy)), int(np.argmax(stopped))
    text = f"{len(busy):,} channels, {idle:,} idle."
    if idle == len(busy):
        text = f"{len(busy):,} channels; none carried anything in the window."
    else:
        half_widths = fabric.utilisation_half_width
        share = style.percent_with_interval(busy[busiest], half_widths[busiest])
        equals = equals_text(among_equals(busy.tolist(), half_widths.tolist()))
        text += f" Busiest: {fabric.channel_name(busiest)}, {share}{equals and f', {equals}'}."
    if stopped[most] >= STOPPED_MIN:
        text += f" Most stopped: {fabric.channel_name(most)}, {style.percent(stopped[most])}."
    return text


def extent(drawn: Scene) -> tuple[Floats, Floats]:
    """Return the lower left and the upper right corner of the drawing."""
    points = [drawn.placement.positions, *(stroke.path for stroke in drawn.strokes)]
    points += [drawn.group_places + np.array([size, size]) for size in (-8.0, 8.0)]
    halves = np.array([(box.half_width, box.half_height) for box in drawn.boxes])
    points += [drawn.placement.positions - halves, drawn.placement.positions + halves]
    for label in drawn.labels:
        length = LABEL_CHARACTER * len(label.text)
        x, y = label.place
        if label.upright:
            points.append(np.array([[x, y - length if label.below else y + length]]))
        else:
            points.append(np.array([[x - length / 2, y], [x + length / 2, y - LABEL_SIZE]]))
    everything = np.vstack([one for one in points if len(one)])
    return everything.min(axis=0) - AROUND, everything.max(axis=0) + AROUND


def is_wide(drawn: Scene) -> bool:
    """Return whether names would be too small to read in a picture of `PIXELS_MAX` pixels."""
    low, high = extent(drawn)
    points = style.PIXELS_MAX * style.POINTS_PER_INCH / style.DPI
    return float((high - low).max()) > WIDE * points


def canvas(
    size: Floats, low: Floats, below: float, title: str, subtitle: str
) -> tuple[Figure, Axes, Axes]:
    """Return the figure, the axes of the drawing in points, and the axes of the key below."""
    width = max(float(size[0]), WIDTH_MIN)
    aside = (width - float(size[0])) / 2
    points = style.POINTS_PER_INCH
    above = style.head(Figure(figsize=(width / points, 10)), title, subtitle)
    height = float(size[1]) + above + below
    dpi = min(float(style.DPI), style.PIXELS_MAX * points / max(width, height) * (1 - 1e-9))
    figure = style.Picture(figsize=(width / points, height / points), dpi=dpi)
    style.head(figure, title, subtitle)
    axes = figure.add_axes((0, below / height, 1, float(size[1]) / height))
    axes.set_xlim(low[0] - aside, low[0] - aside + width)
    axes.set_ylim(low[1], low[1] + float(size[1]))
    key = figure.add_axes((0, 0, 1, below / height))
    key.set_xlim(0, width)
    key.set_ylim(0, below)
    for one in (axes, key):
        one.set_axis_off()
    return figure, axes, key


def draw_channels(axes: Axes, drawn: Scene, fabric: Network, top: float) -> None:
    """Draw each stroke in the colour of its load, busier channels on top."""
    loads = np.array([fabric.loads(stroke.rows).max() for stroke in drawn.strokes])
    stops = np.array([fabric.stops(stroke.rows).max() for stroke in drawn.strokes])
    order = np.argsort(loads, kind="stable")
    idle, busy = order[loads[order] == 0], order[loads[order] > 0]
    quiet = lines(drawn.strokes, idle, "idle")
    quiet.set(color=style.IDLE, zorder=1)
    quiet.set_linewidth(np.maximum(drawn.line_widths[idle] * WIDTH_IDLE, IDLE_MIN).tolist())
    shares = np.minimum(loads / top, 1.0)
    widths = drawn.line_widths * (WIDTH_LEAST + (WIDTH_MOST - WIDTH_LEAST) * shares)
    loaded = lines(drawn.strokes, busy, "channels")
    loaded.set(cmap=style.LOAD_COLOURS, norm=Normalize(0, top), zorder=2)
    loaded.set_array(loads[busy])
    loaded.set_linewidth(widths[busy].tolist())
    for collection in (quiet, loaded, cores(drawn.strokes, stops, widths)):
        axes.add_collection(collection, autolim=False)


def draw_hottest(axes: Axes, drawn: Scene, hottest: list[Hot]) -> None:
    """Draw all strokes grey, and on top the hottest channels in colour with their number."""
    strokes = drawn.strokes
    quiet = lines(strokes, np.arange(len(strokes)), "quiet")
    quiet.set(color=style.QUIET, zorder=1)
    quiet.set_linewidth(np.maximum(drawn.line_widths * WIDTH_IDLE, IDLE_MIN).tolist())
    axes.add_collection(quiet, autolim=False)
    stroke_of = {row: stroke for stroke in strokes for row in stroke.rows}
    for place, hot in enumerate(hottest, start=1):
        path = stroke_of[hot.row].path
        width = max(float(drawn.line_widths.max()), HOT_MIN)
        axes.plot(*path.T, color=hot.colour, lw=width, zorder=3, gid="hot")
        x, y = path.mean(axis=0)
        _hottest.draw_number(axes, (float(x), float(y)), place, hot)


def lines(strokes: list[Stroke], chosen: Indices, name: str) -> LineCollection:
    """Return the lines of some strokes."""
    return LineCollection([strokes[index].path for index in chosen], gid=name, capstyle="butt")


def cores(strokes: list[Stroke], stops: Floats, widths: Floats) -> LineCollection:
    """Return a core for each stopped channel, whose length is its stopped share."""
    stopped = np.flatnonzero(stops >= STOPPED_MIN)
    paths = [cut(strokes[index].path, min(float(stops[index]), 1.0)) for index in stopped]
    found = LineCollection(paths, gid="stopped", capstyle="butt")
    found.set(color=style.INK, zorder=3)
    found.set_linewidth(np.maximum(CORE_WIDTH * widths[stopped], CORE_MIN).tolist())
    return found


def draw_switches(axes: Axes, drawn: Scene) -> None:
    """Draw switches as boxes, with their names if these fit."""
    shapes = []
    for place, box, name in zip(drawn.placement.positions, drawn.boxes, drawn.names, strict=True):
        corner = float(place[0]) - box.half_width, float(place[1]) - box.half_height
        rounding = f"round,pad=0,rounding_size={min(2.0, box.half_height / 2)}"
        size = 2 * box.half_width, 2 * box.half_height
        shapes.append(FancyBboxPatch(corner, *size, boxstyle=rounding))
        if name:
            text = axes.text(place[0], place[1], name, size=LABEL_SIZE, zorder=6)
            text.set(ha="center", va="center_baseline")
    marks = PatchCollection(shapes, gid="switches", facecolor=style.NODE_FACE)
    marks.set(edgecolor=style.NODE_EDGE, linewidth=0.8, zorder=5)
    axes.add_collection(marks, autolim=False)


def draw_hosts(axes: Axes, drawn: Scene) -> None:
    """Draw hosts as dots and other ends as squares, or groups of many as their number."""
    uncounted = tight(drawn.placement)
    single = [
        index for index, group in enumerate(drawn.groups) if len(group.nodes) == 1 or uncounted
    ]
    hosts = [index for index in single if drawn.groups[index].kind == "host"]
    others = [index for index in single if drawn.groups[index].kind != "host"]
    for chosen, marker in ((hosts, "o"), (others, "s")):
        places = drawn.group_places[chosen]
        size = (DOT.half_width if uncounted else 2 * DOT.half_width) ** 2
        found = axes.scatter(places[:, 0], places[:, 1], size, style.NODE_EDGE, marker=marker)
        found.set(linewidth=0, zorder=5)
    for place, group in zip(drawn.group_places, drawn.groups, strict=True):
        if len(group.nodes) > 1 and not uncounted:
            text = axes.text(place[0], place[1], f"{len(group.nodes):,}", size=LABEL_SIZE, zorder=6)
            shape = "circle" if group.kind == "host" else "round"
            text.set(ha="center", va="center", bbox=style.node_box(shape, 0.25))


def draw_label(axes: Axes, label: Label) -> None:
    """Write the name of a switch beside it."""
    text = axes.text(*label.place, label.text, size=LABEL_SIZE, color=style.INK, zorder=6)
    text.set(ha="center", va="top" if label.below else "bottom", rotation=90 * label.upright)
    if not label.upright:
        # Makes the name readable among cables.
        text.set(bbox={"facecolor": style.NODE_FACE, "alpha": 0.75, "linewidth": 0, "pad": 0.4})
