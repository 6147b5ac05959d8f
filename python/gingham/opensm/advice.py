"""Recommendation of a routing engine from a comparison, in sentences.

The candidates are engines that OpenSM did not replace and whose routes are free of deadlock and
lose no pair. Engines that stay safe after each tried failure are preferred, then engines whose
method excludes cycles on every fabric. Then bandwidth decides. If intervals overlap, the number of
lanes decides, then the bound on all-to-all traffic, then the time that the engine takes. One engine
is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gingham.errors import InputError, counted
from gingham.opensm.comparison import own_routes
from gingham.opensm.parts import managed, parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gingham.fabric import Fabric
    from gingham.opensm.comparison import EngineRow, Plan

PROOFS = ("deadlock_free", "deadlock_free_between_hosts")
# Engines whose method excludes cycles on every fabric.
FREE_BY_METHOD = frozenset({"updn", "ftree", "lash", "dfsssp", "nue", "torus-2QoS"})
# Engines that OpenSM replaces if it finds no roots.
ROOTED = ("updn", "ftree")
NAMED_MAX = 4
# Our tables are mentioned if their bound exceeds that of the chosen engine by this factor.
BOUND_FACTOR = 1.1
# Minimum number of hosts of a part that is reported as a separate fabric.
PART_HOSTS_MIN = 2


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine to choose, and the reasons for the choice."""

    row: EngineRow
    # Key of the proved fact: freedom from deadlock for all packets, or between hosts only.
    proof: str
    # Whether the engine stays safe after every tried failure; `None` without failures.
    stays_safe: bool | None
    # Whether its method excludes cycles.
    by_method: bool
    # The safe engine with more bandwidth that is not chosen, if there is one.
    passed_over: EngineRow | None

    def as_json(self) -> dict[str, Any]:
        """Return the choice as a dictionary for JSON."""
        return {
            "engine": self.row.engine,
            "proof": self.proof,
            "stays_safe": self.stays_safe,
            "by_method": self.by_method,
            "passed_over": self.passed_over.engine if self.passed_over else None,
        }


def choose(rows: Sequence[EngineRow], after: Sequence[Sequence[EngineRow]] = ()) -> Choice | None:
    """Return the engine to choose, or `None` if none is safe.

    `after` has the rows after each failure tried.
    """
    for proof in PROOFS:
        safe = [row for row in rows if is_safe(row, proof)]
        if safe:
            return chosen_of(safe, proof, after)
    return None


def chosen_of(
    safe: Sequence[EngineRow], proof: str, after: Sequence[Sequence[EngineRow]]
) -> Choice:
    """Return the choice among engines that are safe by one proof."""
    kept = {row.engine for row in safe if all(stays(row, proof, rows) for rows in after)}

    def rank(row: EngineRow) -> tuple[bool, bool]:
        return row.engine in kept, row.engine in FREE_BY_METHOD

    highest = max(map(rank, safe))
    row = best([one for one in safe if rank(one) == highest])
    mean, half_width = interval(row)
    top = max(safe, key=lambda one: interval(one)[0])
    more = interval(top)[0] - interval(top)[1] > mean + half_width
    return Choice(
        row,
        proof,
        row.engine in kept if after else None,
        row.engine in FREE_BY_METHOD,
        top if more else None,
    )


def best(rows: Sequence[EngineRow]) -> EngineRow:
    """Return the row with most bandwidth; if intervals overlap, the one with the least cost."""
    top = max(rows, key=lambda row: interval(row)[0])
    mean, half_width = interval(top)
    equals = [row for row in rows if sum(interval(row)) >= mean - half_width]
    return min(equals, key=cost)


def cost(row: EngineRow) -> tuple[int, float, float]:
    """Return the sort key of engines with equal bandwidth; less is better."""
    return len(row.facts["lanes"]), -round(bound_of(row), 3), -interval(row)[0]


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


def stays(row: EngineRow, proof: str, after: Sequence[EngineRow]) -> bool:
    """Return whether an engine stays safe after a failure and loses no pair that another keeps."""
    least = min((one.facts["lost_pairs"] for one in after if one.facts), default=0)
    return any(
        one.ran == row.engine and one.facts[proof] and one.facts["lost_pairs"] <= least
        for one in after
        if one.by == "opensm" and one.engine == row.engine and one.facts
    )


def interval(row: EngineRow) -> tuple[float, float]:
    """Return the bandwidth and the half-width of its interval."""
    measured = row.facts["bisection"]
    return measured["bandwidth"], measured["bandwidth_half_width"]


def verdict(rows: Sequence[EngineRow], after: Sequence[Sequence[EngineRow]] = ()) -> str:
    """Return a sentence that names the engine to choose."""
    choice = choose(rows, after)
    if choice is not None:
        return told(choice, failures=len(after))
    ours = [
        row.engine
        for row in rows
        if row.by == "gingham" and row.facts["deadlock_free"] and not row.facts["lost_pairs"]
    ]
    mended = f"; of ours: {', '.join(ours)}" if ours else ""
    return f"no engine of these is free of deadlock with a route for every pair{mended}"


