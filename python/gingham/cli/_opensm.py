"""`gingham opensm`: routing engines of the real OpenSM, compared on a fabric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from gingham._files import require_file
from gingham._rundir import interruptible
from gingham._texts import with_interval
from gingham.cli._fabric import load
from gingham.cli._layout import text
from gingham.cli._opensm_failures import print_engines_after, print_failures
from gingham.cli._options import FABRIC_FILE, SEED, force_option, output_option
from gingham.cli._output import json_option, print_json, print_prose, print_table, say, show
from gingham.cli._progress import steps_shown
from gingham.cli._route_facts import reference_of
from gingham.errors import GinghamError
from gingham.opensm.advice import PROOFS, facts_of, hints, is_safe, verdict
from gingham.opensm.comparison import (
    SAMPLES,
    EngineRow,
    Plan,
    compare,
    expected_seconds,
    host_pairs,
    row_of_tables,
)
from gingham.opensm.damage import broken
from gingham.opensm.decision import PROGRAMS
from gingham.opensm.failures import WORST, single_failures, survey, survey_seconds
from gingham.opensm.manager import ENGINES, TIMEOUT_S
from gingham.opensm.parts import managed
from gingham.opensm.programs import versions
from gingham.opensm.roots import read_roots
from gingham.opensm.settings import require_settings
from gingham.opensm.simulator import scratch_folder, with_guids
from gingham.running import run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gingham._rundir import RunFolder
    from gingham.fabric import Fabric
    from gingham.opensm.comparison import ComputeNodes
    from gingham.opensm.damage import Breakable
    from gingham.opensm.failures import Each, Failure
    from gingham.plots.comparison import Line
    from gingham.routes import Routes

FAILURE_EXIT = 6
# An engine expected to take longer than this, in seconds, is announced.
SLOW_S = 10.0
PICTURE = "comparison.png"


class EngineList(click.ParamType[list[str]]):
    """Names of engines separated by commas."""

    name = "engines"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        """Return the list of names of `minhop,lash`."""
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
    "--each",
    type=click.Choice(["cable", "switch", "spine"]),
    help="Take each cable between switches, each switch, or each switch without hosts away in "
    f"turn; rank the failures, and ask OpenSM's engines for the {WORST} worst.",
)
@click.option(
    "--lfts",
    type=FABRIC_FILE,
    help="Tables of the running subnet, such as dump_fts prints: a row of their own, and what "
    "--each takes away.",
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
    help="Seconds that OpenSM may take for the routes of one engine, and as many for the "
    "queries of its service levels.",
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
    each: Each | None,
    lfts: Path | None,
    samples: int,
    seed: int,
    timeout: float,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare what each engine of OpenSM makes of the fabric in TOPOLOGY.

    Starts ibsim and OpenSM once an engine, imports tables, lanes and service levels, and proves
    or refutes the routes. OpenSM replaces an engine that does not support a topology by minhop;
    column ran has the engine that ran. Our own algorithms follow. With --break or --without
    everything is repeated on the fabric after those failures. If the fabric has several parts,
    only the one with most hosts is compared.

    \b
      ran        the engine whose routes these are
      switches   on the path of a pair of hosts, in the mean
      lanes      in use between switches
      busiest    pairs of hosts whose path takes the busiest link, one way; a pair on a link of
                 half of the fastest speed counts twice
      bound      highest rate of each host if all send to all, as a share of its link, or
                 of the slowest link of a host
      bandwidth  effective bisection bandwidth: the mean share of its link that a flow gets when
                 a random half of the hosts sends to the other half; half of the 95 % interval
      lost       pairs of hosts that do not reach each other, or not any more
      deadlock   free of it, between hosts at least (hosts free), or of how many channels the cycle
                 is in which packets can wait for one another, lane by lane

    --each tries every single failure. Column cut counts the pairs that the present tables lose
    until the next sweep; lost, bound and deadlock describe new tables by our up-down. The worst
    failures come first. A second table has the results of OpenSM's engines for the ten worst.

    The lines below the table name pairs that an engine loses, and the faults of its tables as
    `gingham route check` counts them: packets that stray, those of aggregation nodes too. The
    last lines name the engine to choose, and options that replaced engines may need. An engine
    that stays free of deadlock after failures is preferred to one with more bandwidth.

    \b
    Examples:
      gingham opensm compare cluster.ibnetdiscover
      gingham opensm compare cluster.ibnetdiscover --engines updn,nue --set nue_max_num_vls=8
      gingham opensm compare cluster.ibnetdiscover --roots roots.txt --compute-nodes hosts
      gingham opensm compare torus.toml --engines dor,lash,torus-2QoS --break 3 -o broken
      gingham opensm compare cluster.ibnetdiscover --without spine2 --without 'leaf3[7]'
      gingham opensm compare cluster.ibnetdiscover --engines updn,ftree --each spine
      gingham opensm compare cluster.ibnetdiscover --lfts cluster.lfts --each cable
    """
    require_one_kind(without, break_count, each)
    fabric = with_guids(load(topology))
    roots = read_roots(roots_file, fabric) if roots_file else []
    if torus is not None:
        require_file(torus)
    require_settings(settings)
    pairs = host_pairs(managed(fabric))
    plan = Plan(engines, roots, compute_nodes, torus, settings, timeout, samples, seed, pairs)
    tables = fabric.load_routes(lfts) if lfts else None
    if each is not None:
        single_failures(managed(fabric), each)
    # Opened first, so that an unwritable folder is reported before minutes of work.
    with run_folder(output, overwrite=force) as folder, interruptible(folder):
        after, gone = lessened(fabric, break_count, what, without, seed)
        found = run(plan, [fabric, after] if gone else [fabric], each, tables)
        bounds = (row.facts.get("all_to_all") for row in found.before)
        advice = [
            verdict(found.before, found.after),
            *reference_of(managed(fabric), (bound["rate"] for bound in bounds if bound)),
            *hints(fabric, plan, found.before),
        ]
        report = report_of(topology, plan, found, gone) | {"advice": advice}
        if folder:
            write(folder, topology.name, found, report)
    if as_json:
        print_json(report)
    else:
        print_found(str(topology), found, gone, advice)
        if output:
            show(text(f"written: {output}"))
    if any(row.failed for rows in (found.before, *found.after) for row in rows):
        raise click.exceptions.Exit(FAILURE_EXIT)


