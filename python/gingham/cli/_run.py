"""`gingham run`: one run, from scenario to table, picture and data."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham import plots
from gingham._files import require_place as require_file_place
from gingham._rundir import interruptible
from gingham._texts import (
    among_equals,
    clipped_share,
    equals_text,
    number,
    percent,
    time_text,
    time_with_interval,
    with_interval,
)
from gingham.catalogue import old_names
from gingham.cli._layout import text
from gingham.cli._options import (
    FABRIC_FILE,
    allow_deadlock_option,
    fabric_scenario_argument,
    force_option,
    no_threads,
    output_option,
    seed_option,
    settings_option,
    strict_option,
)
from gingham.cli._output import (
    exit_code_help,
    json_option,
    print_json,
    print_prose,
    print_table,
    show,
    warn,
)
from gingham.cli._progress import progress_shown
from gingham.cli._replications import (
    print_replications,
    require_replicable,
    run_replications,
)
from gingham.cli._scenarios import fabric_scenario, with_options
from gingham.errors import counted
from gingham.running import Simulation, require_place, run_folder, simulate
from gingham.saving import save_into
from gingham.verdicts import FROM_BEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gingham._rundir import RunFolder
    from gingham.result import AnyResult, Result
    from gingham.running import Engine

EXIT_CODES = {"deadlocked": 3, "interrupted": 130}
STRICT_EXIT_CODES = {"not-converged": 4}
# Maximum number of congestion trees printed, the largest first.
TREES_SHOWN = 3


class EngineChoice(click.Choice[str]):
    """The name of an engine; the error for a former name gives the present one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the engine."""
        if renamed := old_names.said("engine", value):
            self.fail(renamed, param, ctx)
        return super().convert(value, param, ctx)


# Advice for options that ask for several cores.
SEVERAL_RUNS = (
    "Several at once take all: `gingham curve` for loads, `gingham sweep` for whatever varies, "
    "seeds too (-j there)"
)


@click.command(epilog=exit_code_help(0, 2, 3, 4, 6, 130))
@fabric_scenario_argument
@no_threads(SEVERAL_RUNS, "--threads", "--jobs", "-j")
@click.option("--topology", type=FABRIC_FILE, help="Fabric file instead of the scenario's.")
@settings_option
@seed_option
@click.option(
    "--engine",
    type=EngineChoice(["fast", "oracle", "ports", "columns"]),
    default="fast",
    show_default=True,
    help="The simulator: fast, or oracle, which is slow and there for checks. Over virtual lanes "
    "fast steps switches by ports, or by columns of 64 at once; name one of these to force it. "
    "Results are the same.",
)
@click.option(
    "--replications",
    type=click.IntRange(2, 1000),
    metavar="N",
    help="Run N seeds, derived from that of the scenario, on all cores, and print means with "
    "intervals over these runs. The folder of -o then has the format of a sweep.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Continue the folder of -o of an interrupted --replications without repeating its runs.",
)
@allow_deadlock_option
@strict_option
@output_option(help="Run folder to write: tables and manifest; `gingham plot` draws it.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Picture of the latencies to write (.png, .svg, .pdf).",
)
@force_option
@json_option
def run(
    scenario: str,
    topology: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    engine: Engine,
    replications: int | None,
    resume: bool,
    allow_deadlock: bool,
    strict: bool,
    output: Path | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Simulate SCENARIO: a TOML file, the name of an example, or the folder of a run.

    Loads or generates the fabric, routes it, proves the routes free of deadlock, and simulates.
    Routes that can deadlock are refused with the cycle. A folder's scenario is run again, with its
    seed and the same files, to the same bits.

    \b
    Examples that ship with gingham:
      irregular             a cluster of 32 switches joined at random, loaded from a dump
      in-transit            the same with minimal routes over in-transit hosts
      torus                 a 4x4 torus
      cluster               an NDR cluster from its dump
      congestion-spreading  whole packets: a busy host holds up a flow to another
      congestion-control    the same, with marks that come back
      fair-share            long against short packets at one output
      all-together          in-transit hosts, segments, marks, admitted streams, windows
      lane-shares           weights 1 : 2 : 4 of lanes at one output
      video                 streams of video with deadlines, beside bursts
      ring-deadlock         shortest paths on a ring, which can deadlock

    \b
    Examples:
      gingham run irregular -o runs/first
      gingham plot runs/first
      gingham run irregular --plot latency.svg
      gingham run torus --set traffic.0.load=0.3 --seed 7
      gingham run torus --replications 10
      gingham run irregular --topology cluster.ibnetdiscover --json
      gingham run runs/first -o runs/again
    """
    if plot:
        require_picture(plot, force=force)
    changed = with_options(
        fabric_scenario(scenario), settings=settings, topology=topology, seed=seed
    )
    if replications:
        slow = engine if engine != "fast" else None
        require_replicable({"--engine": slow, "--plot": plot, "--force": force})
        together = run_replications(
            changed, replications, output, allow_deadlock=allow_deadlock, resume=resume
        )
        print_replications(together, output, as_json=as_json)
        each = sorted(together.summary["verdicts"], key=FROM_BEST.index, reverse=True)
        raise click.exceptions.Exit(exit_code([together.verdict, *each], strict=strict))
    if resume:
        raise click.BadOptionUsage("--resume", "--resume continues --replications: give both")
    require_place(changed, output)
    with run_folder(output, overwrite=force) as folder, interruptible(folder):
        with progress_shown() as on_progress:
            simulation = Simulation(changed, allow_deadlock, engine)
            # Printed before a possibly long run: a load above its bound has no steady state.
            for overload in simulation.about["overloads"]:
                warn(overload)
            result = simulate(simulation, folder, on_progress)
        # Printed before saving: it needs no disk, and Ctrl-C gets an immediate response.
        unread = None if as_json else report(result)
        if plot:
            plots.save(plots.latency(result), plot, overwrite=force)
        if folder:
            keep(folder, result)
    if unread:
        raise unread
    if as_json:
        places = {"output": text_of(output), "plot": text_of(plot)}
        print_json({**result.summary, "about": dict(result.about), **places})
    else:
        tell_written([plot] if plot else [], output)
    raise click.exceptions.Exit(exit_code(verdicts(result), strict=strict))


