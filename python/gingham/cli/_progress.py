"""Progress of a long run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gingham.cli._output import for_programs, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gingham.result import Progress

# Nothing is shown before; then a line every LINE_SECONDS where there is no terminal.
QUIET_SECONDS = 1.0
LINE_SECONDS = 10.0


@contextmanager
def progress_shown() -> Iterator[Callable[[Progress], None]]:
    """Show the progress of what runs in the block, on the standard error."""
    if sys.stderr.isatty() and not for_programs.get():
        with bar() as on_progress:
            yield on_progress
    else:
        yield lines()


@contextmanager
def bar() -> Iterator[Callable[[Progress], None]]:
    """Show a bar that appears when a run lasts, and goes when it ends."""
    from rich import progress as rich
    from rich.console import Console

    columns = [
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TextColumn("{task.fields[messages]:,} messages"),
        rich.TimeRemainingColumn(),
    ]
    shown = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = shown.add_task("following flits", total=1.0, messages=0)
    with shown:

        def on_progress(now: Progress) -> None:
            shown.update(task, completed=now.fraction, messages=now.messages_delivered)

        yield on_progress


def lines() -> Callable[[Progress], None]:
    """Return what prints a line now and then."""
    start = time.monotonic()
    last = start + QUIET_SECONDS - LINE_SECONDS

    def on_progress(now: Progress) -> None:
        nonlocal last
        moment = time.monotonic()
        if moment - last < LINE_SECONDS or (now.done and moment - start < LINE_SECONDS):
            return
        last = moment
        delivered = now.messages_delivered
        said = f"{100 * now.fraction:.0f} %, {delivered:,} messages delivered"
        say(said, progress=now.fraction, messages_delivered=delivered)

    return on_progress


@contextmanager
def steps_shown(count: int) -> Iterator[Callable[[str, str], None]]:
    """Show how far a work of `count` steps is; told of a step's name and what is done in it."""
    if sys.stderr.isatty() and not for_programs.get():
        with steps_bar(count) as on_step:
            yield on_step
    else:
        yield steps_lines(count)


@contextmanager
def steps_bar(count: int) -> Iterator[Callable[[str, str], None]]:
    """Show a bar that moves when another step begins."""
    from rich import progress as rich
    from rich.console import Console

    columns = [
        rich.SpinnerColumn(),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("{task.description}", markup=False),
    ]
    shown = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = shown.add_task("", total=count)
    begun: list[str] = []
    with shown:

        def on_step(name: str, what: str) -> None:
            if name not in begun:
                begun.append(name)
            shown.update(task, completed=len(begun) - 1, description=f"{name}: {what}")

        yield on_step


def steps_lines(count: int) -> Callable[[str, str], None]:
    """Return what prints a line at the beginning of a step, unless one was printed just now."""
    last = time.monotonic() + QUIET_SECONDS - LINE_SECONDS
    begun: list[str] = []

    def on_step(name: str, what: str) -> None:
        nonlocal last
        if name not in begun:
            begun.append(name)
        moment = time.monotonic()
        if moment - last < LINE_SECONDS:
            return
        last = moment
        done = len(begun) - 1
        say(f"{done} of {count} done; {name}: {what}", done=done, steps=count, step=name, at=what)

    return on_step
