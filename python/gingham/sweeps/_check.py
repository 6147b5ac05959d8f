"""Checks of a sweep before it starts.

The first combination with each alternative is checked; other invalid combinations become failed
runs. For sweep files, values that are only rejected when a run begins, such as a load of 2, are
checked as well: as many runs are begun as a short time allows, except for those that change fabric
or routes, which may take long.
"""

from __future__ import annotations

import re
import time
from itertools import islice
from typing import TYPE_CHECKING

from gingham.errors import GinghamError, InputError, nearest, unknown, unlaid
from gingham.kinds import kind_of
from gingham.scenario import touches
from gingham.sweeps._grid import changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.kinds import Runnable
    from gingham.sweeps._axes import Alternative
    from gingham.sweeps._grid import Grid

# Maximum number of combinations searched for alternatives not yet seen.
COMBINATIONS_MAX = 20_000
# Time for checking values by beginning runs; at least one run is begun.
VALUES_SECONDS = 1.0
# Keys whose values are not checked in this way, because their changes take long to build.
COSTLY = ("topology", "routing")


def check(base: Runnable, grid: Grid) -> None:
    """Raise `InputError` for the first alternative of an axis that the base scenario rejects.

    This also evaluates the filter for the first time.
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


def check_values(base: Runnable, grid: Grid, switches: Sequence[str]) -> None:
    """Raise `InputError` for the first value of an axis that prevents runs from starting."""
    kind = kind_of(base)
    met: set[tuple[int, int]] = set()
    start = time.monotonic()
    for combination in islice(grid.combinations(), COMBINATIONS_MAX):
        new = {(place, id(one)) for place, one in enumerate(combination)} - met
        met |= new
        places = [place for place, _ in sorted(new) if is_cheap(combination[place])]
        if not places:
            continue
        try:
            kind.begin(base.with_(changes(combination)), switches)
        except InputError as error:
            key = re.sub(r"\[(\d+)\]", r".\1", error.key or "?")
            for place in places:
                if any(touches(path, key) for path in combination[place].changes):
                    raise refused(base, grid, combination, [place], error, named=True) from error
        except GinghamError:
            # Errors for other reasons, such as a deadlock, are reported by the runs themselves.
            pass
        if time.monotonic() - start > VALUES_SECONDS:
            return


def is_cheap(alternative: Alternative) -> bool:
    """Whether a run of an alternative has the fabric and the routes of the base."""
    return not any(touches(path, key) for path in alternative.changes for key in COSTLY)


def refused(
    base: Runnable,
    grid: Grid,
    combination: Sequence[Alternative],
    places: Sequence[int],
    error: InputError,
    *,
    named: bool = False,
) -> InputError:
    """Return the error with the axis at fault, and with its value if `named`."""
    place = next((one for one in places if is_refused(base, combination[one])), places[-1])
    axis = grid.axes[place]
    number = axis.alternatives.index(combination[place])
    within = f".values.{number}" if number else ".key"
    words = unlaid(str(error))
    value = f", value {', '.join(map(str, combination[place].values))}" if named else ""
    message = f"axis {place + 1} ({', '.join(axis.columns)}){value}: {words}"
    return error.about(message, f"axis.{place}{within}")


def is_refused(base: Runnable, alternative: Alternative) -> bool:
    """Whether the base rejects an alternative by itself."""
    try:
        base.with_(alternative.changes)
    except InputError:
        return True
    return False


def check_tables(base: Runnable, keep: Sequence[str]) -> None:
    """Raise `InputError` for tables that runs do not have, or that a sweep cannot keep."""
    kind = kind_of(base)
    known = kind.tables()
    for name in keep:
        if name not in known:
            raise InputError(
                unknown("a table of a run", str(name), known),
                key="keep",
                expected=known,
                nearest=nearest(str(name), known),
                code="unknown-table",
            )
    kind.check(base.resolved())
