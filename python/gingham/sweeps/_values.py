"""The values of an axis: lists, ranges, and quantities as numbers of their base unit.

::

    { from = 0.05, to = 0.95, step = 0.05 }      0.05, 0.1, 0.15, ... 0.95
    { from = "64 B", to = "4096 B", count = 7, scale = "log" }    64 B, 128 B, 256 B, ...

Invariants: a range gives the numbers that a person would write (0.15, not 0.15000000000000002), so
that a point of a range and an equal point of a list are one run; `to` belongs to the range if a
step meets it.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
# Factors from each unit to the base unit of its kind: B, ns, B/s, m.
UNITS = {
    "B": Decimal(1),
    "kB": Decimal(1000),
    "MB": Decimal(1000_000),
    "KiB": Decimal(1 << 10),
    "MiB": Decimal(1 << 20),
    "GB": Decimal(1000_000_000),
    "GiB": Decimal(1 << 30),
    "ps": Decimal("1e-3"),
    "ns": Decimal(1),
    "us": Decimal(1000),
    "ms": Decimal(1000_000),
    "s": Decimal(1000_000_000),
    **{
        f"{prefix}{unit}": size * factor
        for prefix, factor in PREFIXES.items()
        for units, size in (("B/s Bps", Decimal(1)), ("bit/s b/s bps", Decimal("0.125")))
        for unit in units.split()
    },
    "mm": Decimal("1e-3"),
    "cm": Decimal("1e-2"),
    "m": Decimal(1),
}
QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z/]+)\s*")
RANGE_KEYS = ["from", "to", "step", "count", "scale"]
VALUES_MAX = 1_000_000
# Significant digits of points of a logarithmic range, equal on every machine.
LOG_DIGITS = 6


def quantity(value: object) -> tuple[Decimal, str] | None:
    """Return number and unit of a text such as "50 B", or `None` for other values."""
    found = QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if not found or found[2] not in UNITS:
        return None
    return Decimal(found[1]), found[2]


def column_value(value: Any) -> Any:
    """Return the column value of an alternative: itself, or a quantity in base units."""
    if parsed := quantity(value):
        number, unit = parsed
        return plain(number * UNITS[unit])
    return value


def base_unit(values: Iterable[Any]) -> str | None:
    """Return the base unit of quantities of one kind, `None` for all other values.

    >>> base_unit(["100 ns", "2 us"]), base_unit(["1 kB", "2 us"]), base_unit([100, 200])
    ('ns', None, None)
    """
    parsed = [quantity(value) for value in values]
    found = {kind_of(one[1]) if one else None for one in parsed}
    return found.pop() if len(found) == 1 else None


def kind_of(unit: str) -> str:
    """Return the base unit of a unit's kind.

    >>> kind_of("KiB"), kind_of("Gbit/s"), kind_of("MBps"), kind_of("cm"), kind_of("ms")
    ('B', 'B/s', 'B/s', 'm', 'ns')
    """
    if "/s" in unit or (unit.endswith("ps") and unit != "ps"):
        return "B/s"
    if unit.endswith("B"):
        return "B"
    return "m" if unit in {"mm", "cm", "m"} else "ns"


def column_type(values: Iterable[Any]) -> str:
    """Return the Arrow type that can hold all values of a column.

    >>> column_type([1, 2]), column_type([1, 2.5]), column_type([1, "none"]), column_type([True])
    ('int64', 'double', 'string', 'bool')
    """
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int64"
    return "double" if kinds <= {int, float} else "string"


def plain(number: Decimal) -> int | float:
    """Return a number, as an integer if it is whole."""
    return int(number) if number == number.to_integral_value() else float(number)


def range_values(spec: Mapping[str, Any]) -> list[Any]:
    """Return the values of a range; raise `InputError` if it is invalid."""
    for key in spec:
        if key not in RANGE_KEYS:
            near = nearest(key, RANGE_KEYS)
            raise InputError(
                f'"{key}" is no key of a range; they are {", ".join(RANGE_KEYS)}',
                code="unknown-key",
                key=key,
                expected=RANGE_KEYS,
                nearest=near,
            )
    for key in ("from", "to"):
        if key not in spec:
            raise InputError(f'a range needs "{key}"', code="missing-key", key=key)
    if ("step" in spec) == ("count" in spec):
        raise InputError('a range needs either "step" or "count"', code="missing-key", key="step")
    first, unit = number_and_unit(spec, "from")
    last, _ = number_and_unit(spec, "to", unit)
    if "step" in spec:
        if spec.get("scale", "linear") != "linear":
            raise InputError('a logarithmic range takes "count", not "step"', key="step")
        step, _ = number_and_unit(spec, "step", unit)
        numbers = stepped(first, last, step)
    else:
        numbers = counted(first, last, spec["count"], spec.get("scale", "linear"))
    if unit in {"B", "ps"}:
        numbers = [number.to_integral_value() for number in numbers]
    return [with_unit(number, unit) for number in numbers]


def number_and_unit(
    spec: Mapping[str, Any], key: str, unit: str | None = None
) -> tuple[Decimal, str]:
    """Return a number of a range and its unit, which must equal `unit` if that is given."""
    value = spec[key]
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        parsed: tuple[Decimal, str] | None = (Decimal(repr(value)), "")
    else:
        parsed = quantity(value)
    if parsed is None:
        raise InputError(
            f'"{key}" of a range must be a number or a quantity, and is {value!r}',
            code="wrong-type",
            key=key,
        )
    if unit is not None and parsed[1] != unit:
        shown = f"in {unit}" if unit else "a plain number"
        raise InputError(
            f'"{key}" of the range must be {shown} as "from" is, and is {value!r}',
            code="wrong-unit",
            key=key,
        )
    return parsed


def stepped(first: Decimal, last: Decimal, step: Decimal) -> list[Decimal]:
    """Return the numbers from `first` up to `last`."""
    if step <= 0 or last < first:
        key = "step" if step <= 0 else "to"
        raise InputError('a range goes up: "step" above 0, and "to" not below "from"', key=key)
    count = int((last - first) / step) + 1
    require_few(count)
    return [first + index * step for index in range(count)]


def counted(first: Decimal, last: Decimal, count: object, scale: object) -> list[Decimal]:
    """Return `count` numbers from `first` to `last`."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InputError(
            f'"count" of a range must be a whole number from 1 on, and is {count!r}',
            code="wrong-type",
            key="count",
        )
    if scale not in {"linear", "log"}:
        raise InputError(
            f'"scale" of a range is "linear" or "log", not {scale!r}',
            code="unknown-name",
            key="scale",
            expected=["linear", "log"],
        )
    require_few(count)
    if count == 1:
        return [first]
    if scale == "log" and not 0 < first < last:
        raise InputError('a logarithmic range goes up from above 0: 0 < "from" < "to"', key="from")
    if scale == "log":
        ratio = last / first
        parts = [ratio ** (Decimal(index) / (count - 1)) for index in range(count)]
        inner = [rounded(first * part) for part in parts[1:-1]]
    else:
        inner = [rounded(first + (last - first) * i / (count - 1)) for i in range(1, count - 1)]
    return [first, *inner, last]


def rounded(number: Decimal) -> Decimal:
    """Return a number rounded to a few significant digits."""
    return Decimal(f"{number:.{LOG_DIGITS}g}")


def require_few(count: int) -> None:
    """Raise `InputError` if an axis would have implausibly many values."""
    if count > VALUES_MAX:
        raise InputError(
            f"the range has {count:,} values; an axis has at most {VALUES_MAX:,}", code="too-many"
        )


def with_unit(number: Decimal, unit: str) -> Any:
    """Return a number with its unit in scenario syntax."""
    return f"{plain(number)} {unit}" if unit else plain(number)


def times(value: Any, factor: float) -> Any:
    """Return a number or quantity times a factor, rounded to a few digits."""
    if parsed := quantity(value):
        number, unit = parsed
        return with_unit(exact(number * exact(factor)), unit)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(
            f"{value!r} cannot be multiplied by {factor}: it is no number",
            code="wrong-type",
            key="keys",
        )
    return plain(exact(value) * exact(factor))


def exact(number: float | Decimal) -> Decimal:
    """Return a number as the decimal that is written."""
    return number if isinstance(number, Decimal) else Decimal(repr(number))
