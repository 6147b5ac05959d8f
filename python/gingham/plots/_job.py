r"""Units, switches and cables of a job: one panel per node order.

::

    core     o    o      switches in rows by their distance from the leaves
            / \\  /       used cables are grey, those with more than one flow coloured
    spine  o   oo
    leaf  ooo  ooo       leaves of a unit are adjacent
          [ 4 ][ 3 ]     units with the number of the job's nodes in them
         unit 0 unit 1   in the order of their numbers, in all panels
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from gingham._texts import number
from gingham.errors import counted
from gingham.plots import _style as style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from gingham.jobs import Bound, Job, Limit

PANEL_HEIGHT, WIDTH = 3.2, 10.0
ROWS = ("leaf", "spine", "core")
ROW_HEIGHT = 1.0
# Colours by number of flows, from 2; larger numbers have the last colour.
FLOW_COLOURS = ("#56b4e9", "#e69f00", "#d55e00", "#8e1148")
USED, USED_WIDTH, SHARED_WIDTH = "#b4bcc4", 0.4, 1.4
UNIT_GAP = 0.6
# Heights of the boxes of units and of their numbers, below the leaves.
NODES_Y, UNIT_Y, BOX_HEIGHT = -0.45, -0.78, 0.3
LIMIT = "#000000"
# Larger shares of the bandwidth at one switch are shown as 100 %.
WHOLE_SHARE = 0.9995
# Columns of the legend.
COLUMNS = 6
# With more units, their numbers have no word before them.
UNITS_WORDED = 14
Place = tuple[float, float]


class Panel(NamedTuple):
    """One job and bound, with the channels between switches that its flows take."""

    title: str
    job: Job
    bound: Bound
    # Sender and receiver of each channel of the job and of the other jobs.
    used: list[tuple[str, str]]
    # Number of flows by channel, including those of other jobs; only channels with more than one.
    shared: dict[str, float]
    # The limiting channel, if its number of flows does not explain the loss.
    limit: Limit | None

    @classmethod
    def of(cls, title: str, job: Job, bound: Bound) -> Panel:
        """Collect the channels of a job and of the other jobs."""
        used = job.used(bound.collective)
        for other in bound.beside:
            used += other.used("ring")
        whole = bound
        if len(bound.cables) < bound.shared:
            whole = job.bound(bound.collective, beside=bound.beside, cables=bound.shared)
        shared: dict[str, float] = {}
        for cable in whole.cables:
            shared[cable.channel] = max(cable.flows, shared.get(cable.channel, 0.0))
        limit = bound.limit
        is_lost = (bound.share or 1.0) < WHOLE_SHARE
        if limit and not limit.is_slow and (limit.channel in shared or not is_lost):
            limit = None
        return cls(title, job, bound, [(a, b) for a, b, _ in used], shared, limit)

    @property
    def heading(self) -> str:
        """The title with pattern, flows, shared channels and share of the bandwidth."""
        bound = self.bound
        if not bound.flows_max:
            return f"{self.title}: {bound.pattern}, no flow between switches"
        plural = "" if bound.flows_max == 1 else "s"
        share = "" if bound.share is None else f", {bound.share:.0%} of the bandwidth at one switch"
        most = f"{number(bound.flows_max, 3)} flow{plural} on the fullest cable"
        return f"{self.title}: {bound.pattern}, {most}, {bound.shared:,} shared{share}"


@style.styled
def draw(shown: Sequence[tuple[str, Job, Bound]]) -> Figure:
    """Draw a panel for each title, job and bound; positions are equal in all panels."""
    figure = Figure(figsize=(WIDTH, PANEL_HEIGHT * len(shown)), layout="constrained")
    panels = [Panel.of(*one) for one in shown]
    counts, limits = set[int](), set[str]()
    for axes, panel in zip(
        figure.subplots(len(shown), 1, squeeze=False)[:, 0], panels, strict=True
    ):
        alike = [one for one in panels if one.job.cluster.units == panel.job.cluster.units]
        draw_panel(axes, panel, switch_places(alike))
        counts |= {max(round(flows), 2) for flows in panel.shared.values()}
        limits |= {limit_text(panel.limit)} if panel.limit else set()
    others = ", or flows of other jobs alone" if any(one.bound.beside for one in panels) else ""
    handles = [Line2D([], [], color=USED, linewidth=1, label=f"at most 1 flow{others}")]
    handles += [
        Line2D([], [], color=colour_of(count), linewidth=2, label=f"{count} flows")
        for count in sorted(counts)
    ]
    handles += [
        Line2D([], [], color=LIMIT, linewidth=2, linestyle=":", label=text)
        for text in sorted(limits)
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=min(len(handles), COLUMNS))
    return figure


def limit_text(limit: Limit) -> str:
    """Return the legend entry of the limiting channel."""
    flows = "" if limit.flows is None else f", {counted(round(limit.flows), 'flow')}"
    return f"limits: {limit.speed or 'speed unknown'}{flows}"


def draw_panel(axes: Axes, panel: Panel, places: dict[str, Place]) -> None:
    """Draw the units and cables of one order."""
    boxes(axes, panel.job, places)
    quiet = [[places[sender], places[receiver]] for sender, receiver in set(panel.used)]
    axes.add_collection(LineCollection(quiet, colors=USED, linewidths=USED_WIDTH, zorder=1))
    shared = sorted(panel.shared.items(), key=lambda one: (one[1], one[0]))
    lines = [(ends_of(channel, places), flows) for channel, flows in shared]
    axes.add_collection(
        LineCollection(
            [line for line, _ in lines],
            colors=[colour_of(round(flows)) for _, flows in lines],
            linewidths=SHARED_WIDTH,
            zorder=2,
        )
    )
    if panel.limit is not None:
        line = ends_of(panel.limit.channel, places)
        axes.plot(*zip(*line, strict=True), color=LIMIT, linestyle=":", linewidth=2, zorder=4)
    dots = list(places.values())
    axes.scatter(
        [x for x, _ in dots],
        [y for _, y in dots],
        s=5,
        color=style.NODE_EDGE,
        zorder=3,
        linewidths=0,
    )
    rows = sorted({y for _, y in dots})
    names = [ROWS[row] if row < len(ROWS) else "" for row in range(len(rows))]
    is_worded = len(unit_order([panel])) <= UNITS_WORDED
    axes.set_yticks([UNIT_Y, NODES_Y, *rows], ["" if is_worded else "unit", "nodes", *names])
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_ylim(-1.0, max(rows, default=0) + 0.25)
    axes.set_title(panel.heading)


def ends_of(channel: str, places: dict[str, Place]) -> list[Place]:
    """Return the places of the ends of a channel; an adapter is in the box below its leaf."""
    names = [end.rpartition("[")[0] for end in channel.split(" -> ")]
    known = [places[name] for name in names if name in places]
    if len(known) == 1:
        [(x, _)] = known
        known.append((x, NODES_Y + BOX_HEIGHT / 2))
    return known


def colour_of(flows: int) -> str:
    """Return the colour of a number of flows, from two."""
    return FLOW_COLOURS[min(max(flows, 2) - 2, len(FLOW_COLOURS) - 1)]


def switch_places(panels: Sequence[Panel]) -> dict[str, Place]:
    """Return the position of each switch: leaves by unit, others above the mean of those below."""
    places: dict[str, Place] = {}
    x = 0.0
    units = panels[0].job.cluster.units
    for unit in unit_order(panels):
        for leaf in units[unit].leaves:
            places[leaf] = (x, 0.0)
            x += 1.0
        x += UNIT_GAP
    neighbours: dict[str, set[str]] = {}
    for sender, receiver in (ends for panel in panels for ends in panel.used):
        neighbours.setdefault(sender, set()).add(receiver)
        neighbours.setdefault(receiver, set()).add(sender)
    row, height = set(places), 0.0
    width = max(x - UNIT_GAP - 1.0, 1.0)
    while above := sorted(
        {other for switch in row for other in neighbours.get(switch, ())} - places.keys(),
        key=lambda switch: (round(mean_x(switch, neighbours, places), 6), by_number(switch)),
    ):
        height += ROW_HEIGHT
        step = width / max(len(above) - 1, 1)
        for position, switch in enumerate(above):
            x = step * position if len(above) > 1 else width / 2
            places[switch] = (x, height)
        row = set(above)
    return places


def by_number(name: str) -> list[tuple[str, int]]:
    """Return a sort key that orders names by the numbers in them.

    >>> sorted(["s10", "s9"], key=by_number)
    ['s9', 's10']
    """
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name)]


def mean_x(switch: str, neighbours: dict[str, set[str]], places: dict[str, Place]) -> float:
    """Return the mean position of a switch's already placed neighbours."""
    xs = [places[other][0] for other in neighbours[switch] if other in places]
    return sum(xs) / len(xs)


