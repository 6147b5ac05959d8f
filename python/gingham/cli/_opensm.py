"""`gingham opensm`: what the engines of the real OpenSM make of a fabric."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from gingham._files import require_file
from gingham._rundir import interruptible
from gingham._texts import with_interval
from gingham.cli._fabric import load
from gingham.cli._layout import text
from gingham.cli._options import FABRIC_FILE, SEED, force_option, output_option
from gingham.cli._output import json_option, print_json, print_prose, print_table, say, show
from gingham.cli._progress import steps_shown
from gingham.opensm.advice import hints, verdict
from gingham.opensm.comparison import SAMPLES, EngineRow, Plan, compare, host_pairs
from gingham.opensm.damage import broken
from gingham.opensm.manager import ENGINES, TIMEOUT_S
from gingham.opensm.roots import read_roots
from gingham.opensm.simulator import scratch_folder, with_guids
from gingham.running import run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gingham._rundir import RunFolder
    from gingham.fabric import Fabric
    from gingham.opensm.comparison import ComputeNodes
    from gingham.opensm.damage import Breakable
    from gingham.plots.comparison import Line

FAILURE_EXIT = 6
PICTURE = "comparison.png"


class EngineList(click.ParamType[list[str]]):
    """Names of engines with commas between them."""

    name = "engines"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        """Return `minhop,lash` as a list of names."""
        if isinstance(value, list):
            return value
        one = click.Choice(ENGINES, case_sensitive=False)
        names = [one.convert(name.strip(), param, ctx) for name in str(value).split(",")]
        return list(dict.fromkeys(names))


def setting(_ctx: click.Context, _param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Return KEY=VALUE options as a dict."""
    pairs = [value.partition("=") for value in values]
    wrong = [key for key, equals, _ in pairs if not equals or not key.strip()]
    if wrong:
        raise click.BadParameter(f'"{wrong[0]}" is no KEY=VALUE such as nue_max_num_vls=8')
    return {key.strip(): value.strip() for key, _, value in pairs}


@click.group()
def opensm() -> None:
    """Let the real OpenSM route a fabric, and see what it decides.

    Nothing of a running cluster is touched: the programs opensm and ibsim run here, on a
    simulated fabric, and are gone afterwards.

    \b
    Example:
      gingham opensm compare cluster.ibnetdiscover --engines minhop,updn,lash
    """


