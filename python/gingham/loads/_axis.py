"""The axis of loads: the keys of a scenario set by "a load of 0.4".

A scenario with one class that has a load has one such key. Several classes keep their proportions,
and their loads sum to the given load.
"""

from __future__ import annotations

import tomllib
from math import floor
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.scenario import Scenario

# Decimal digits of the steps of a range; further digits are rounding errors.
DIGITS = 9
LOADS_MAX = 10_000


def load_axis(base: Scenario, loads: Sequence[float]) -> dict[str, Any]:
    """Return the axis `load` of a sweep of `base`; raise `InputError` if no class has a load."""
    known = [one.get("load") for one in base.resolved()["traffic"]]
    keys = {f"traffic.{place}.load": load for place, load in enumerate(known) if load}
    if not keys:
        raise InputError(
            f"{base.name}: no class of traffic has a load that could be varied\n"
            "  give one a load, such as traffic.0.load = 0.1",
            file=base.name,
            key="traffic",
            code="no-load",
        )
    total = sum(keys.values())
    factors = {key: load / total for key, load in keys.items()}
    return {"name": "load", "keys": factors, "values": list(loads)}


def key_values(text: str) -> tuple[str, list[Any]]:
    """Return a key and its values from `KEY=VALUE,VALUE,...`.

    A value is a TOML value, or else a text. Commas within brackets or quotes do not separate.

    >>> key_values("network.lanes.count=1,2,4")
    ('network.lanes.count', [1, 2, 4])
    >>> key_values("traffic.0.length={ fixed = '64 B', x = 1 },256 B")
    ('traffic.0.length', [{'fixed': '64 B', 'x': 1}, '256 B'])
    """
    key, _, listed = text.partition("=")
    values = [toml_value(part) for part in parts_of(listed) if part]
    if not key.strip() or not values:
        raise InputError(
            f'"{text}": expected a key and the values of its curves, such as '
            "network.lanes.count=1,2,4",
            key="by",
        )
    return key.strip(), values


def parts_of(text: str) -> list[str]:
    """Return the parts between commas outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "[{") - (character in "]}")
        if character == "," and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def toml_value(text: str) -> Any:
    """Return a TOML value, or the text itself if it is not valid TOML."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def load_values(text: str) -> list[float]:
    """Return the loads of a list, or of a range as first, last and step.

    >>> load_values("0.1:0.4:0.1"), load_values("0.2, 0.5")
    ([0.1, 0.2, 0.3, 0.4], [0.2, 0.5])
    """
    try:
        parts = [float(part) for part in text.replace(":", ",").split(",")]
    except ValueError:
        parts = []
    if ":" in text:
        parts = steps(*parts) if len(parts) == len(("first", "last", "step")) else []
    if not parts or not all(0 < load <= 1 for load in parts):
        raise InputError(
            f'"{text}": expected loads above 0 and up to 1, listed as 0.1,0.2 or as '
            "first:last:step, such as 0.05:0.95:0.05",
            key="load",
            code="wrong-type",
        )
    return parts


def steps(first: float, last: float, step: float) -> list[float]:
    """Return the values from first to last; empty for a step in the wrong direction."""
    if not step > 0 or not first <= last:
        return []
    count = floor((last - first) / step * (1 + 1e-9) + 1e-9) + 1
    if count > LOADS_MAX:
        return []
    return [round(first + step * number, DIGITS) for number in range(count)]
