"""Estimate of a sweep's duration from short runs of a few of its points.

A few points from all over the grid run for a moment, with the concurrency of the sweep; the
simulated share of each run is extrapolated. The estimate is rough: a run ended by a stop rule takes
less, and one with growing queues takes more.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from gingham.errors import GinghamError
from gingham.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.kinds import Runnable
    from gingham.sweeps._sweep import Point, Sweep

# Number of points that are begun, and time for each.
POINTS = 8
MOMENT_SECONDS = 0.25
# A sweep of fewer runs needs no estimate.
RUNS_MIN = 10


@dataclass(frozen=True)
class Estimate:
    """Estimated duration of a sweep."""

    runs: int
    # Mean time of a run on one worker; `None` if no point could be begun.
    seconds_a_run: float | None
    points_begun: int

    def seconds(self, workers: int, runs: int | None = None) -> float | None:
        """Return the time for all runs, or for `runs` of them, on this number of workers."""
        if self.seconds_a_run is None:
            return None
        count = self.runs if runs is None else runs
        return self.seconds_a_run * count / min(workers, max(1, count))


def estimate(sweep: Sweep, runs: int, workers: int = 2) -> Estimate:
    """Estimate the duration of the `runs` of a sweep from a few of them."""
    if runs < RUNS_MIN:
        return Estimate(runs, None, 0)
    points = sample(sweep, runs)
    with ThreadPoolExecutor(workers) as pool:
        scenarios = [point.scenario() for point in points]
        measured = list(pool.map(lambda one: seconds_of(one, sweep.switches), scenarios))
    known = [seconds for seconds in measured if seconds is not None]
    return Estimate(runs, sum(known) / len(known) if known else None, len(points))


def sample(sweep: Sweep, runs: int) -> Sequence[Point]:
    """Return a reproducible choice of points from all over the sweep."""
    chosen = sorted(random.Random(0).sample(range(runs), min(POINTS, runs // 5)))  # noqa: S311
    points = sweep.points()
    steps = [b - a for a, b in zip([-1, *chosen], chosen, strict=False)]
    return [next(islice(points, step - 1, None)) for step in steps]


def seconds_of(scenario: Runnable, switches: Sequence[str]) -> float | None:
    """Return the extrapolated duration of a run, or `None` if it cannot begin."""
    start = time.perf_counter()
    try:
        run = kind_of(scenario).begin(scenario, switches)
    except GinghamError:
        return None
    begun = time.perf_counter()
    fraction, done = 0.0, False
    while not done and time.perf_counter() - begun < MOMENT_SECONDS:
        progress = run.advance()
        fraction, done = progress.fraction, progress.done
    spent = time.perf_counter() - begun
    whole = spent if done else spent / fraction if fraction > 0 else None
    return None if whole is None else begun - start + whole