def told(choice: Choice, *, failures: int) -> str:
    """Return a choice as text."""
    where = "" if choice.proof == PROOFS[0] else " between hosts"
    when = ""
    if choice.stays_safe is not None:
        lost = "the failure" if failures == 1 else f"each of {failures} failures"
        when = f", also after {lost}" if choice.stays_safe else f", but not after {lost}"
    words = [f"choose {numbers(choice.row)}: free of deadlock{where}{when}"]
    if choice.passed_over is not None:
        words.append(f"{numbers(choice.passed_over)} has more bandwidth, but {why(choice)}")
    elif choice.stays_safe is None and not choice.by_method:
        words.append("nothing in its method keeps it so after a failure: see --each cable")
    return "; ".join(words)


def why(choice: Choice) -> str:
    """Return the reason for not choosing an engine with more bandwidth."""
    if choice.stays_safe:
        return "does not stay so"
    return "nothing in its method keeps it free of deadlock after a failure"


def numbers(row: EngineRow) -> str:
    """Return an engine with its bandwidth and number of lanes as text."""
    lanes = len(row.facts["lanes"])
    cost_in_lanes = f", {lanes} lanes" if lanes > 1 else ""
    return f"{row.engine} ({interval(row)[0]:.3f}{cost_in_lanes})"


def hints(fabric: Fabric, plan: Plan, rows: Sequence[EngineRow]) -> Iterator[str]:
    """Yield hints about parts that are not compared and about replaced engines."""
    yield from hints_of_parts(fabric)
    yield from hints_of_ours(rows)
    replaced = [row.engine for row in rows if row.by == "opensm" and row.ran != row.engine]
    lacking = [engine for engine in ROOTED if engine in replaced and needs_roots(fabric, engine)]
    if lacking and not plan.roots:
        yield (
            f"{' and '.join(lacking)}: give roots, the switches at the top, by name or GUID, a "
            f"line each, in a file (--roots FILE){roots_of_ours(fabric, plan)}"
        )
    aggregation = any(node.kind == "aggregation" for node in fabric.devices)
    if "ftree" in replaced and aggregation and plan.compute_nodes == "all":
        yield (
            "ftree takes aggregation nodes for compute nodes, and a switch that has one for a "
            "leaf: --compute-nodes hosts leaves them out"
        )


def hints_of_ours(rows: Sequence[EngineRow]) -> Iterator[str]:
    """Yield a hint if our tables have a clearly higher bound on all-to-all traffic."""
    choice = choose(rows)
    safe = [row for row in rows if row.by == "gingham" and row.facts[PROOFS[0]]]
    ours = max((row for row in safe if not row.facts["lost_pairs"]), key=bound_of, default=None)
    if choice is None or ours is None:
        return
    if bound_of(ours) > BOUND_FACTOR * bound_of(choice.row):
        yield (
            f"our {ours.engine}, free of deadlock, has a bound of {bound_of(ours):.3f} where "
            f"{choice.row.engine} has {bound_of(choice.row):.3f}: OpenSM loads its tables "
            f"(gingham route FILE --algorithm {ours.engine} --form table -o tables.lfts, then "
            "opensm -R file -U tables.lfts)"
        )


def bound_of(row: EngineRow) -> float:
    """Return the bound on all-to-all traffic, or 0 if there is none."""
    bound = row.facts.get("all_to_all")
    return bound["load"] if bound else 0.0


def hints_of_parts(fabric: Fabric) -> Iterator[str]:
    """Yield a hint if the fabric is not connected."""
    hosts = {node.name for node in fabric.devices if node.kind == "host"}
    counts = [len(part & hosts) for part in parts(fabric)]
    count = sum(number >= PART_HOSTS_MIN for number in counts)
    if count > 1:
        yield (
            f"no cable joins the {count} parts of this fabric, and a subnet manager manages one: "
            f"compared is the one with {max(counts):,} of {len(hosts):,} hosts"
        )


def needs_roots(fabric: Fabric, engine: str) -> bool:
    """Return whether roots may help an engine; `ftree` supports trees only."""
    return engine != "ftree" or bool(managed(fabric).info()["trees"])


def roots_of_ours(fabric: Fabric, plan: Plan) -> str:
    """Return a clause with the switches that our up-down uses as roots."""
    try:
        roots = own_routes(managed(fabric), "up-down", plan).roots
    except InputError:
        return ""
    named = ", ".join(roots[:NAMED_MAX]) + (", ..." if len(roots) > NAMED_MAX else "")
    return f"; our up-down takes {counted(len(roots), 'switch', 'switches')}: {named}"


def facts_of(rows: Sequence[EngineRow], after: Sequence[Sequence[EngineRow]]) -> Mapping[str, Any]:
    """Return the choice as a dictionary for JSON; empty if no engine is safe."""
    choice = choose(rows, after)
    return choice.as_json() if choice else {}