@opensm.command("compare")
@click.argument("topology", type=FABRIC_FILE)
@click.option(
    "--engines",
    type=EngineList(),
    default=",".join(ENGINES),
    show_default=True,
    help="Routing engines of OpenSM.",
)
@click.option(
    "--roots",
    "roots_file",
    type=FABRIC_FILE,
    help="File of root switches for updn, dnup, ftree and our up-down: a name or GUID a line.",
)
@click.option(
    "--compute-nodes",
    type=click.Choice(["all", "hosts"]),
    default="all",
    show_default=True,
    help="Adapters that ftree, sssp and dfsssp take for compute nodes: all, as OpenSM does unless "
    "told, or hosts alone, without aggregation nodes.",
)
@click.option(
    "--torus",
    type=FABRIC_FILE,
    help="torus-2QoS.conf; without it, the coordinates in the names of switches.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=setting,
    help="Setting of opensm.conf, such as nue_max_num_vls=8; may be given several times.",
)
@click.option(
    "--break",
    "break_count",
    type=click.IntRange(1),
    metavar="N",
    help="Compare once more with N cables or switches gone.",
)
@click.option(
    "--what",
    type=click.Choice(["cables", "switches"]),
    default="cables",
    show_default=True,
    help="What breaks: cables between switches, or switches.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    help="Compare once more without a switch or host, by name or GUID, or a cable, by an end such "
    "as 's3[7]'; may be given several times.",
)
@click.option(
    "--samples",
    type=click.IntRange(2, 1_000_000),
    default=SAMPLES,
    show_default=True,
    help="Random matchings for the bisection.",
)
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of all random numbers.")
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=TIMEOUT_S,
    show_default=True,
    help="Seconds that OpenSM may take for one engine.",
)
@output_option(help="Folder to write: picture, numbers, OpenSM's files of every engine.")
@force_option
@json_option
def compare_command(
    topology: Path,
    engines: list[str],
    roots_file: Path | None,
    compute_nodes: ComputeNodes,
    torus: Path | None,
    settings: dict[str, str],
    break_count: int | None,
    what: Breakable,
    without: tuple[str, ...],
    samples: int,
    seed: int,
    timeout: float,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare what each engine of OpenSM makes of the fabric in TOPOLOGY.

    Starts ibsim and OpenSM once an engine, imports tables, lanes and service levels, and proves
    or refutes the routes. An engine that cannot do a topology is replaced by minhop; the table
    tells. Our own algorithms stand below. With --break or --without all is done once more, on a
    fabric that lost something.

    \b
      ran        the engine whose routes these are
      switches   on the path of a pair of hosts, in the mean; at most
      lanes      in use between switches
      busiest    pairs of hosts whose path takes the busiest link, one way
      bandwidth  effective bisection bandwidth: the mean share of its link that a flow gets when
                 a random half of the hosts sends to the other half; half of the 95 % interval
      lost       pairs of hosts that do not reach each other, or not any more
      deadlock   free of it, between hosts at least (hosts free), or of how many channels the cycle
                 is in which packets can wait for one another, lane by lane

    Below the table stand the faults of each engine's tables as `gingham route check` counts them:
    packets that stray, those of aggregation nodes too. The last lines say which engines to choose
    from, and what those that were replaced may have lacked.

    \b
    Examples:
      gingham opensm compare cluster.ibnetdiscover
      gingham opensm compare cluster.ibnetdiscover --engines updn,nue --set nue_max_num_vls=8
      gingham opensm compare cluster.ibnetdiscover --roots roots.txt --compute-nodes hosts
      gingham opensm compare torus.toml --engines dor,lash,torus-2QoS --break 3 -o broken
      gingham opensm compare cluster.ibnetdiscover --without spine2 --without 'leaf3[7]'
    """
    if without and break_count:
        raise click.UsageError("what fails is drawn (--break) or named (--without), not both")
    fabric = with_guids(load(topology))
    roots = read_roots(roots_file, fabric) if roots_file else []
    if torus is not None:
        require_file(torus)
    pairs = host_pairs(fabric)
    plan = Plan(engines, roots, compute_nodes, torus, settings, timeout, samples, seed, pairs)
    # Opened first: a place that cannot be written is known before minutes of work.
    with run_folder(output, overwrite=force) as folder, interruptible(folder):
        after, gone = lessened(fabric, break_count, what, without, seed)
        before_rows, after_rows = run(plan, [fabric, after] if gone else [fabric])
        advice = [verdict(before_rows), *hints(fabric, plan, before_rows)]
        report = report_of(topology, plan, before_rows, gone, after_rows) | {"advice": advice}
        if folder:
            write(folder, topology.name, before_rows, after_rows, report)
    if as_json:
        print_json(report)
    else:
        print_rows(str(topology), before_rows, advice)
        if gone:
            print_rows(f"without {', '.join(gone)}", after_rows, [verdict(after_rows)])
        if output:
            show(text(f"written: {output}"))
    if any(row.failed for row in (*before_rows, *after_rows)):
        raise click.exceptions.Exit(FAILURE_EXIT)


def lessened(
    fabric: Fabric, count: int | None, what: Breakable, names: Sequence[str], seed: int
) -> tuple[Fabric, list[str]]:
    """Return the fabric without what is drawn or named, and the names of that."""
    if count is not None:
        return broken(fabric, count, what, seed=seed)
    return fabric.without(*names), list(names)


def run(plan: Plan, fabrics: Sequence[Fabric]) -> tuple[list[EngineRow], list[EngineRow]]:
    """Compare on one or two fabrics, with progress; return the rows of both."""
    with scratch_folder() as folder, steps_shown(plan.steps * len(fabrics)) as shown:
        on_step = announcing(shown, plan, len(fabrics))
        tables = [
            compare(fabric, plan, folder, on_step=partial(labelled, on_step, label))
            for label, fabric in zip(("", " (broken)"), fabrics, strict=False)
        ]
    before, after = (*tables, []) if len(tables) == 1 else tables
    return before, after


def announcing(
    on_step: Callable[[str, str], None], plan: Plan, times: int
) -> Callable[[str, str], None]:
    """Return what says before the first step how much there is to do, and how long at most."""
    runs, most = len(plan.engines) * times, plan.timeout_s
    message = (
        f"{runs:,} {'run' if runs == 1 else 'runs'} of OpenSM, each of at most {most:g} s "
        "(--timeout), then our own algorithms"
    )
    left = [message]

    def tell(engine: str, what: str) -> None:
        while left:
            say(left.pop(), runs=runs, seconds_max=most)
        on_step(engine, what)

    return tell


def labelled(on_step: Callable[[str, str], None], label: str, engine: str, what: str) -> None:
    """Tell of a step under the name of an engine with a label."""
    on_step(engine + label, what)


def report_of(
    topology: Path,
    plan: Plan,
    before: Sequence[EngineRow],
    gone: Sequence[str],
    after: Sequence[EngineRow],
) -> dict[str, Any]:
    """Return the comparison for programs."""
    report: dict[str, Any] = {
        "kind": "opensm-comparison",
        "file": str(topology),
        "roots": list(plan.roots),
        "compute_nodes": plan.compute_nodes,
        "settings": dict(plan.settings),
        "samples": plan.samples,
        "seed": plan.seed,
        "rows": [row.as_json() for row in before],
    }
    if gone:
        report["gone"] = list(gone)
        report["rows_without"] = [row.as_json() for row in after]
    return report


def write(
    folder: RunFolder,
    title: str,
    before: Sequence[EngineRow],
    after: Sequence[EngineRow],
    report: Mapping[str, Any],
) -> None:
    """Fill the folder: the picture, OpenSM's files of every engine, the numbers."""
    from gingham.plots import comparison

    def draw(handle: BinaryIO) -> None:
        lines, broken_lines = ([*map(line, rows)] for rows in (before, after))
        comparison.write(handle, title, lines, broken_lines)

    folder.write(PICTURE, draw)
    for rows, ending in ((before, ""), (after, "-broken")):
        for row in rows:
            for name, content in row.texts.items():
                folder.write(f"{row.engine}{ending}.{name}", partial(put, content))
    folder.complete(report)


def put(content: str, handle: BinaryIO) -> None:
    """Write a text."""
    handle.write(content.encode())


def line(row: EngineRow) -> Line:
    """Return the line of a row in the picture."""
    from gingham.plots.comparison import Line

    facts = row.facts
    numbers = {
        **{key: facts.get(key) for key in ("mean_switches", "max_channel_paths")},
        **(facts.get("bisection") or {}),
        "lanes": len(facts["lanes"]) if facts else None,
    }
    values = {key: value for key, value in numbers.items() if value is not None}
    return Line(f"{row.by} {row.engine}", title_of(row), values, bool(facts.get("deadlock_free")))


def title_of(row: EngineRow) -> str:
    """Return how a row is called."""
    if row.by == "gingham":
        return f"gingham {row.engine}"
    replaced = "" if row.ran in {row.engine, "failed"} else f" ({row.ran})"
    return f"{row.engine}{replaced}"


def print_rows(title: str, rows: Sequence[EngineRow], advice: Sequence[str]) -> None:
    """Print a table, below it why engines did not run and what their tables lose, and advice."""
    numbers = "switches most lanes busiest bandwidth lost"
    columns = ["engine", "ran", *numbers.split(), "deadlock"]
    print_table(title, columns, map(cells, rows), numbers=numbers)
    for row in rows:
        if row.failed or row.ran != row.engine:
            why = "; ".join(row.words) or "OpenSM does not say why"
            what = "failed" if row.failed else f"was replaced by {row.ran}"
            print_prose(f"{row.engine} {what}: {why}")
    for row in rows:
        faults = row.facts.get("faults")
        if faults:
            print_prose(f"{title_of(row)}: {counted(faults)}, the first: {faults[0]}")
    for sentence in advice:
        print_prose(sentence)


def counted(faults: Sequence[str]) -> str:
    """Return how many faults there are."""
    return "1 fault of its tables" if len(faults) == 1 else f"{len(faults):,} faults of its tables"


def cells(row: EngineRow) -> list[str]:
    """Return a row as a person reads it."""
    # Of ours runs what was asked for.
    head = [f"our {row.engine}", ""] if row.by == "gingham" else [row.engine, row.ran]
    return [*head, *numbers_of(row.facts), proof_of(row.facts)] if row.facts else head


def numbers_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """Return the numbers of a row in words."""
    mean = facts["mean_switches"]
    yield "" if mean is None else f"{mean:.3f}"
    yield "" if facts["max_switches"] is None else f"{facts['max_switches']}"
    yield f"{len(facts['lanes'])}"
    yield "" if facts["max_channel_paths"] is None else f"{facts['max_channel_paths']:,}"
    bisection = facts["bisection"]
    if bisection is None:
        yield ""
    else:
        yield with_interval(bisection["bandwidth"], bisection["bandwidth_half_width"])
    yield f"{facts['lost_pairs']:,}"


def proof_of(facts: Mapping[str, Any]) -> str:
    """Return whether packets can deadlock, in two or three words."""
    if facts["deadlock_free"]:
        return "free"
    if facts["deadlock_free_between_hosts"]:
        return "hosts free"
    return f"cycle of {len(facts['cycle'])}"
