"""`gingham stripe`: runs a striping scenario, and reports goodput with pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham import plots, stripe
from gingham._rundir import interruptible
from gingham._texts import number, time_text, with_interval
from gingham.cli import _completion
from gingham.cli._options import (
    force_option,
    output_option,
    seed_option,
    settings_option,
    strict_option,
)
from gingham.cli._output import (
    exit_code_help,
    json_option,
    print_facts,
    print_json,
    print_table,
    warn,
)
from gingham.cli._progress import STRIPES, progress_shown
from gingham.cli._run import keep, print_verdict, require_picture, tell_written
from gingham.cli._scenarios import stripe_scenario, with_options
from gingham.running import run_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gingham.stripe import StripeResult, StripeScenario

EXIT_CODES = {"interrupted": 130}
STRICT_EXIT_CODES = {"not-converged": 4, "stalled": 4}
# Events recorded for --draw if the scenario records none.
EVENTS_DRAWN = 20_000
PICTURE = click.Path(path_type=Path)
MEGA = 1e6
# Fates of packets of a channel that are not delivered.
LOSSES = ("lost", "dropped", "policed", "discarded")


@click.command(name="stripe", epilog=exit_code_help(0, 2, 4, 6, 130))
@click.argument("scenario", metavar="SCENARIO", shell_complete=_completion.stripe_scenarios)
@settings_option
@seed_option
@click.option("--alone", is_flag=True, help="Also run each channel alone, and compare.")
@strict_option
@click.option("--plot", type=PICTURE, help="Picture to write: the pipe and each channel over time.")
@click.option("--draw", type=PICTURE, help="Picture to write: rounds and markers of a short run.")
@output_option(help="Run folder to write: tables and manifest; `gingham plot` draws it.")
@force_option
@json_option
def stripe_command(
    scenario: str,
    settings: tuple[str, ...],
    seed: int | None,
    alone: bool,
    strict: bool,
    plot: Path | None,
    draw: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Stripe packets over several channels as one pipe, in virtual time, as SCENARIO says.

    SCENARIO is a TOML file, or the name of an example. It describes the channels, the traffic, and
    how packets are striped and reordered. `gingham explain --stripe` lists its keys.

    \b
    Examples that ship with gingham:
      stripe         10 and 20 Mbit/s make 30, in exact order
      stripe-rate-changes  unknown rates that change
      stripe-lossy   a lossy link beside a lossless one
      stripe-rounds  a few packets, one of them lost, to be drawn

    \b
    Examples:
      gingham stripe stripe --alone
      gingham stripe stripe --set channel.1.loss=0.01 --set stripe.reception=none
      gingham stripe stripe-rate-changes --plot rate-changes.png
      gingham stripe stripe-rounds --draw rounds.png
      gingham stripe stripe-lossy --set stripe.repair.tries=0 -o runs/unrepaired --json
    """
    pictures = [picture for picture in (plot, draw) if picture]
    for picture in pictures:
        require_picture(picture, force=force)
    changed = with_options(stripe_scenario(scenario), settings=settings, seed=seed)
    if draw and changed.resolved()["measure"]["events"] == 0:
        changed = changed.with_({"measure.events": EVENTS_DRAWN})
    with run_folder(output, overwrite=force) as folder, interruptible(folder):
        result = run(changed)
        parts = run_alone(changed) if alone and result.verdict != "interrupted" else []
        unread = None if as_json else report(result, parts)
        write_pictures(result, plot, draw, force=force)
        if folder:
            keep(folder, result)
    if unread:
        raise unread
    if as_json:
        own = {"alone": alone_numbers(parts)} if parts else {}
        written = [str(place) for place in (*pictures, output) if place]
        about = {"about": dict(result.about), "written": written}
        print_json({**result.summary, **own, **about})
    else:
        tell_written(pictures, output)
    codes = EXIT_CODES | (STRICT_EXIT_CODES if strict else {})
    raise click.exceptions.Exit(codes.get(result.verdict, 0))


def run(scenario: StripeScenario) -> StripeResult:
    """Run a scenario, and show its progress if it takes time."""
    with progress_shown(STRIPES) as on_progress:
        return stripe.simulate(stripe.StripeSimulation(scenario), on_progress)


def run_alone(scenario: StripeScenario) -> list[StripeResult]:
    """Run a scenario over each of its channels alone, until Ctrl-C."""
    parts = []
    for part in stripe.alone(scenario):
        parts.append(run(part))
        if parts[-1].verdict == "interrupted":
            warn("interrupted; not every channel was run by itself")
            return []
    return parts


def write_pictures(
    result: StripeResult, plot: Path | None, draw: Path | None, *, force: bool
) -> None:
    """Write the requested pictures."""
    if plot:
        plots.save(plots.channels(result), plot, overwrite=force)
    if draw:
        plots.save(plots.rounds(result), draw, overwrite=force)


def alone_numbers(parts: list[StripeResult]) -> dict[str, Any]:
    """Return the goodput of each channel alone, and their sum."""
    goodputs = [useful(part) for part in parts]
    known = [goodput for goodput in goodputs if goodput is not None]
    return {"goodput_bits_per_s": goodputs, "sum_bits_per_s": sum(known)}


