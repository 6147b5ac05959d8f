"""`gingham saturation`: search for the saturation load of a scenario."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham._texts import number, percent, with_interval
from gingham.cli._notes import notes_for_programs, tell_notes
from gingham.cli._options import (
    allow_deadlock_option,
    fabric_scenario_argument,
    output_option,
    settings_option,
)
from gingham.cli._output import exit_code_help, json_option, print_facts, print_json, warn
from gingham.cli._scenarios import fabric_scenario, with_options
from gingham.cli._workers import session_options, sweep_session, workers_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gingham.loads import Accepted, Saturation, SaturationLoad
    from gingham.results import Interval


@click.command(epilog=exit_code_help(0, 2, 3, 6, 130))
@fabric_scenario_argument
@click.option(
    "--tolerance",
    type=click.FloatRange(1e-5, 0.5),
    default=0.01,
    show_default=True,
    help="Width of the bracket around the load: a difference of loads, not a fraction.",
)
@click.option(
    "--upto",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    default=1.0,
    show_default=True,
    help="Highest load to try.",
)
@settings_option
@allow_deadlock_option
@session_options
@output_option(help="Folder of results; by default sweeps/NAME-saturation.")
@json_option
def saturation(
    scenario: str,
    tolerance: float,
    upto: float,
    settings: tuple[str, ...],
    allow_deadlock: bool,
    replications: int,
    seed: int,
    workers: int,
    on: str | None,
    resume: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the saturation load of SCENARIO: a TOML file, or the name of an example.

    The search begins below the bound of the traffic on its routes, continues around it, and then
    bisects, separately for each replication, down to the tolerance. The verdict of a run decides:
    ok is below saturation, saturated is above. Runs that did not converge or whose workload ended
    are not used, and leave the interval wider. The 95 % interval over replications includes the
    remaining uncertainty, and is clipped to the union of the brackets of all replications. Several
    classes of traffic keep their proportions, and their loads sum to the one found.

    The capacity is the highest accepted load at any offered load. At the highest offered load a
    network may accept less: it collapses if the difference exceeds the intervals and a twentieth of
    the capacity.

    \b
    Examples:
      gingham saturation torus
      gingham saturation torus --set routing.algorithm=dimension-order --tolerance 0.002
      gingham saturation cluster.toml --replications 10 --on dask://10.0.0.1:8786
    """
    from gingham import loads
    from gingham.store import require_place

    base = with_options(fabric_scenario(scenario), settings=settings)
    folder = output or Path("sweeps") / f"{Path(scenario).stem}-saturation"
    require_place(folder, resume=resume)
    network = base.network()
    with sweep_session(folder, workers_at(on, workers)) as how:
        found = loads.saturation(
            base,
            folder,
            tolerance=tolerance,
            upto=upto,
            replications=replications,
            seed=seed,
            allow_deadlock=allow_deadlock,
            resume=resume,
            **how,
        )
    if as_json:
        print_json({"network": network, **for_programs(found, folder)})
        return
    print_facts(
        [("network", network), ("routes", base.routes_title()), *facts(found, folder, tolerance)]
    )
    if found.not_converged:
        warn(
            f"{found.not_converged} of {found.runs} runs did not converge and are not read: longer "
            "runs, such as a larger stop.time, give a narrower answer"
        )
    if found.finished:
        warn(
            f"{found.finished} of {found.runs} runs ended with their workload and are not used: "
            "only traffic that lasts until stop.time has a saturation load"
        )
    tell_notes(folder)