def require_picture(file: Path, *, force: bool) -> None:
    """Reject an unsuitable file for the picture, before hours of work."""
    plots.require_ending(file)
    require_file_place(file, overwrite=force)


def text_of(path: Path | None) -> str | None:
    """Return a path as text for programs."""
    return None if path is None else str(path)


def tell_written(pictures: Sequence[Path], folder: Path | None) -> None:
    """Print the written files, and the command that draws the run if no picture was written."""
    for place in [*pictures, *([folder] if folder else [])]:
        show(text(f"written: {place}"))
    if folder and not pictures:
        show(text(f"to draw it: gingham plot {shlex.quote(str(folder))}"))


def verdicts(result: Result) -> list[str]:
    """Return the verdict of a run, the worst of its classes', followed by those of the classes."""
    return [result.verdict, *(one["verdict"] for one in result.classes)]


def exit_code(verdicts: Sequence[str], *, strict: bool) -> int:
    """Return the exit code after a run with these verdicts, the worst first."""
    codes = EXIT_CODES | (STRICT_EXIT_CODES if strict else {})
    return next((codes[one] for one in verdicts if one in codes), 0)


def report(result: Result) -> OSError | None:
    """Print the result for people; returns an output error instead of raising it before saving."""
    shown = result.about.get("overloads", [])
    for note in result.notes:
        if note not in shown:
            warn(note)
    try:
        print_classes(result)
        told = [*least_served(result.classes), *bounds(result.classes), *busiest(result)]
        told += [*policing(result.classes), *flows(result.classes), *in_transit(result.summary)]
        told += [*admissions(result.classes), *frames(result.classes), *congestion(result)]
        for line in told:
            print_prose(line)
        print_verdict(result)
        for line in result.summary["deadlock"]:
            show(text(f"  {line}"))
        sys.stdout.flush()
    except OSError as error:
        return error
    return None


def print_verdict(result: AnyResult) -> None:
    """Print the verdict of a run and the reason for it."""
    show(text(f"verdict: {result.verdict}", "bold"))
    print_prose(result.summary["verdict_reason"], indent=2)


