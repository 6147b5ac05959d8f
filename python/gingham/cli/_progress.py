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
