"""Pictures of results, drawn without a display.

============  =====================================================================
picture       content
============  =====================================================================
`latency`     the latency distribution of each traffic class, and its tail
`series`      load and latency over the time of the run, by class
`links`       how evenly the channels are used, and the busiest channels
`fabric`      the fabric, each channel coloured by its load
`contention`  contention coefficients of hosts, and the share of alternative paths
`followed`    followed flows and channels, step by step
`heat`        the use of followed channels over time, one row per channel
`tree`        congestion trees over the fabric, and their growth and decay
`channels`    of a stripe: the rate of each channel over the time of the run
`rounds`      of a stripe: the paths of its first packets
`job`         units, switches and cables of a job, shared cables in colour
============  =====================================================================

`curve` draws latency against accepted load from a table of `gingham.loads.curve`; `axis` draws
both along an axis of any other sweep.

Each of the others takes a result, new or loaded from its folder, and returns a figure of
matplotlib; all read only tables and the summary. Equal results give identical pictures, byte for
byte.

>>> import gingham
>>> from gingham import examples
>>> scenario = gingham.Scenario.load(examples.path("torus"))
>>> result = gingham.run(scenario.with_({"stop.time": "100 us"}))
>>> figure = gingham.plots.fabric(result)
>>> gingham.plots.save(figure, "fabric.svg")  # doctest: +SKIP
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard, cast, get_args

from gingham._files import unknown_ending, write_bytes
from gingham.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from matplotlib.figure import Figure

    from gingham.jobs import Bound, Job
    from gingham.plots._cables import CableLike, NodeLike

__all__ = [
    "ENDINGS",
    "KINDS",
    "SWEEP_KINDS",
    "Cabled",
    "Drawable",
    "PictureKind",
    "channels",
    "contention",
    "curve",
    "draw",
]
__all__ += [
    "STRIPE_KINDS",
    "fabric",
    "followed",
    "heat",
    "latency",
    "links",
    "picture",
    "require_ending",
    "require_rows",
    "rounds",
]
__all__ += ["SweepKind", "axis", "job", "save", "series", "tree", "usual"]

PictureKind: TypeAlias = Literal[
    "latency",
    "series",
    "links",
    "fabric",
    "contention",
    "followed",
    "heat",
    "tree",
    "channels",
    "rounds",
]
# Pictures of a sweep: against accepted load if the load is varied, otherwise along another axis.
SweepKind: TypeAlias = Literal["curve", "axis"]
SWEEP_KINDS: tuple[SweepKind, ...] = get_args(SweepKind)
# Pictures of striping runs, and of fabric runs.
STRIPE_KINDS: tuple[PictureKind, ...] = ("channels", "rounds")
KINDS: tuple[PictureKind, ...] = tuple(
    kind for kind in get_args(PictureKind) if kind not in STRIPE_KINDS
)
# File formats of pictures, by extension.
ENDINGS = ("png", "svg", "pdf")

# Tables that each picture requires, and the reason if they are empty.
MAIN_TABLES: dict[PictureKind, tuple[tuple[str, ...], str]] = {
    "latency": (("histogram",), "no message was followed to its delivery"),
    "series": (("series",), "no slice of time was recorded"),
    "links": (("links",), "the fabric has no channels"),
    "fabric": (("links",), "the fabric has no cables"),
    "contention": (("contention",), "no packet chose its path by contention"),
    "followed": (("flow_series", "link_series"), "no flow or channel was followed"),
    "heat": (("link_series",), "no channel was followed (measure.follow.links)"),
    "tree": (("tree_series",), "no congestion tree was found in any sample"),
    "channels": (("pipe",), "no step of time was recorded"),
    "rounds": (("events",), "the scenario records no events (measure.events)"),
}


class Said(Protocol):
    """The part of a scenario that pictures use."""

    def resolved(self) -> Mapping[str, Any]:
        """Return all values, defaults included."""


class Drawable(Protocol):
    """The part of a result that pictures use."""

    @property
    def scenario(self) -> Said:
        """Scenario of the run."""

    @property
    def title(self) -> str:
        """Title of the picture."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """Summary of the run."""

    def table(self, name: str) -> pa.Table:
        """Return one of its tables."""


class Cabled(Protocol):
    """The part of a fabric that pictures use."""

    @property
    def devices(self) -> Sequence[NodeLike]:
        """All devices."""

    @property
    def cables(self) -> Sequence[CableLike]:
        """All cables."""


def latency(result: Drawable) -> Figure:
    """Draw the latency distribution of each class, over all messages of the window.

    One panel per class: the histogram, the mean, median and 99th percentile with their 95 %
    intervals; below it, the share of messages with a higher latency. The axis is logarithmic for
    long tails.
    """
    from gingham.plots import _latency

    tables = [result.table(name) for name in ("histogram", "percentiles", "classes")]
    return _latency.draw(*tables, title=result.title)


def series(result: Drawable) -> Figure:
    """Draw the generated and the accepted load and the mean latency of each class over time.

    The warm-up and the time after the window are shaded; bands are the means of the window with
    their 95 % intervals.
    """
    from gingham.plots import _series

    tables = result.table("series"), result.table("classes")
    return _series.draw(*tables, result.summary, title=result.title)


def links(result: Drawable) -> Figure:
    """Draw utilisation and stopped share of all channels, sorted, and name the busiest.

    Channels from hosts, between switches and to hosts have separate curves.
    """
    from gingham.plots import _links

    tables = result.table("links"), result.table("nodes")
    return _links.draw(*tables, title=result.title)


def fabric(
    shown: Drawable | Cabled,
    *,
    title: str | None = None,
    busiest: Sequence[Mapping[str, Any]] = (),
) -> Figure:
    """Draw the fabric of a result, each channel coloured by its utilisation; or a fabric alone.

    The half of a cable at a node is the channel leaving it; the length of its black core is its
    stopped share of the time. Clos networks are drawn in layers, grids as grids, rings and
    dragonflies in circles; more than 200 hosts are replaced by their number. Cables of a
    `gingham.Fabric` without a run have the colour of their speed. Above 300 switches or 500 hosts a
    fabric is folded by pod, level or group; only the ten hottest channels are coloured. For a
    fabric alone these are the channels of `busiest`, as in `Routes.statistics`.
    """
    if is_cabled(shown):
        from gingham.plots import _cables

        return _cables.draw(shown.devices, shown.cables, title=title or "Fabric", busiest=busiest)
    from gingham.plots import _fabric

    result = cast("Drawable", shown)
    tables = result.table("links"), result.table("nodes")
    return _fabric.draw(*tables, title=title or result.title)


def job(shown: Sequence[tuple[str, Job, Bound]]) -> Figure:
    """Draw units, switches and the cables that a job uses, in a panel for each node order.

    Cables with more than one flow are coloured by their number of flows. `shown` has the title, the
    job and a bound of each panel; the pattern is that of the bound.
    """
    from gingham.plots import _job

    return _job.draw(shown)


def is_cabled(shown: Drawable | Cabled) -> TypeGuard[Cabled]:
    """Whether the argument is a fabric rather than a result."""
    # Checked on the class, because the cables of a large fabric take time to compute.
    return hasattr(type(shown), "cables")


def contention(result: Drawable) -> Figure:
    """Draw the contention coefficients of the hosts over time, and the share on alternative paths.

    For runs whose packets choose between two paths by contention; dashed lines are the
    thresholds of the choice.
    """
    from gingham.plots import _contention

    chosen = by_contention(result) or {}
    thresholds = {name: chosen[name] for name in ("above", "below") if name in chosen}
    title = result.title
    table = result.table("contention")
    return _contention.draw(table, result.summary, title=title, thresholds=thresholds)


def by_contention(result: Drawable) -> Mapping[str, Any] | None:
    """Return the parameters of the choice between paths; `None` if packets have no choice."""
    alternative = result.scenario.resolved()["routing"].get("alternative") or {}
    chosen = alternative.get("choose")
    return chosen.get("by-contention") if isinstance(chosen, dict) else None


def followed(result: Drawable) -> Figure:
    """Draw the deliveries of followed flows, their limiting factors, and the use of channels.

    For runs with `measure.follow`. Thin lines are steps, thick lines means over a window of steps.
    """
    from gingham.plots import _followed

    tables = result.table("flow_series"), result.table("link_series")
    return _followed.draw(*tables, result.summary, title=result.title)


def follows(result: Drawable, *kinds: str) -> bool:
    """Return whether the scenario of a result follows anything, or any of these kinds."""
    follow = result.scenario.resolved().get("measure", {}).get("follow") or {}
    return any(follow.get(kind) for kind in kinds or ("flows", "links"))


def heat(result: Drawable) -> Figure:
    """Draw the use of followed channels over time: one row per channel, the busiest first.

    For runs with `measure.follow.links`; `["*"]` follows every channel.
    """
    from gingham.plots import _heat

    return _heat.draw(result.table("link_series"), result.summary, title=result.title)


def tree(result: Drawable) -> Figure:
    """Draw congestion trees over the fabric, and how many branches each root had over time.

    For runs with `measure.congestion`. Half a cable has the colour of its channel's most frequent
    state, by the share of samples; roots have black edges, leaves black cores.
    """
    from gingham.plots import _tree

    fabric_tables = result.table("links"), result.table("nodes")
    tree_tables = result.table("tree_links"), result.table("tree_series")
    return _tree.draw(*fabric_tables, *tree_tables, result.summary, title=result.title)


def has_tree_samples(result: Drawable) -> bool:
    """Return whether the run searched for congestion trees."""
    return bool(result.scenario.resolved().get("measure", {}).get("congestion"))


def usual(result: Drawable) -> tuple[PictureKind, ...]:
    """Return the pictures drawn by default for a result."""
    said = result.scenario.resolved()
    if "channel" in said:
        return STRIPE_KINDS if said["measure"]["events"] else STRIPE_KINDS[:1]
    has = {"contention": by_contention(result) is not None, "followed": follows(result)}
    has |= {"heat": follows(result, "links"), "tree": has_tree_samples(result)}
    return tuple(kind for kind in KINDS if has.get(kind, True))


def curve(
    table: pa.Table,
    *,
    title: str,
    note: str = "",
    beside: Mapping[str, Sequence[dict[str, Any]]] | None = None,
) -> Figure:
    """Draw latency against accepted load, one line per routing or value, with both intervals.

    Hollow points measured no steady state. `table` is that of `gingham.loads.curve`; `note` is
    printed small under the title. Lines of other simulators, as read by `gingham.loads.beside`, are
    dashed.
    """
    from gingham.plots import _curve

    return _curve.draw(table, title=title, note=note, beside=beside)


def axis(table: pa.Table, axes: Sequence[str], *, title: str) -> Figure:
    """Draw latency and accepted load of a sweep along the axis with the most numbers.

    `table` is that of `gingham.loads.curve_table`, with a column for each of `axes`. Other axes
    give a line for each combination of their values.
    """
    from gingham.plots import _axis

    return _axis.draw(table, axes, title=title)


def channels(result: Drawable) -> Figure:
    """Draw the rate of each channel of a stripe over time, the delay, and the queues.

    `result` is one of `gingham.stripe`.
    """
    from gingham.plots import _channels

    tables = result.table("pipe"), result.table("series")
    return _channels.draw(*tables, result.summary, title=result.title)


def rounds(result: Drawable) -> Figure:
    """Draw the first packets of a stripe in flight, with rounds, deficits and markers.

    `result` is one of `gingham.stripe` whose scenario records events (`measure.events`).
    """
    from gingham.plots import _rounds

    return _rounds.draw(result.table("events"), title=result.title)


def draw(kind: PictureKind, result: Drawable) -> Figure:
    """Draw the picture of this kind."""
    drawings: dict[str, Callable[[Any], Figure]] = {"latency": latency, "series": series}
    drawings |= {"links": links, "fabric": fabric}
    drawings |= {"contention": contention, "followed": followed, "heat": heat, "tree": tree}
    return {**drawings, "channels": channels, "rounds": rounds}[kind](result)


def require_rows(kind: PictureKind, result: Drawable) -> None:
    """Raise `InputError` if there is nothing to draw: the table of the picture has no rows."""
    if kind == "tree" and not has_tree_samples(result):
        raise InputError(
            "the run did not search for congestion trees\n"
            "  run the scenario again with --set 'measure.congestion.step=10 us', or another "
            "step of which its time has some hundred",
            key="measure.congestion.step",
            code="no-data",
        )
    names, why = MAIN_TABLES[kind]
    if all(result.table(name).num_rows == 0 for name in names):
        none = " and ".join(f'"{name}"' for name in names)
        says = f"the table {none} has" if len(names) == 1 else f"the tables {none} have"
        raise InputError(f"{says} no rows: {why}", key=names[0], code="no-data")


def save(figure: Figure, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a figure to a file atomically; the extension decides on the format.

    The extensions are `.png`, `.svg` and `.pdf`. An existing file is replaced only with
    `overwrite`.
    """
    ending = require_ending(Path(path))
    write_bytes(Path(path), picture(figure, ending), overwrite=overwrite)


def require_ending(path: Path) -> str:
    """Return the extension of a picture's file; raise `InputError` if it is not supported."""
    ending = path.suffix.lstrip(".").lower()
    if ending not in ENDINGS:
        says = "the ending says no format of pictures"
        raise unknown_ending(path, says, "known endings", ENDINGS)
    return ending


def picture(figure: Figure, ending: str, *, dpi: float | None = None) -> bytes:
    """Return a figure in a file format; equal figures give identical bytes.

    A `png` has 150 dots per inch unless `dpi` sets another resolution.
    """
    from gingham.plots import _file

    return _file.encoded(figure, ending, dpi)
