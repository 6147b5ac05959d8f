"""Claims of a paper: expected value, measured value and verdict.

A claim expects a number in a band (`_bands`), and names its **null**: the number under the
competing model, the absence of the mechanism for instance. A band that admits the null is
inconclusive and is rejected, unless the claim declares that (`cannot_tell`)::

    expected = 11.2, tolerance = 0.8
    null = { value = 6.8, of = "generalised round robin" }

A claim that only one number can meet, a count or a value traced by hand, is marked `exact` and has
no null. A claim of ours rather than the paper's is marked `ours`, and counted separately.

A claim that cannot be met is not tuned away. It has the reason, and an alternative with a band of
its own; outside of both bands it has failed::

    [claim.differs]
    because = "the rest of a long worm is met on average"
    between = [-70, -62]

A table of the paper is one claim with a row for each number::

    key = "factor-{size}"
    options = { sweep = "short-{size}" }
    each = [{ size = 8, expected = 1.03, tolerance = 0.05 }, { size = 16, ... }]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gingham.errors import InputError, meant, nearest
from gingham.studies._bands import BAND_KEYS, Band, Measurement, number, read_band

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# `differs`: not met, but within its alternative band; `now_met`: met, although it has `differs`;
# `cannot_tell`: met, as it would be without the claimed mechanism; `left_out`: --quick measures too
# little.
Verdict: TypeAlias = Literal["passed", "failed", "differs", "now_met", "cannot_tell", "left_out"]

REQUIRED = ("key", "figure", "section", "claim", "measure", "how")
OTHERS = ("options", "unit", "quick", "ours", "exact", "null", "cannot_tell", "differs")
CLAIM_KEYS = (*REQUIRED, *OTHERS, *BAND_KEYS)


@dataclass(frozen=True)
class Null:
    """The number under the competing model."""

    value: float
    # Description of the model.
    of: str


@dataclass(frozen=True)
class Differs:
    """Reason why a claim is not met, and the alternative that holds."""

    because: str
    band: Band


@dataclass(frozen=True)
class Claim:
    """A paper's claim about a number, and its measurement."""

    key: str
    figure: str
    section: str
    # Text of the claim.
    text: str
    # Name of the measuring function, and its options.
    measure: str
    options: Mapping[str, Any] = field(repr=False)
    band: Band
    unit: str
    how: str
    # Whether --quick measures enough for it.
    quick: bool
    # Whether it is a claim of ours rather than the paper's.
    ours: bool
    null: Null | None
    # Reason why the band admits the null; empty if it does not.
    cannot_tell: str
    differs: Differs | None

    @property
    def shown(self) -> str:
        """Expected value with its unit."""
        return f"{self.band.shown} {self.unit}".rstrip()


@dataclass(frozen=True)
class ClaimOutcome:
    """Outcome of a claim."""

    claim: Claim
    verdict: Verdict
    measured: Measurement | None

    @property
    def met(self) -> bool:
        """Whether the measured value meets the claim."""
        return self.measured is not None and self.claim.band.holds(self.measured)


