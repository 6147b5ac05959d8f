"""`gingham diff`: differences between the results of two runs, or of two points of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gingham._texts import number, unit_for, with_interval
from gingham.cli._layout import text
from gingham.cli._output import exit_code_help, json_option, print_json, print_table, show
from gingham.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gingham.differences import Change, Difference, Side

# Channels shown in text output.
LINKS_SHOWN = 10
# By kind of pairing: the footnote about the source of the differences.
PAIRED = {
    "seeds": "runs of one seed, compared in pairs",
    "time": "one seed on both sides, compared in batches of the time that both windows share",
    None: "independent of each other",
}


@click.command(epilog=exit_code_help(0, 2))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@json_option
def diff(first: str, second: str, as_json: bool) -> None:
    """Say what the runs B measured differently from the runs A, and which links changed.

    A and B are folders of runs, or points of a sweep: its folder, a colon, and the values of its
    axes; or the first digits of the key of one of its runs. Runs of one seed are compared in pairs,
    so that random variation common to both cancels. Every difference has a 95 % interval; a star
    marks a difference beyond it. Links of a sweep are compared if it keeps them (keep = ["links"]).

    \b
    Examples:
      gingham diff runs/up-down runs/shortest
      gingham diff sweeps/two:routing=up-down,load=0.1 sweeps/two:routing=smart,load=0.1
      gingham diff sweeps/two:1f3ac0 sweeps/two:77e2b1 --json
    """
    from gingham.differences import difference

    found = difference(first, second)
    if as_json:
        print_json(found.as_json())
        return
    for name, side in (("A", found.a), ("B", found.b)):
        show(text(f"{name}  {side.place}: {side.title}"))
        show(text(f"   {verdicts(side)}"))
    print_numbers(found)
    print_links(found)


def verdicts(side: Side) -> str:
    """Return the number of runs and their verdicts."""
    told = [run.verdict for run in side.runs.values()]
    counts = ", ".join(f"{told.count(one):,} {one}" for one in dict.fromkeys(told))
    return f"{counted(len(told), 'run')}: {counts}"


def print_numbers(found: Difference) -> None:
    """Print one row per number of a class, channel or source."""
    rows = [
        (one.part, one.column, *shown(one), marked(one.difference, one.half_width))
        for one in found.numbers
    ]
    columns = ("of", "number", "A", "B", "B less A", "in %", "")
    if not rows:
        show(text("no number stands on both sides"))
        return
    hows = dict.fromkeys(one.paired for one in found.numbers)
    below = "; ".join(f"{', '.join(named(found, how))}: {PAIRED[how]}" for how in hows)
    below = PAIRED[next(iter(hows))] if len(hows) == 1 else below
    print_table("Differences", columns, rows, numbers="A B in", tight=True, below=below)


def named(found: Difference, how: str | None) -> Iterator[str]:
    """Yield the names of the numbers that were compared in this way."""
    yield from dict.fromkeys(one.column for one in found.numbers if one.paired == how)


def shown(change: Change) -> tuple[str, str, str, str]:
    """Return both values, the difference with its interval, and its share, as text."""
    share = "-" if change.share is None else f"{100 * change.share:+.1f}"
    name, unit = unit_for(max(change.a, change.b)) if change.column.endswith("_ns") else ("", 1.0)
    half = change.half_width
    difference = number(change.difference / unit)
    if half is not None:
        # In the unit of the values, so that all three are comparable.
        difference = with_interval(change.difference / unit, half / unit)
    a, b, less = (
        f"{value} {name}".rstrip()
        for value in (number(change.a / unit), number(change.b / unit), difference)
    )
    return a, b, less, share


def marked(difference: float, half_width: float | None) -> str:
    """Return a star if a difference is beyond its interval."""
    return "*" if half_width is not None and abs(difference) > half_width else ""


def print_links(found: Difference) -> None:
    """Print the channels with the largest changes."""
    if found.links is None:
        show(text('links: not kept by both sides; a sweep keeps them with keep = ["links"]'))
        return
    changed = found.links_changed
    total = len(found.links)
    if not changed:
        show(text(f"links: none of {total:,} channels changed beyond its interval"))
        return
    rows = [
        (
            one.channel,
            f"{100 * one.a:.1f}",
            f"{100 * one.b:.1f}",
            with_interval(100 * one.difference, 100 * (one.half_width or 0)),
        )
        for one in changed[:LINKS_SHOWN]
    ]
    below = "of 20 channels one would by chance alone"
    if len(changed) > LINKS_SHOWN:
        below += f"; {len(changed) - LINKS_SHOWN:,} more with --json"
    title = f"{len(changed):,} of {total:,} channels changed beyond their intervals: use in %"
    print_table(title, ("channel", "A", "B", "B less A"), rows, numbers="A B", below=below)
