"""Measurements of a study on real links rather than in virtual time.

Such a study has a file `real.toml` with claims as in `expected.toml`, and a module `real.measures`:
its `Bench` represents the machine, and each function takes it and the options of a claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham.errors import InputError
from gingham.studies._claims import each_of, judge, read_claim
from gingham.studies._installed import names
from gingham.studies._study import load, read_toml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

    from gingham.studies._claims import Claim, ClaimOutcome
    from gingham.studies._study import Study

REAL = "real.toml"


def real_claims(study: Study, figure: str | None = None) -> list[Claim]:
    """Return the claims about one figure, or about all, that are measured on real links."""
    file = study.folder / REAL
    if not file.exists():
        have = [key for key in names() if (load(key).folder / REAL).exists()]
        raise InputError(
            f"{study.key} has nothing that is measured on real links; these have: "
            f"{', '.join(have)}",
            code="no-data",
            expected=have,
        )
    claims = [
        read_claim(one, str(file)) for table in read_toml(file)["claim"] for one in each_of(table)
    ]
    chosen = [claim for claim in claims if figure in {None, claim.figure}]
    if not chosen:
        figures = sorted({claim.figure for claim in claims})
        raise InputError(
            f"{study.key}/{figure} has nothing that is measured on real links; these figures have: "
            f"{', '.join(figures)}",
            code="no-data",
            expected=figures,
        )
    return chosen


def open_bench(study: Study, daemon: Path | None, *, quick: bool) -> object:
    """Return a study's test bench on this machine; raise `EnvironmentProblem` if unsupported."""
    return _module(study).Bench.opened(daemon, quick=quick)


def check_real(study: Study, claims: Sequence[Claim], bench: object) -> list[ClaimOutcome]:
    """Return the outcomes of claims that are measured on real links."""
    module = _module(study)
    return [
        judge(claim, getattr(module, claim.measure)(bench, **claim.options)) for claim in claims
    ]


def _module(study: Study) -> ModuleType:
    return study.module("real.measures")
