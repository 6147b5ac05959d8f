"""Options of commands that make many runs: number of concurrent runs, and their location."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gingham.cli._options import no_threads
from gingham.cli._output import Interrupted, command_given, warn
from gingham.cli._sweep_progress import numbers, sweep_shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from gingham.sweeps import SweepProgress, Workers

# Maximum number of damaged files that are named.
DAMAGED_SHOWN = 20

on_option = click.option(
    "--on",
    metavar="PLACE",
    help="Run elsewhere: dask://HOST:PORT, or slurm:jobs=4,cores=8,queue=short and the like.",
)
resume_option = click.option(
    "--resume", is_flag=True, help="Make only the runs that the folder lacks."
)


def workers_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option for the number of concurrent runs."""
    number: Callable[..., Callable[..., Any]] = click.option(
        "-j",
        "--workers",
        type=click.IntRange(1, 1024),
        default=2,
        show_default=True,
        help="Runs at a time on this machine.",
    )
    refused = no_threads("How many at a time is said by -j or --workers", "--threads", "--jobs")
    return number(refused(command))


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that makes a sweep."""
    chance = [
        click.option(
            "--replications",
            type=click.IntRange(1, 1000),
            default=5,
            show_default=True,
            help="Runs of each point, with random numbers of their own.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0, 2**63 - 1),
            default=1,
            show_default=True,
            help="Seed of all replications.",
        ),
    ]
    options: list[Callable[..., Any]] = [*chance, workers_option, on_option, resume_option]
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def workers_at(place: str | None, count: int) -> Iterator[Workers]:
    """Yield the workers of a location, or `count` workers of this machine."""
    from gingham.sweeps import Workers, workers_on

    if place is None:
        yield Workers(None, count)
        return
    if place.startswith("slurm"):
        warn("waiting for the first job of Slurm to start; Ctrl-C withdraws all of them")
    with workers_on(place) as workers:
        yield workers


@contextmanager
def sweep_session(
    folder: Path, opened: AbstractContextManager[Workers]
) -> Iterator[dict[str, Any]]:
    """Yield arguments for `run_sweep`; an interruption reports the command that continues."""
    latest: list[SweepProgress] = []
    try:
        with opened as workers, sweep_shown() as show_progress:

            def on_progress(now: SweepProgress) -> None:
                if not latest:
                    tell_damage(now.damaged)
                latest[:] = [now]
                show_progress(now)

            yield {
                "executor": workers.executor,
                "workers": workers.count,
                "on_progress": on_progress,
            }
    except KeyboardInterrupt:
        counted: dict[str, Any] = numbers(latest[0]) if latest else {"done": 0, "resumed": 0}
        kept = counted["done"] + counted["resumed"]
        message = f"interrupted; {kept:,} runs are kept in {folder}\n  to go on: {to_go_on()}"
        raise Interrupted(message, counted) from None


def tell_damage(damaged: Sequence[str]) -> None:
    """Warn of damaged files, whose runs are made again."""
    for one in damaged[:DAMAGED_SHOWN]:
        warn(f"{one}; it is set aside and made again")
    if len(damaged) > DAMAGED_SHOWN:
        warn(f"and {len(damaged) - DAMAGED_SHOWN:,} more files that are made again")


def to_go_on() -> str:
    """Return the present command line with the option that continues in its folder."""
    given = list(command_given.get())
    return shlex.join(["gingham", *given, *([] if "--resume" in given else ["--resume"])])
