"""Progress of a long run: a bar on a terminal, plain lines elsewhere.

Both name the current activity first, then the progress.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, TypeVar

from gingham.cli._output import for_programs, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from gingham.running import AnyProgress

T = TypeVar("T")

# Time without output at first; then, without a terminal, a line every LINE_SECONDS.
QUIET_SECONDS = 1.0
LINE_SECONDS = 10.0


@dataclass(frozen=True)
class Work:
    """Descriptions of the work of a run."""

    doing: str
    # Description until the first progress.
    before: str
    # Unit of progress, and the field of the progress object that counts it.
    counted: str
    field: str


FLITS = Work(
    "following flits",
    "making the fabric, its routes and their proof",
    "messages",
    "messages_delivered",
)
STRIPES = Work("sending packets", "making the channels", "packets", "packets_delivered")


@contextmanager
def shown(bar: AbstractContextManager[T], lines: AbstractContextManager[T]) -> Iterator[T]:
    """Show progress on the standard error: as a bar if it is a terminal, otherwise as lines."""
    with bar if sys.stderr.isatty() and not for_programs.get() else lines as on_progress:
        yield on_progress


def progress_shown(
    work: Work = FLITS,
) -> AbstractContextManager[Callable[[AnyProgress], None]]:
    """Show the progress of the work in the block, including its preparation."""
    return shown(bar(work), announced(work))


@contextmanager
def announced(work: Work) -> Iterator[Callable[[AnyProgress], None]]:
    """Yield a callback that prints a line now and then; announces work without early progress."""
    context = copy_context()
    timer = Timer(QUIET_SECONDS, lambda: context.run(say, work.before, doing=work.before))
    timer.daemon = True
    tell = lines(work)

    def on_progress(now: AnyProgress) -> None:
        timer.cancel()
        tell(now)

    timer.start()
    try:
        yield on_progress
    finally:
        timer.cancel()


@contextmanager
def bar(work: Work) -> Iterator[Callable[[AnyProgress], None]]:
    """Show a bar that appears if a run takes time, and disappears when it ends."""
    from rich import progress as rich
    from rich.console import Console

    columns = [
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TextColumn(f"{{task.fields[count]:,}} {work.counted}"),
        rich.TimeRemainingColumn(),
    ]
    display = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = display.add_task(work.before, total=1.0, count=0)
    with display:

        def on_progress(now: AnyProgress) -> None:
            count = getattr(now, work.field)
            display.update(task, completed=now.fraction, count=count, description=work.doing)

        yield on_progress


def lines(work: Work) -> Callable[[AnyProgress], None]:
    """Return a callback that prints a line now and then."""
    start = time.monotonic()
    last = start + QUIET_SECONDS - LINE_SECONDS

    def on_progress(now: AnyProgress) -> None:
        nonlocal last
        moment = time.monotonic()
        if moment - last < LINE_SECONDS or (now.done and moment - start < LINE_SECONDS):
            return
        last = moment
        delivered = getattr(now, work.field)
        share = 100 * now.fraction
        far = f"{share:.{0 if share >= 1 else 4}f} %"
        said = f"{work.doing}: {far}, {delivered:,} {work.counted} delivered"
        if 0 < now.fraction < 1:
            said += f", {left_text((moment - start) * (1 / now.fraction - 1))} left"
        say(said, doing=work.doing, progress=now.fraction, **{work.field: delivered})

    return on_progress


def left_text(seconds: float) -> str:
    """Return the remaining time of a run, in one unit."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"about {seconds / length:,.0f} {unit}"
    return f"about {seconds:.0f} s"


def steps_shown(count: int) -> AbstractContextManager[Callable[[str, str], None]]:
    """Show progress over `count` steps; the callback takes a step's name and activity."""
    return shown(steps_bar(count), nullcontext(steps_lines(count)))


@contextmanager
def steps_bar(count: int) -> Iterator[Callable[[str, str], None]]:
    """Show a bar that advances when another step begins."""
    from rich import progress as rich
    from rich.console import Console

    columns = [
        rich.SpinnerColumn(),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TextColumn("{task.description}", markup=False),
    ]
    display = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = display.add_task("", total=count)
    begun: list[str] = []
    with display:

        def on_step(name: str, what: str) -> None:
            if name not in begun:
                begun.append(name)
            display.update(task, completed=len(begun) - 1, description=f"{name}: {what}")

        yield on_step


def steps_lines(count: int) -> Callable[[str, str], None]:
    """Return a callback that prints a line at the start of a step, unless one was just printed."""
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
