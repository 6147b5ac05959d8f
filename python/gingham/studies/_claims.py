"""Claims of a paper: what is expected, what was measured, and what follows.

A claim expects a number in a band, or one beyond a bound::

    expected = 0.913, tolerance = 0.02      band      [0.893, 0.933]
    between = [150, 300]                    band
    above = 0                               bound     the whole interval must lie above
    below = 0.5                             bound     the whole interval must lie below

A band is met by the measured value: its width is what the paper and our reading of it leave open,
which is more than the interval. A bound is met by the whole 95 % interval: there the question is
whether there is a difference at all. What was too little to tell has an interval on both sides of
a bound, and is not met.

A table of the paper is one claim with a row for each number::

    key = "factor-{size}"
    options = { sweep = "short-{size}" }
    each = [{ size = 8, expected = 1.03, tolerance = 0.05 }, { size = 16, ... }]
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# `differs`: not met, with the reason in expected.toml; `left_out`: --quick measures too little.
Verdict: TypeAlias = Literal["passed", "failed", "differs", "left_out"]

CLAIM_KEYS = (
    "key",
    "figure",
    "section",
    "claim",
    "measure",
    "options",
    "expected",
    "tolerance",
    "between",
    "above",
    "below",
    "unit",
    "how",
    "quick",
    "differs",
)
REQUIRED = ("key", "figure", "section", "claim", "measure", "how")
BOUNDS = ("expected", "between", "above", "below")


@dataclass(frozen=True)
class Measurement:
    """A number, and the ends of its 95 % interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    # What else is worth saying: where the number comes from, what was nearly it.
    note: str = ""

    @classmethod
    def around(cls, value: float, half_width: float | None, note: str = "") -> Measurement:
        """Return a value with an interval of this half-width."""
        if half_width is None:
            return cls(value, note=note)
        return cls(value, value - half_width, value + half_width, note)


@dataclass(frozen=True)
class Claim:
    """What a paper says of a number, and how we measure it."""

    key: str
    figure: str
    section: str
    # The claim in words.
    text: str
    # Name of the function that measures it, and what that is told.
    measure: str
    options: Mapping[str, Any] = field(repr=False)
    low: float
    high: float
    # Whether the whole interval must lie beyond one bound.
    one_sided: bool
    # What the table shows as expected.
    shown: str
    unit: str
    how: str
    # Whether --quick measures enough for it.
    quick: bool
    # Why it is not met, if it is not.
    differs: str


@dataclass(frozen=True)
class ClaimOutcome:
    """What became of a claim."""

    claim: Claim
    verdict: Verdict
    measured: Measurement | None


def each_of(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a table for each row of `each`, its values in the place of their names in braces.

    What a row has of the keys of a claim, the claim has.

    >>> rows = [{"size": 8, "above": 1}, {"size": 16, "above": 2}]
    >>> [one["key"] for one in each_of({"key": "factor-{size}", "each": rows})]
    ['factor-8', 'factor-16']
    """
    common = {key: value for key, value in table.items() if key != "each"}
    for row in table.get("each", [{}]):
        own = {key: value for key, value in row.items() if key in CLAIM_KEYS}
        yield {**filled(common, row), **own} if row else common


def filled(value: Any, names: Mapping[str, Any]) -> Any:
    """Return a value with names in braces replaced, in texts and in what holds them.

    A text that is nothing but a name becomes its value: a number stays one.
    """
    if isinstance(value, dict):
        return {key: filled(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, names) for one in value]
    if not isinstance(value, str):
        return value
    whole = value.removeprefix("{").removesuffix("}")
    return names[whole] if value == f"{{{whole}}}" and whole in names else value.format_map(names)


def read_claim(table: Mapping[str, Any]) -> Claim:
    """Return the claim that a table of expected.toml describes."""
    name = table.get("key", "a claim")
    for key in table:
        if key not in CLAIM_KEYS:
            raise InputError(f'"{key}" is no key of a claim ({name})', key=key)
    for key in REQUIRED:
        if key not in table:
            raise InputError(f'the claim "{name}" needs "{key}"', key=key)
    low, high, shown = expectation(table)
    return Claim(
        key=table["key"],
        figure=table["figure"],
        section=table["section"],
        text=table["claim"],
        measure=table["measure"],
        options=table.get("options", {}),
        low=low,
        high=high,
        one_sided="above" in table or "below" in table,
        shown=" ".join(filter(None, [shown, table.get("unit", "")])),
        unit=table.get("unit", ""),
        how=table["how"],
        quick=table.get("quick", True),
        differs=table.get("differs", ""),
    )


def expectation(table: Mapping[str, Any]) -> tuple[float, float, str]:
    """Return the ends of what is expected, and the words for it."""
    kinds = [kind for kind in BOUNDS if kind in table]
    if len(kinds) != 1 or (kinds == ["expected"]) != ("tolerance" in table):
        raise InputError(
            f'the claim "{table["key"]}" needs one of "expected" with "tolerance", "between", '
            '"above" and "below"'
        )
    match kinds[0]:
        case "expected":
            value, tolerance = table["expected"], table["tolerance"]
            return value - tolerance, value + tolerance, f"{value:g} ± {tolerance:g}"
        case "between":
            low, high = table["between"]
            return low, high, f"{low:g} to {high:g}"
        case "above":
            return table["above"], math.inf, f"above {table['above']:g}"
        case _:
            return -math.inf, table["below"], f"below {table['below']:g}"


def met(claim: Claim, measured: Measurement) -> bool:
    """Return whether what was measured is what the paper says."""
    low, high = measured.value, measured.value
    if claim.one_sided:
        low = low if measured.low is None else measured.low
        high = high if measured.high is None else measured.high
    return claim.low <= low and high <= claim.high


def judge(claim: Claim, measured: Measurement) -> ClaimOutcome:
    """Return what became of a claim that was measured."""
    verdict: Verdict = "passed" if met(claim, measured) else "failed"
    return ClaimOutcome(claim, "differs" if claim.differs else verdict, measured)
