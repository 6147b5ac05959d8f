"""Tables of `gingham opensm compare --each`: single failures, and the engines after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham.cli._output import print_prose, print_table
from gingham.opensm.failures import WORST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gingham.opensm.comparison import EngineRow
    from gingham.opensm.failures import Failure


def print_failures(failures: Sequence[Failure]) -> None:
    """Print the worst failures, and a summary of the others."""
    # Tables that are deadlock-free have no cycles.
    has_cycles = any(failure.cycles for failure in failures)
    columns = ["without", "cut", *(["cycles"] if has_cycles else []), "lost", "bound", "deadlock"]
    title = f"The worst of {len(failures):,} single failures, with our up-down"
    worst = failures[:WORST]
    rows = (cells(failure, with_cycles=has_cycles) for failure in worst)
    print_table(title, columns, rows, numbers=columns[1:-1])
    rest = failures[WORST:]
    if rest:
        unproved = sum(not failure.deadlock_free_between_hosts for failure in rest)
        proof = f"{unproved:,} of them can deadlock" if unproved else "all free between hosts"
        lost = max(failure.lost_pairs for failure in rest)
        print_prose(f"the other {len(rest):,} lose at most {lost:,} pairs, {proof}")


def cells(failure: Failure, *, with_cycles: bool) -> list[str]:
    """Return a failure as texts of cells, optionally with the cycles of the present tables."""
    proof = "hosts free" if failure.deadlock_free_between_hosts else "can deadlock"
    return [
        failure.name,
        f"{failure.cut_pairs:,}",
        *([f"{failure.cycles:,}"] if with_cycles else []),
        f"{failure.lost_pairs:,}",
        "" if failure.bound is None else f"{failure.bound:.3f}",
        "free" if failure.deadlock_free else proof,
    ]


def print_engines_after(after: Sequence[Sequence[EngineRow]]) -> None:
    """Print the results of each engine over the worst failures."""
    columns = ["engine", "ran", "free", "hosts free", "bound", "bandwidth", "lost"]
    title = f"OpenSM after each of the {len(after)} worst: how often, and the lowest and most"
    print_table(title, columns, engine_rows(after), numbers=columns[1:])


def engine_rows(after: Sequence[Sequence[EngineRow]]) -> Iterator[list[str]]:
    """Yield a row for each engine."""
    for engine in dict.fromkeys(row.engine for rows in after for row in rows):
        found = [row for rows in after for row in rows if row.engine == engine and row.facts]
        bounds = [row.facts["all_to_all"]["load"] for row in found if row.facts["all_to_all"]]
        shares = [row.facts["bisection"]["bandwidth"] for row in found if row.facts["bisection"]]
        counts = (
            sum(row.ran == engine for row in found),
            sum(row.facts["deadlock_free"] for row in found),
            sum(row.facts["deadlock_free_between_hosts"] for row in found),
        )
        yield [
            engine,
            *(f"{count} of {len(after)}" for count in counts),
            f"{min(bounds):.3f}" if bounds else "",
            f"{min(shares):.3f}" if shares else "",
            f"{max(row.facts['lost_pairs'] for row in found):,}" if found else "",
        ]
