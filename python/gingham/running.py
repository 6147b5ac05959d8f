"""One run: `gingham.run`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gingham._native import CoreSimulation
from gingham.result import Progress, Result
from gingham.scenario import Scenario

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

Engine: TypeAlias = Literal["runs", "oracle"]

# Between two calls signals are answered and progress is shown; a call takes about 20 ms.
EVENTS_PER_CALL = 100_000


@dataclass
class Simulation:
    """A run under way; `run` is all that most programs need.

    Making one loads or generates the fabric, routes it and proves the routes: `InputError` if the
    scenario cannot be run, `DeadlockError` with the cycle if its routes could deadlock, unless
    `allow_deadlock`. The engine `"oracle"` follows every flit by itself: slow, for doubt.
    """

    scenario: Scenario
    allow_deadlock: bool = False
    engine: Engine = "runs"
    wall_seconds: float = 0.0
    about: dict[str, Any] = field(init=False)
    _core: CoreSimulation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compile the scenario."""
        start = time.perf_counter()
        self._core = CoreSimulation(
            self.scenario._core,  # noqa: SLF001
            allow_deadlock=self.allow_deadlock,
            engine=self.engine,
        )
        self.about = {"engine": self.engine, **self._core.about()}
        self.wall_seconds += time.perf_counter() - start

    def advance(self, events_max: int = EVENTS_PER_CALL) -> Progress:
        """Simulate at most `events_max` events; the size of a call never changes a result."""
        start = time.perf_counter()
        progress = Progress(*self._core.advance(events_max))
        self.wall_seconds += time.perf_counter() - start
        return progress

    def result(self) -> Result:
        """Return what was measured so far."""
        summary, tables = self._core.record()
        return Result(self.scenario, summary, self.about, self.wall_seconds, dict(tables))


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    allow_deadlock: bool = False,
    engine: Engine = "runs",
    on_progress: Callable[[Progress], object] | None = None,
) -> Result:
    """Run a scenario, or the one in a file, to its end and return what was measured.

    An interruption (Ctrl-C) ends the run early; its verdict is then `interrupted`, and the
    numbers hold for what was simulated.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    simulation = Simulation(scenario, allow_deadlock, engine)
    try:
        while not (progress := simulation.advance()).done:
            if on_progress:
                on_progress(progress)
    except KeyboardInterrupt:
        return simulation.result()
    if on_progress:
        on_progress(progress)
    return simulation.result()