def useful(result: StripeResult) -> float | None:
    """Return the goodput of all sources together, in bits per second."""
    goodputs = [one["goodput_bits_per_s"] for one in result.sources]
    return None if None in goodputs else float(sum(goodputs))


def report(result: StripeResult, parts: list[StripeResult]) -> OSError | None:
    """Print the result for people; returns an output error instead of raising it before saving."""
    for note in result.notes:
        warn(note)
    try:
        print_channels(result)
        print_facts([*facts(result.summary), *comparison(result, parts)])
        print_verdict(result)
        sys.stdout.flush()
    except OSError as error:
        return error
    return None


def print_channels(result: StripeResult) -> None:
    """Print one row per channel, with quanta if there are any."""
    has_quanta = any(one["quantum"] is not None for one in result.channels)
    columns = ["channel", "rate", "arrived", "share", "packets", "lost", "waiting max"]
    simulated = time_text(result.summary["end_ns"])
    title = f"{result.title}: {simulated} simulated in {result.wall_seconds:.1f} s"
    rows = [
        [
            one["name"],
            rate_text(one["rate_bits_per_s"]),
            rate_text(one["arrived_bits_per_s"]),
            "-" if one["utilisation"] is None else f"{100 * one['utilisation']:.1f} %",
            f"{one['packets_sent']:,}",
            f"{sum(one[f'packets_{reason}'] for reason in LOSSES):,}",
            f"{one['buffer_packets_max']:,}",
        ]
        for one in result.channels
    ]
    if has_quanta:
        columns.insert(2, "quantum")
        for one, row in zip(result.channels, rows, strict=True):
            row.insert(2, quantum_text(one["quantum"]))
    print_table(title, columns, rows, numbers=columns[1:], tight=True)


def quantum_text(quantum: int | None) -> str:
    """Return a quantum as text; 0 means that the sender has taken the channel out."""
    if quantum is None:
        return "-"
    return f"{quantum:,}" if quantum else "out"


def rate_text(bits_per_s: float | None, half_width: float | None = None) -> str:
    """Return a rate in a readable unit, usually Mbit/s, with its interval if it has one."""
    if bits_per_s is None:
        return "-"
    units = (("Gbit/s", 1e9, 1e10), ("Mbit/s", MEGA, 1e5), ("kbit/s", 1e3, 1e3), ("bit/s", 1, 0))
    unit, size = next((name, size) for name, size, least in units if bits_per_s >= least)
    if half_width is None:
        return f"{number(bits_per_s / size)} {unit}"
    return f"{with_interval(bits_per_s / size, half_width / size)} {unit}"


def facts(numbers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the results of the pipe."""
    half = numbers["goodput_half_width_bits_per_s"]
    goodput = rate_text(numbers["goodput_bits_per_s"], half)
    share = ""
    if numbers["goodput_bits_per_s"] is not None:
        part = numbers["goodput_bits_per_s"] / numbers["capacity_bits_per_s"]
        share = f", {100 * part:.1f} % of the channels' rates"
    yield "goodput", f"{goodput}{share}"
    yield "order", order_text(numbers)
    lost, repaired = numbers["packets_lost"], numbers["packets_repaired"]
    mended = f", {repaired:,} repaired" if repaired else ""
    yield "lost", f"{lost:,} of {numbers['packets_sent']:,} packets{mended}"
    if numbers["packets_refused"]:
        yield "refused", f"{numbers['packets_refused']:,} packets before the sender"
    if numbers["best_channel_multiple"] is not None:
        best = rate_text(numbers["best_channel_alone_bits_per_s"])
        multiple = number(numbers["best_channel_multiple"], 3)
        name = numbers["best_channel_alone"]
        yield "best", f"channel {name} alone {best}; the pipe has {multiple} times that"
    if numbers["delay_mean_ns"] is not None:
        longest = time_text(numbers["delay_max_ns"])
        yield "delay", f"{time_text(numbers['delay_mean_ns'])} mean, {longest} at the most"
    if numbers["recovery_max_ns"]:
        mean, most = (time_text(numbers[f"recovery_{which}_ns"]) for which in ("mean", "max"))
        yield "recovery", f"{mean} after a loss, {most} at the most"
    share = numbers["message_share"]
    if share is not None:
        yield (
            "markers",
            f"{numbers['markers_sent']:,}; messages are {number(100 * share, 2)} % of bytes",
        )


def order_text(numbers: Mapping[str, Any]) -> str:
    """Return a text on the delivery order."""
    late, share = numbers["packets_out_of_order"], numbers["out_of_order_share"]
    if late == 0:
        return "exact"
    in_window = "" if share is None else f", {number(100 * share, 2)} % in the window"
    return f"{late:,} packets out of order{in_window}"


def comparison(result: StripeResult, parts: list[StripeResult]) -> Iterator[tuple[str, str]]:
    """Yield the goodput of each channel alone, and the stripe's share of their sum."""
    if not parts:
        return
    numbers = alone_numbers(parts)
    each = " + ".join(rate_text(goodput) for goodput in numbers["goodput_bits_per_s"])
    whole, together = numbers["sum_bits_per_s"], useful(result)
    share = f", of which the stripe has {100 * together / whole:.1f} %" if together else ""
    yield "alone", f"{each} = {rate_text(whole)}{share}"
