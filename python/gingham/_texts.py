"""Numbers as text: with a suitable unit, and as many digits as their interval justifies."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Units of time and their nanoseconds.
UNITS = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)]
# Relative half-widths, and excesses of a share over 1, below this are rounding errors.
ROUNDING = 1e-6
# Numbers below this are printed with an exponent.
EXPONENT_BELOW = 1e-4


def unit_for(ns: float) -> tuple[str, float]:
    """Return the largest unit not longer than a time, and its length in nanoseconds."""
    return next((unit for unit in UNITS if ns >= unit[1]), UNITS[-1])


def time_text(ns: float) -> str:
    """Return a time to three digits, in a suitable unit."""
    name, unit_ns = unit_for(ns)
    value = ns / unit_ns
    digits = 0 if value == 0 else max(0, 2 - magnitude(value, 3))
    return f"{value:,.{digits}f} {name}"


def time_with_interval(mean_ns: float | None, half_width_ns: float | None) -> str:
    """Return a mean time with the half-width of its interval, in a suitable unit."""
    if mean_ns is None:
        return "-"
    if half_width_ns is None:
        return f"{time_text(mean_ns)} ± ?"
    name, unit_ns = unit_for(mean_ns)
    return f"{with_interval(mean_ns / unit_ns, half_width_ns / unit_ns)} {name}"


def is_rounding(mean: float, half_width: float) -> bool:
    """Return whether a half-width is so small that it comes from rounding alone.

    >>> is_rounding(1.73832, 3.2e-16), is_rounding(1.73832, 3.2e-6)
    (True, False)
    """
    return half_width < ROUNDING * abs(mean)


def number(value: float, digits: int = 4) -> str:
    """Return a number to some significant digits, without an exponent from 1e-4 up.

    >>> number(1563.2, 3), number(0.00012345), number(0.5), number(3.98e-5, 2)
    ('1,563', '0.0001234', '0.5', '4e-05')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) < EXPONENT_BELOW:
        return f"{value:.{digits}g}"
    places = max(0, digits - 1 - magnitude(value, digits))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


def plain_number(value: float) -> str:
    """Return a number of a query's result to six digits, without commas, for copying.

    >>> plain_number(1234567.891), plain_number(0.123456789)
    ('1234568', '0.123457')
    """
    return number(value, 6).replace(",", "")


def magnitude(value: float, digits: int) -> int:
    """Return the power of ten of a number after it was rounded to significant digits.

    >>> magnitude(0.0996, 2), magnitude(0.0996, 3)
    (-1, -2)
    """
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def scaled(value: float, power: int) -> float:
    """Return a number times a power of ten, which itself need not be a floating-point number.

    >>> scaled(5e-324, 324), scaled(1.5, -1)
    (4.940656458412465, 0.15)
    """
    return float(Decimal(value).scaleb(power))


def with_interval(mean: float, half_width: float | None) -> str:
    """Return a mean with the half-width of its 95 % interval, to two digits of the latter.

    The mean is rounded at the place of the second digit.

    >>> with_interval(1.73832, 3.2e-16), with_interval(56789.0, 1234.0), with_interval(2.0, 0.0996)
    ('1.738 ± 0', '56,800 ± 1,200', '2.00 ± 0.10')
    >>> with_interval(0.0, 5e-324)
    '(0.0 ± 4.9)e-324'
    """
    if half_width is None or not math.isfinite(half_width):
        return f"{number(mean)} ± ?"
    if half_width == 0 or is_rounding(mean, half_width):
        return f"{number(mean)} ± 0"
    if max(abs(mean), half_width) < EXPONENT_BELOW:
        power = magnitude(max(abs(mean), half_width), 2)
        return f"({with_interval(scaled(mean, -power), scaled(half_width, -power))})e{power}"
    places = 1 - magnitude(half_width, 2)
    shown = max(places, 0)
    return f"{round(mean, places):,.{shown}f} ± {round(half_width, places):,.{shown}f}"


def percent(share: float) -> str:
    """Return a share in per cent.

    >>> percent(0.0519), percent(1.00000004)
    ('5.2 %', '100.0 %')
    """
    return f"{100 * share:.1f} %"


def percent_with_interval(share: float, half_width: float | None) -> str:
    """Return a share in per cent with the half-width of its interval.

    >>> percent_with_interval(0.934512, 0.0042), percent_with_interval(1.00000004, 3.98e-7)
    ('93.45 ± 0.42 %', '100 ± 0 %')
    """
    half = None if half_width is None else 100 * half_width
    return f"{with_interval(100 * clipped_share(share), half)} %"


def clipped_share(share: float) -> float:
    """Return a share, clipped to 0 or 1 if it lies beyond by a rounding error only.

    >>> clipped_share(1.00000004), clipped_share(-1e-9), clipped_share(1.2)
    (1.0, 0.0, 1.2)
    """
    nearest = min(max(share, 0.0), 1.0)
    return nearest if abs(share - nearest) < ROUNDING else share


def among_equals(values: Sequence[float], half_widths: Sequence[float | None]) -> int:
    """Return how many values equal the largest within their intervals, itself included.

    A value without an interval equals the largest within rounding.

    >>> among_equals([0.5, 0.49, 0.3], [0.01, 0.01, 0.01]), among_equals([0.5, 0.49], [None, None])
    (2, 1)
    """
    if not values:
        return 0
    place = max(range(len(values)), key=values.__getitem__)
    top, reach = values[place], known(half_widths[place])
    return sum(
        top - value <= reach + known(half) + ROUNDING * abs(top)
        for value, half in zip(values, half_widths, strict=True)
    )


def known(half_width: float | None) -> float:
    """Return a half-width, or 0 if there is none."""
    return 0.0 if half_width is None or math.isnan(half_width) else half_width


def equals_text(count: int) -> str:
    """Return a remark about the first of several equal values; empty for a single value.

    >>> equals_text(16), equals_text(1)
    ('one of 16 that are equal within their intervals', '')
    """
    return f"one of {count:,} that are equal within their intervals" if count > 1 else ""


def half_width_of(key: str) -> str:
    """Return the key of the half-width of a number.

    >>> half_width_of("latency_mean_ns"), half_width_of("accepted_load")
    ('latency_half_width_ns', 'accepted_load_half_width')
    """
    if key.endswith("_mean_ns"):
        return key.replace("_mean_ns", "_half_width_ns")
    if key.endswith("_bits_per_s"):
        return key.replace("_bits_per_s", "_half_width_bits_per_s")
    return f"{key}_half_width"
