"""Execution of a study: each sweep of its figures has a folder of its own.

::

    runs/studies/kwan1996/full/figure-8/     a folder of results in the format of `gingham sweep`
                          quick/figure-8/    the reduced variant

Existing runs are kept: an interrupted study continues, and a changed sweep only makes its new runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gingham.studies._evidence import Evidence
from gingham.sweeps import run_sweep

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from gingham.studies._study import Figure, Size, Study
    from gingham.sweeps import SweepProgress


class OnProgress(Protocol):
    """Callback for the progress of a sweep."""

    def __call__(self, sweep: str, progress: SweepProgress) -> object:
        """Receive the progress of a sweep."""


def ignore(sweep: str, progress: SweepProgress) -> None:
    """Show no progress."""


def sweeps_of(figures: Sequence[Figure]) -> list[str]:
    """Return the names of the sweeps that figures need, without duplicates.

    >>> from gingham.studies._study import Figure
    >>> sweeps_of([Figure("7", "", "", ["a", "b"]), Figure("8", "", "", ["b"])])
    ['a', 'b']
    """
    return list(dict.fromkeys(name for figure in figures for name in figure.sweeps))


def run(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    figure: str | None = None,
    size: Size = "full",
    workers: int = 2,
    executor: Executor | None = None,
    on_progress: OnProgress = ignore,
) -> Evidence:
    """Make the missing runs of one figure's sweeps, or of all, and return the evidence."""
    evidence = Evidence(study, Path(folder), size)
    for name in sweeps_of(study.chosen(figure)):
        fill(evidence, name, executor=executor, workers=workers, on_progress=on_progress)
    return evidence


def fill(
    evidence: Evidence,
    name: str,
    *,
    workers: int = 2,
    executor: Executor | None = None,
    on_progress: OnProgress = ignore,
) -> None:
    """Make the missing runs of one sweep of the evidence."""
    run_sweep(
        evidence.study.sweep(name, evidence.size, evidence.under),
        evidence.path(name),
        executor=executor,
        workers=workers,
        resume=True,
        on_progress=lambda progress: on_progress(evidence.name_of(name), progress),
    )