def facts(found: Saturation, folder: Path, tolerance: float) -> list[tuple[str, object]]:
    """Return the results for people."""
    rows: list[tuple[str, object]] = []
    if found.load is None:
        rows.append(("saturation load", f"above {min(one.low for one in found.brackets):g}"))
        rows.extend(("", line) for line in open_brackets(found))
    elif not any(one.low for one in found.brackets):
        highest = max(one.high for one in found.brackets if one.high is not None)
        rows.append(("saturation load", f"below {number(highest)}: no run below it was ok"))
        rows.append(("", "longer runs, such as a larger stop.time, may find one that is"))
        rows.append(("replications", brackets_text(found, tolerance)))
    else:
        rows.append(("saturation load", load_text(found.load)))
        rows.append(("replications", brackets_text(found, tolerance)))
    if found.bound_load is not None:
        rows.append(("bound of the routes", f"{number(found.bound_load)}"))
    if found.accepted_load is not None:
        rows.append(("accepted just above", interval_text(found.accepted_load)))
    rows.extend(capacity_rows(found))
    return [*rows, ("runs", found.runs), ("written", folder)]


def capacity_rows(found: Saturation) -> Iterator[tuple[str, str]]:
    """Yield the capacity, and the accepted load at the highest offered load."""
    if found.capacity is None or found.highest is None:
        return
    yield "capacity", accepted_text(found.capacity)
    if found.highest.load > found.capacity.load:
        yield (
            ("collapse" if found.collapse else "at the highest load"),
            accepted_text(found.highest),
        )
    if found.collapse:
        share = percent(found.collapse.accepted_load.mean / found.capacity.accepted_load.mean)
        at = f"{found.collapse.load:g}"
        yield "", f"the network collapses: at a load of {at} it accepts {share} of its capacity"


def accepted_text(accepted: Accepted) -> str:
    """Return the accepted load at an offered load, with that of the least served sender or flow."""
    text = f"{interval_text(accepted.accepted_load)} at a load of {accepted.load:g}"
    if accepted.least_served_load is None:
        return text
    return f"{text}, least served {interval_text(accepted.least_served_load)}"


def load_text(found: SaturationLoad) -> str:
    """Return the saturation load with its interval."""
    if found.low is None or found.high is None:
        return f"{number(found.mean)}, of one replication"
    kind = "brackets of all replications" if found.clipped else "95 % interval"
    return f"{number(found.mean)}, between {number(found.low)} and {number(found.high)} ({kind})"


def open_brackets(found: Saturation) -> Iterator[str]:
    """Yield the reasons why the saturation load is unknown, by replication."""
    still_open = [one for one in found.brackets if one.high is None]
    taken = sum(not one.unknown for one in still_open)
    if taken:
        yield f"{taken} of {len(found.brackets)} replications take all that was tried"
    if untold := len(still_open) - taken:
        yield (
            f"{untold} of {len(found.brackets)} replications cannot tell above that: "
            f"their runs {why_unused(found)}, and none is saturated"
        )


def why_unused(found: Saturation) -> str:
    """Return the reason why runs are neither below nor above saturation."""
    counts = {"did not converge": found.not_converged, "ended with their workload": found.finished}
    return " or ".join(why for why, count in counts.items() if count)


def interval_text(found: Interval) -> str:
    """Return a mean with its interval."""
    return with_interval(found.mean, found.half_width)


def brackets_text(found: Saturation, tolerance: float) -> str:
    """Return the brackets of the replications, each once, and whether all are narrow enough."""
    counts = Counter((one.low, one.high or 1.0) for one in found.brackets)
    parts = [
        f"{count if len(counts) > 1 else 'each'} between {number(low)} and {number(high)}"
        for (low, high), count in sorted(counts.items())
    ]
    wide = sum(
        count for (low, high), count in counts.items() if high - low > tolerance * (1 + 1e-9)
    )
    if not wide:
        return ", ".join(parts)
    which = "" if wide == len(found.brackets) else f" by {wide} of {len(found.brackets)}"
    return f"{', '.join(parts)}; tolerance of {tolerance:g} not reached{which}"


def for_programs(found: Saturation, folder: Path) -> dict[str, Any]:
    """Return the results for programs."""
    return {**asdict(found), "notes": notes_for_programs(folder), "output": str(folder)}
