"""Options of commands that make many runs: how many at a time, and where."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gingham.cli._output import Interrupted, command_given, warn
from gingham.cli._sweep_progress import numbers, sweep_shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from gingham.sweeps import SweepProgress, Workers

workers_option = click.option(
    "-j",
    "--workers",
    type=click.IntRange(1, 1024),
    default=2,
    show_default=True,
    help="Runs at a time on this machine.",
)
on_option = click.option(
    "--on",
    metavar="PLACE",
    help="Where instead: dask://HOST:PORT, or slurm:jobs=4,cores=8,queue=short and the like.",
)
resume_option = click.option("--resume", is_flag=True, help="Make only what the folder lacks.")


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of one that makes a sweep of its own."""
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
    for option in reversed([*chance, workers_option, on_option, resume_option]):
        command = option(command)
    return command


@contextmanager
def workers_at(place: str | None, count: int) -> Iterator[Workers]:
    """Give the workers of a place, or so many of this machine."""
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
    """Give what `run_sweep` needs beside the sweep; an interruption says how to go on."""
    latest: list[SweepProgress] = []
    try:
        with opened as workers, sweep_shown() as show_progress:

            def on_progress(now: SweepProgress) -> None:
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


def to_go_on() -> str:
    """Return the command that was given, as one that goes on with its folder."""
    given = list(command_given.get())
    return shlex.join(["gingham", *given, *([] if "--resume" in given else ["--resume"])])
