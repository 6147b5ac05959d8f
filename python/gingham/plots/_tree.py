"""Congestion trees drawn over the fabric, and their growth and decay.

::

    A1 ━━┓                      half of a cable at a node: the channel that leaves it
    A2 ━━╋━ A ━━━━━ B ▬▬▬▬▬ BC  blue:   share of samples with it as a branch
    AV ━━┛          ┃           orange, with black edges: share with it as a root
                    BV          black core: share with it as a leaf

    branches ┌──────────────┐   of the trees of each root, at each sample
             └──────────────┘

A half has the colour of its channel's more frequent role. A unit of the axes is one point on paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator

from gingham._texts import number
from gingham.errors import counted
from gingham.plots import _fabric
from gingham.plots import _style as style
from gingham.plots._fabric_key import LINE, MARGIN, TEXT_SIZE, key_lines
from gingham.plots._network import Network, network, of_rows
from gingham.plots._scene import Scene, scene
from gingham.plots._tables import numbers, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gingham.plots._tables import Floats

BRANCH_COLOURS = LinearSegmentedColormap.from_list(
    "branch", ["#d9eaf6", "#a6d0ea", "#67b4e3", "#2f93cf", "#0072b2"]
)
ROOT_COLOURS = LinearSegmentedColormap.from_list(
    "root", ["#fde4c8", "#f7b56d", "#e8811c", "#d55e00", "#8f3d00"]
)
# Black edges of a root, in points on either side.
EDGE = 0.9
# A root at a smaller share of samples has no edges, which would be wider than its share.
EDGE_SHARE_MIN = 0.1
# Height of the strip below, its space for ticks and names, and its margins, in points.
STRIP, STRIP_BELOW, STRIP_ABOVE, STRIP_LEFT, STRIP_RIGHT = 110.0, 34.0, 20.0, 46.0, 190.0
# Length and height of the scales in the key.
SCALE, SCALE_HEIGHT = 150.0, 9.0
# Maximum number of roots with a line of their own; dashes distinguish them without colour.
ROOTS_MAX = 6
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (2, 1.2)), (0, (6, 1.5, 1, 1.5)))
DASHES += ((0, (1, 1)), (0, (8, 3)))
KNOT = "knot"
ROLES = ("root", "branch", "leaf")
COUNTS = ("branches", "depth", "hosts", "feeding", "victims")


@style.styled
def draw(
    links: pa.Table,
    nodes: pa.Table,
    roles: pa.Table,
    series: pa.Table,
    summary: Mapping[str, Any],
    *,
    title: str,
) -> Figure:
    """Return the picture of `links`, `nodes`, `tree_links` and `tree_series`."""
    fabric = network(links, nodes)
    totals = summary.get("congestion")
    if not series.num_rows or not totals or not len(fabric.ends):
        figure = style.new_figure(7, 3, title)
        style.say_nothing_to_draw(figure.subplots(), "no congestion tree was found")
        return figure
    drawn = scene(fabric)
    explained = [*key_lines(drawn, cores=False), "black core: share of samples as a leaf"]
    low, high = _fabric.extent(drawn)
    key_room = 2 * MARGIN + LINE * max(len(explained), 5)
    below = key_room + STRIP + STRIP_BELOW + STRIP_ABOVE
    said = headline(totals, series)
    figure, axes, key = _fabric.canvas(high - low, low, below, title, said)
    shares = {name: of_links(fabric, roles, f"{name}_share") for name in ROLES}
    tops = {name: style.nice_ceiling(float(shares[name].max(initial=0.0))) for name in ROLES}
    draw_channels(axes, drawn, shares, tops)
    _fabric.draw_switches(axes, drawn)
    _fabric.draw_hosts(axes, drawn)
    for label in drawn.labels:
        _fabric.draw_label(axes, label)
    draw_key(key, tops, explained)
    draw_strip(figure, series, summary)
    return figure


def headline(totals: Mapping[str, Any], series: pa.Table) -> str:
    """Return a caption with the number of trees and the largest one."""
    branches = numbers(series, "branches")
    row = int(np.argmax(branches))
    of = {name: int(numbers(series, name)[row]) for name in COUNTS}
    time_ps = numbers(series, "time_ps")[row]
    unit, unit_ps = style.unit_for(time_ps)
    parts = [
        f"{counted(of['branches'], 'branch', 'branches')} up to {of['depth']:,} deep",
        f"{counted(of['hosts'], 'host')} held",
        f"{counted(of['feeding'], 'flow')} feeding",
        counted(of["victims"], "victim"),
    ]
    return (
        f"Trees at {totals['samples_with_trees']:,} of {totals['samples']:,} samples, "
        f"{totals['trees']:,} in all. The greatest, at {number(time_ps / unit_ps)} {unit}: root "
        f"{root_name(words(series, 'root')[row])}, {', '.join(parts)}."
    )


def root_name(name: str) -> str:
    """Return the name of a root in pictures."""
    return "none (a knot of waits)" if name == KNOT else name.replace("->", "→")


def of_links(fabric: Network, roles: pa.Table, column: str) -> Floats:
    """Return a column of `tree_links` by row of the table of links; 0 for other channels."""
    ends = ("from", "from_port", "to", "to_port")
    parts = [words(roles, name) for name in ends]
    shares = numbers(roles, column).tolist()
    found = dict(zip(zip(*parts, strict=True), shares, strict=True))
    keys = [tuple(str(part) for part in channel) for channel in fabric.channels]
    return np.array([found.get(key, 0.0) for key in keys], dtype=np.float64)


def draw_channels(
    axes: Axes, drawn: Scene, shares: Mapping[str, Floats], tops: Mapping[str, float]
) -> None:
    """Draw each half in the colour of its channel's role, roots above branches above others."""
    strokes = drawn.strokes
    most = {
        name: np.array([of_rows(values, stroke.rows).max() for stroke in strokes])
        for name, values in shares.items()
    }
    is_root = (most["root"] > 0) & (most["root"] >= most["branch"])
    is_branch = (most["branch"] > 0) & ~is_root
    idle = np.flatnonzero(~is_root & ~is_branch)
    quiet = _fabric.lines(strokes, idle, "idle")
    quiet.set(color=style.IDLE, zorder=1)
    widths = np.maximum(drawn.line_widths, 1.2)
    quiet.set_linewidth(np.maximum(widths[idle] * _fabric.WIDTH_IDLE, _fabric.IDLE_MIN).tolist())
    axes.add_collection(quiet, autolim=False)
    for name, chosen, colours, zorder in (
        ("branch", is_branch, BRANCH_COLOURS, 2),
        ("root", is_root, ROOT_COLOURS, 4),
    ):
        rows = np.flatnonzero(chosen)
        rows = rows[np.argsort(most[name][rows], kind="stable")]
        wide = widths[rows] * (1.0 if name == "branch" else 1.2)
        if name == "root":
            edged = most[name][rows] >= EDGE_SHARE_MIN
            edges = _fabric.lines(strokes, rows[edged], "edges")
            edges.set(color=style.INK, zorder=3)
            edges.set_linewidth((wide[edged] + 2 * EDGE).tolist())
            axes.add_collection(edges, autolim=False)
        found = _fabric.lines(strokes, rows, name)
        found.set(color=colours(most[name][rows] / tops[name]), zorder=zorder)
        found.set_linewidth(wide.tolist())
        axes.add_collection(found, autolim=False)
    leaves = np.where(is_branch, most["leaf"], 0.0)
    axes.add_collection(_fabric.cores(strokes, leaves, widths), autolim=False)


