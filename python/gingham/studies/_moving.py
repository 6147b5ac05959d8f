"""Sensitivity of a study to its assumptions: claims measured under every alternative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gingham.studies._checking import outcome
from gingham.studies._evidence import Evidence
from gingham.studies._running import fill, ignore, sweeps_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from gingham.studies._assumptions import Assumption
    from gingham.studies._claims import Claim, ClaimOutcome
    from gingham.studies._running import OnProgress
    from gingham.studies._study import Study


@dataclass(frozen=True)
class Moved:
    """A claim under our assumption and under each alternative, in order."""

    assumption: Assumption
    claim: Claim
    ours: ClaimOutcome
    others: Sequence[ClaimOutcome]

    @property
    def by(self) -> float:
        """Largest deviation from the value under our assumption, in the claim's unit."""
        assert self.ours.measured is not None, "nothing is left out"
        start = self.ours.measured.value
        return max(abs(one.measured.value - start) for one in self.others if one.measured)

    @property
    def turns(self) -> bool:
        """Whether the claim is met under one alternative and not under another."""
        return len({one.met for one in self.all}) > 1

    @property
    def all(self) -> list[ClaimOutcome]:
        """The outcomes, ours first."""
        return [self.ours, *self.others]


def settings(
    study: Study, folder: Path, assumption: Assumption
) -> Iterator[tuple[Evidence, Sequence[str]]]:
    """Yield the evidence under ours and under each alternative, with the sweeps that it needs."""
    figures = {study.claim(key).figure for key in assumption.claims}
    sweeps = assumption.sweeps or sweeps_of([one for one in study.figures if one.key in figures])
    yield Evidence(study, folder, "coarse"), sweeps
    for one in assumption.alternatives:
        yield Evidence(study, folder, "coarse", one), sweeps


def needed(
    study: Study, folder: Path, chosen: Sequence[Assumption]
) -> dict[Path, tuple[Evidence, str]]:
    """Return the sweeps that assumptions need, by folder and without duplicates."""
    return {
        evidence.path(sweep): (evidence, sweep)
        for assumption in chosen
        for evidence, sweeps in settings(study, folder, assumption)
        for sweep in sweeps
    }


def run_assumptions(
    study: Study,
    folder: Path,
    chosen: Sequence[Assumption],
    *,
    workers: int = 2,
    executor: Executor | None = None,
    on_progress: OnProgress = ignore,
) -> None:
    """Make the missing runs of each assumption, for ours and its alternatives."""
    for evidence, sweep in needed(study, folder, chosen).values():
        fill(evidence, sweep, executor=executor, workers=workers, on_progress=on_progress)


def moved(study: Study, folder: Path, chosen: Sequence[Assumption]) -> list[Moved]:
    """Return the outcomes of claims under each assumption, from the runs in the folder."""
    found = []
    for assumption in chosen:
        tried = [evidence for evidence, _ in settings(study, folder, assumption)]
        for key in assumption.claims:
            claim = study.claim(key)
            outcomes = [outcome(claim, evidence) for evidence in tried]
            found.append(Moved(assumption, claim, outcomes[0], outcomes[1:]))
    return found