def keep(folder: RunFolder, result: AnyResult) -> None:
    """Write a result into its folder, also a partial one after Ctrl-C."""
    if result.verdict == "interrupted":
        warn(f"interrupted; writing what was measured to {folder.named}")
    save_into(folder, result)


def least_served(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line per class with the least served sender or flow, and destination."""
    for numbers in classes:
        facts = []
        if (load := numbers["least_served_load"]) is not None:
            facts.append(f"{numbers['least_served']} has an accepted load of {number(load, 3)}")
        if (share := numbers["least_served_destination_share"]) is not None:
            host = numbers["least_served_destination"]
            facts.append(f"{host} receives {percent(min(share, 1.0))} of its payload")
        if facts:
            yield f"least served of {numbers['name']}: {', '.join(facts)}"


def bounds(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line per class with the load that fills a channel of its routes."""
    for numbers in classes:
        if (load := numbers["bound_load"]) is None or not (channel := numbers["bound_channel"]):
            continue
        among = " (host channels only)" if numbers["bound_kind"] == "host-channels" else ""
        line = f"bound of {numbers['name']}: load {number(load, 3)} on these routes{among}"
        if numbers["offered_load"] is not None:
            line += f"; {channel} is offered {percent(numbers['bound_share'])} of its capacity"
        else:
            line += f", where {channel} is full"
        yield f"{line} by {counted(numbers['bound_flows'], 'flow')}"


def busiest(result: Result) -> Iterator[str]:
    """Yield a line for each of the busiest channels: its utilisation, and flows that use it.

    The first line ends with the number of channels that are equally busy.
    """
    for place, one in enumerate(result.summary["busiest"]):
        line = f"busy: {one['channel']} {percent(clipped_share(one['utilisation']))} of the time"
        if place == 0 and (equals := equals_text(equally_busy(result))):
            line += f" ({equals})"
        if one["flows"] is not None:
            some = f" ({', '.join(one['examples'])})" if one["examples"] else ""
            line += f", {counted(one['flows'], 'flow')}{some}"
        yield line


def equally_busy(result: Result) -> int:
    """Return the number of channels that equal the busiest within their intervals."""
    links = result.table("links")
    shares = links["utilisation"].to_pylist()
    half_widths = [None] * len(shares)
    if "utilisation_half_width" in links.column_names:
        half_widths = links["utilisation_half_width"].to_pylist()
    known = [(share, half) for share, half in zip(shares, half_widths, strict=True) if share]
    return among_equals([share for share, _ in known], [half for _, half in known])


def policing(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each class affected by policing."""
    for numbers in classes:
        counts = [(numbers[f"messages_{fate}"], fate) for fate in ("delayed", "demoted", "dropped")]
        fates = ", ".join(f"{count:,} {fate}" for count, fate in counts if count)
        if fates:
            created = f"{numbers['messages_created']:,} messages"
            yield f"policing of {numbers['name']}: of {created} {fates}"


def flows(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each class with counted flows: fairness, and reasons for holding back."""
    for numbers in classes:
        # `None` if flows are not counted.
        if numbers["held_window"] is None:
            continue
        facts = []
        if numbers["fairness"] is not None:
            fairness = with_interval(numbers["fairness"], numbers["fairness_half_width"])
            facts.append(f"index of fairness {fairness}")
        reasons = {"window": "windows", "rate_limit": "rate limit", "tokens": "tokens"}
        held = [(percent(numbers[f"held_{key}"]), name) for key, name in reasons.items()]
        shares = ", ".join(f"by {name} {share}" for share, name in held if share != percent(0))
        if shares:
            facts.append(f"held back {shares} of the time")
        if most := numbers["acks_waiting_max"]:
            facts.append(f"at most {most:,} acknowledgement{'s' * (most != 1)} waiting at a host")
        if marked := numbers["packets_marked_share"]:
            facts.append(f"{percent(marked)} of packets marked")
        yield f"flows of {numbers['name']}: {'; '.join(facts) or 'none was used'}"


def admissions(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each class with admission control: the number of admitted streams."""
    for numbers in classes:
        if not (asked := numbers["streams_requested"]):
            continue
        places = {"adapters": "streams_refused_by_adapter", "switches": "streams_refused_by_switch"}
        refused = [f"{numbers[key]:,} by {name}" for name, key in places.items() if numbers[key]]
        line = f"{numbers['streams_admitted']:,} of {counted(asked, 'stream')} admitted"
        yield f"admission of {numbers['name']}: {line}" + (
            f"; refused: {', '.join(refused)}" if refused else ""
        )


def frames(classes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each class whose streams have frames: deadlines met and missed."""
    for numbers in classes:
        if not numbers["frames_counted"]:
            continue
        half = numbers["deadlines_missed_half_width"]
        missed = f"{with_interval(numbers['deadlines_missed'], half)} missed"
        if late := numbers["deadline_late_mean_ns"]:
            missed += f" by {time_text(late)} on average"
        streams = counted(numbers["streams"], "stream")
        law = number(numbers["deadlines_missed_law"], 2)
        fixed = number(numbers["deadlines_missed_fixed"], 2)
        yield (
            f"deadlines of {numbers['name']}: of {numbers['frames_counted']:,} frames of {streams} "
            f"{missed}; independent ones would miss {law}, and {fixed} came "
            "later than a fixed clock allows"
        )


def in_transit(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line on in-transit hosts that forwarded packets, if any did."""
    totals = summary["in_transit"]
    if totals["packets"]:
        yield (
            f"in transit: hosts sent {totals['packets']:,} packets on, which waited "
            f"{time_text(totals['wait_mean_ns'])} on average; their buffers held "
            f"{totals['pool_peak_bytes']:,} B at most"
        )


def congestion(result: Result) -> Iterator[str]:
    """Yield lines on congestion trees if the run searched for them, the largest ones by name."""
    totals = result.summary.get("congestion")
    if not totals:
        return
    found = f"trees at {totals['samples_with_trees']:,} of {totals['samples']:,} samples"
    yield f"congestion: {found}, {totals['trees']:,} in all"
    trees = result.table("trees").sort_by(
        [("branches_max", "descending"), ("samples", "descending")]
    )
    for tree in trees.slice(0, TREES_SHOWN).to_pylist():
        root = "a knot without a root" if tree["root"] == "knot" else f"root {tree['root']}"
        end = tree["died_ps"]
        still = end is None or math.isnan(end)
        until = "to the end" if still else f"to {time_text(end / 1e3)}"
        size = f"{counted(tree['branches_max'], 'branch', 'branches')}, {tree['depth']:,} deep"
        flows_of_it = f"fed by {counted(tree['feeding'], 'flow')}"
        yield (
            f"{root}: from {time_text(tree['born_ps'] / 1e3)} {until}; at most {size}, holding "
            f"{counted(tree['hosts'], 'host')}, {flows_of_it}, with "
            f"{counted(tree['victims'], 'victim')}"
        )


def print_classes(result: Result) -> None:
    """Print one row per traffic class; ± is half of a 95 % interval."""
    columns = [
        "class",
        "hosts",
        "offered",
        "accepted",
        "messages",
        "mean latency",
        "p99",
        "verdict",
    ]
    simulated = time_text(result.summary["end_ps"] / 1e3)
    title = f"{result.title}: {simulated} simulated in {result.wall_seconds:.1f} s"
    rows = [row(numbers_of) for numbers_of in result.classes]
    print_table(title, columns, rows, numbers="hosts offered messages p99", tight=True)


def row(numbers: Mapping[str, Any]) -> list[str]:
    """Return the row of a class."""
    offered = numbers["offered_load"]
    return [
        numbers["name"],
        f"{numbers['hosts']:,}",
        "-" if offered is None else number(offered, 3),
        with_interval(numbers["accepted_load"], numbers["accepted_load_half_width"]),
        f"{numbers['messages_followed']:,}",
        time_with_interval(numbers["latency_mean_ns"], numbers["latency_half_width_ns"]),
        percentile_text(numbers["percentiles"], 99.0),
        numbers["verdict"],
    ]


def percentile_text(percentiles: Sequence[Mapping[str, float]], wanted: float) -> str:
    """Return a percentile of latency, or a dash if it was not requested or cannot be estimated."""
    found = [one["latency_ns"] for one in percentiles if one["percentile"] == wanted]
    return time_text(found[0]) if found else "-"
