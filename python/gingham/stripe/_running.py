"""One striping run: `gingham.stripe.run`.

::

    Scenario ──compile──► Simulation ──advance──► ... ──advance──► StripeResult ──► run folder
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham import tables
from gingham._native import CoreStripeSimulation
from gingham._rundir import RunFolder
from gingham.loading import load_as
from gingham.running import ignore, interruption, require_same_files
from gingham.stripe._result import StripeResult
from gingham.stripe._scenario import Scenario

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

# Between two calls signals are answered and progress is shown; a call takes about 20 ms.
EVENTS_PER_CALL = 50_000


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    # From 0 to 1.
    fraction: float
    now_ps: int
    packets_delivered: int
    packets_under_way: int
    done: bool


@dataclass
class Simulation:
    """A run under way; `run` is all that most programs need.

    Making one checks the scenario and reads the files that it names: `InputError` if it cannot
    be run.
    """

    scenario: Scenario
    wall_seconds: float = 0.0
    about: dict[str, Any] = field(init=False)
    _core: CoreStripeSimulation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compile the scenario."""
        start = time.perf_counter()
        self._core = CoreStripeSimulation(self.scenario._core)  # noqa: SLF001
        self.about = self._core.about()
        require_same_files(self.scenario, self.about)
        self.wall_seconds += time.perf_counter() - start

    def advance(self, events_max: int = EVENTS_PER_CALL) -> Progress:
        """Simulate at most `events_max` events; the size of a call never changes a result."""
        start = time.perf_counter()
        progress = Progress(*self._core.advance(events_max))
        self.wall_seconds += time.perf_counter() - start
        return progress

    def result(self, *, with_tables: bool = True) -> StripeResult:
        """Return what was measured so far; its numbers alone take less time than its tables."""
        if not with_tables:
            summary = self._core.summary()
            return StripeResult(self.scenario, summary, self.about, self.wall_seconds, {})
        summary, rows = self._core.record()
        makers = {name: partial(tables.from_columns, columns) for name, columns in rows}
        return StripeResult(self.scenario, summary, self.about, self.wall_seconds, makers)


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    on_progress: Callable[[Progress], object] | None = None,
) -> StripeResult:
    """Run a scenario, or the one in a file, to its end and return what was measured.

    With `output` the run folder is written there, and appears whole or not at all; `force` lets
    it replace that of another run.

    An interruption (Ctrl-C) ends the run early; its verdict is then `interrupted`, and the
    numbers hold for what was simulated.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    if seed is not None:
        scenario = scenario.with_(seed=seed)
    with ExitStack() as stack:
        # Opened first: a place that cannot be written is known before hours of work.
        folder = stack.enter_context(RunFolder(Path(output), force=force)) if output else None
        result = simulate(Simulation(scenario), on_progress or ignore)
        if folder:
            from gingham.saving import save_into

            save_into(folder, result)
    return result


def simulate(simulation: Simulation, on_progress: Callable[[Progress], object]) -> StripeResult:
    """Advance to the end of the run, or until somebody presses Ctrl-C."""
    with interruption() as asked:
        try:
            done = False
            while not done and not asked():
                progress = simulation.advance()
                on_progress(progress)
                done = progress.done
        except KeyboardInterrupt:
            # Raised by `on_progress`, or where the signal is not ours to answer.
            pass
    return simulation.result()


def alone(scenario: Scenario) -> list[Scenario]:
    """Return the scenario over each of its channels by itself: what a stripe is held against."""
    channels = scenario.resolved()["channel"]
    return [scenario.with_({"channel": [channel]}) for channel in channels]


def load_result(folder: str | os.PathLike[str]) -> StripeResult:
    """Return the result in a run folder, as `run` returned it when it wrote the folder."""
    return load_as(folder, StripeResult, Scenario, "gingham.stripe.load_result")
