"""Facts about routes as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.cli._output import echo, print_facts, print_prose, print_table, warn
from gingham.cli._words import in_options
from gingham.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gingham.fabric import Fabric
    from gingham.routes import Routes


# Only one output leaves no choice.
CHOICE_MIN = 2
# Maximum number of switches named: roots, and switches without hosts.
NAMED_MAX = 5


def summary(statistics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a summary of all paths."""
    unreachable = statistics["unreachable_pairs"]
    apart = f", {unreachable:,} without a route" if unreachable else ""
    yield "pairs of hosts", f"{statistics['host_pairs']:,}{apart}"
    if statistics["mean_switches"] is None:
        return
    mean, most = statistics["mean_switches"], statistics["max_switches"]
    yield "switches on a path", f"{mean:.3f} in the mean, {most:,} at most"
    yield "channels between them", f"{statistics['mean_distance']:.3f} in the mean"
    yield "shortest possible", f"{statistics['minimal_share']:.1%} of the paths"
    if statistics["longest_detour"]:
        yield "longest detour", detour(statistics["longest_detour"])
    if statistics["hostless_switches"]:
        pairs = statistics["detour_pairs"]
        yield (
            "no host to turn at",
            f"{first_of(statistics['hostless_switches'])}, for {pairs:,} pairs",
        )
    if statistics["max_in_transit_hosts"]:
        mean, most = statistics["mean_in_transit_hosts"], statistics["max_in_transit_hosts"]
        yield "in-transit hosts on a path", f"{mean:.3f} in the mean, {most:,} at most"
    if statistics["mean_channel_paths"] is not None:
        mean, most = statistics["mean_channel_paths"], statistics["max_channel_paths"]
        yield "paths over a channel", f"{mean:,.1f} in the mean, {most:,} at most"
    bound = statistics["all_to_all"]
    if bound is not None:
        rate = f" of {bound['rate']}" if bound["rate"] else ""
        yield "bound on all-to-all load", f"{bound['load']:.3f}{rate}, by {bound['bottleneck']}"
        if bound["assumed_cables"]:
            unknown = counted(bound["assumed_cables"], "cable")
            yield "unknown speeds", f"{unknown}, counted as {bound['assumed_speed']} in this bound"


def reference_of(fabric: Fabric, rates: Iterable[str | None]) -> Iterator[str]:
    """Yield the reference rate of bounds, if the links of hosts differ."""
    hosts = {node.name for node in fabric.devices if node.kind == "host"}
    speeds = {
        cable.speed for cable in fabric.cables if any(name in hosts for name, _ in cable.ends)
    }
    slowest = next(filter(None, rates), None)
    if slowest and len(speeds) > 1:
        yield f"bound: shares of {slowest}, the slowest link of a host; the links of hosts differ"


def warn_of_no_pairs(statistics: dict[str, Any]) -> None:
    """Warn that nothing was proved if the fabric has fewer than two hosts."""
    if not statistics["host_pairs"]:
        warn(
            "the fabric has no two hosts, so that no routes are proved; "
            "take the dump where `ibnetdiscover` sees the hosts"
        )


def adaptive(routes: Routes) -> Iterator[tuple[str, str]]:
    """Yield the choices of packets, if routing is adaptive."""
    found = routes.adaptive
    if found is None:
        return
    mean, most = found["mean_outputs"], found["max_outputs"]
    never = ", so that no packet ever chooses" if most < CHOICE_MIN else ""
    in_mean = "" if mean is None else f"{mean:.3f} in the mean, "
    yield "outputs to choose among", f"{in_mean}{most:,} at most{never}"
    for kind in ("escape", "adaptive"):
        numbers = ", ".join(map(str, found[f"{kind}_lanes"]))
        yield f"{kind} lanes", numbers or "none"
    yield "lengths and loads", "those of the algorithm's paths, from which packets may depart"


