"""`gingham curve`: latency against accepted load."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham._texts import number, time_text, time_with_interval, with_interval
from gingham.cli import _completion
from gingham.cli._layout import text
from gingham.cli._notes import (
    notes_for_programs,
    tell_notes,
    tell_unasked,
    unasked_runs,
)
from gingham.cli._options import (
    allow_deadlock_option,
    fabric_scenario_argument,
    output_option,
    settings_option,
)
from gingham.cli._output import (
    exit_code_help,
    json_option,
    print_json,
    print_table,
    show,
    warn,
)
from gingham.cli._scenarios import fabric_scenario, with_options
from gingham.cli._workers import session_options, sweep_session, workers_at
from gingham.errors import InternalError, counted
from gingham.loads import CONDITIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.figure import Figure

    from gingham.scenario import Scenario

FAILED = 5
# Columns of the table of points, with the keys of their numbers.
COLUMNS = ("load", "accepted", "least served", "mean latency", "p99", "of which")
NUMBERS = {
    "accepted": "accepted_load",
    "least served": "least_served_load",
    "mean latency": "latency_mean_ns",
    "p99": "latency_p99_ns",
}
# Columns that are omitted if no point has a value.
MAY_LACK = ("least served", "p99")


@click.command(epilog=exit_code_help(0, 2, 5, 6, 130))
@fabric_scenario_argument
@click.option("--load", "loads", required=True, help="Loads: first:last:step, or 0.1,0.2,0.4.")
@click.option("--routing", "routings", default="", help="Algorithms to compare: a,b,c.")
@click.option(
    "--by",
    metavar="KEY=VALUE,...",
    multiple=True,
    help="A curve a value of this key of the scenario; may be given several times.",
    shell_complete=_completion.keys,
)
@click.option(
    "--beside",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Curve of another simulator to draw beside it, a CSV file: accepted_load (or load), "
    "latency_mean_ns; may be given several times.",
)
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the picture to FILE, too: .png, .svg or .pdf.",
)
@click.option("--force", is_flag=True, help="Replace the FILE of --plot.")
@settings_option
@allow_deadlock_option
@session_options
@output_option(help="Folder of results; by default sweeps/NAME-curve.")
@json_option
def curve(
    scenario: str,
    loads: str,
    routings: str,
    by: tuple[str, ...],
    beside: tuple[Path, ...],
    plot: Path | None,
    force: bool,
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
    """Measure latency against accepted load of SCENARIO: a TOML file, or the name of an example.

    Every load is run several times, with the same messages for every routing. Means and 99th
    percentiles have 95 % intervals over these replications. A point with a saturated, deadlocked or
    censored replication (over 1 % of messages not delivered) has no latency: it would only cover
    the messages delivered in time. Several classes of traffic keep their proportions, and their
    loads sum to the one given. The folder has the format of a sweep, with curve.png and curve.csv;
    gingham query answers questions about its runs. --resume adds loads, routings and replications
    to the curve of a folder, if all other settings are equal.

    With --beside, curve.png has the points of another simulator, too. Loads are shares of the
    hosts' links, latencies are nanoseconds from creation to delivery; a column routing names lines,
    and half-widths are those of curve.csv. Points without a latency whose column saturated is above
    0 are marked at the top. With --by, picture and table have a curve for each value, and for each
    combination of the values of several keys.

    \b
    Examples:
      gingham curve torus --load 0.05:0.3:0.05
      gingham curve irregular --load 0.02:0.2:0.02 --routing up-down,shortest-path -o sweeps/two
      gingham curve torus --load 0.05:0.3:0.05 --beside booksim.csv --beside htsim.csv
      gingham curve torus --load 0.05:0.3:0.05 --by network.preset=myrinet-640,myrinet-1280
      gingham curve torus --load 0.05:0.3:0.05 --plot load.pdf
      gingham curve cluster.toml --load 0.05:0.95:0.05 --on slurm:jobs=8,cores=16
    """
    from gingham import loads as of
    from gingham import plots
    from gingham.store import require_place

    base = with_options(fabric_scenario(scenario), settings=settings)
    folder = output or Path("sweeps") / f"{Path(scenario).stem}-curve"
    names = [name.strip() for name in routings.split(",") if name.strip()]
    points = of.load_values(loads)
    lines = dict(map(of.key_values, by))
    others = of.besides(beside)
    require_place(folder, resume=resume)
    if plot:
        require_picture(plot, force=force)
    # Before the runs: a fabric that cannot be built, or a missing network preset, would fail every
    # run.
    network = base.network()
    with sweep_session(folder, workers_at(on, workers)) as how:
        table = of.curve(
            base,
            points,
            folder,
            routings=names,
            by=lines,
            replications=replications,
            seed=seed,
            allow_deadlock=allow_deadlock,
            resume=resume,
            **how,
        )
    # An extended curve has the routings of both, and its heading names them.
    title = title_of(base, routings_in(table), network, list(lines))
    changes = "; ".join(base.changes)
    figure = plots.curve(table, title=title, note=changes, beside=others)
    files = write_files(table, folder, figure)
    if plot:
        plots.save(figure, plot, overwrite=force)
        files["plot"] = str(plot)
    if as_json:
        notes = notes_for_programs(folder)
        told = {
            "network": network,
            "points": table.to_pylist(),
            "notes": notes,
            "unasked": unasked_runs(folder),
            "beside": others,
        }
        print_json({**told, "output": str(folder), **files})
    else:
        tell_notes(folder)
        tell_unasked(folder)
        print_points(table, title, changes)
        show(text(f"written: {folder}, with curve.png and curve.csv"))
        if plot:
            show(text(f"written: {plot}"))
    failed = sum(table["failed"].to_pylist())
    if failed:
        refuse_faults(folder, sum(table["replications"].to_pylist()))
        tell_failures(folder, failed)
        raise click.exceptions.Exit(FAILED)


def title_of(base: Scenario, routings: Sequence[str], network: str, varied: Sequence[str]) -> str:
    """Return the title of a curve, without the keys that differ from line to line."""
    parts = [base.heading(routings)]
    if not any(key.startswith("network") for key in varied):
        parts.append(network)
    if not routings and not any(key.startswith(("routing", "topology")) for key in varied):
        parts.append(base.routes_title())
    return "; ".join([*parts, *([f"by {' and '.join(varied)}"] if varied else [])])


def write_files(table: pa.Table, folder: Path, figure: Figure) -> dict[str, str]:
    """Write picture and table into the folder, replacing earlier ones; return their paths."""
    import pyarrow as pa
    import pyarrow.csv

    from gingham import plots
    from gingham.store import write_file

    picture, csv = folder / "curve.png", folder / "curve.csv"
    write_file(folder, picture.name, plots.picture(figure, "png"))
    buffer = pa.BufferOutputStream()
    pa.csv.write_csv(table, buffer)
    write_file(folder, csv.name, buffer.getvalue().to_pybytes())
    return {"picture": str(picture), "table": str(csv)}


def require_picture(file: Path, *, force: bool) -> None:
    """Reject an unsuitable file for the picture before the runs start."""
    from gingham import plots
    from gingham._files import require_place as require_file_place

    plots.require_ending(file)
    require_file_place(file, overwrite=force)


def routings_in(table: pa.Table) -> list[str]:
    """Return the routings that a table compares; none without such a column."""
    if "routing" not in table.column_names:
        return []
    return list(dict.fromkeys(table["routing"].to_pylist()))


def print_points(table: pa.Table, title: str, changes: str) -> None:
    """Print one row per point; ± is half of a 95 % interval.

    Intervals of the least served load and of the 99th percentile are in curve.csv.
    """
    names = table.column_names
    several = names[: names.index("load")]
    points = table.to_pylist()
    numeric = [name for name in several if isinstance(points[0][name], int | float)]
    shown = [name for name in COLUMNS if name not in MAY_LACK or has(points, NUMBERS[name])]
    rows = [
        [*(point[name] for name in several), *map(partial(cell, point), shown)] for point in points
    ]
    print_table(
        title,
        [*several, *shown],
        rows,
        numbers=[*numeric, "load", "least served", "p99"],
        tight=True,
        below=changes,
    )


def has(points: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Return whether any point has a number in a column."""
    return any(point[column] is not None for point in points)


