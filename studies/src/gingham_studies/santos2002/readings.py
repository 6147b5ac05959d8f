"""Table of interpretations: every cell compared with every claim of the paper that has a cell.

A row is a cell, a column a claim whose options name a `cell`. The claim is measured again with the
runs of that cell and compared with its own band. A claim that `differs` is one that the leading
cell does not meet.
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
    """Return the paper's claims to compare with every cell, without the calibrated one.

    Claims about buffer sizes without runs (--quick) are omitted.
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
    """Return the buffer sizes, in packets, of the runs that a claim needs."""
    runs = (claim.options[key] for key in ("at", "one", "than", "over") if key in claim.options)
    return {at.get("buffer", BUFFER) for at in runs} | set(claim.options.get("buffers", ()))


def met(evidence: Evidence, claim: Claim, cell: str) -> bool:
    """Return whether a claim holds in a cell."""
    options = {**claim.options, "cell": cell}
    return claim.band.holds(function_of(evidence.study, claim.measure)(evidence, **options))


def table(evidence: Evidence) -> dict[str, Sequence[bool]]:
    """Return whether each claim holds, by cell, in the order of `columns`."""
    claims = columns(evidence)
    return {cell: [met(evidence, claim, cell) for claim in claims] for cell in CELLS}


def page(evidence: Evidence) -> str:
    """Return the table of the page: the number of claims met by each cell, and the unmet ones."""
    claims = columns(evidence)
    lines = ["| cell | claims met | not met |", "|---|---|---|"]
    for cell, found in table(evidence).items():
        missed = [claim.key for claim, one in zip(claims, found, strict=True) if not one]
        words = ", ".join(f"`{key}`" for key in missed) or "none"
        lines.append(f"| {cell} | {sum(found)} of {len(found)} | {words} |")
    return "\n".join(lines)
