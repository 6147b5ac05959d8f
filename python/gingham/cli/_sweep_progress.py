"""Progress of a sweep: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING

from gingham.cli._output import say
from gingham.cli._progress import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from gingham.sweeps import SweepProgress

# The first line appears after QUIET_SECONDS, then one every LINE_SECONDS.
QUIET_SECONDS = 2.0
LINE_SECONDS = 10.0
DOING = "making runs"
MINUTE, HOUR, DAY = 60, 3600, 86400


def sweep_shown() -> AbstractContextManager[Callable[[SweepProgress], None]]:
    """Show the progress of a sweep."""
    return shown(bar(), nullcontext(lines()))


@contextmanager
def bar() -> Iterator[Callable[[SweepProgress], None]]:
    """Show a bar with the runs made and to make, the rate, the remaining time, and failures."""
    from rich import progress as rich
    from rich.console import Console

    columns = [
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[pace]}", markup=False),
    ]
    display = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    task = display.add_task(DOING, total=None, pace="")
    with display:

        def on_progress(now: SweepProgress) -> None:
            done = now.resumed + now.done
            display.update(task, total=now.total, completed=done, pace=pace(now))

        yield on_progress


def lines() -> Callable[[SweepProgress], None]:
    """Return a callback that prints a line now and then."""
    last = time.monotonic() + QUIET_SECONDS - LINE_SECONDS

    def on_progress(now: SweepProgress) -> None:
        nonlocal last
        moment = time.monotonic()
        if moment - last < LINE_SECONDS or not now.to_do:
            return
        last = moment
        done = now.resumed + now.done
        say(f"{DOING}: {done:,} of {now.total:,} done; {pace(now)}", doing=DOING, **numbers(now))

    return on_progress


def numbers(now: SweepProgress) -> dict[str, object]:
    """Return the fields of a progress line for programs."""
    left = now.seconds_left
    return {
        "done": now.done,
        "resumed": now.resumed,
        "to_do": now.to_do,
        "runs": now.total,
        "failed": now.failed,
        "running": now.running,
        "runs_per_second": round(now.runs_per_second, 3),
        "seconds_left": None if left is None else round(left, 1),
    }


def pace(now: SweepProgress) -> str:
    """Return rate, remaining time and failures."""
    left = now.seconds_left
    parts = [f"{now.to_do:,} to do"]
    parts += [rate_text(now.runs_per_second)] if now.done else []
    parts += [f"{duration(left)} left"] if left is not None else []
    parts += [f"{now.failed:,} failed"] if now.failed else []
    return ", ".join(parts)


def rate_text(runs_per_second: float) -> str:
    """Return a rate in a suitable unit.

    >>> rate_text(12.34), rate_text(0.5), rate_text(0.001)
    ('12.3 runs/s', '30.0 runs/min', '3.6 runs/h')
    """
    for unit, seconds in (("s", 1), ("min", MINUTE)):
        if runs_per_second * seconds >= 1:
            return f"{runs_per_second * seconds:,.1f} runs/{unit}"
    return f"{runs_per_second * HOUR:,.1f} runs/h"


def duration(seconds: float) -> str:
    """Return a time in everyday units.

    >>> duration(0.4), duration(59), duration(90), duration(7500), duration(200000)
    ('less than 1 s', '59 s', '1 min 30 s', '2 h 5 min', '2 d 7 h')
    """
    if seconds < 1:
        return "less than 1 s"
    units = [("d", DAY), ("h", HOUR), ("min", MINUTE), ("s", 1)]
    for (name, size), (below, small) in pairwise(units):
        if seconds >= size:
            whole, rest = divmod(seconds, size)
            return f"{whole:.0f} {name} {rest // small:.0f} {below}"
    return f"{seconds:.0f} s"
