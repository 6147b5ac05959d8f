"""What of a sweep can be known to be wrong before it starts.

A combination that the scenario refuses is found here if it is the first to use one of its
alternatives, and becomes a failed run otherwise.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from gingham.errors import InputError, nearest, unknown
from gingham.kinds import kind_of
from gingham.sweeps._grid import changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.kinds import Runnable
    from gingham.sweeps._axes import Alternative
    from gingham.sweeps._grid import Grid

# Combinations that are looked through for alternatives that were not met yet.
COMBINATIONS_MAX = 20_000


def check(base: Runnable, grid: Grid) -> None:
    """Raise `InputError` for the first alternative of an axis that the base scenario refuses.

    Asks the filter for the first time, too.
    """
    met: set[tuple[int, int]] = set()
    for combination in islice(grid.combinations(), COMBINATIONS_MAX):
        new = {(place, id(one)) for place, one in enumerate(combination)} - met
        if not new:
            continue
        met |= new
        try:
            base.with_(changes(combination))
        except InputError as error:
            places = sorted(place for place, _ in new)
            raise refused(base, grid, combination, places, error) from error


def refused(
    base: Runnable,
    grid: Grid,
    combination: Sequence[Alternative],
    places: Sequence[int],
    error: InputError,
) -> InputError:
    """Return the error with the axis that is to blame."""
    place = next((one for one in places if is_refused(base, combination[one])), places[-1])
    axis = grid.axes[place]
    number = axis.alternatives.index(combination[place])
    within = f".values.{number}" if number else ".key"
    message = f"axis {place + 1} ({', '.join(axis.columns)}): {error}"
    return error.about(message, f"axis.{place}{within}")


def is_refused(base: Runnable, alternative: Alternative) -> bool:
    """Whether the base refuses an alternative by itself."""
    try:
        base.with_(alternative.changes)
    except InputError:
        return True
    return False


def check_tables(base: Runnable, keep: Sequence[str]) -> None:
    """Raise `InputError` for tables that no run has, or that no sweep can take."""
    kind = kind_of(base)
    known = kind.tables()
    for name in keep:
        if name not in known:
            raise InputError(
                unknown("a table of a run", str(name), known),
                key="keep",
                expected=known,
                nearest=nearest(str(name), known),
            )
    kind.check(base.resolved())
