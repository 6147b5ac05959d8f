"""Verdicts of runs: their order, and the ones that describe a steady state."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# From best to worst, as in the schema of the summary.
FROM_BEST = (
    "ok",
    "ok-of-draw",
    "finished",
    "not-converged",
    "saturated",
    "interrupted",
    "deadlocked",
)
# Verdicts on a steady state whose means have intervals, over all random numbers or for one draw.
STEADY = frozenset({"ok", "ok-of-draw"})


def is_steady(verdict: str) -> bool:
    """Return whether a verdict means that the steady state was measured.

    >>> is_steady("ok-of-draw"), is_steady("finished")
    (True, False)
    """
    return verdict in STEADY


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of some verdicts.

    >>> worst(["ok", "saturated", "not-converged"])
    'saturated'
    """
    return max(verdicts, key=FROM_BEST.index)