def draw_key(axes: Axes, tops: Mapping[str, float], lines: list[str]) -> None:
    """Draw both colour scales, and the legend of marks."""
    level = axes.get_ylim()[1] - MARGIN
    limits = axes.get_xlim(), axes.get_ylim()
    left = STRIP_LEFT
    said = {"branch": "share of samples as a branch", "root": "as a root (black edges)"}
    for place, (name, colours) in enumerate((("branch", BRANCH_COLOURS), ("root", ROOT_COLOURS))):
        top = level - place * 2.6 * LINE
        axes.text(left, top, said[name], size=TEXT_SIZE, va="center")
        low, high = top - 6 - SCALE_HEIGHT, top - 6
        shades = np.linspace(0, 1, 64)[None, :]
        axes.imshow(shades, cmap=colours, extent=(left, left + SCALE, low, high))
        if name == "root":
            for edge in (low, high):
                axes.plot((left, left + SCALE), (edge, edge), color=style.INK, lw=EDGE)
        for share in (0.0, 0.5, 1.0):
            text = style.percent(share * tops[name])
            place_of = left + share * SCALE, low - 2
            axes.text(*place_of, text, size=TEXT_SIZE, ha="center", va="top")
    axes.set(xlim=limits[0], ylim=limits[1], aspect="auto")
    for line, text in enumerate(lines):
        axes.text(left + SCALE + 40, level - LINE * line, text, size=TEXT_SIZE, va="center")


def draw_strip(figure: Figure, series: pa.Table, summary: Mapping[str, Any]) -> None:
    """Draw the branches of each root over time."""
    width, height = (inches * style.POINTS_PER_INCH for inches in figure.get_size_inches())
    room = width - STRIP_LEFT - STRIP_RIGHT
    strip = figure.add_axes(
        (STRIP_LEFT / width, STRIP_BELOW / height, room / width, STRIP / height)
    )
    roots = np.asarray(words(series, "root"), dtype=object)
    times, branches = numbers(series, "time_ps"), numbers(series, "branches")
    sampled = sample_times(summary["congestion"])
    unit, unit_ps = style.unit_for(float(sampled[-1]))
    courses = {}
    for root in dict.fromkeys(roots.tolist()):
        course = np.zeros(len(sampled))
        rows = np.flatnonzero(roots == root)
        # All knots of a sample are counted as one root.
        np.add.at(course, np.searchsorted(sampled, times[rows]), branches[rows])
        courses[root] = course
    order = sorted(courses, key=lambda root: -courses[root].sum())
    shown, others = order[:ROOTS_MAX], order[ROOTS_MAX:]
    for place, root in enumerate(shown):
        looks_like = {"color": style.CLASS_COLOURS[place], "ls": DASHES[place], "lw": 1.2}
        label = style.clipped(root_name(root), 34)
        strip.plot(sampled / unit_ps, courses[root], label=label, gid=root, **looks_like)
    if others:
        most = np.max([courses[root] for root in others], axis=0)
        label = f"the greatest of {len(others):,} others"
        strip.plot(sampled / unit_ps, most, color=style.FAINT, lw=0.8, label=label, gid="others")
    strip.set_xlim(0, float(sampled[-1]) / unit_ps)
    strip.set_ylim(bottom=0)
    strip.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    strip.set_ylabel("branches", size=TEXT_SIZE + 1)
    strip.set_xlabel(f"simulated time ({unit})", size=TEXT_SIZE + 1)
    strip.tick_params(labelsize=TEXT_SIZE)
    legend = strip.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.05), fontsize=TEXT_SIZE, title="root"
    )
    legend.get_title().set_fontsize(TEXT_SIZE)


def sample_times(totals: Mapping[str, Any]) -> Floats:
    """Return the times of all samples, including those that found nothing."""
    regular = float(totals["step_ps"]) * np.arange(1, int(totals["samples"]) + 1)
    return np.asarray(np.minimum(regular, float(totals["last_ps"])))