def cell(point: Mapping[str, Any], column: str) -> str:
    """Return the text of a point in a column; a dash for a missing value."""
    value = point.get(NUMBERS.get(column, "load"))
    if value is None:
        return "-"
    match column:
        case "load" | "least served":
            return number(value, 3 if column == "least served" else 6)
        case "mean latency":
            return time_with_interval(point["latency_mean_ns"], point["latency_half_width_ns"])
        case "p99":
            return time_text(point["latency_p99_ns"])
        case "accepted":
            return with_interval(point["accepted_load"], point["accepted_load_half_width"])
        case _:
            return conditions_text(point)


def conditions_text(point: Mapping[str, Any]) -> str:
    """Return the number of replications of a point in each condition that occurs."""
    counts = [(point[name], name.replace("_", " ")) for name in CONDITIONS]
    shown = [f"{count} {name}" for count, name in counts if count]
    return f"{', '.join(shown)} of {point['replications']}" if shown else ""


def refuse_faults(folder: Path, runs: int) -> None:
    """Raise `InternalError` if every run failed with an internal error."""
    from gingham.results import Results

    found = Results.load(folder).query(
        f"select error from runs where error_type = '{InternalError.__name__}' order by point"  # noqa: S608  (a name of ours)
    )
    if found.num_rows == runs:
        first = found["error"][0].as_py()
        raise InternalError(f"all runs died of a fault of gingham itself; the first: {first}")


def tell_failures(folder: Path, failed: int) -> None:
    """Report the number of failed runs and the reason for the first failure."""
    from gingham.results import Results

    errors = Results.load(folder).query(
        "select error from runs where error is not null order by point limit 1"
    )
    warn(f"{counted(failed, 'run')} could not be made; the first: {errors['error'][0].as_py()}")
