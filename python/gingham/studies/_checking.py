"""Checking a study: each claim measured and judged.

Measuring functions are in the study's module `measures`, with the names used in `expected.toml`;
each takes the evidence and the options of the claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from gingham.studies._claims import ClaimOutcome, Verdict, judge
from gingham.studies._installed import broken
from gingham.studies._study import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gingham.studies._bands import Measurement
    from gingham.studies._claims import Claim
    from gingham.studies._evidence import Evidence
    from gingham.studies._study import Study


def check(evidence: Evidence, figure: str | None = None) -> list[ClaimOutcome]:
    """Return the outcome of each claim about one figure, or about all."""
    study = evidence.study
    return [outcome(claim, evidence) for claim in study.claims_of(study.chosen(figure))]


def outcome(claim: Claim, evidence: Evidence) -> ClaimOutcome:
    """Return the outcome of a claim."""
    if evidence.size == "quick" and not claim.quick:
        return ClaimOutcome(claim, "left_out", None)
    under = evidence.under
    options = claim.options if under is None else under.options_of(claim.options)
    return judge(claim, function_of(evidence.study, claim.measure)(evidence, **options))


def counted(outcomes: Iterable[ClaimOutcome]) -> dict[str, dict[str, int]]:
    """Return the number of claims of the `paper`, and of `ours`, by verdict."""
    verdicts = get_args(Verdict)
    counts = {whose: dict.fromkeys(verdicts, 0) for whose in ("paper", "ours")}
    for one in outcomes:
        counts["ours" if one.claim.ours else "paper"][one.verdict] += 1
    return counts


def measure_of(study: str, name: str) -> Callable[..., Measurement]:
    """Return the measuring function of a study with this name."""
    return function_of(load(study), name)


def function_of(study: Study, name: str) -> Callable[..., Measurement]:
    """Return the measuring function of a loaded study; raise `EnvironmentProblem` if missing."""
    found: Callable[..., Measurement] | None = getattr(study.module("measures"), name, None)
    if found is None:
        raise broken(study.key, "", f'its module measures has no function "{name}"')
    return found