@dataclass(frozen=True, slots=True)
class Found:
    """The results of a comparison."""

    before: list[EngineRow]
    # Rows of each failure after which OpenSM's engines were run.
    after: list[list[EngineRow]]
    # With --each: every failure, the worst first.
    failures: list[Failure]


def require_one_kind(names: Sequence[str], count: int | None, each: Each | None) -> None:
    """Reject more than one way to select failures."""
    if sum([bool(names), count is not None, each is not None]) > 1:
        raise click.BadOptionUsage(
            "--break",
            "what fails is drawn (--break), named (--without) or each in turn (--each): "
            "give one of these, not both",
        )


def lessened(
    fabric: Fabric, count: int | None, what: Breakable, names: Sequence[str], seed: int
) -> tuple[Fabric, list[str]]:
    """Return the fabric without the parts drawn or named, and the names of those parts."""
    if count is not None:
        return broken(fabric, count, what, seed=seed)
    return fabric.without(*names), list(names)


def run(plan: Plan, fabrics: Sequence[Fabric], each: Each | None, tables: Routes | None) -> Found:
    """Compare on one or two fabrics, or after each failure, with progress."""
    names = single_failures(managed(fabrics[0]), each) if each else []
    worst = min(len(names), WORST)
    runs = len(plan.engines) * (len(fabrics) + worst)
    steps = plan.steps * len(fabrics) + len(names) + worst * len(plan.engines)
    with scratch_folder() as folder, steps_shown(steps) as shown:
        on_step = announcing(shown, announcement(fabrics[0], plan, runs, len(names)))
        before, *after = (
            compare(fabric, plan, folder, on_step=partial(labelled, on_step, label))
            for label, fabric in zip(("", " (broken)"), fabrics, strict=False)
        )
        if tables is not None:
            before.append(row_of_tables(fabrics[0], tables, plan))
        if each is None:
            return Found(before, after, [])
        failures = survey(fabrics[0], each, plan, tables, on_step=on_step)
        asked = replace(plan, engines=engines_left(before), own=())
        for failure in failures[:worst]:
            left = fabrics[0].without(failure.name)
            label = f" without {failure.name}"
            after.append(rows_after(left, asked, folder, partial(labelled, on_step, label)))
        return Found(before, after, failures)