def unit_order(panels: Sequence[Panel]) -> list[int]:
    """Return the units of the job and of the other jobs, by number."""
    jobs = [job for panel in panels for job in (panel.job, *panel.bound.beside)]
    units = {job.cluster.node(name).unit for job in jobs for name in job.nodes}
    return sorted(unit for unit in units if unit is not None)


def boxes(axes: Axes, job: Job, places: dict[str, Place]) -> None:
    """Draw a box with the number of nodes below the leaves of each unit, and the unit's number."""
    counts = Counter(job.cluster.node(name).unit for name in job.nodes)
    drawn = [
        (number, unit) for number, unit in enumerate(job.cluster.units) if unit.leaves[0] in places
    ]
    word = "unit " if len(drawn) <= UNITS_WORDED else ""
    for number_of, unit in drawn:
        xs = [places[leaf][0] for leaf in unit.leaves]
        low, high = min(xs) - 0.4, max(xs) + 0.4
        axes.add_patch(
            Rectangle(
                (low, NODES_Y - BOX_HEIGHT / 2),
                high - low,
                BOX_HEIGHT,
                facecolor=style.GROUND,
                edgecolor=style.NODE_EDGE,
                lw=0.5,
            )
        )
        middle = (low + high) / 2
        count = str(counts[number_of])
        axes.text(middle, NODES_Y, count, ha="center", va="center", size=7)
        axes.text(middle, UNIT_Y, f"{word}{number_of}", ha="center", va="center", size=6)
