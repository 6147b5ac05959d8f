"""Ranking of a fabric's findings by urgency for an operator.

The order is by consequence: loss of packets, then of bandwidth for many hosts, then for one host,
then misleading information for tools. Findings with one consequence keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gingham.fabric import Finding

# Kinds by consequence, the worst first.
CONSEQUENCES: dict[str, tuple[str, ...]] = {
    "hosts cannot reach each other": ("island", "uncabled-host"),
    "packets reach the wrong port, or none": (
        "duplicate-lid",
        "duplicate-guid",
        "no-lid",
        "unknown-lid",
        "unreached-switch",
        "missing-lane",
    ),
    "less bandwidth for all hosts of a switch": ("missing-uplink", "slow-cable"),
    "less bandwidth for one node": ("missing-adapter", "swapped-rails", "divided-node"),
    "the cabling differs from its record": (
        "one-sided-cable",
        "disagreement",
        "undefined-node",
        "loop-cable",
    ),
    "tools take several hosts for one": ("shared-name", "shared-system", "default-name"),
    "results rest on an assumption": ("unknown-speed", "assumption", "unevenness"),
}
OTHER = "worth knowing"
_PLACES = {
    kind: (place, consequence)
    for place, (consequence, kinds) in enumerate(CONSEQUENCES.items())
    for kind in kinds
}


@dataclass(frozen=True, slots=True)
class RankedFinding:
    """A finding with its consequence."""

    # From 1; findings of one consequence share it.
    rank: int
    consequence: str
    finding: Finding


def ranked(findings: Iterable[Finding]) -> list[RankedFinding]:
    """Return findings by consequence, warnings before notes.

    >>> from gingham.fabric import Finding
    >>> slow = Finding(None, "warning", "slow-cable", "4xHDR among 4xNDR")
    >>> apart = Finding(None, "warning", "island", "2 hosts")
    >>> [one.finding.kind for one in ranked([slow, apart])]
    ['island', 'slow-cable']
    """
    last = len(CONSEQUENCES), OTHER

    def place(finding: Finding) -> tuple[bool, int, str]:
        place, consequence = _PLACES.get(finding.kind, last)
        return finding.severity != "warning", place, consequence

    ordered = sorted(findings, key=lambda finding: place(finding)[:2])
    places = list(dict.fromkeys(place(finding) for finding in ordered))
    ranks = {one: number for number, one in enumerate(places, 1)}
    return [RankedFinding(ranks[place(finding)], place(finding)[2], finding) for finding in ordered]
