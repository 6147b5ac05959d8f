"""HTML views of fabrics, routes, scenarios, results and sweeps in notebooks.

::

    ┌ title ─────────────────────┐
    │ verdict, in a sentence     │    facts: name and value
    │ facts      picture         │    table: a row per class, key or point
    │ table                      │
    └────────────────────────────┘

All text is escaped, because names of nodes and keys come from untrusted files.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

from gingham._texts import (
    half_width_of,
    percent,
    plain_number,
    time_text,
    time_with_interval,
    with_interval,
)
from gingham.errors import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from gingham.cluster import Cluster
    from gingham.fabric import Fabric
    from gingham.jobs import Bound
    from gingham.result import AnyResult
    from gingham.results import Results
    from gingham.routes import Routes
    from gingham.scenario import AnyScenario

# Node counts above which a fabric is not drawn by default, and its distances are not computed.
DRAWN_MAX, MEASURED_MAX = 1000, 20_000
# Rows of a table that are shown.
ROWS_MAX = 12
# Channels of a cycle that are named.
CYCLE_MAX = 6
# Nodes or pairs that a row names.
NAMES_MAX = 4
PICTURE_WIDTH = 560
# Resolution of inline pictures, low to keep notebooks small.
DPI = 100
PLURALS = {"switch": "switches", "aggregation": "aggregation nodes"}
# Columns of runs shown beside the mean of another column.
BESIDE = {"latency_mean_ns": ("latency_p99_ns",)}
# Columns of classes, channels and sources that are shown, with their headings.
PART_COLUMNS = {
    "offered_load": "offered",
    "accepted_load": "accepted",
    "rate_bits_per_s": "rate (Mbit/s)",
    "goodput_bits_per_s": "goodput (Mbit/s)",
    "packets_sent": "sent",
    "packets_delivered": "delivered",
    "packets_lost": "lost",
    "utilisation": "utilisation",
    "latency_mean_ns": "mean latency",
    "latency_p99_ns": "p99",
    "delay_mean_ns": "mean delay",
    "delay_p99_ns": "p99 delay",
    "verdict": "verdict",
}


def card(title: str, *parts: str) -> str:
    """Return a title followed by its parts."""
    body = "".join(part for part in parts if part)
    return f'<div class="gingham"><strong>{escape(title)}</strong>{body}</div>'


def sentence(text: str) -> str:
    """Return a paragraph; nothing for no text."""
    return f'<p style="margin:0.2em 0">{escape(text)}</p>' if text else ""


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return names and values as a two-column table."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in pairs
    )
    return f"<table>{rows}</table>"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return the first rows of a table, and the number of those omitted."""
    if not rows:
        return ""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{escape(shown(cell))}</td>' for cell in row)
        + "</tr>"
        for row in rows[:ROWS_MAX]
    )
    more = len(rows) - ROWS_MAX
    below = sentence(f"and {counted(more, 'more row')}") if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def shown(value: object) -> str:
    """Return a value as the text of a cell."""
    if value is None:
        return "-"
    return plain_number(value) if isinstance(value, float) else str(value)


def image(data: bytes, what: str) -> str:
    """Return a picture as an inline image."""
    encoded = b64encode(data).decode()
    return (
        f'<img alt="{escape(what)}" style="max-width:{PICTURE_WIDTH}px" '
        f'src="data:image/png;base64,{encoded}">'
    )


def drawn(figure: Figure, what: str) -> str:
    """Return a figure as an inline image."""
    from gingham import plots

    return image(plots.picture(figure, "png", dpi=DPI), what)


def of_fabric(fabric: Fabric) -> str:
    """Return counts, speeds, distances, and a picture unless the fabric is too large."""
    from gingham import plots

    nodes = fabric.devices
    kinds: dict[str, int] = {}
    for node in nodes:
        kinds[node.kind] = kinds.get(node.kind, 0) + 1
    title = ", ".join(counted(count, kind, PLURALS.get(kind, "")) for kind, count in kinds.items())
    found = [one for one in fabric.findings if one.severity == "warning"]
    verdict = f"{counted(len(found), 'warning')} in its file; check() lists them" if found else ""
    if len(nodes) > MEASURED_MAX:
        return card(f"Fabric: {title}", sentence(verdict), sentence("info() measures distances."))
    picture = (
        drawn(plots.fabric(fabric, title="Fabric"), "the fabric")
        if len(nodes) <= DRAWN_MAX
        else sentence("Large: gingham.plots.fabric(fabric) draws it.")
    )
    return card(f"Fabric: {title}", sentence(verdict), facts(fabric_facts(fabric.info())), picture)


