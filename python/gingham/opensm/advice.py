"""What a comparison of engines comes to, in sentences for whoever chooses one.

The choice is among routes that cannot deadlock and lose no pair, by bandwidth. Engines whose
intervals overlap are told together: random matchings do not tell them apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gingham.fabric import Fabric
    from gingham.opensm.comparison import EngineRow, Plan


def best(rows: Sequence[EngineRow], proof: str = "deadlock_free") -> list[EngineRow]:
    """Return the engines with most bandwidth of those that are safe, as far as can be told.

    None if no engine is, or if there are too few hosts to measure.
    """
    safe = [row for row in rows if is_safe(row, proof)]
    if not safe:
        return []
    top = max(safe, key=lambda row: row.facts["bisection"]["bandwidth"])
    mean, half_width = interval(top)
    return [row for row in safe if sum(interval(row)) >= mean - half_width]


def is_safe(row: EngineRow, proof: str) -> bool:
    """Whether an engine ran as asked, with routes for all pairs that cannot deadlock."""
    facts = row.facts
    return (
        row.by == "opensm"
        and row.ran == row.engine
        and bool(facts)
        and facts[proof]
        and not facts["lost_pairs"]
        and facts["bisection"] is not None
    )


def interval(row: EngineRow) -> tuple[float, float]:
    """Return the bandwidth and half of its interval."""
    measured = row.facts["bisection"]
    return measured["bandwidth"], measured["bandwidth_half_width"]


def verdict(rows: Sequence[EngineRow]) -> str:
    """Return which engines to choose from, in a sentence."""
    for proof, where in (("deadlock_free", ""), ("deadlock_free_between_hosts", " between hosts")):
        found = best(rows, proof)
        if found:
            return f"free of deadlock{where}, with most bandwidth: {', '.join(map(told, found))}"
    ours = [row.engine for row in rows if row.by == "gingham" and row.facts["deadlock_free"]]
    mended = f"; of ours: {', '.join(ours)}" if ours else ""
    return f"no engine of these is free of deadlock with a route for every pair{mended}"


def told(row: EngineRow) -> str:
    """Return an engine with its bandwidth and what it costs."""
    lanes = len(row.facts["lanes"])
    cost = f", {lanes} lanes" if lanes > 1 else ""
    return f"{row.engine} ({interval(row)[0]:.3f}{cost})"


def hints(fabric: Fabric, plan: Plan, rows: Sequence[EngineRow]) -> Iterator[str]:
    """Return what engines that were replaced may have lacked."""
    replaced = [row.engine for row in rows if row.by == "opensm" and row.ran != row.engine]
    aggregation = any(node.kind == "aggregation" for node in fabric.nodes)
    if "ftree" in replaced and aggregation and plan.compute_nodes == "all":
        yield (
            "ftree takes aggregation nodes for compute nodes, and a switch that has one for a "
            "leaf: --compute-nodes hosts leaves them out"
        )
