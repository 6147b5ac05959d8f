"""Congestion settings of a scenario as numbers, shared by all exports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gingham.scenario import Scenario

QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z/]+)\s*")
PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
# Base units: bytes, microseconds, bits a second.
UNITS = {
    **{f"{prefix}B": Decimal(size) for prefix, size in PREFIXES.items()},
    "KiB": Decimal(1 << 10),
    "MiB": Decimal(1 << 20),
    "GiB": Decimal(1 << 30),
    "ps": Decimal("1e-6"),
    "ns": Decimal("1e-3"),
    "us": Decimal(1),
    "ms": Decimal(1000),
    "s": Decimal(1000_000),
    **{f"{prefix}bit/s": Decimal(size) for prefix, size in PREFIXES.items()},
    **{f"{prefix}B/s": Decimal(size) * 8 for prefix, size in PREFIXES.items()},
}
# Ethernet presets have the rate of a link in their name.
ROCE = re.compile(r"roce-(\d+)")


def number(text: str) -> Decimal:
    """Return a quantity in its base unit: bytes, microseconds, bits a second.

    >>> number("50 kB"), number("55 us"), number("12.5 GB/s") == number("100 Gbit/s")
    (Decimal('50000'), Decimal('55'), True)
    """
    match = QUANTITY.fullmatch(text)
    if match is None or match[2] not in UNITS:
        raise InputError(f'"{text}" is no size, time or rate', expected=sorted(UNITS))
    return Decimal(match[1]) * UNITS[match[2]]


def whole(value: Decimal) -> int:
    """Return the nearest whole number."""
    return int(value.to_integral_value(ROUND_HALF_UP))


@dataclass(frozen=True, slots=True)
class Response:
    """Response of one traffic class to marks."""

    # Key of its parameters, such as `traffic.0.window.response.becn`.
    key: str
    name: str
    service_level: int
    parameters: Mapping[str, Any]
    # Microseconds between notifications of a flow; `None` if each acknowledgement has its mark.
    notification_us: Decimal | None
    # Highest rate of the class as a share of its link; `None` for the full rate.
    rate_limit: Any
    # Maximum number of packets in flight; `None` without a limit.
    window_packets: int | None


def marking_of(scenario: Scenario, kind: str) -> Mapping[str, Any] | None:
    """Return the parameters of a marking policy, if switches mark by it."""
    marking = scenario.resolved()["network"]["marking"]
    if marking == kind:
        return {}
    return marking[kind] if isinstance(marking, dict) and kind in marking else None


def responses_of(scenario: Scenario, kind: str) -> list[Response]:
    """Return the traffic classes that respond to marks in one way."""
    return [found for found in every_response(scenario) if found.name == kind]


def every_response(scenario: Scenario) -> Iterator[Response]:
    """Yield the response of each traffic class that has one."""
    for index, entry in enumerate(scenario.resolved()["traffic"]):
        window = entry["window"]
        response = window["response"] if window else None
        if not response:
            continue
        name, parameters = (
            (response, {}) if isinstance(response, str) else next(iter(response.items()))
        )
        acknowledged = window["acknowledged"]
        marked = acknowledged.get("marked") if isinstance(acknowledged, dict) else None
        yield Response(
            f"traffic.{index}.window.response.{name}",
            name,
            entry["service_level"] or 0,
            parameters or {},
            number(marked) if marked else None,
            entry["rate_limit"],
            window["packets"],
        )


def link_rate_of(scenario: Scenario) -> Decimal:
    """Return the rate of the links in bits a second: the scenario's, or that of its preset.

    Raises `InputError` if neither defines it.
    """
    network = scenario.resolved()["network"]
    if network["link_rate"]:
        return number(network["link_rate"])
    match = ROCE.fullmatch(network["preset"] or "")
    if match is None:
        scenario.refuse(
            "network.link_rate",
            "the defaults of congestion control depend on the rate of the links: give it, such as "
            '"400 Gbit/s"',
        )
    return Decimal(match[1]) * 10**9


def the_only(scenario: Scenario, found: list[Response], why: str) -> Response:
    """Return the response common to all classes; reject the first that differs."""
    for other in found[1:]:
        if other.parameters != found[0].parameters:
            scenario.refuse(other.key, why)
    return found[0]


def comment(*sentences: str) -> str:
    """Return sentences as comment lines."""
    return "".join(f"# {sentence}\n" for sentence in sentences)
