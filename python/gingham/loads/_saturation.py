"""Saturation load of a fabric: bisection, separately for each replication.

::

    load 0 ────────── ok ─────────┤      bracket      ├──────── saturated ─────── 1
                                      ▲   ? ? ?   ▲
             next loads of this replication: the middles of the unexplored ranges

A load is below saturation if its run is `ok`, and above if it is `saturated`
(`docs/concepts/measurement.md`). Runs that have not converged are not used: the bracket is narrowed
on both sides of them.

**Order of loads.** The search begins at an eighth of the highest load, or at half the bound of this
traffic on these routes if that is less. If the bound is known, the next loads are 0.9 and 1.1 times
the bound; otherwise, and until a replication is saturated, the load is doubled. Then each step adds
the middles of the brackets. The highest load comes last, for the capacity (`_capacity.py`).

**Interval.** It reaches from the lower end of Student's interval of the lower ends to the upper end
of Student's interval of the upper ends. It never extends beyond the union of the brackets: no
replication was saturated below it, and every one was above it. With few replications Student's
interval is wider than the union (t is 12.7 for two of them, 2.8 for five). The union of n brackets
holds the median of the saturation loads of replications with probability 1 - 2^(1 - n): 50 % for
two, 94 % for five.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.errors import (
    DeadlockError,
    EnvironmentProblem,
    GinghamError,
    InputError,
    InternalError,
)
from gingham.kinds import FABRIC
from gingham.loads._axis import load_axis
from gingham.loads._capacity import Accepted, Capacity, capacity_of
from gingham.results import Interval, interval
from gingham.running import Simulation
from gingham.sweeps import Sweep, run_sweep
from gingham.verdicts import is_steady

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from gingham import scenario
    from gingham.results import Results

# Decimal digits of rounded loads: finer than any tolerance, coarser than rounding errors.
DIGITS = 6
# The first load is at most these shares of the highest load and of the bound.
FIRST_SHARE = 1 / 8
FIRST_SHARE_OF_BOUND = 1 / 2
# Loads around the bound of traffic and routes, as shares of it.
AROUND_BOUND = (0.9, 1.1)


@dataclass(frozen=True)
class Bracket:
    """Result of one replication: `low` is below saturation, `high` above."""

    low: float
    # `None` if no load tried is saturated.
    high: float | None
    # Accepted load of the whole network at `high`.
    accepted: float | None = None
    # Loads between them whose runs did not converge, or ended with their workload.
    unknown: tuple[float, ...] = ()


@dataclass(frozen=True)
class SaturationLoad:
    """The mean of the middles of all brackets, with an interval inside their union."""

    mean: float
    # Ends of the interval; None for one replication.
    low: float | None
    high: float | None
    # Distance from the mean to the farther end.
    half_width: float | None
    # Whether an end comes from the union of the brackets rather than from the 95 % interval, or the
    # interval is all of that union.
    clipped: bool
    count: int


@dataclass(frozen=True)
class Saturation:
    """The saturation load of a scenario, with the capacity."""

    # None if no replication saturates up to `tried`.
    load: SaturationLoad | None
    # Accepted load just above saturation.
    accepted_load: Interval | None
    brackets: tuple[Bracket, ...]
    tried: float
    runs: int
    # Runs without a converged result, which are not used.
    not_converged: int
    # Runs whose workload ended, which have no steady state and are not used.
    finished: int = 0
    # The bound of this traffic on these routes, if the runs report it.
    bound_load: float | None = None
    # The highest accepted load, with its offered load.
    capacity: Accepted | None = None
    # Accepted load at the highest load tried.
    highest: Accepted | None = None
    # Accepted load at the highest load tried, if the network collapses (`_capacity.py`).
    collapse: Accepted | None = None


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
    """Find the saturation load of a scenario, up to `upto`.

    Routes that can deadlock are run with `allow_deadlock`, until one does. `folder` is that of a
    sweep with all runs that were made; `how` is passed to `gingham.sweeps.run_sweep`: `executor`,
    `workers`, `resume`, `on_progress`.
    """
    if not 0 < tolerance < upto <= 1:
        raise InputError(
            f"expected 0 < tolerance < highest load <= 1, and they are {tolerance:g} and {upto:g}",
            key="tolerance",
        )
    tried = {first_load(compiled_bound(base, allow_deadlock), tolerance, upto)}
    while True:
        sweep = saturation_sweep(base, sorted(tried), replications, seed, allow_deadlock)
        results = run_sweep(sweep, Path(folder), **how)
        how["resume"] = True
        brackets = list(read_brackets(results))
        loads = next_loads(brackets, tried, read_bound(results), tolerance, upto)
        if not loads:
            return summary(brackets, results, upto)
        tried |= set(loads)


def compiled_bound(base: scenario.Scenario, allow_deadlock: bool) -> float | None:
    """Return the bound of the traffic on the routes before anything runs.

    Returns `None` if the scenario has none, or cannot be compiled with its own loads: the runs of
    the search then report the reason.
    """
    try:
        result = Simulation(base, allow_deadlock).result(with_tables=False)
    except GinghamError:
        return None
    bound: float | None = FABRIC.row(result)["bound_load"]
    return bound


def first_load(bound: float | None, tolerance: float, upto: float) -> float:
    """Return the first load of the search: below the bound, unless the tolerance is larger.

    >>> first_load(0.1, 0.01, 1.0), first_load(0.5, 0.01, 1.0), first_load(None, 0.01, 1.0)
    (0.05, 0.125, 0.125)
    >>> first_load(0.01, 0.05, 1.0)
    0.05
    """
    shares = [upto * FIRST_SHARE, *([FIRST_SHARE_OF_BOUND * bound] if bound else [])]
    return round(max(min(shares), tolerance), DIGITS)


def next_loads(
    brackets: Sequence[Bracket],
    tried: Collection[float],
    bound: float | None,
    tolerance: float,
    upto: float,
) -> list[float]:
    """Return the loads to try next; none if the search is complete.

    >>> next_loads([Bracket(0.125, None)], {0.125}, 0.25, 0.01, 1.0)
    [0.225, 0.275]
    >>> next_loads([Bracket(0.125, None)], {0.125}, None, 0.01, 1.0)
    [0.25]
    >>> next_loads([Bracket(0.225, 0.275)], {0.125, 0.225, 0.275}, 0.25, 0.1, 1.0)
    [1.0]
    """
    most = max(tried)
    if most < upto and all(one.high is None for one in brackets):
        around = [round(min(share * bound, upto), DIGITS) for share in AROUND_BOUND if bound]
        return [load for load in around if load > most] or [round(min(2 * most, upto), DIGITS)]
    return middles(brackets, tolerance) or ([upto] if most < upto else [])


def read_bound(results: Results) -> float | None:
    """Return the bound of the traffic on its routes, the lowest of all runs."""
    if "bound_load" not in results.columns["runs"]:
        return None
    [bound] = results.query("select min(bound_load) from runs").columns[0].to_pylist()
    return None if bound is None else float(bound)


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
    """Yield the bracket of each replication from its runs so far."""
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
    """Return the bracket of a replication from its runs, sorted by load."""
    high = next((row for row in rows if row["saturated"]), None)
    below = rows[: rows.index(high)] if high else rows
    low = max((row["load"] for row in below if is_steady(row["verdict"])), default=0.0)
    unknown = tuple(row["load"] for row in below if row["load"] > low)
    if high is None:
        return Bracket(low, None, unknown=unknown)
    return Bracket(low, high["load"], high["accepted_load"], unknown)


def require_measured(row: Mapping[str, Any]) -> None:
    """Raise an exception of the matching type for a run that failed or deadlocked."""
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
    """Return the loads to try next; empty if no bracket can be narrowed further.

    >>> middles([Bracket(0.0, 1.0), Bracket(0.5, 1.0), Bracket(0.2, 0.25), Bracket(1.0, None)], 0.1)
    [0.5, 0.75]
    >>> middles([Bracket(0.0, 1.0, unknown=(0.4, 0.5)), Bracket(0.0, None, unknown=(0.1,))], 0.1)
    [0.2, 0.75]
    """
    gaps = [gap for one in brackets for gap in gaps_of(one)]
    wide = [(low, high) for low, high in gaps if high - low > tolerance * (1 + 1e-9)]
    return sorted({round((low + high) / 2, DIGITS) for low, high in wide})


def gaps_of(bracket: Bracket) -> Iterator[tuple[float, float]]:
    """Yield the unexplored ranges of loads of a bracket, except between unknown loads."""
    if bracket.unknown:
        yield bracket.low, bracket.unknown[0]
        if bracket.high is not None:
            yield bracket.unknown[-1], bracket.high
    elif bracket.high is not None:
        yield bracket.low, bracket.high


def summary(brackets: Iterable[Bracket], results: Results, tried: float) -> Saturation:
    """Return the combined result of all brackets, and the capacity from all runs."""
    found = tuple(brackets)
    counted = (
        "select count(*), count(*) filter (verdict = 'not-converged'), "
        "count(*) filter (verdict = 'finished') from runs"
    )
    runs, not_converged, finished = (column[0].as_py() for column in results.query(counted).columns)
    pairs = [(one.low, one.high) for one in found if one.high is not None]
    is_known = len(pairs) == len(found)
    accepted = (
        interval(one.accepted for one in found if one.accepted is not None) if is_known else None
    )
    most = read_capacity(results)
    return Saturation(
        between(pairs) if is_known else None,
        accepted,
        found,
        tried,
        runs,
        not_converged,
        finished,
        bound_load=read_bound(results),
        capacity=most.capacity if most else None,
        highest=most.highest if most else None,
        collapse=most.collapse if most else None,
    )


def read_capacity(results: Results) -> Capacity | None:
    """Return the capacity from the runs."""
    least = "least_served_load" if "least_served_load" in results.columns["runs"] else "null"
    return capacity_of(
        results.query(
            f"select load, accepted_load, {least} as least_served_load from runs order by point"  # noqa: S608  (a name of ours)
        ).to_pylist()
    )


def between(pairs: Iterable[tuple[float, float]]) -> SaturationLoad:
    """Return the mean of the middles of brackets, with an interval inside their union.

    >>> between([(0.25, 0.5)])
    SaturationLoad(mean=0.375, low=None, high=None, half_width=None, clipped=False, count=1)
    """
    ends = list(pairs)
    lows, highs = (interval(values) for values in zip(*ends, strict=True))
    mean = (lows.mean + highs.mean) / 2
    if lows.low is None or highs.high is None:
        return SaturationLoad(mean, None, None, None, clipped=False, count=lows.count)
    union = min(low for low, _ in ends), max(high for _, high in ends)
    low, high = max(lows.low, union[0]), min(highs.high, union[1])
    clipped = low > lows.low or high < highs.high or (low, high) == union
    return SaturationLoad(mean, low, high, max(mean - low, high - mean), clipped, lows.count)
