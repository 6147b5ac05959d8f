"""`gingham sweep`: many runs of a scenario, varied along axes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gingham.cli._layout import text
from gingham.cli._mistaken import refuse_mistaken
from gingham.cli._notes import (
    notes_for_programs,
    tell_notes,
    tell_unasked,
    unasked_runs,
)
from gingham.cli._options import output_option
from gingham.cli._output import exit_code_help, json_option, print_json, say, show, warn
from gingham.cli._sweep_progress import duration, numbers, rate_text
from gingham.cli._workers import (
    on_option,
    resume_option,
    sweep_session,
    workers_at,
    workers_option,
)
from gingham.errors import counted

if TYPE_CHECKING:
    from gingham.sweeps import Estimate, Sweep, SweepProgress

FAILED = 5
# Maximum number of errors of failed runs that are printed.
ERRORS_SHOWN = 3
# Permission for routes that can deadlock, in the syntax of a call and of a sweep file.
ALLOW = "(allow_deadlock=True)", "(allow_deadlock = true)"


@click.command(epilog=exit_code_help(0, 2, 5, 6, 130))
@click.argument("file", metavar="SWEEP", type=click.Path(path_type=Path))
@workers_option
@on_option
@resume_option
@click.option(
    "--dry-run", is_flag=True, help="Say how many runs and how long, without making them."
)
@click.option("--yes", is_flag=True, help="Start even a million runs.")
@output_option(help="Folder of results; by default sweeps/ and the name of the file.")
@json_option
def sweep(
    file: Path,
    workers: int,
    on: str | None,
    resume: bool,
    dry_run: bool,
    yes: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Make every run of the sweep file SWEEP: a scenario varied along axes.

    Reports the number of runs and their expected time first. Each finished run is stored at once:
    after any interruption, --resume continues the sweep, also with another sweep file that has more
    points. A run that fails is reported and does not stop the others.

    \b
    A sweep file, load.toml:
      base = "torus"                  # an example, or a scenario file beside it
      replications = 5
      [[axis]]
      key = "traffic.0.load"
      range = { from = 0.05, to = 0.5, step = 0.05 }

    \b
    Examples:
      gingham sweep load.toml --dry-run
      gingham sweep load.toml -o sweeps/load
      gingham sweep load.toml -o sweeps/load --resume -j 8
      gingham sweep load.toml -o sweeps/load --on dask://10.0.0.1:8786
    """
    from gingham.store import require_place
    from gingham.sweeps import Sweep, estimate, execute, runs_of

    refuse_mistaken(file, "sweep")
    planned = Sweep.load(file)
    folder = output or Path("sweeps") / file.stem
    require_place(folder, resume=resume)
    runs = runs_of(planned, many=yes)
    there = runs_there(planned, folder) if resume else 0
    with workers_at(on, workers) as working:
        expected = forecast(planned, estimate(planned, runs), working.count, there)
        announce(planned, expected)
        if dry_run:
            if as_json:
                print_json(expected)
            return
        with sweep_session(folder, nullcontext(working)) as how:
            progress = execute(planned, folder, resume=resume, many=yes, **how)
    if as_json:
        print_json(summary(progress, folder, working.count))
    else:
        report(progress, folder)
    raise click.exceptions.Exit(FAILED if progress.failed else 0)


def runs_there(planned: Sweep, folder: Path) -> int:
    """Return the number of undamaged, successful runs from earlier sessions."""
    from gingham.store import is_sweep, survey
    from gingham.sweeps import keys_of

    if not is_sweep(folder):
        return 0
    keys = list(keys_of(planned))
    found = survey(folder).known(set(keys))
    return sum(key in found for key in keys)


def verdicts_of(folder: Path) -> dict[str, int]:
    """Return the number of the sweep's runs with each verdict, from all sessions."""
    from gingham.results import Results

    counts = Results.load(folder).query(
        "select verdict, count(*) as runs from runs group by verdict order by verdict"
    )
    return {row["verdict"]: row["runs"] for row in counts.to_pylist()}


def announce(planned: Sweep, expected: dict[str, Any]) -> None:
    """Print the planned runs and their expected time."""
    runs = counted(expected["runs"], "run")
    if planned.replications > 1:
        points = counted(expected["runs"] // planned.replications, "point")
        runs += f" ({points} x {planned.replications} replications)"
    there = f", {expected['there']:,} are there" if expected["there"] else ""
    seconds = expected["seconds_expected"]
    on = counted(expected["workers"], "worker")
    about = "" if seconds is None else f", {approximately(seconds)} on {on}"
    say(f"{planned.title}: {runs}{there}{about}", **expected)


def approximately(seconds: float) -> str:
    """Return an estimated time as text."""
    return duration(seconds) if seconds < 1 else f"about {duration(seconds)}"


def forecast(planned: Sweep, expected: Estimate, workers: int, there: int) -> dict[str, Any]:
    """Return the plan and its expected time, for programs."""
    seconds = expected.seconds(workers, max(0, expected.runs - there))
    return {
        "title": planned.title,
        "runs": expected.runs,
        "there": there,
        "replications": planned.replications,
        "axes": planned.columns,
        "workers": workers,
        "seconds_expected": None if seconds is None else round(seconds, 1),
    }


def report(progress: SweepProgress, folder: Path) -> None:
    """Print the results of the sweep."""
    tell_notes(folder)
    tell_unasked(folder)
    verdicts = ", ".join(f"{count:,} {name}" for name, count in verdicts_of(folder).items())
    there = f", {progress.resumed:,} were there" if progress.resumed else ""
    pace = f" in {duration(progress.seconds)}" if progress.done else ""
    pace += f" ({rate_text(progress.runs_per_second)})" if progress.done else ""
    show(text(f"{counted(progress.done, 'run')} made{pace}{there}", "bold"))
    if verdicts:
        show(text(f"  {verdicts}"))
    show(text(f"written: {folder}"))
    if progress.failed:
        warn(f"{counted(progress.failed, 'run')} failed; --resume tries them again")
        if progress.faults:
            which = "all" if progress.faults == progress.failed else f"{progress.faults:,}"
            warn(f"{which} of these by a fault of gingham itself: please report it with the file")
        for error, count in list(progress.errors.items())[:ERRORS_SHOWN]:
            warn(f"{count:,} x {error.replace(*ALLOW)}")


def summary(progress: SweepProgress, folder: Path, workers: int) -> dict[str, Any]:
    """Return the results of the sweep, for programs."""
    return {
        **numbers(progress),
        "verdicts": verdicts_of(folder),
        "notes": notes_for_programs(folder),
        "unasked": unasked_runs(folder),
        "errors": progress.errors,
        "faults": progress.faults,
        "seconds": round(progress.seconds, 3),
        "engine_seconds": round(progress.engine_seconds, 3),
        "workers": workers,
        "output": str(folder),
    }
