"""`gingham run --replications`: several seeds of one scenario, with intervals over the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gingham._texts import is_rounding, number, time_text, time_with_interval, with_interval
from gingham.cli._layout import text
from gingham.cli._output import print_json, print_prose, print_table, show, warn
from gingham.cli._sweep_progress import sweep_shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gingham.replications import Replications
    from gingham.scenario import Scenario


def require_replicable(given: Mapping[str, object]) -> None:
    """Raise `click.BadOptionUsage` for an option that cannot be combined with replications.

    `given` holds the value of each such option that was given, or a false value.
    """
    for option, value in given.items():
        if value:
            message = f"--replications cannot be combined with {option}: leave {option} out"
            raise click.BadOptionUsage(option, message)


def run_replications(
    scenario: Scenario,
    replications: int,
    output: Path | None,
    *,
    allow_deadlock: bool,
    resume: bool,
) -> Replications:
    """Run the replications and show their progress; an interrupt reports the runs that are kept."""
    from gingham.replications import replicate
    from gingham.store import require_place

    if output:
        require_place(output, resume=resume)
    try:
        with sweep_shown() as on_progress:
            return replicate(
                scenario,
                replications,
                allow_deadlock=allow_deadlock,
                output=output,
                resume=resume,
                on_progress=on_progress,
            )
    except KeyboardInterrupt:
        kept = [f"finished runs are kept in {output}; --resume continues them"] if output else []
        raise KeyboardInterrupt(*kept) from None


def print_replications(found: Replications, output: Path | None, *, as_json: bool) -> None:
    """Print the combined results of all runs."""
    if as_json:
        print_json({**found.summary, "output": None if output is None else str(output)})
        return
    for note in found.summary["notes"]:
        warn(note)
    columns = ["class", "hosts", "offered", "accepted", "messages", "mean latency"]
    rows = [row(one) for one in found.classes]
    title = f"{found.scenario.title}: {found.summary['replications']} replications"
    print_table(title, columns, rows, numbers="hosts offered messages", tight=True)
    if found.summary["makespan_ps"] is not None:
        spans = ("makespan_ps", "makespan_half_width_ps")
        mean, half = (found.summary[name] / 1e3 for name in spans)
        # Equal numbers may have means that differ by rounding.
        varies = half and not is_rounding(mean, half)
        span = time_with_interval(mean, half) if varies else time_text(mean)
        show(text(f"makespan: {span}"))
    show(text(f"verdict: {found.verdict}", "bold"))
    print_prose(found.summary["verdict_reason"], indent=2)
    if output:
        show(text(f"written: {output}"))


def row(numbers: Mapping[str, Any]) -> list[str]:
    """Return the row of a class; ± is half of the 95 % interval over replications."""
    offered = numbers["offered_load"]
    accepted = numbers["accepted_load"]
    return [
        numbers["name"],
        f"{numbers['hosts']:,}",
        "-" if offered is None else number(offered, 3),
        "-" if accepted is None else with_interval(accepted, numbers["accepted_load_half_width"]),
        f"{numbers['messages_followed']:,}",
        time_with_interval(numbers["latency_mean_ns"], numbers["latency_half_width_ns"]),
    ]
