"""The table of readings: every cell, held against every claim of the paper that has one.

A row is a cell, a column a claim whose options name a `cell`; the claim is measured again with the
runs of that cell and held against its own band. A claim that differs in the cell that leads is one
that this cell does not meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham.studies._checking import function_of
from gingham_studies.santos2002.cells import BUFFER, CELLS, PACKET_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.studies._claims import Claim
    from gingham.studies._evidence import Evidence


def columns(evidence: Evidence) -> list[Claim]:
    """Return the paper's claims that every cell is held against, but the one calibrated on.

    Claims on buffer sizes without runs (--quick) are left out.
    """
    made = {row["buffer"] // PACKET_BYTES for row in evidence.rows("cells-with", "local")}
    chosen = [
        claim
        for claim in evidence.study.claims
        if "cell" in claim.options
        and not claim.ours
        and not claim.cannot_tell
        and buffers(claim) <= made
    ]
    return sorted(chosen, key=lambda claim: claim.figure)


def buffers(claim: Claim) -> set[int]:
    """Return the buffers, in packets, whose runs a claim asks for."""
    runs = (claim.options[key] for key in ("at", "one", "than", "over") if key in claim.options)
    return {at.get("buffer", BUFFER) for at in runs} | set(claim.options.get("buffers", ()))


def met(evidence: Evidence, claim: Claim, cell: str) -> bool:
    """Return whether a claim holds in a cell."""
    options = {**claim.options, "cell": cell}
    return claim.band.holds(function_of(evidence.study, claim.measure)(evidence, **options))


def table(evidence: Evidence) -> dict[str, Sequence[bool]]:
    """Return by cell which claims hold in it, in the order of `columns`."""
    claims = columns(evidence)
    return {cell: [met(evidence, claim, cell) for claim in claims] for cell in CELLS}


def page(evidence: Evidence) -> str:
    """Return the table as the page has it: how many claims each cell meets, and which not."""
    claims = columns(evidence)
    lines = ["| cell | claims met | not met |", "|---|---|---|"]
    for cell, found in table(evidence).items():
        missed = [claim.key for claim, one in zip(claims, found, strict=True) if not one]
        words = ", ".join(f"`{key}`" for key in missed) or "none"
        lines.append(f"| {cell} | {sum(found)} of {len(found)} | {words} |")
    return "\n".join(lines)
