"""`gingham fabric`: describe, check, draw, make and convert fabrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gingham._files import require_place
from gingham._texts import number
from gingham.cli import _slurm
from gingham.cli._algorithms import AlgorithmChoice, names
from gingham.cli._findings import Row, grouped
from gingham.cli._make import group as make_group
from gingham.cli._mistaken import refuse_mistaken
from gingham.cli._options import FABRIC_FILE, force_option, format_option, output_option
from gingham.cli._output import echo, json_option, print_facts, print_json, print_table, warn
from gingham.cluster import Cluster, rails_by_adapter, sentence
from gingham.fabric import Fabric, Finding, format_of
from gingham.ranking import ranked as by_consequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FINDINGS_EXIT = 5
# Maximum number of printed rows of each kind of finding.
SHOWN_MAX = 100
FINDING_FIELDS = tuple(field.name for field in fields(Finding))
# Maximum number of trees printed, for a fabric in several parts.
TREES_MAX = 3
# By number of levels, the top one first; levels of larger trees are counted from the top.
LEVEL_NAMES = {1: ["leaf"], 2: ["spine", "leaf"], 3: ["core", "spine", "leaf"]}
PLURALS = {
    "switch": "switches",
    "host": "hosts",
    "aggregation": "aggregation nodes",
    "router": "routers",
}


@click.group()
def fabric() -> None:
    """Describe, check, draw, make and convert fabrics.

    \b
    A fabric is read from, and written to:
      .ibnetdiscover  what ibnetdiscover prints of a real cluster
      .ibsim          the same, as the simulator ibsim loads it
      .toml           our own format, complete and short to write by hand
      .anynet         the network file of BookSim
      .lst            the list of links of OpenSM and ibdiagnet (read only)
      .csv            edges, with the columns source and target (read only)
      .graphml        a graph of NetworkX, Gephi or yEd (read only)
      .dot            a drawing for Graphviz (written only)
      .conf           Slurm's topology.conf (written only)
      .yaml           Slurm's topology.yaml (written only)

    The content of a file decides its format, and the extension decides if the content is
    ambiguous. A file may be compressed: .ibnetdiscover.gz, .ibnetdiscover.xz.
    """


@fabric.command()
@click.argument("file", type=FABRIC_FILE)
@json_option
def info(file: Path, as_json: bool) -> None:
    """Show counts, speeds and distances of the fabric in FILE, and the levels of a tree.

    Oversubscription of a switch is the rate of its hosts and cables from below over that of its
    uplinks, or the ratio of their numbers if the speed of one is unknown.

    \b
    Example:
      ibnetdiscover > cluster.ibnetdiscover
      gingham fabric info cluster.ibnetdiscover
    """
    loaded = load(file)
    facts, cluster = loaded.info(), loaded.cluster()
    if as_json:
        facts["cluster"]["rail_adapters"] = list(cluster.rail_adapters)
        print_json({"file": str(file), **facts})
    else:
        print_facts(facts_of(facts, cluster))


@fabric.command()
@click.argument("file", type=FABRIC_FILE)
@click.option(
    "--slurm",
    "slurm_file",
    type=click.Path(path_type=Path),
    help="Compare Slurm's topology.conf or topology.yaml, or the output of `scontrol show "
    "topology`, with the fabric instead.",
)
@click.option(
    "--ranked", is_flag=True, help="One list by consequence: the finding to act on first is first."
)
@json_option
def check(file: Path, slurm_file: Path | None, ranked: bool, as_json: bool) -> None:
    """List what is wrong with the fabric in FILE, or with the file.

    Exits with 5 if there is a warning; a note is not a fault. Four or more findings that differ
    only in names are printed as one row; --json lists all.

    \b
    Example:
      gingham fabric check cluster.ibnetdiscover || echo "call the cabling team"
      gingham fabric check cluster.ibnetdiscover --ranked
      gingham fabric check cluster.ibnetdiscover --slurm /etc/slurm/topology.conf
    """
    refuse_mistaken(file, "network")
    if slurm_file is not None:
        check_slurm(file, slurm_file, as_json=as_json)
        return
    findings = Fabric.load(file).check()
    if ranked:
        print_ranked(file, findings, as_json=as_json)
    elif as_json:
        print_json({"file": str(file), "findings": [as_dict(finding) for finding in findings]})
    else:
        print_findings(file, findings)
    if any(finding.severity == "warning" for finding in findings):
        raise click.exceptions.Exit(FINDINGS_EXIT)


def check_slurm(file: Path, slurm_file: Path, *, as_json: bool) -> None:
    """Compare a topology file of Slurm with the fabric."""
    comparison = _slurm.compared(load(file), slurm_file)
    findings = comparison.findings
    if as_json:
        print_json({"file": str(file), **_slurm.facts_of(comparison, as_dict)})
    else:
        print_findings(slurm_file, findings)
    if not comparison.is_right:
        raise click.exceptions.Exit(FINDINGS_EXIT)


fabric.add_command(make_group())


@fabric.command()
@click.argument("file", type=FABRIC_FILE)
@output_option(required=True)
@format_option
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    help="Leave out a switch or host by name or GUID, or a cable by an end such as 's3[7]', as if "
    "it had failed; may be given several times.",
)
@click.option(
    "--form",
    type=click.Choice(["tree", "block"]),
    help="Topology plug-in of Slurm: by default tree in topology.conf, and both in topology.yaml.",
)
@click.option(
    "--also",
    multiple=True,
    type=FABRIC_FILE,
    help="Further fabric for the same topology.yaml, such as that of the storage; may be given "
    "several times.",
)
@force_option
@json_option
def convert(
    file: Path,
    output: Path,
    format_name: str | None,
    without: tuple[str, ...],
    form: Literal["tree", "block"] | None,
    also: tuple[Path, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write the fabric in FILE in another format, or without what failed.

    \b
    Examples:
      gingham fabric convert cluster.ibnetdiscover -o cluster.toml
      gingham fabric convert cluster.ibnetdiscover -o cluster.dot
      gingham fabric convert cluster.ibnetdiscover -o topology.conf
      gingham fabric convert cluster.ibnetdiscover -o topology.conf --form block
      gingham fabric convert compute.ibnetdiscover --also storage.ibnetdiscover -o topology.yaml
      gingham fabric convert cluster.ibnetdiscover -o failed.ibnetdiscover --without spine3
    """
    loaded = load(file)
    kept = loaded.without(*without) if without else loaded
    format_name = _slurm.format_of_form(format_name or format_of(output), form, also)
    if form or also:
        fabrics = {file: kept, **{one: load(one) for one in also}}
        notes = _slurm.save(fabrics, output, format_name, form, overwrite=force)
    else:
        notes = kept.save(output, format=format_name, overwrite=force)
    for note in notes:
        warn(note)
    if as_json:
        print_json({"file": str(output), "left_out": notes})