def engines_left(rows: Sequence[EngineRow]) -> list[str]:
    """Return the engines that are safe on the whole fabric; if none is, all that ran."""
    ran = [row for row in rows if row.by == "opensm" and not row.failed]
    safe = [row for row in ran if any(is_safe(row, proof) for proof in PROOFS)]
    return [row.engine for row in safe or ran]


def rows_after(
    fabric: Fabric, plan: Plan, folder: Path, on_step: Callable[[str, str], None]
) -> list[EngineRow]:
    """Return the rows after a failure, also if every engine fails."""
    try:
        return compare(fabric, plan, folder, on_step=on_step)
    except GinghamError as error:
        return [EngineRow("opensm", engine, "failed", (str(error),)) for engine in plan.engines]


def announcement(fabric: Fabric, plan: Plan, runs: int, failures: int) -> dict[str, Any]:
    """Return the announcement of the number of runs and of their longest time."""
    counted_runs = f"{runs:,} {'run' if runs == 1 else 'runs'} of OpenSM"
    if failures:
        counted_runs = f"{failures:,} failures, and at most {counted_runs}"
    words = [f"{counted_runs}, each of at most {plan.timeout_s:g} s (--timeout)"]
    slow = {
        engine: seconds
        for engine in plan.engines
        if (seconds := expected_seconds(fabric, engine)) > SLOW_S
    }
    for engine, seconds in slow.items():
        limit = ", more than it may" if seconds > plan.timeout_s else ""
        words.append(f"the service levels of {engine} take some {seconds:,.0f} s{limit}")
    facts: dict[str, Any] = {"runs": runs, "seconds_max": plan.timeout_s}
    if failures:
        facts["failures"] = failures
        seconds = survey_seconds(fabric, plan, failures)
        if seconds > SLOW_S:
            facts["failures_seconds"] = round(seconds)
            words.append(f"the failures take some {seconds:,.0f} s by our up-down alone")
    if slow:
        facts["slow"] = {engine: round(seconds) for engine, seconds in slow.items()}
    words.insert(1, "then our own algorithms")
    return {
        "message": f"{', '.join(words[:2])}{''.join(f'; {word}' for word in words[2:])}",
        **facts,
    }


def announcing(
    on_step: Callable[[str, str], None], announced: Mapping[str, Any]
) -> Callable[[str, str], None]:
    """Return a callback that prints the announcements before the first step."""
    left = [dict(announced)]

    def tell(engine: str, what: str) -> None:
        while left:
            facts = left.pop()
            say(facts.pop("message"), **facts)
        on_step(engine, what)

    return tell


def labelled(on_step: Callable[[str, str], None], label: str, engine: str, what: str) -> None:
    """Report a step under the name of an engine with a label."""
    on_step(engine + label, what)


def report_of(topology: Path, plan: Plan, found: Found, gone: Sequence[str]) -> dict[str, Any]:
    """Return the comparison for programs."""
    report: dict[str, Any] = {
        "kind": "opensm-comparison",
        "file": str(topology),
        "programs": versions(*PROGRAMS),
        "roots": list(plan.roots),
        "compute_nodes": plan.compute_nodes,
        "settings": dict(plan.settings),
        "timeout_s": plan.timeout_s,
        "samples": plan.samples,
        "seed": plan.seed,
        "rows": [row.as_json() for row in found.before],
        "choice": facts_of(found.before, found.after),
    }
    if gone:
        report["gone"] = list(gone)
        report["rows_without"] = [row.as_json() for row in found.after[0]]
    if found.failures:
        report["failures"] = [failure.as_json() for failure in found.failures]
        report["worst"] = [
            {"gone": failure.name, "rows": [row.as_json() for row in rows]}
            for failure, rows in zip(found.failures, found.after, strict=False)
        ]
    return report


def write(folder: RunFolder, title: str, found: Found, report: Mapping[str, Any]) -> None:
    """Fill the folder: the picture, OpenSM's files of every engine, the numbers."""
    from gingham.plots import comparison

    broken_rows = found.after[0] if found.after and not found.failures else []

    def draw(handle: BinaryIO) -> None:
        lines, broken_lines = ([*map(line, rows)] for rows in (found.before, broken_rows))
        comparison.write(handle, title, lines, broken_lines)

    folder.write(PICTURE, draw)
    for rows, ending in ((found.before, ""), (broken_rows, "-broken")):
        for row in rows:
            for name, content in row.texts.items():
                folder.write(f"{row.engine}{ending}.{name}", partial(put, content))
    folder.complete(report)