def fabric_facts(info: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the counts of cables, their speeds, and distances."""
    yield "cables", f"{info['cables']:,}, {info['trunk_cables']:,} between switches"
    speeds = [f"{count:,} x {speed}" for speed, count in info["cables_by_speed"].items()]
    yield "speeds", ", ".join(speeds)
    yield "connected parts", f"{info['parts']:,}"
    if info["switch_diameter"] is not None:
        yield "largest distance", f"{counted(info['switch_diameter'], 'channel')} between switches"
    if info["mean_switches_passed"] is not None:
        yield "mean path", f"{info['mean_switches_passed']:.3f} switches between two hosts"


def of_cluster(cluster: Cluster) -> str:
    """Return counts of nodes, rails and units, and a row for each unit."""
    rows = [
        (number, len(unit.leaves), len(unit.nodes), ", ".join(unit.nodes[:NAMES_MAX]))
        for number, unit in enumerate(cluster.units)
    ]
    return card(
        f"Cluster: {cluster.sentence()}", table(["unit", "leaves", "nodes", "first nodes"], rows)
    )


def of_bound(bound: Bound) -> str:
    """Return the bandwidth bound of a collective, and the cables that its flows share."""
    bandwidths = [
        ("bus bandwidth", bound.bus_bandwidth),
        ("at one switch", bound.at_one_switch),
    ]
    rows = [
        (
            cable.channel,
            cable.flows,
            ", ".join(f"{sender} to {receiver}" for sender, receiver, _ in cable.pairs[:NAMES_MAX]),
        )
        for cable in bound.cables
    ]
    return card(
        f"Bound: {bound.pattern}",
        facts(
            [
                ("flows on the fullest cable", plain_number(bound.flows_max)),
                ("shared cables", f"{bound.shared:,}"),
                *((name, plain_number(value)) for name, value in bandwidths if value),
            ]
        ),
        table(["cable", "flows", "pairs"], rows),
    )


def of_routes(routes: Routes) -> str:
    """Return deadlock freedom, faults, lengths and balance of routes."""
    from gingham.plots import _small

    statistics, cycle = routes.statistics(), routes.cycle
    verdict = "Free of deadlock." if not cycle else cycle_text(cycle)
    strays = routes.faults
    stray = f"{counted(len(strays), 'way')} in which packets stray; faults lists them."
    rows = [(one["channel"], one["paths"]) for one in statistics["busiest"]]
    heights = statistics["pairs_by_distance"]
    picture = (
        drawn(_small.bars(heights, across="channels between switches", up="pairs"), "lengths")
        if any(heights)
        else ""
    )
    return card(
        f"Routes ({routes.form}): {counted(statistics['host_pairs'], 'pair')} of hosts",
        sentence(verdict),
        sentence(stray if strays else ""),
        facts(route_facts(statistics)),
        picture,
        table(["busiest channels", "routes"], rows),
    )


def cycle_text(cycle: Sequence[str]) -> str:
    """Return the channels that wait for one another, as text."""
    named = "; ".join(cycle[:CYCLE_MAX])
    more = f"; and {len(cycle) - CYCLE_MAX:,} more" if len(cycle) > CYCLE_MAX else ""
    return f"Can deadlock, by a cycle of {counted(len(cycle), 'channel')}: {named}{more}."


def route_facts(statistics: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield lengths, shares and the bound on traffic."""
    if unreachable := statistics["unreachable_pairs"]:
        yield "without a route", counted(unreachable, "pair")
    if statistics["mean_distance"] is not None:
        longest = statistics["max_distance"]
        yield (
            "path",
            f"{statistics['mean_distance']:.3f} channels between switches, at most {longest}",
        )
        yield "minimal", percent(statistics["minimal_share"])
    if bound := statistics["all_to_all"]:
        yield "all to all", f"at most {bound['load']:.3f} of each host's link"


def of_scenario(scenario: AnyScenario) -> str:
    """Return the values of a scenario, one row per key, without unset keys."""
    rows = list(flat(scenario.resolved()))
    count = counted(len(rows), "key")
    return card(f"{type(scenario).__name__}: {scenario.title}", sentence(count), folded(rows))


def flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and value of each key that is set."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from flat(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        for place, inner in enumerate(value):
            yield from flat(inner, f"{path}.{place}")
    elif value not in (None, {}, []):
        yield path, str(value)


def folded(rows: Sequence[tuple[str, str]]) -> str:
    """Return the first rows, and the others in a collapsed section."""
    first, rest = facts(rows[:ROWS_MAX]), rows[ROWS_MAX:]
    if not rest:
        return first
    label = f"{counted(len(rest), 'more key')}"
    return f"{first}<details><summary>{label}</summary>{facts(rest)}</details>"


def of_result(result: AnyResult, parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return verdict, one row per class or other part, notes, and the picture of a run."""
    summary = result.summary
    verdict = f"{result.verdict}: {summary['verdict_reason']}"
    end_ns = summary["end_ns"] if "end_ns" in summary else summary["end_ps"] / 1e3
    times = f"{time_text(end_ns)} simulated in {result.wall_seconds:.1f} s"
    tables = [part_table(name, rows) for name, rows in parts.items()]
    notes = [sentence(note) for note in result.notes]
    pictures = [image(draw(), name) for name, draw in result.pictures.items()]
    return card(result.title, sentence(verdict), sentence(times), *tables, *notes, *pictures)


def part_table(name: str, parts: Sequence[Mapping[str, Any]]) -> str:
    """Return a table with one row per class, source or channel."""
    known = [{**with_p99(one), **one} for one in parts]
    there = [key for key in PART_COLUMNS if known and known[0].get(key) is not None]
    rows = [(one["name"], *(part_cell(one, key) for key in there)) for one in known]
    return table([name, *(PART_COLUMNS[key] for key in there)], rows)


def with_p99(part: Mapping[str, Any]) -> dict[str, float]:
    """Return the 99th percentile of a part as a column, if it was measured.

    >>> with_p99({"percentiles": [{"percentile": 99.0, "latency_ns": 7.0}]})
    {'latency_p99_ns': 7.0}
    """
    rows = [row for row in part.get("percentiles", []) if row["percentile"] == 99.0]  # noqa: PLR2004
    names = [(row, name) for row in rows for name in ("latency", "delay") if f"{name}_ns" in row]
    return {f"{name}_p99_ns": row[f"{name}_ns"] for row, name in names}


def part_cell(part: Mapping[str, Any], key: str) -> str:
    """Return a number of a part, with its interval if there is one."""
    value, half = part[key], part.get(half_width_of(key))
    if value is None or isinstance(value, str):
        return shown(value)
    if key.endswith("_p99_ns"):
        return time_text(value)
    if key.endswith("_ns"):
        return time_with_interval(value, half)
    if key.endswith("_bits_per_s"):
        value, half = value / 1e6, None if half is None else half / 1e6
    return shown(value) if half is None else with_interval(value, half)


def of_results(results: Results, mean: str) -> str:
    """Return the outcomes of the runs of a sweep, and the means of a column by the axes."""
    counts = results.query(
        "select verdict, count(*) as runs from runs group by verdict order by runs desc"
    ).to_pylist()
    told = ", ".join(f"{one['runs']:,} {one['verdict']}" for one in counts)
    title = f"Sweep: {results.title}"
    if not counts:
        return card(title, sentence("No run is finished yet."))
    columns = [name for name in (mean, *BESIDE.get(mean, ())) if name in results.columns["runs"]]
    left_out = set(results.without_latency()) if mean in BESIDE else set()
    found = {name: means_of(results, name) for name in columns}
    rows = [
        (*point, *(mean_cell(found[name], point, left_out) for name in columns))
        for point in found[mean]
    ]
    means = [one for point, one in found[mean].items() if point not in left_out]
    runs = counted(sum(one["runs"] for one in counts), "run")
    below = f"Means of {' and '.join(columns)}, with 95 % intervals over replications."
    without = (
        f"{counted(len(left_out), 'point')} without latency: a replication is saturated, "
        "deadlocked or censored."
    )
    return card(
        title,
        sentence(f"{runs}: {told}."),
        table([*results.axes, *columns], rows),
        sentence(below if rows else ""),
        sentence(without if left_out else ""),
        means_picture(results.axes, means, mean),
    )


def means_of(results: Results, column: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the mean of a column by point."""
    rows = results.means(column).to_pylist()
    return {tuple(one[axis] for axis in results.axes): one for one in rows}


def mean_cell(
    means: Mapping[tuple[Any, ...], Mapping[str, Any]],
    point: tuple[Any, ...],
    left_out: Container[tuple[Any, ...]],
) -> str:
    """Return the mean of a point with its interval, unless it is left out or unknown."""
    if point in left_out or point not in means:
        return "-"
    return with_interval(means[point]["mean"], means[point]["half_width"])


def means_picture(axes: Sequence[str], means: Sequence[Mapping[str, Any]], of: str) -> str:
    """Return a plot of means against the last numeric axis, one line per value of the others."""
    from gingham.plots import _small

    numeric = [axis for axis in axes if means and all(is_number(one[axis]) for one in means)]
    if not numeric:
        return ""
    across, lines = numeric[-1], dict[str, list[tuple[float, float, float]]]()
    for one in means:
        others = ", ".join(f"{axis} = {one[axis]}" for axis in axes if axis != across)
        point = float(one[across]), one["mean"], one["half_width"] or 0.0
        lines.setdefault(others, []).append(point)
    return drawn(_small.courses(lines, across=across, up=of), f"{of} against {across}")


def is_number(value: object) -> bool:
    """Whether a value is a number other than a Boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)
