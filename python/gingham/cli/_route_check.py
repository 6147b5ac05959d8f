"""`gingham route check`: verification of the routes of a subnet manager."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gingham._texts import with_interval
from gingham.cli._fabric import load
from gingham.cli._options import FABRIC_FILE, SEED
from gingham.cli._output import (
    echo,
    json_option,
    print_facts,
    print_json,
    print_prose,
    print_table,
)
from gingham.cli._route_facts import of_others, print_loads, summary, warn_of_no_pairs
from gingham.cli._words import in_options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gingham.routes import Routes

DEADLOCK_EXIT = 3
FINDINGS_EXIT = 5
# Maximum number of faults, findings and pairs printed; --json has all faults and findings.
SHOWN_MAX = 10


@click.command()
@click.argument("topology", type=FABRIC_FILE)
@click.option(
    "--lfts",
    type=FABRIC_FILE,
    required=True,
    help="Forwarding tables: from dump_lfts or dump_fts, or opensm-lfts.dump or opensm.fdbs.",
)
@click.option(
    "--sl2vl",
    type=FABRIC_FILE,
    help="Lanes by service level: opensm-sl2vl.dump, from smpquery sl2vl, or opensm.conf.",
)
@click.option(
    "--sl",
    type=FABRIC_FILE,
    help="Service levels by pair: source_lid,destination_lid,sl, or from saquery -p.",
)
@click.option(
    "--samples",
    type=click.IntRange(2, 1_000_000),
    default=1000,
    show_default=True,
    help="Random matchings for the bisection.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of the matchings.")
@json_option
def check(
    topology: Path,
    lfts: Path,
    sl2vl: Path | None,
    sl: Path | None,
    samples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Check the routes of a running subnet against its TOPOLOGY, a dump of ibnetdiscover.

    Follows every pair of hosts through the tables, and finds loops, black holes and packets that
    have no lane. Proves that no packets can deadlock, lane by lane, or shows a shortest cycle.
    Tells how evenly the routes use the cables.

    The exit code is 3 if packets can deadlock, else 5 if anything was found, else 0.

    \b
    Examples:
      ibnetdiscover > net.ibnetdiscover; dump_lfts > lfts.txt
      gingham route check net.ibnetdiscover --lfts lfts.txt
      gingham route check net.ibnetdiscover --lfts opensm-lfts.dump --sl2vl opensm-sl2vl.dump \\
        --sl levels.csv
    """
    routes = load(topology).load_routes(lfts, sl2vl=sl2vl, sl=sl)
    facts = as_facts(routes, samples, seed)
    facts["advice"] = list(advice(facts, topology, levels_given=sl is not None))
    warn_of_no_pairs(facts["statistics"])
    if as_json:
        print_json({"file": str(topology), "lfts": str(lfts), **facts})
    else:
        print_check(routes, facts)
    raise click.exceptions.Exit(exit_code(facts))


def as_facts(routes: Routes, samples: int, seed: int) -> dict[str, Any]:
    """Return all facts about the routes."""
    return {
        "deadlock_free": routes.is_deadlock_free,
        "deadlock_free_between_hosts": not routes.cycle_between_hosts,
        "cycle": routes.cycle,
        "cycle_without_loops": routes.cycle_without_loops,
        "alternatives": routes.alternatives,
        "lanes": routes.lanes,
        "faults": routes.faults,
        "findings": [asdict(finding) for finding in routes.findings],
        "statistics": routes.statistics(),
        "bisection": routes.bisection(samples=samples, seed=seed),
        "sharing": routes.sharing(at_most=SHOWN_MAX),
    }


def exit_code(facts: dict[str, Any]) -> int:
    """Return 3 for a possible deadlock, 5 for faults or warnings, else 0.

    Packets that loop for ever are a fault; they are not a deadlock by themselves.
    """
    if facts["cycle_without_loops"]:
        return DEADLOCK_EXIT
    warned = any(finding["severity"] == "warning" for finding in facts["findings"])
    return FINDINGS_EXIT if facts["faults"] or warned else 0


def print_check(routes: Routes, facts: dict[str, Any]) -> None:
    """Print findings and faults, then loads, then the proof."""
    print_facts([*summary(facts["statistics"]), *more(facts)])
    print_loads(facts["statistics"])
    sharing = facts["sharing"]
    if sharing is not None:
        title = f"Pairs of hosts over {sharing['channel']} ({among(sharing)})"
        print_table(title, ["from", "to"], sharing["examples"])
    findings = facts["findings"]
    if findings:
        columns = ["file", "line", "severity", "kind", "finding"]
        rows = [[f["file"], f["line"], f["severity"], f["kind"], f["text"]] for f in findings]
        print_table(
            counted("Findings", rows),
            columns,
            rows[:SHOWN_MAX],
            numbers="line",
            prose="finding",
            heading="kind",
        )
    faults = facts["faults"]
    if faults:
        print_table(
            counted("Faults", faults),
            ["fault"],
            [[fault] for fault in faults[:SHOWN_MAX]],
            prose="fault",
        )
    echo(in_options(routes.explain()))
    for sentences in facts["advice"]:
        print_prose(sentences)


def advice(facts: dict[str, Any], topology: Path, *, levels_given: bool) -> Iterator[str]:
    """Yield the consequences of a cycle for the operator of the cluster, and remedies."""
    if not facts["cycle"]:
        return
    if not facts["cycle_without_loops"]:
        yield "only packets that go round for ever close this cycle: mend the faults above"
        return
    yield from of_others(free_between_hosts=facts["deadlock_free_between_hosts"])
    if not levels_given:
        yield (
            "no service levels were given (--sl), so that every pair is taken to send on level "
            "0: routes of dfsssp, lash, nue and torus-2QoS are safe only with theirs, and with "
            "the lanes of --sl2vl"
        )
    yield f'which engines of OpenSM are free of deadlock here: "gingham opensm compare {topology}"'


def more(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the facts that only imported routes have."""
    measured = facts["bisection"]
    if measured is not None:
        busiest, half_width = measured["busiest"], measured["busiest_half_width"]
        flows = f"{with_interval(busiest, half_width)} of {measured['pairs']:,} flows in the mean"
        yield "bisection, busiest channel", flows
        bandwidth, half_width = measured["bandwidth"], measured["bandwidth_half_width"]
        yield "effective bisection bandwidth", f"{with_interval(bandwidth, half_width)} of a link"
    if facts["alternatives"] > 1:
        yield "alternatives of a pair", f"{facts['alternatives']:,}, of which loads count the first"
    yield "lanes in use", lanes_of(facts["lanes"])


def lanes_of(lanes: list[int]) -> str:
    """Return the number of lanes, and their numbers."""
    if not lanes:
        return "none"
    noun = "lane" if len(lanes) == 1 else "lanes"
    return f"{len(lanes)}: {noun} {', '.join(map(str, lanes))}"


def among(sharing: dict[str, Any]) -> str:
    """Return the number of pairs, and how many of them are shown."""
    shown, pairs = len(sharing["examples"]), sharing["pairs"]
    return f"{pairs:,}" if shown == pairs else f"{shown:,} of {pairs:,}"


def counted(title: str, rows: list[Any]) -> str:
    """Return the title of a table that may be truncated."""
    return f"{title} ({SHOWN_MAX} of {len(rows):,})" if len(rows) > SHOWN_MAX else title
