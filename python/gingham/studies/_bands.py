"""Bands: ranges of a number that meet a claim.

A table of a claim, or its `differs`, defines a band in one of these ways::

    expected = 0.913, tolerance = 0.02      band    [0.893, 0.933]
    expected = 2.85, factor = 1.6           band    [1.78, 4.56]; of tolerance and factor the wider
    between = [150, 300]                    band
    above = 0                               bound   the whole interval must lie above
    below = 0.5                             bound   the whole interval must lie below

A band is met by the measured value: its width covers the uncertainty of the paper and of our
reading of it, which exceeds the interval. A bound is met by the whole 95 % interval: there the
question is whether there is a difference at all. A measurement that is too imprecise has an
interval on both sides of a bound, and does not meet it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

BOUNDS = ("expected", "between", "above", "below")
# Keys that accompany `expected`, at least one of them.
AROUND = ("tolerance", "factor")
BAND_KEYS = (*BOUNDS, *AROUND)


@dataclass(frozen=True)
class Measurement:
    """A number, with the ends of its 95 % interval if it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    # A remark, such as the source of the number or a close alternative.
    note: str = ""

    @classmethod
    def around(cls, value: float, half_width: float | None, note: str = "") -> Measurement:
        """Return a value with an interval of this half-width."""
        if half_width is None:
            return cls(value, note=note)
        return cls(value, value - half_width, value + half_width, note)


@dataclass(frozen=True)
class Band:
    """The range of expected values."""

    low: float
    high: float
    # The expected value: the middle of a band with two ends, the end of a bound.
    at: float
    # Whether the whole interval must lie beyond one bound, which is itself outside.
    one_sided: bool
    # Text of the band, without the unit.
    shown: str

    def holds(self, measured: Measurement) -> bool:
        """Return whether a measurement is as expected; NaN never is."""
        if not self.one_sided:
            return self.low <= measured.value <= self.high
        low = measured.value if measured.low is None else measured.low
        high = measured.value if measured.high is None else measured.high
        return self.low < low and high < self.high

    def admits(self, value: float) -> bool:
        """Return whether an exactly known number is as expected."""
        return self.holds(Measurement(value))

    def contains(self, other: Band) -> bool:
        """Return whether this band contains all of another."""
        return self.low <= other.low and other.high <= self.high

    @property
    def exact(self) -> bool:
        """Whether the band consists of a single number."""
        return self.low == self.high

    @property
    def half_width(self) -> float:
        """Half the distance of the ends; infinite for a bound."""
        return (self.high - self.low) / 2


def read_band(table: Mapping[str, Any], where: str) -> Band:
    """Return the band defined by a table; `where` begins the message if it is invalid."""
    kinds = [kind for kind in BOUNDS if kind in table]
    beside = [key for key in AROUND if key in table]
    if len(kinds) != 1 or (kinds == ["expected"]) != bool(beside):
        raise InputError(
            f'{where} needs one of "expected" with "tolerance" or "factor" or both, "between", '
            '"above" and "below"',
            expected=list(BOUNDS),
            code="missing-key",
            key="expected",
        )
    band = band_of(kinds[0], table, where)
    if band.low > band.high:
        raise upside_down(where, f"from {band.low:g} to {band.high:g}", kinds[0])
    return band


def upside_down(where: str, what: str, key: str) -> InputError:
    """Return the error for a band whose ends are in the wrong order."""
    return InputError(
        f"{where} has a band that is upside down, {what}: the lower end comes first, "
        '"tolerance" is at least 0 and "factor" at least 1',
        key=key,
    )


def band_of(kind: str, table: Mapping[str, Any], where: str) -> Band:
    """Return the band of one kind."""
    if kind == "expected":
        return around(number(table, kind, where), table, where)
    if kind == "between":
        value = table[kind]
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004  (both ends)
            raise InputError(
                f'{where} has no two ends in "between": write between = [1, 2]',
                code="wrong-type",
                key="between",
            )
        low, high = (number({kind: end}, kind, where) for end in value)
        return Band(low, high, (low + high) / 2, one_sided=False, shown=f"{low:g} to {high:g}")
    end = number(table, kind, where)
    low, high = (end, math.inf) if kind == "above" else (-math.inf, end)
    return Band(low, high, end, one_sided=True, shown=f"{kind} {end:g}")


def around(value: float, table: Mapping[str, Any], where: str) -> Band:
    """Return the band around a value; of tolerance and factor the wider one applies."""
    tolerance = number(table, "tolerance", where) if "tolerance" in table else 0.0
    factor = number(table, "factor", where) if "factor" in table else 1.0
    if tolerance < 0 or factor < 1:
        key = "tolerance" if tolerance < 0 else "factor"
        raise upside_down(where, f"tolerance {tolerance:g} and factor {factor:g}", key)
    reached = (value - tolerance, value + tolerance, value / factor, value * factor)
    low, high = min(reached), max(reached)
    shown = (
        f"{value:g}, {low:.3g} to {high:.3g}" if "factor" in table else f"{value:g} ± {tolerance:g}"
    )
    return Band(low, high, value, one_sided=False, shown=shown)


def number(table: Mapping[str, Any], key: str, where: str) -> float:
    """Return a number of a table."""
    value = table[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise InputError(
            f'{where} has "{key}" = {value!r}, which is no number', key=key, code="wrong-type"
        )
    return value