def put(content: str, handle: BinaryIO) -> None:
    """Write a text to a binary file."""
    handle.write(content.encode())


def line(row: EngineRow) -> Line:
    """Return the line of a row in the picture."""
    from gingham.plots.comparison import Line

    facts = row.facts
    numbers = {
        "mean_switches": facts.get("mean_switches"),
        "max_channel_paths": busiest_of(facts),
        **(facts.get("bisection") or {}),
        "lanes": len(facts["lanes"]) if facts else None,
    }
    values = {key: value for key, value in numbers.items() if value is not None}
    return Line(f"{row.by} {row.engine}", title_of(row), values, bool(facts.get("deadlock_free")))


def title_of(row: EngineRow) -> str:
    """Return the title of a row."""
    if row.by == "gingham":
        return f"gingham {row.engine}"
    if row.by == "tables":
        return "tables as they are"
    replaced = "" if row.ran in {row.engine, "failed"} else f" ({row.ran})"
    return f"{row.engine}{replaced}"


def print_found(title: str, found: Found, gone: Sequence[str], advice: Sequence[str]) -> None:
    """Print the rows before and after a failure, or all failures, and the advice."""
    print_rows(title, found.before, [] if found.failures else advice)
    if gone:
        print_rows(f"without {', '.join(gone)}", found.after[0], [])
    if found.failures:
        print_failures(found.failures)
        print_engines_after(found.after)
        for sentence in advice:
            print_prose(sentence)


def print_rows(title: str, rows: Sequence[EngineRow], advice: Sequence[str]) -> None:
    """Print a table, then why engines did not run, losses of tables, and advice."""
    numbers = "switches lanes busiest bound bandwidth lost"
    columns = ["engine", "ran", *numbers.split(), "deadlock"]
    print_table(title, columns, map(cells, rows), numbers=numbers)
    for row in rows:
        if row.failed or (row.by != "tables" and row.ran != row.engine):
            why = "; ".join(row.words) or "OpenSM does not say why"
            what = "failed" if row.failed else f"was replaced by {row.ran}"
            print_prose(f"{row.engine} {what}: {why}")
    for row in rows:
        if row.by == "opensm" and row.facts.get("lost_examples"):
            print_prose(f"{row.ran}: {losses(row.facts)}")
        faults = row.facts.get("faults")
        if faults:
            print_prose(f"{title_of(row)}: {counted(faults)}, the first: {faults[0]}")
    for sentence in advice:
        print_prose(sentence)


def losses(facts: Mapping[str, Any]) -> str:
    """Return a text about the pairs that an engine leaves without a route."""
    lost = facts["unreachable_pairs"] + facts.get("unanswered_pairs", 0)
    source, destination = facts["lost_examples"][0]
    pairs = "pair" if lost == 1 else "pairs"
    return f"ran and loses {lost:,} {pairs} of hosts, such as {source} to {destination}"


def counted(faults: Sequence[str]) -> str:
    """Return the number of faults as text."""
    return "1 fault of its tables" if len(faults) == 1 else f"{len(faults):,} faults of its tables"


def cells(row: EngineRow) -> list[str]:
    """Return a row as the texts of its cells."""
    # For Gingham's own algorithms, the one requested always ran.
    head = [f"our {row.engine}", ""] if row.by == "gingham" else [row.engine, row.ran]
    if row.by == "tables":
        head = [title_of(row), ""]
    return [*head, *numbers_of(row.facts), proof_of(row.facts)] if row.facts else head


def busiest_of(facts: Mapping[str, Any]) -> int | None:
    """Return the pairs on the busiest link, weighted by rate if cables differ in speed."""
    busiest = facts.get("busiest")
    found: int | None = busiest["by_rate"] if busiest else facts.get("max_channel_paths")
    return found


def numbers_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers of a row as text."""
    mean = facts["mean_switches"]
    yield "" if mean is None else f"{mean:.3f}"
    yield f"{len(facts['lanes'])}"
    busiest, bound = busiest_of(facts), facts.get("all_to_all")
    yield "" if busiest is None else f"{busiest:,}"
    yield "" if bound is None else f"{bound['load']:.3f}"
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
