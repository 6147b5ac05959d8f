"""Execution of a sweep: tasks to an executor, outcomes to the folder.

::

    points ──► tasks ──► [ at most a window of them in progress ] ──► outcomes ──► journal, shards

Any `concurrent.futures.Executor` is suitable. By default, threads run the tasks: the engine
releases the interpreter's lock.
"""

from __future__ import annotations

import time
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from gingham.errors import EnvironmentProblem, InputError
from gingham.running import ignore, interruption
from gingham.store import SweepFolder
from gingham.sweeps._keys import core_identity
from gingham.sweeps._planning import Planner
from gingham.sweeps._work import Outcome, Task, failed_row, work

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from gingham.results import Results
    from gingham.sweeps._sweep import Sweep

# Tasks in progress per worker: one runs, and another is queued.
TASKS_PER_WORKER = 2
# Interval between checks for Ctrl-C while no run ends, in seconds.
MOMENT_SECONDS = 0.2
# Maximum number of distinct errors stored.
ERRORS_MAX = 20
# From this number on, runs require confirmation.
MANY = 1_000_000
Submit: TypeAlias = "Callable[[Task], Future[Outcome]]"


@dataclass
class SweepProgress:
    """Progress of a sweep."""

    # Number of all runs, and of those stored in earlier sessions.
    total: int
    resumed: int = 0
    # Number of runs finished in this session, and of failures among them.
    done: int = 0
    failed: int = 0
    # Number of failures by internal errors.
    faults: int = 0
    running: int = 0
    # Number of runs of this session by verdict.
    verdicts: dict[str, int] = field(default_factory=dict)
    engine_seconds: float = 0.0
    # Time when the first run was handed out.
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    # Reasons of failures with their counts, limited to the first `ERRORS_MAX`.
    errors: dict[str, int] = field(default_factory=dict)
    # Damaged or missing files of the folder whose content is made again.
    damaged: list[str] = field(default_factory=list)

    @property
    def to_do(self) -> int:
        """Number of runs neither stored nor finished."""
        return max(0, self.total - self.resumed - self.done)

    @property
    def seconds(self) -> float:
        """Duration of the session so far, or in total if it has ended."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def runs_per_second(self) -> float:
        """Rate of finished runs."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining time; `None` before the first finished run."""
        return self.to_do / self.runs_per_second if self.done else None

    def count(self, outcome: Outcome) -> None:
        """Count a finished run."""
        verdict = outcome.row["verdict"]
        self.done += 1
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1
        self.engine_seconds += outcome.provenance.get("engine_seconds", 0.0)
        if outcome.error is not None:
            self.failed += 1
            self.faults += outcome.is_fault
            if outcome.error in self.errors or len(self.errors) < ERRORS_MAX:
                self.errors[outcome.error] = self.errors.get(outcome.error, 0) + 1


def run_sweep(
    sweep: Sweep,
    folder: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    workers: int = 2,
    resume: bool = False,
    many: bool = False,
    on_progress: Callable[[SweepProgress], object] | None = None,
) -> Results:
    """Make every run of a sweep into `folder`, and return the results.

    With `resume` a folder may hold runs of an earlier session: those that did not fail are not
    repeated. Damaged or missing files of the folder are then set aside and made again;
    `SweepProgress.damaged` names them. An interruption leaves a folder that can be resumed. A
    million runs require `many`.

    `executor` is any of `concurrent.futures`, with `workers` workers; by default, threads of this
    process run the tasks.
    """
    from gingham.results import Results

    execute(
        sweep,
        Path(folder),
        executor=executor,
        workers=workers,
        resume=resume,
        many=many,
        on_progress=on_progress,
    )
    return Results.load(folder)


def execute(
    sweep: Sweep,
    path: Path,
    *,
    executor: Executor | None = None,
    workers: int = 2,
    resume: bool = False,
    many: bool = False,
    on_progress: Callable[[SweepProgress], object] | None = None,
) -> SweepProgress:
    """Make every run of a sweep; return the final progress."""
    progress = SweepProgress(runs_of(sweep, many=many))
    manifest = {
        "sweep": sweep.manifest(),
        "columns": sweep.grid.column_types(),
        "core": core_identity(),
    }
    opened = SweepFolder(path, manifest, resume=resume)
    with interruption() as pressed, opened as folder, submitting(executor, workers) as submit:
        progress.damaged = folder.damaged
        loop = SchedulerLoop(folder, submit, pressed, progress, on_progress or ignore)
        loop.run(Planner(sweep), TASKS_PER_WORKER * workers)
    progress.ended = time.monotonic()
    return progress


