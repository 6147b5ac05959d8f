"""The load at which a fabric saturates: bisection, for each replication by itself.

::

    load 0 ────────── ok ─────────┤      bracket      ├──────── saturated ─────── 1
                                      ▲   ? ? ?   ▲
             the next runs of this replication, in the middles between what is known

A replication takes a load if its run is `ok`, and does not if it is `saturated`
(`docs/concepts/measurement.md`). What has not converged tells neither, and is not read: the bracket
is narrowed on both sides of it. Each step adds the middles to the loads of one sweep and makes its
missing runs; brackets mostly share them. The saturation load lies, for each replication, in a
bracket that is no wider than the tolerance, but for what its runs could not tell; the interval
reaches from the lower end of Student's interval of the lower ends to the upper one of the upper
ends, so that it holds both what replications differ by and what is left open.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.errors import DeadlockError, EnvironmentProblem, InputError, InternalError
from gingham.loads._axis import load_axis
from gingham.results import Interval, interval
from gingham.sweeps import Sweep, run_sweep
from gingham.verdicts import is_steady

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gingham import scenario
    from gingham.results import Results

# Loads have so many digits: more than any tolerance, fewer than rounding errors.
DIGITS = 6


@dataclass(frozen=True)
class Bracket:
    """What one replication says: it takes `low`, and not `high`."""

    low: float
    # None if it takes every load that was tried.
    high: float | None
    # What the network accepted at `high`, in all.
    accepted: float | None = None
    # Loads between them of which its runs could not tell: they did not converge.
    unknown: tuple[float, ...] = ()


@dataclass(frozen=True)
class Saturation:
    """The load at which a scenario saturates."""

    # Mean of the middles of all brackets, and the interval that holds the saturation load; None if
    # a replication takes every load up to `tried`.
    load: Interval | None
    # What the network accepts just above it.
    accepted_load: Interval | None
    brackets: tuple[Bracket, ...]
    tried: float
    runs: int
    # Of these, runs in which too little was measured to be sure, and which are not read.
    not_converged: int


def saturation(
    base: scenario.Scenario,
    folder: str | os.PathLike[str],
    *,
    replications: int = 5,
    tolerance: float = 0.01,
    upto: float = 1.0,
    seed: int = 1,
    allow_deadlock: bool = False,
    **how: Any,
) -> Saturation:
    """Find the load, at most `upto`, from which on a scenario saturates.

    Routes that can deadlock are run with `allow_deadlock`, until one does.
    `folder` is that of a sweep with all runs that were made; `how` goes to
    `gingham.sweeps.run_sweep`: `executor`, `workers`, `resume`, `on_progress`.
    """
    if not 0 < tolerance < upto <= 1:
        raise InputError(
            f"expected 0 < tolerance < highest load <= 1, and they are {tolerance:g} and {upto:g}",
            key="tolerance",
        )
    tried = {upto}
    while True:
        sweep = saturation_sweep(base, sorted(tried), replications, seed, allow_deadlock)
        results = run_sweep(sweep, Path(folder), **how)
        how["resume"] = True
        brackets = list(read_brackets(results))
        loads = middles(brackets, tolerance)
        if not loads:
            return summary(brackets, results, upto)
        tried |= set(loads)


def saturation_sweep(
    base: scenario.Scenario,
    loads: Iterable[float],
    replications: int,
    seed: int,
    allow_deadlock: bool = False,
) -> Sweep:
    """Return the sweep of these loads."""
    values = {
        "title": f"{base.title}: saturation",
        "axis": [load_axis(base, list(loads))],
        "replications": replications,
        "seed": seed,
        "allow_deadlock": allow_deadlock,
    }
    return Sweep.make(values, base=base, name=base.name)


def read_brackets(results: Results) -> Iterable[Bracket]:
    """Yield the bracket of each replication, by its runs so far."""
    rows = results.query(
        "select replication, load, verdict, verdict_reason, error, error_type, accepted_load, "
        "key in (select key from classes where verdict = 'saturated') as saturated "
        "from runs order by replication, load"
    ).to_pylist()
    found: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        require_measured(row)
        found.setdefault(row["replication"], []).append(row)
    yield from map(bracket_of, found.values())


def bracket_of(rows: Sequence[Mapping[str, Any]]) -> Bracket:
    """Return the bracket of a replication, by its runs in the order of their loads."""
    high = next((row for row in rows if row["saturated"]), None)
    below = rows[: rows.index(high)] if high else rows
    low = max((row["load"] for row in below if is_steady(row["verdict"])), default=0.0)
    unknown = tuple(row["load"] for row in below if row["load"] > low)
    if high is None:
        return Bracket(low, None, unknown=unknown)
    return Bracket(low, high["load"], high["accepted_load"], unknown)


def require_measured(row: Mapping[str, Any]) -> None:
    """Raise what a run that measured no load is the fault of."""
    if row["error"] is not None:
        message = f"load {row['load']:g}: {row['error']}"
        if row["error_type"] == InputError.__name__:
            raise InputError(message, key="load")
        known = {one.__name__: one for one in (DeadlockError, EnvironmentProblem)}
        if kind := known.get(row["error_type"]):
            raise kind(message)
        raise InternalError(f"this is a fault of gingham itself: {message}")
    if row["verdict"] == "deadlocked":
        raise DeadlockError(f"load {row['load']:g}: {row['verdict_reason']}")


def middles(brackets: Iterable[Bracket], tolerance: float) -> list[float]:
    """Return the loads to try next: none if every bracket is as narrow as its runs can tell.

    >>> middles([Bracket(0.0, 1.0), Bracket(0.5, 1.0), Bracket(0.2, 0.25), Bracket(1.0, None)], 0.1)
    [0.5, 0.75]
    >>> middles([Bracket(0.0, 1.0, unknown=(0.4, 0.5)), Bracket(0.0, None, unknown=(0.1,))], 0.1)
    [0.2, 0.75]
    """
    gaps = [gap for one in brackets for gap in gaps_of(one)]
    wide = [(low, high) for low, high in gaps if high - low > tolerance * (1 + 1e-9)]
    return sorted({round((low + high) / 2, DIGITS) for low, high in wide})


def gaps_of(bracket: Bracket) -> Iterator[tuple[float, float]]:
    """Yield the ranges of loads of a bracket in which no run was made, but between unknown ones."""
    if bracket.unknown:
        yield bracket.low, bracket.unknown[0]
        if bracket.high is not None:
            yield bracket.unknown[-1], bracket.high
    elif bracket.high is not None:
        yield bracket.low, bracket.high


def summary(brackets: Iterable[Bracket], results: Results, tried: float) -> Saturation:
    """Return what all brackets say together."""
    found = tuple(brackets)
    counted = "select count(*), count(*) filter (verdict = 'not-converged') from runs"
    runs, not_converged = (column[0].as_py() for column in results.query(counted).columns)
    pairs = [(one.low, one.high) for one in found if one.high is not None]
    if len(pairs) < len(found):
        return Saturation(None, None, found, tried, runs, not_converged)
    accepted = interval(one.accepted for one in found if one.accepted is not None)
    return Saturation(between(pairs), accepted, found, tried, runs, not_converged)


def between(pairs: Iterable[tuple[float, float]]) -> Interval:
    """Return the mean of the middles, with an interval that holds those of both ends.

    >>> between([(0.25, 0.5)])
    Interval(mean=0.375, half_width=None, count=1)
    """
    lows, highs = (interval(ends) for ends in zip(*pairs, strict=True))
    mean = (lows.mean + highs.mean) / 2
    if lows.low is None or highs.high is None:
        return Interval(mean, None, lows.count)
    return Interval(mean, max(mean - lows.low, highs.high - mean), lows.count)
