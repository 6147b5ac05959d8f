"""One run: `gingham.run`.

::

    Scenario ──compile──► Simulation ──advance──► ... ──advance──► Result ──► run folder
                                        │ between two calls: progress, Ctrl-C, messages to disk
"""

from __future__ import annotations

import signal
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from gingham import examples, tables
from gingham._native import CoreSimulation
from gingham._rundir import RunFolder, interruptible
from gingham._signals import is_default
from gingham.errors import InputError
from gingham.result import AnyResult, Progress, Result
from gingham.saving import MESSAGES, message_writer, save_into
from gingham.scenario import Scenario

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from gingham.scenario import AnyScenario

Engine: TypeAlias = Literal["fast", "oracle", "ports", "columns"]

# Between two calls signals are handled and progress is shown; a call takes about 20 ms.
EVENTS_PER_CALL = 100_000
# Messages per row group of the file, with `measure.messages = "all"`.
ROWS_PER_GROUP = 100_000


class AnyProgress(Protocol):
    """Progress of a run of any kind."""

    @property
    def fraction(self) -> float:
        """From 0 to 1."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""


P = TypeVar("P", bound=AnyProgress)
R = TypeVar("R", bound=AnyResult)


@dataclass
class AnySimulation(ABC, Generic[P, R]):
    """A run of any kind in progress."""

    scenario: Any
    wall_seconds: float = field(default=0.0, init=False)
    about: dict[str, Any] = field(init=False)
    _core: Any = field(init=False, repr=False)

    # Types of the progress and of the result.
    progress_class: ClassVar[type[Any]]
    result_class: ClassVar[type[Any]]
    events_per_call: ClassVar[int]

    def __post_init__(self) -> None:
        """Compile the scenario."""
        start = time.perf_counter()
        self._core = self._compiled()
        self.about = self._core.about()
        require_same_files(self.scenario, self.about)
        self.wall_seconds += time.perf_counter() - start

    @abstractmethod
    def _compiled(self) -> Any:
        """Return the simulation object of the compiled core."""

    def advance(self, events_max: int | None = None) -> P:
        """Simulate at most `events_max` events; the size of a call never changes a result."""
        start = time.perf_counter()
        events = self.events_per_call if events_max is None else events_max
        progress: P = self.progress_class(*self._core.advance(events))
        self.wall_seconds += time.perf_counter() - start
        return progress

    def result(self, *, with_tables: bool = True) -> R:
        """Return the results so far; without tables this takes less time."""
        summary, rows = self._core.record() if with_tables else (self._core.summary(), [])
        makers = {name: partial(tables.from_columns, columns) for name, columns in rows}
        result: R = self.result_class(self.scenario, summary, self.about, self.wall_seconds, makers)
        return result


@dataclass
class Simulation(AnySimulation[Progress, Result]):
    """A run in progress; `run` suffices for most programs.

    The constructor loads or generates the fabric, routes it and proves the routes. It raises
    `InputError` if the scenario cannot be run, and `DeadlockError` with the cycle if its routes
    could deadlock, unless `allow_deadlock`. The engine `"oracle"` follows every flit separately: it
    is slow, and serves to verify results. Over virtual lanes `"fast"` steps switches by ports or by
    columns, whichever is expected to take less time; `"ports"` and `"columns"` select one, with
    equal results. `about["stepping"]` holds the choice and its reason.
    """

    scenario: Scenario
    allow_deadlock: bool = False
    engine: Engine = "fast"

    progress_class = Progress
    result_class = Result
    events_per_call = EVENTS_PER_CALL

    def __post_init__(self) -> None:
        """Compile the scenario."""
        super().__post_init__()
        self.about = {"engine": self.engine, **self.about}

    def _compiled(self) -> CoreSimulation:
        """Load or generate the fabric, route it and prove the routes."""
        return CoreSimulation(
            self.scenario._core,  # noqa: SLF001
            allow_deadlock=self.allow_deadlock,
            engine=self.engine,
        )

    @property
    def keeps_all_messages(self) -> bool:
        """Whether every message is kept, so that the caller must use `take_messages`."""
        return bool(self._core.keeps_all_messages)

    def take_messages(self) -> pa.Table:
        """Return the messages delivered since the last call, with `measure.messages = "all"`.

        Returned messages are discarded; those not yet taken remain in memory.
        """
        return tables.from_columns(self._core.take_messages())


def require_same_files(scenario: AnyScenario, about: dict[str, Any]) -> None:
    """Raise `InputError` if a file has changed since the run that is to be repeated."""
    for file in about["files"]:
        expected = scenario.files.get(file["key"], file["sha256"])
        if file["sha256"] != expected:
            raise InputError(
                f"{file['path']}: the file has changed since the run that is to be repeated\n"
                f"  expected the file with the SHA-256 {expected}; to run with what it is now, "
                f"name it: with_(settings=['{file['key']}=...'])",
                code="changed-file",
                file=file["path"],
                key=file["key"],
                expected=[expected],
            )


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    allow_deadlock: bool = False,
    engine: Engine = "fast",
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    on_progress: Callable[[Progress], object] | None = None,
) -> Result:
    """Run a scenario to its end and return the result.

    The scenario may also be given as a file, or as the name of an example.

    With `output` the run folder is written there, and appears complete or not at all; `overwrite`
    lets it replace that of another run. `measure.messages = "all"` requires it.

    An interruption (Ctrl-C) ends the run early; its verdict is then `interrupted`, and the results
    describe the simulated time.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(chosen(scenario))
    require_place(scenario, output)
    with run_folder(output, overwrite=overwrite) as folder, interruptible(folder):
        simulation = Simulation(scenario, allow_deadlock, engine)
        result = simulate(simulation, folder, on_progress or ignore)
        if folder:
            save_into(folder, result)
    return result