def lanes(routes: Routes) -> Iterator[tuple[str, str]]:
    """Yield the lanes of packets, if there are several."""
    if len(routes.lanes) > 1 and routes.adaptive is None:
        upper = "from the datelines on"
        if routes.dateline_rule == "by-wrap":
            upper = "in dimensions whose dateline a packet crosses"
        layered = f"; the upper half {upper}" if routes.dateline_classes > 1 else ""
        yield "lanes between switches", ", ".join(map(str, routes.lanes)) + layered


def roots(routes: Routes) -> Iterator[tuple[str, str]]:
    """Yield the roots that define "up", if routes have roots."""
    switches = routes.roots
    if switches:
        yield "root" if len(switches) == 1 else f"{len(switches)} roots", first_of(switches)


def first_of(switches: Sequence[str]) -> str:
    """Return the names of switches, abbreviated if there are many."""
    return ", ".join(switches[:NAMED_MAX]) + (", ..." if len(switches) > NAMED_MAX else "")


def detour(longest: dict[str, Any]) -> str:
    """Return a path that is longer than minimal, as text."""
    more, ends = longest["distance"] - longest["least"], f"{longest['from']} to {longest['to']}"
    return f"{counted(more, 'channel')} more than needed, from {ends}"


def print_loads(statistics: dict[str, Any]) -> None:
    """Print lengths of paths and the busiest channels, if there are paths."""
    if not statistics["host_pairs"]:
        return
    rows = by_number(statistics["pairs_by_switches"])
    print_table("Path lengths", ["switches", "pairs"], rows, numbers="switches pairs")
    if statistics["max_in_transit_hosts"]:
        rows = by_number(statistics["pairs_by_in_transit_hosts"])
        columns = ["in-transit hosts", "pairs"]
        print_table("In-transit hosts", columns, rows, numbers=columns)
        rows = busiest(statistics["busiest_in_transit_hosts"], "host")
        print_table("Busiest in-transit hosts", ["host", "paths"], rows, numbers="paths")
    if rows := busiest(statistics["busiest"], "channel"):
        print_table("Busiest channels", ["channel", "paths"], rows, numbers="paths")


def by_number(pairs: Sequence[int]) -> list[tuple[str, str]]:
    """Return a row for each number of switches or hosts on paths, with the number of pairs."""
    return [(f"{number:,}", f"{count:,}") for number, count in enumerate(pairs) if count]


def busiest(most: Sequence[dict[str, Any]], what: str) -> list[tuple[str, str]]:
    """Return a row for each of the most used channels or nodes."""
    return [(one[what], f"{one['paths']:,}") for one in most]


def of_others(*, free_between_hosts: bool) -> Iterator[str]:
    """Yield a remark if only packets between nodes other than hosts close a cycle."""
    if free_between_hosts:
        yield (
            "between hosts alone the routes are free of deadlock; packets of aggregation nodes "
            "or routers close this cycle"
        )


def advice(routes: Routes) -> Iterator[str]:
    """Yield the consequences of a cycle, and remedies for adaptive routing."""
    if routes.is_deadlock_free:
        return
    if not routes.cycle_between_hosts:
        yield from of_others(free_between_hosts=True)
        return
    found = routes.adaptive
    if found and not found["escape_lanes"]:
        yield (
            "packets that choose need escape lanes but in trees: on a mesh or torus say "
            "--algorithm dimension-order, which has them, or leave --adaptive out"
        )
    elif found:
        yield (
            "the paths of the escape lanes close this cycle: say --algorithm dimension-order on a "
            "mesh or torus, or leave --adaptive out"
        )


def print_routes(routes: Routes, facts: dict[str, Any]) -> None:
    """Print lengths, loads and the proof."""
    statistics = facts["statistics"]
    print_facts([*roots(routes), *summary(statistics), *lanes(routes), *adaptive(routes)])
    print_loads(statistics)
    echo(in_options(routes.explain()))
    for sentences in facts["advice"]:
        print_prose(sentences)
