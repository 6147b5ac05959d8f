"""Notes of many runs, without duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Note:
    """An unexpected condition in runs of a sweep."""

    text: str
    # Axis values of the points concerned, without duplicates; empty if every run is concerned.
    points: tuple[Mapping[str, Any], ...]


def notes_of(rows: Iterable[Mapping[str, Any]], axes: Sequence[str]) -> list[Note]:
    r"""Return the notes of runs in the order of their first appearance.

    A row has `notes`, one per line, and the values of the axes.

    >>> [one.text for one in notes_of([{"notes": "a\nb"}, {"notes": "b"}, {"notes": None}], [])]
    ['a', 'b']
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    count = 0
    for row in rows:
        count += 1
        for line in (row["notes"] or "").splitlines():
            found.setdefault(line, []).append({name: row[name] for name in axes})
    return [
        Note(line, () if len(points) == count else tuple(each_once(points)))
        for line, points in found.items()
    ]


def each_once(points: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Yield points without duplicates, which replications cause."""
    return {tuple(point.items()): point for point in points}.values()
