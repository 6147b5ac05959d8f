"""Checking a study: each claim measured and judged.

The functions that measure are those of the study's module `measures`, by the name that
`expected.toml` gives; each takes the evidence and the options of the claim.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from gingham.studies._claims import ClaimOutcome, judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from gingham.studies._claims import Claim, Measurement
    from gingham.studies._evidence import Evidence


def check(evidence: Evidence, figure: str | None = None) -> list[ClaimOutcome]:
    """Return what became of each claim about one figure, or about all."""
    study = evidence.study
    return [outcome(claim, evidence) for claim in study.claims_of(study.chosen(figure))]


def outcome(claim: Claim, evidence: Evidence) -> ClaimOutcome:
    """Return what became of a claim."""
    if evidence.quick and not claim.quick:
        return ClaimOutcome(claim, "left_out", None)
    return judge(claim, measure_of(evidence.study.key, claim.measure)(evidence, **claim.options))


def measure_of(study: str, name: str) -> Callable[..., Measurement]:
    """Return the function of a study that measures something."""
    module = importlib.import_module(f"gingham.studies.{study}.measures")
    function: Callable[..., Measurement] = getattr(module, name)
    return function
