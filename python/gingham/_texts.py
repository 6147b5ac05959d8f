"""Numbers as people read them: a unit that suits, and as many digits as an interval allows."""

from __future__ import annotations

import math

# Units of time and their nanoseconds.
UNITS = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)]


def unit_for(ns: float) -> tuple[str, float]:
    """Return the largest unit, and its nanoseconds, in which a time is at least 1."""
    return next((unit for unit in UNITS if ns >= unit[1]), UNITS[-1])


def time_text(ns: float) -> str:
    """Return a time to three digits, in the unit that suits it."""
    name, unit_ns = unit_for(ns)
    value = ns / unit_ns
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(value)))
    return f"{value:,.{digits}f} {name}"


def time_with_interval(mean_ns: float | None, half_width_ns: float | None) -> str:
    """Return a mean time with the half-width of its interval, in the unit that suits it."""
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
    return half_width < 1e-12 * abs(mean)


def with_interval(mean: float, half_width: float | None) -> str:
    """Return a mean with the half-width of its 95 % interval, to two digits of the latter.

    >>> with_interval(1.73832, 3.2e-16)
    '1.738 ± 0'
    """
    if not half_width or is_rounding(mean, half_width):
        return f"{mean:,.4g} ± {'?' if half_width is None else 0}"
    digits = max(0, 1 - math.floor(math.log10(half_width)))
    return f"{mean:,.{digits}f} ± {half_width:,.{digits}f}"


def percent(share: float) -> str:
    """Return a share in per cent.

    >>> percent(0.0519)
    '5.2 %'
    """
    return f"{100 * share:.1f} %"


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