def runs_of(sweep: Sweep, *, many: bool = False) -> int:
    """Return the number of runs; raise `InputError` for none, or far too many."""
    count = sweep.count(None if many else MANY)
    if count >= MANY and not many:
        raise InputError(
            f"{sweep.name}: the sweep has {MANY:,} runs or more; is that meant? "
            "many=True starts them",
            file=sweep.name,
            code="too-many",
            key="many",
        )
    if count == 0:
        raise InputError(
            f'{sweep.name}: nothing to run: no point of the grid passes "{sweep.where}"',
            file=sweep.name,
            key="where",
            code="no-data",
        )
    return count


@contextmanager
def submitting(executor: Executor | None, workers: int) -> Iterator[Submit]:
    """Yield a function that hands a task to a worker; no run is left at the end of the block."""
    if executor is not None:
        yield lambda task: handed(executor, task)
        return
    stop = Event()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="gingham-sweep")
    try:
        yield lambda task: pool.submit(work, task, stop.is_set)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def handed(executor: Executor, task: Task) -> Future[Outcome]:
    """Hand a task to an executor; raise `EnvironmentProblem` if it accepts none."""
    try:
        return executor.submit(work, task)
    except Exception as error:
        raise workers_lost(error) from error


def workers_lost(error: BaseException) -> EnvironmentProblem:
    """Return the error for the loss of workers or their scheduler."""
    why = f": {error}" if str(error) else ""
    return EnvironmentProblem(
        f"the workers are gone{why}\n  what was measured is kept, and resume=True goes on",
        code="no-workers",
    )


@dataclass
class SchedulerLoop:
    """Keeps the workers busy and stores the outcomes."""

    folder: SweepFolder
    submit: Submit
    # Returns whether Ctrl-C was pressed.
    pressed: Callable[[], bool]
    progress: SweepProgress
    on_progress: Callable[[SweepProgress], object]
    flying: dict[Future[Outcome], Task] = field(default_factory=dict)

    def run(self, planner: Planner, window: int) -> None:
        """Make every missing run, at most `window` of them concurrently."""
        try:
            for part in planner.parts(self.folder):
                if not self.progress.done:
                    self.progress.began = time.monotonic()
                self.progress.resumed += part.points - len(part.tasks) - len(part.refused)
                for outcome in part.refused:
                    keep(self.folder, outcome, self.progress)
                self.tell()
                for task in part.tasks:
                    while len(self.flying) >= window:
                        self.settle()
                    self.flying[self.submit(task)] = task
            while self.flying:
                self.settle()
        finally:
            self.give_up()

    def settle(self) -> None:
        """Wait for outcomes and store them; raise `KeyboardInterrupt` after Ctrl-C."""
        finished, _ = wait(self.flying, timeout=MOMENT_SECONDS, return_when=FIRST_COMPLETED)
        for future in finished:
            keep(self.folder, outcome_of(future, self.flying.pop(future)), self.progress)
        if self.pressed():
            raise KeyboardInterrupt
        self.tell()

    def give_up(self) -> None:
        """Store finished runs, however the sweep ends, and cancel the others."""
        for future, task in self.flying.items():
            finished = not future.cancel() and future.done() and future.exception() is None
            if finished and self.folder.is_open:
                keep(self.folder, outcome_of(future, task), self.progress)

    def tell(self) -> None:
        """Report the progress."""
        self.progress.running = len(self.flying)
        self.on_progress(self.progress)


def outcome_of(future: Future[Outcome], task: Task) -> Outcome:
    """Return the outcome of a task, also if its worker could not return one.

    Raises `EnvironmentProblem` for errors not specific to the run, which would affect the next one,
    too.
    """
    try:
        return future.result()
    except EnvironmentProblem:
        raise
    except (CancelledError, BrokenExecutor, ImportError) as error:
        raise workers_lost(error) from error
    except Exception as error:  # noqa: BLE001  (whatever a scheduler may say of a run)
        return Outcome(task.key, failed_row(task.key, task.seed, error), {}, {"key": task.key})


def keep(folder: SweepFolder, outcome: Outcome, progress: SweepProgress) -> None:
    """Store an outcome in the folder."""
    if outcome.stopped:
        return
    folder.add(outcome.row, outcome.parts, outcome.provenance, outcome.tables)
    progress.count(outcome)