def chosen(scenario: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the file of a scenario; a text may also be the name of an example."""
    return examples.chosen(scenario, examples.names()) if isinstance(scenario, str) else scenario


def run_folder(
    output: str | os.PathLike[str] | None, *, overwrite: bool
) -> AbstractContextManager[RunFolder | None]:
    """Return a context with the folder of a run, or without one if there is no `output`.

    It is opened before the run, so that an unwritable folder is reported before hours of work.
    """
    return RunFolder(Path(output), overwrite=overwrite) if output else nullcontext()


def ignore(_progress: object) -> None:
    """Show no progress."""


def require_place(scenario: Scenario, output: str | os.PathLike[str] | None) -> None:
    """Raise `InputError` if all messages are to be kept without an output folder."""
    if output is None and scenario.resolved()["measure"]["messages"] == "all":
        scenario.refuse(
            "measure.messages",
            "all messages need a place to be written to: name a run folder (output=...), "
            'or keep a "sample"',
        )


def simulate(
    simulation: Simulation, folder: RunFolder | None, on_progress: Callable[[Progress], object]
) -> Result:
    """Advance to the end or to an interruption; messages, if all are kept, go to `folder`."""
    if not simulation.keeps_all_messages:
        advance_all(simulation, on_progress)
        return simulation.result()
    assert folder is not None, "a run that keeps all messages has a place for them"
    with message_writer(folder, simulation.take_messages) as write:
        taken = 0

        def on_call(progress: Progress) -> None:
            nonlocal taken
            if progress.messages_delivered - taken >= ROWS_PER_GROUP:
                write()
                taken = progress.messages_delivered
            on_progress(progress)

        advance_all(simulation, on_call)
    result = simulation.result()
    streamed = {"messages": lambda: tables.from_parquet(folder.path(MESSAGES))}
    return replace(result, makers={**result.makers, **streamed})


def advance_all(simulation: AnySimulation[P, R], on_call: Callable[[P], object]) -> None:
    """Advance to the end of the run, or until Ctrl-C."""
    with interruption() as pressed:
        try:
            done = False
            while not done and not pressed():
                progress = simulation.advance()
                on_call(progress)
                done = progress.done
        except KeyboardInterrupt:
            # Raised by `on_call`, or if the signal has another handler than Python's own.
            return


@contextmanager
def interruption() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed, in place of an exception.

    Handlers installed by a program are kept. Threads that cannot install one are unaffected.
    """
    former = signal.getsignal(signal.SIGINT)
    if not is_default(former):
        yield lambda: False
        return
    pressed = False

    def press(_signal: int, _frame: object) -> None:
        nonlocal pressed
        pressed = True

    try:
        signal.signal(signal.SIGINT, press)
    except ValueError:
        # Only the main thread may install handlers.
        yield lambda: False
        return
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, former)
