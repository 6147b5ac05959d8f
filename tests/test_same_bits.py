"""Results of the recorded scenarios are unchanged, bit by bit, by engine and oracle."""

from __future__ import annotations

import pytest

from tests import digests

KNOWN = digests.recorded()
FABRICS = [name for name, known in KNOWN.items() if "fabric/summary" in known]
ADVICE = f"""
If a column was only renamed, edit its key in {digests.FILE}.
If the change is meant, run `make digests` and commit the file by itself, with the reason.
"""


def require_same(name: str, found: digests.Digests) -> None:
    lines = [f"{name}: {line}" for line in digests.differences(found, KNOWN.get(name, {}))]
    if lines:
        pytest.fail("\n  ".join(["results have changed", *lines]) + ADVICE, pytrace=False)


@pytest.mark.parametrize("name", digests.SCENARIOS)
def test_a_scenario_measures_the_same_bits(name: str) -> None:
    require_same(name, digests.measured(name))


@pytest.mark.parametrize("name", FABRICS)
def test_the_oracle_measures_the_same_bits(name: str) -> None:
    require_same(name, digests.measured(name, engine="oracle"))


def test_the_file_holds_no_other_scenario() -> None:
    assert KNOWN.keys() == digests.SCENARIOS.keys()
