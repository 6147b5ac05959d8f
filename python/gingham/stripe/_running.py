"""One striping run: `gingham.stripe.run`.

::

    StripeScenario ──compile──► StripeSimulation ──advance──► ... ──► StripeResult ──► run folder
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gingham import examples
from gingham._native import CoreStripeSimulation
from gingham._rundir import interruptible
from gingham.loading import load_as
from gingham.running import AnySimulation, advance_all, ignore, run_folder
from gingham.saving import save_into
from gingham.stripe._result import StripeResult
from gingham.stripe._scenario import StripeScenario

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

# Events between two calls of the progress callback.
EVENTS_PER_CALL = 50_000


@dataclass(frozen=True)
class StripeProgress:
    """Progress of a run."""

    # From 0 to 1.
    fraction: float
    now_ps: int
    packets_delivered: int
    packets_under_way: int
    done: bool


@dataclass
class StripeSimulation(AnySimulation[StripeProgress, StripeResult]):
    """A run in progress; `run` suffices for most programs.

    The constructor checks the scenario and reads the files that it names. It raises `InputError` if
    the scenario cannot be run.
    """

    scenario: StripeScenario

    progress_class = StripeProgress
    result_class = StripeResult
    events_per_call = EVENTS_PER_CALL

    def _compiled(self) -> CoreStripeSimulation:
        """Check the scenario and read its files."""
        return CoreStripeSimulation(self.scenario._core)  # noqa: SLF001


def run(
    scenario: StripeScenario | str | os.PathLike[str],
    *,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    on_progress: Callable[[StripeProgress], object] | None = None,
) -> StripeResult:
    """Run a scenario to its end and return the result.

    The scenario may also be given as a file, or as the name of an example.

    With `output` the run folder is written there, and appears complete or not at all; `overwrite`
    lets it replace that of another run.

    An interruption (Ctrl-C) ends the run early; its verdict is then `interrupted`, and the results
    describe the simulated time. A transport over several channels is compared with the best of them
    alone, in a second run with as many packets. Raises `InputError` if simulated time does not
    advance.
    """
    if not isinstance(scenario, StripeScenario):
        if isinstance(scenario, str):
            scenario = examples.chosen(scenario, examples.stripes())
        scenario = StripeScenario.load(scenario)
    if seed is not None:
        scenario = scenario.with_(seed=seed)
    with run_folder(output, overwrite=overwrite) as folder, interruptible(folder):
        result = simulate(StripeSimulation(scenario), on_progress or ignore)
        if folder:
            save_into(folder, result)
    return result


def simulate(
    simulation: StripeSimulation, on_progress: Callable[[StripeProgress], object]
) -> StripeResult:
    """Advance to the end of the run, or until Ctrl-C."""
    advance_all(simulation, on_progress)
    return simulation.result()


def alone(scenario: StripeScenario) -> list[StripeScenario]:
    """Return the scenario over each of its channels alone, for comparison with the stripe."""
    channels = scenario.resolved()["channel"]
    return [scenario.with_({"channel": [channel]}) for channel in channels]


def load_result(folder: str | os.PathLike[str]) -> StripeResult:
    """Return the result in a run folder, as `run` returned it when it wrote the folder."""
    return load_as(folder, StripeResult, StripeScenario, "gingham.stripe.load_result")
