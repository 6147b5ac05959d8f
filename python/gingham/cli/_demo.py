"""`gingham demo`: a cluster, a job, its bandwidth bound and a better node order, in a minute."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from gingham._files import require_place, write_bytes
from gingham.cli._fabric import load
from gingham.cli._job import (
    bound_facts,
    facts,
    improvement_facts,
    print_bounds,
    print_improvement,
    print_limits,
    size_of,
    warn_of,
)
from gingham.cli._options import FABRIC_FILE, force_option
from gingham.cli._output import echo, json_option, print_facts, print_json, print_prose
from gingham.cluster import rails_by_adapter
from gingham.errors import InputError, counted
from gingham.fabric import Fabric
from gingham.jobs import Job
from gingham.node_lists import complete
from gingham.ranking import ranked

if TYPE_CHECKING:
    from gingham.cluster import Cluster

# A DGX H100 SuperPOD of four scalable units, with the generator's defaults.
SHAPE, SPEED = "rail-optimised", "4xNDR"
NODES_MAX, SEED = 64, 1
FOLDER = Path("gingham-demo")
PATTERNS = ("ring", "all-to-all")
# Findings that are printed.
FINDINGS_SHOWN = 3


@click.command()
@click.option(
    "--dump", type=FABRIC_FILE, help="Fabric to use, such as the output of your ibnetdiscover."
)
@click.option(
    "--nodes",
    "node_list",
    metavar="LIST",
    help=f"Nodes of the job, as `gingham job` takes them.  [default: {NODES_MAX} in random order]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Folder to write.",
)
@force_option
@json_option
def demo(
    dump: Path | None, node_list: str | None, output: Path, force: bool, as_json: bool
) -> None:
    """Show a job on a rail-optimised cluster: its bandwidth bound, and a node order that is better.

    Generates four scalable units of 32 nodes with eight adapters each, or takes your own fabric
    with --dump. Places a job on nodes in random order, and reports the cables that its flows share
    and the bus bandwidth that nccl-tests would report at most. Then searches for a better order,
    and writes the fabric, the order and a picture. Nothing is fetched, and nothing runs on your
    cluster.

    \b
    Examples:
      gingham demo
      gingham demo --dump cluster.ibnetdiscover --nodes hosts.txt
    """
    from gingham import plots

    places = {
        "fabric": output / "cluster.ibnetdiscover",
        "order": output / "ordered-hosts.txt",
        "picture": output / "job.png",
    }
    if dump is not None:
        places.pop("fabric")
    for place in places.values():
        if place.exists():
            require_place(place, overwrite=force)
    fabric = load(dump) if dump is not None else Fabric.make(SHAPE, speed=SPEED)
    cluster = fabric.cluster()
    job = Job(fabric, node_list or usual_nodes(cluster), routes=fabric.route(form="table"))
    warn_of(job, ())
    bounds = [job.bound(pattern) for pattern in PATTERNS]
    better = job.improve()
    improved = [better.job.bound(pattern) for pattern in PATTERNS]
    output.mkdir(parents=True, exist_ok=True)
    if dump is None:
        fabric.save(places["fabric"], overwrite=True)
    write_bytes(places["order"], better.job.text().encode(), overwrite=True)
    given = "given order" if node_list else "random order"
    panels = [(given, job, bounds[0]), ("improved order", better.job, improved[0])]
    plots.save(plots.job(panels), places["picture"], overwrite=True)
    written = {name: str(place) for name, place in places.items()}
    if as_json:
        print_json(
            {
                "cluster": cluster.summary,
                **facts(job),
                "bounds": [bound_facts(bound) for bound in bounds],
                "improved": improvement_facts(better, improved),
                "written": written,
            }
        )
        return
    print_facts(about(fabric, cluster, job, dump))
    echo()
    print_bounds("given order", bounds)
    print_limits(bounds)
    print_improvement(better, "ring", improved, show_order=False)
    echo()
    print_facts(
        ("written" if not number else "", place) for number, place in enumerate(written.values())
    )
    echo()
    file = dump or places["fabric"]
    known, order = quote(str(file)), quote(str(places["order"]))
    print_prose(f"next: gingham job {known} --nodes {order}")
    print_prose(f"next: gingham fabric check {known} --ranked")


def usual_nodes(cluster: Cluster) -> str:
    """Return a random list of compute nodes; reject a fabric with too few."""
    count = min(NODES_MAX, len(complete(cluster, range(len(cluster.rails)))[0]))
    if count < 2:  # noqa: PLR2004
        raise InputError(
            f"the fabric has {counted(count, 'compute node')}: name the nodes of a job by --nodes",
            code="one-node",
        )
    return f"random:{count}:{SEED}"


def about(fabric: Fabric, cluster: Cluster, job: Job, dump: Path | None) -> list[tuple[str, Any]]:
    """Return the displayed rows about the fabric and the job."""
    rows: list[tuple[str, Any]] = [
        ("fabric", str(dump) if dump else f"generated: {SHAPE}, {SPEED}"),
        ("cluster", cluster.sentence()),
        ("job", size_of(job)),
        *([("", mapping)] if (mapping := rails_by_adapter(cluster, job.rails)) else []),
        ("routes", "up*/down* tables of gingham, not those of the subnet"),
    ]
    warnings = [one for one in ranked(fabric.check()) if one.finding.severity == "warning"]
    for number, one in enumerate(warnings[:FINDINGS_SHOWN]):
        rows.append(("findings" if not number else "", f"{one.consequence}: {one.finding.text}"))
    return rows