def each_of(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a table for each row of `each`, with its values in place of names in braces.

    Keys of a claim in a row override those of the table.

    >>> rows = [{"size": 8, "above": 1}, {"size": 16, "above": 2}]
    >>> [one["key"] for one in each_of({"key": "factor-{size}", "each": rows})]
    ['factor-8', 'factor-16']
    """
    common = {key: value for key, value in table.items() if key != "each"}
    for row in table.get("each", [{}]):
        own = {key: value for key, value in row.items() if key in CLAIM_KEYS}
        yield {**filled(common, row), **own} if row else common


def filled(value: Any, names: Mapping[str, Any]) -> Any:
    """Return a value with names in braces replaced, recursively in dicts and lists.

    A text that consists only of a name becomes its value, such as a number.
    """
    if isinstance(value, dict):
        return {key: filled(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, names) for one in value]
    if not isinstance(value, str):
        return value
    whole = value.removeprefix("{").removesuffix("}")
    return names[whole] if value == f"{{{whole}}}" and whole in names else value.format_map(names)


def read_claim(table: Mapping[str, Any], file: str = "expected.toml") -> Claim:
    """Return the claim that a table of a file describes."""
    where = f'{file}: the claim "{table.get("key", "without a key")}"'
    refuse_unknown(table, CLAIM_KEYS, where)
    for key in REQUIRED:
        if key not in table:
            raise InputError(f'{where} needs "{key}"', file=file, key=key, code="missing-key")
    band = read_band(table, where)
    return Claim(
        key=table["key"],
        figure=table["figure"],
        section=table["section"],
        text=table["claim"],
        measure=table["measure"],
        options=table.get("options", {}),
        band=band,
        unit=table.get("unit", ""),
        how=table["how"],
        quick=table.get("quick", True),
        ours=table.get("ours", False),
        null=read_null(table, band, where),
        cannot_tell=table.get("cannot_tell", ""),
        differs=read_differs(table, band, where),
    )


def read_null(table: Mapping[str, Any], band: Band, where: str) -> Null | None:
    """Return the null of a claim; `None` for an exact claim.

    A band that admits the null, and a claim without one, are rejected.
    """
    exact, cannot_tell = table.get("exact", False), "cannot_tell" in table
    if exact == ("null" in table):
        raise InputError(
            f'{where} needs one of "null", what the competing model gives, and "exact = true": '
            'write null = { value = 0, of = "no mechanism at all" }',
            code="missing-key",
            key="null",
        )
    if exact:
        if not band.exact or cannot_tell:
            but = "says it cannot tell" if cannot_tell else "has a band"
            raise InputError(
                f'{where} is "exact", but {but}: only what one number alone can meet has no null',
                key="exact",
            )
        return None
    own = table["null"]
    words = f'{where}, "null",'
    refuse_unknown(own, ("value", "of"), words)
    if "value" not in own or not own.get("of"):
        raise InputError(
            f'{words} needs "value" and "of", the model that gives it',
            code="missing-key",
            key="value" if "value" not in own else "of",
        )
    null = Null(number(own, "value", words), own["of"])
    if band.admits(null.value) != cannot_tell:
        said = f"its band, {band.shown}, and its null, {null.value:g} ({null.of})"
        raise InputError(
            f'{where} says it cannot tell, but can, by {said}: leave out "cannot_tell"'
            if cannot_tell
            else f"{where} tells nothing, by {said}: take the paper's own width, or say why not in "
            '"cannot_tell"',
            key="cannot_tell" if cannot_tell else "null",
        )
    return null


def read_differs(table: Mapping[str, Any], band: Band, where: str) -> Differs | None:
    """Return the reason and alternative of an unmet claim; `None` without `differs`."""
    own = table.get("differs")
    if own is None:
        return None
    words = f'{where}, "differs",'
    if not isinstance(own, dict):
        raise InputError(
            f'{words} needs a band of its own beside "because"', code="wrong-type", key="differs"
        )
    refuse_unknown(own, ("because", *BAND_KEYS), words)
    if not own.get("because"):
        raise InputError(
            f'{words} needs "because", the reason that was found', key="because", code="missing-key"
        )
    instead = read_band(own, words)
    if band.contains(instead):
        raise InputError(
            f"{words} has a band inside of what the paper expects, {band.shown}", key="differs"
        )
    return Differs(own["because"], instead)


def refuse_unknown(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Raise an error for an unknown key, with the nearest known one."""
    for key in table:
        if key not in known:
            near = nearest(key, known)
            raise InputError(
                f'{where} has "{key}", which is no key{meant(near)}',
                code="unknown-key",
                key=key,
                nearest=near,
            )


def judge(claim: Claim, measured: Measurement) -> ClaimOutcome:
    """Return the outcome of a measured claim."""
    return ClaimOutcome(claim, verdict_of(claim, measured), measured)


def verdict_of(claim: Claim, measured: Measurement) -> Verdict:
    """Return the verdict on a claim from a measurement."""
    if claim.band.holds(measured):
        if claim.differs:
            return "now_met"
        return "cannot_tell" if claim.cannot_tell else "passed"
    if claim.differs and claim.differs.band.holds(measured):
        return "differs"
    return "failed"
