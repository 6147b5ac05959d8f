"""Notes of the runs of a sweep, each printed once by commands that make many runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gingham.cli._output import warn
from gingham.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Maximum numbers of notes printed, and of points per note.
NOTES_SHOWN = 10
POINTS_SHOWN = 3
# Query that returns the others.
QUERY = "select distinct notes from runs"


def tell_notes(folder: Path) -> None:
    """Print every note of the runs in a folder once, with the points concerned."""
    from gingham.results import Results

    notes = Results.load(folder).notes()
    for note in notes[:NOTES_SHOWN]:
        warn(f"{note.text}{where(note.points)}")
    if len(notes) > NOTES_SHOWN:
        more = f"{len(notes) - NOTES_SHOWN:,} more notes"
        warn(f'{more}: gingham query {folder} "{QUERY}"')


def where(points: tuple[Mapping[str, Any], ...]) -> str:
    """Return the points concerned by a note; an empty text for all points.

    >>> where(({"load": 0.1}, {"load": 0.2}))
    ' (load = 0.1; load = 0.2)'
    """
    if not points:
        return ""
    shown = [named(point) for point in points[:POINTS_SHOWN]]
    rest = len(points) - len(shown)
    return f" ({'; '.join(shown)}{f'; and {rest:,} more points' if rest else ''})"


def named(point: Mapping[str, Any]) -> str:
    """Return the values of a point as text."""
    return ", ".join(f"{name} = {value}" for name, value in point.items())


def notes_for_programs(folder: Path) -> list[dict[str, Any]]:
    """Return the notes of the runs in a folder, for programs."""
    from gingham.results import Results

    return [asdict(note) for note in Results.load(folder).notes()]


def tell_unasked(folder: Path) -> None:
    """Print how many stored runs are not shown, because the sweep no longer contains them."""
    if count := unasked_runs(folder):
        warn(
            f"{counted(count, 'run')} of {folder} {'is' if count == 1 else 'are'} of other points "
            "than those asked for now: kept, and not shown"
        )


def unasked_runs(folder: Path) -> int:
    """Return the number of stored runs that the sweep no longer contains."""
    from gingham.results import Results

    return Results.load(folder).unasked()