@fabric.command()
@click.argument("file", type=FABRIC_FILE)
@output_option(help="File of the picture: .png, .svg or .pdf.  [default: NAME.png]")
@click.option(
    "--algorithm",
    type=AlgorithmChoice(names()),
    help="Colour the ten channels between switches that most paths of this algorithm take.",
)
@force_option
@json_option
def plot(
    file: Path, output: Path | None, algorithm: str | None, force: bool, as_json: bool
) -> None:
    """Draw the fabric in FILE: switches, hosts and cables, before anything runs on it.

    Cables have the colour of their speed. Clos networks stand in layers, grids as grids, rings and
    dragonflies in circles. Beyond 300 switches or 500 hosts, trees fold into their pods and levels
    and dragonflies into their groups. No side has more than 3,000 pixels. `gingham plot` draws the
    same fabric with the loads of a run.

    \b
    Examples:
      gingham fabric plot cluster.ibnetdiscover
      gingham fabric plot cluster.ibnetdiscover -o cluster.svg
      gingham fabric plot cluster.ibnetdiscover --algorithm up-down
    """
    from gingham import plots

    target = output or Path(f"{file.name.partition('.')[0]}.png")
    plots.require_ending(target)
    require_place(target, overwrite=force)
    loaded = load(file)
    title, busiest = file.name, []
    if algorithm:
        busiest = loaded.route(algorithm).statistics()["busiest"]
        title += f": channels that most paths of {algorithm} take"
    figure = plots.fabric(loaded, title=title, busiest=busiest)
    plots.save(figure, target, overwrite=force)
    if as_json:
        print_json({"file": str(file), "picture": str(target)})
    else:
        echo(f"written: {target}")


def load(file: Path) -> Fabric:
    """Load a fabric, and warn if its file has findings."""
    refuse_mistaken(file, "network")
    loaded = Fabric.load(file)
    warnings = sum(finding.severity == "warning" for finding in loaded.findings)
    if warnings:
        plural = "" if warnings == 1 else "s"
        warn(f'{file}: {warnings:,} warning{plural}; "gingham fabric check {file}" lists them')
    return loaded


