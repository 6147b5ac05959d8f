"""What of a sweep can be known to be wrong before it starts.

A combination that the scenario refuses is found here if it is the first to use one of its
alternatives, and becomes a failed run otherwise. Of sweeps in files that holds for values, too,
which only the beginning of a run refuses, such as a load of 2: as many as can be begun in a moment
are, but for those that change fabric or routes, which may take long to make.
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

# Combinations that are looked through for alternatives that were not met yet.
COMBINATIONS_MAX = 20_000
# How long runs are begun to see whether their values can be; one is begun whatever it takes.
VALUES_SECONDS = 1.0
# Keys of which no value is checked so: what they change takes long to make.
COSTLY = ("topology", "routing")


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


def check_values(base: Runnable, grid: Grid, switches: Sequence[str]) -> None:
    """Raise `InputError` for the first value of an axis that no run can have."""
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
            # What runs cannot be for other reasons, such as a deadlock, they say themselves.
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
    """Return the error with the axis that is to blame, and with its value where `named`."""
    place = next((one for one in places if is_refused(base, combination[one])), places[-1])
    axis = grid.axes[place]
    number = axis.alternatives.index(combination[place])
    within = f".values.{number}" if number else ".key"
    words = unlaid(str(error))
    value = f", value {', '.join(map(str, combination[place].values))}" if named else ""
    message = f"axis {place + 1} ({', '.join(axis.columns)}){value}: {words}"
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
                code="unknown-table",
            )
    kind.check(base.resolved())