def facts_of(facts: dict[str, Any], cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Return counts, speeds and distances as text."""
    ports = facts["ports"]
    for kind, count in facts["nodes"].items():
        if count:
            used, free = ports[kind]["used"], ports[kind]["free"]
            yield PLURALS[kind], f"{count:,}, with {used:,} ports in use and {free:,} free"
    if facts["nodes"]["host"]:
        yield "nodes", sentence(facts["cluster"])
    if mapping := rails_by_adapter(cluster, range(len(cluster.rails))):
        yield "adapters", mapping
    yield "ports of switches", listed(facts["switches_by_ports"], " ports")
    yield "cables", f"{facts['cables']:,}, of these {facts['trunk_cables']:,} between switches"
    yield "speeds", listed(facts["cables_by_speed"])
    unknown = facts["cables_of_unknown_speed"]
    if unknown > 0 and facts["cables_by_speed"].keys() != {"unknown"}:
        yield "unknown speeds", f"{unknown:,} of {facts['cables']:,} cables"
    pairs = facts["parallel_pairs"]
    if pairs:
        yield "parallel cables", f"{facts['parallel_cables']:,} between {pairs:,} pairs of switches"
    if facts["hosts_per_leaf"]:
        fewest, most = facts["hosts_per_leaf"]
        yield "hosts a leaf", f"{fewest}" if fewest == most else f"{fewest} to {most}"
    yield from trees(facts)
    yield "connected parts", f"{facts['parts']:,}"
    if facts["switch_diameter"] is not None:
        yield "largest distance", f"{facts['switch_diameter']:,} channels, between two switches"
    passed = facts["mean_switches_passed"]
    if passed is not None:
        mean = f"{passed - 1:.3f} channels, or {passed:.3f} switches on a path"
        yield "mean distance", f"{mean}, between two hosts"


def trees(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return levels and oversubscription of each tree, or that there is none."""
    found = facts["trees"]
    if not found and facts["nodes"]["switch"]:
        yield "tree", "no, the switches have no levels"
    for place, tree in enumerate(found[:TREES_MAX], start=1):
        of = f" of tree {place}" if len(found) > 1 else ""
        levels = tree["levels"]
        names = LEVEL_NAMES.get(len(levels)) or [f"level-{n}" for n in range(len(levels))]
        counts = [
            f"{level['switches']:,} {name}" for level, name in zip(levels, names, strict=True)
        ]
        switches = "switch" if sum(level["switches"] for level in levels) == 1 else "switches"
        yield f"levels{of}", f"{len(levels)}: {', '.join(counts)} {switches}"
        ratios = [
            f"{name} {oversubscribed(level['oversubscription'])}"
            for level, name in zip(levels, names, strict=True)
            if level["oversubscription"]
        ]
        if ratios:
            yield f"oversubscription{of}", "; ".join(reversed(ratios))
    if len(found) > TREES_MAX:
        yield "further trees", f"{len(found) - TREES_MAX:,}, all in --json"


def oversubscribed(ratio: dict[str, Any]) -> str:
    """Return the oversubscription of the switches of a level as text."""
    least, most = (f"{number(ratio[key], 3)}:1" for key in ("min", "max"))
    return most if least == most else f"{least} to {most}, the most at {ratio['narrowest']}"


def listed(counts: dict[str, int], unit: str = "") -> str:
    """Return counts by name in one line."""
    return ", ".join(f"{count:,} x {name}{unit}" for name, count in counts.items()) or "none"


def print_findings(file: Path, findings: Sequence[Finding]) -> None:
    """Print a row for each finding or group of findings, at most a hundred of each kind."""
    if not findings:
        echo(f"{file}: nothing found")
        return
    shown, more = first_of_each_kind(grouped(findings))
    rows = [(row.finding.line, row.finding.severity, row.finding.kind, row.text) for row in shown]
    print_table(
        str(file),
        ["line", "severity", "kind", "finding"],
        rows,
        numbers="line",
        prose="finding",
        heading="kind",
    )
    if more:
        hidden = ", ".join(f"{count:,} of kind {kind}" for kind, count in more.items())
        echo(f"and {sum(more.values()):,} more: {hidden}; --json has all")


def print_ranked(file: Path, findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print findings by consequence; a group of findings is one row."""
    rows = by_consequence(findings)
    if as_json:
        listed = [
            {"rank": one.rank, "consequence": one.consequence, **as_dict(one.finding)}
            for one in rows
        ]
        print_json({"file": str(file), "findings": listed})
        return
    if not findings:
        echo(f"{file}: nothing found")
        return
    ranks = {(one.finding.severity, one.finding.kind): one for one in rows}
    shown, more = first_of_each_kind(grouped([one.finding for one in rows]))
    table = [
        (place.rank, row.finding.severity, place.consequence, row.text)
        for row in shown
        if (place := ranks[row.finding.severity, row.finding.kind])
    ]
    print_table(
        str(file),
        ["rank", "severity", "consequence", "finding"],
        table,
        numbers="rank",
        prose="finding",
        heading="rank",
    )
    if more:
        echo(f"and {sum(more.values()):,} more; --json has all")


def as_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as a dict, quickly: there may be very many."""
    return {name: getattr(finding, name) for name in FINDING_FIELDS}


def first_of_each_kind(rows: Iterable[Row]) -> tuple[list[Row], dict[str, int]]:
    """Return the first hundred rows of each kind, and the number of further findings by kind."""
    counts: Counter[str] = Counter()
    more: Counter[str] = Counter()
    shown = []
    for row in rows:
        kind = row.finding.kind
        counts[kind] += 1
        if counts[kind] <= SHOWN_MAX:
            shown.append(row)
        else:
            more[kind] += row.count
    return shown, dict(more)
