"""Comparison of routing algorithms on a fabric.

>>> from gingham import Fabric, comparison
>>> fabric = Fabric.make("irregular", switches=16, seed=1)
>>> chosen = [name for name in comparison.CANDIDATES if name.algorithm == "in-transit"]
>>> for row in comparison.compare(fabric, chosen):
...     print(row.label, row.facts["deadlock_free"], row.facts["statistics"]["minimal_share"])
in-transit, fewest hosts True 1.0
in-transit, any hosts True 1.0

InfiniBand switches forward by tables, and hosts do not forward packets of other hosts. On an
InfiniBand fabric the candidates are therefore the algorithms for tables (`supported`), as tables.
Other algorithms are compared on request.

All candidates are measured by the same code. A candidate that the fabric does not allow (dimension
order without a grid, smart routing on too many switches), or whose routes would need more memory
than permitted, has a row with the reason and without facts. Unless a form is requested, each
candidate has the form of `Fabric.route`: on large fabrics, and on InfiniBand, tables if it supports
them.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from gingham._native import table_algorithms
from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gingham.fabric import Fabric


@dataclass(frozen=True, slots=True)
class Candidate:
    """An algorithm with its parameters."""

    label: str
    algorithm: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # Whether the algorithm has a root, which may be requested unless `parameters` sets one.
    rooted: bool = False

    @property
    def in_tables(self) -> bool:
        """Whether forwarding tables can hold its routes."""
        return self.algorithm in TABLE_ALGORITHMS

    def chosen(self, root: str | Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the parameters with the requested root."""
        if root is None or not self.rooted:
            return dict(self.parameters)
        return {**self.parameters, "root": root}


# Algorithms whose routes are one output port for each switch and destination.
TABLE_ALGORITHMS = frozenset(table_algorithms())
# A cable of InfiniBand, such as 4xNDR.
INFINIBAND_SPEED = re.compile(r"\d+x(?:[SDQEHNX]DR|FDR(?:10)?)")
# Parameter named by the error if routes would need too much memory.
MEMORY = "memory_max"
DEPTH_FIRST = {"tree": "depth-first", "root": "largest-distance"}
CANDIDATES = (
    Candidate("shortest-path", "shortest-path"),
    Candidate("dimension-order", "dimension-order"),
    Candidate("up-down", "up-down", rooted=True),
    Candidate("up-down, depth first", "up-down", DEPTH_FIRST, rooted=True),
    Candidate("simple-routes", "simple-routes", rooted=True),
    Candidate("smart", "smart"),
    Candidate("in-transit, fewest hosts", "in-transit", {"hosts": "fewest"}, rooted=True),
    Candidate("in-transit, any hosts", "in-transit", {"hosts": "any"}, rooted=True),
)


def is_infiniband(fabric: Fabric) -> bool:
    """Return whether the speed of a cable shows that the switches are InfiniBand."""
    speeds = {cable.speed for cable in fabric.cables}
    return any(speed and INFINIBAND_SPEED.fullmatch(speed) for speed in speeds)


def supported(fabric: Fabric) -> list[Candidate]:
    """Return the candidates that the switches of a fabric support."""
    infiniband = is_infiniband(fabric)
    return [one for one in CANDIDATES if one.in_tables or not infiniband]


def form_on(
    fabric: Fabric, algorithm: str, form: Literal["source", "table"] | None
) -> Literal["source", "table"] | None:
    """Return the requested form; without one, tables on InfiniBand if the algorithm has them."""
    if form is None and algorithm in TABLE_ALGORITHMS and is_infiniband(fabric):
        return "table"
    return form


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate on one fabric."""

    label: str
    algorithm: str
    parameters: Mapping[str, Any]
    # Seconds taken by routing and proof.
    seconds: float = 0.0
    # The form, deadlock freedom, the cycle if there is one, and `Routes.statistics`; empty if
    # refused.
    facts: Mapping[str, Any] = field(default_factory=dict)
    # Reason why the fabric, the form or the memory limit does not allow the algorithm.
    refused: str | None = None
    # Whether that reason is memory.
    too_large: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the row for programs."""
        names = ("label", "algorithm", "parameters", "seconds", "facts", "refused", "too_large")
        return {name: getattr(self, name) for name in names}


def compare(
    fabric: Fabric,
    candidates: Sequence[Candidate] | None = None,
    *,
    form: Literal["source", "table"] | None = None,
    when_full: Literal["spill", "stop"] = "spill",
    root: str | Mapping[str, Any] | None = None,
    memory_max: str | None = None,
    on_step: Callable[[str, str], None] | None = None,
) -> list[CandidateRow]:
    """Return a row for each candidate, in their order; by default, those in `supported`.

    `form` and `memory_max` are those of `Fabric.route` and apply to each candidate separately.
    `root` applies to all algorithms that have one: a rule, or `{"named": [...]}`. `on_step` is
    called with the label of the present candidate and its activity. Raises `InputError` if a root
    is not a switch of the fabric, or if no candidate has enough memory for its routes.
    """
    tell = on_step or (lambda _label, _what: None)
    if root is not None:
        require_root(fabric, root, memory_max)
    rows = []
    for candidate in supported(fabric) if candidates is None else candidates:
        tell(candidate.label, "routing")
        parameters = candidate.chosen(root)
        begin = time.perf_counter()
        try:
            routes = fabric.route(
                {candidate.algorithm: parameters},
                form=form_on(fabric, candidate.algorithm, form),
                when_full=when_full,
                memory_max=memory_max,
            )
        except InputError as error:
            refused = CandidateRow(candidate.label, candidate.algorithm, parameters)
            rows.append(replace(refused, refused=str(error), too_large=is_too_large(error)))
            continue
        seconds = time.perf_counter() - begin
        tell(candidate.label, "measuring")
        facts = {
            "form": routes.form,
            "deadlock_free": routes.is_deadlock_free,
            "cycle": routes.cycle,
            "statistics": routes.statistics(),
        }
        rows.append(CandidateRow(candidate.label, candidate.algorithm, parameters, seconds, facts))
    require_room(rows)
    return rows


def require_root(fabric: Fabric, root: str | Mapping[str, Any], memory_max: str | None) -> None:
    """Raise `InputError` if a root is not a switch of the fabric, before the comparison."""
    try:
        fabric.route("up-down", root=root, memory_max=memory_max)
    except InputError as error:
        if not is_too_large(error):
            raise


def is_too_large(error: InputError) -> bool:
    """Whether routes would need too much memory; re-raises errors about an invalid `memory_max`."""
    if error.key == MEMORY and error.expected:
        raise error
    return error.key == MEMORY


def require_room(rows: Sequence[CandidateRow]) -> None:
    """Raise `InputError` if nothing was routed and memory is the reason for any candidate."""
    large = [row for row in rows if row.too_large]
    if large and not any(row.facts for row in rows):
        why = f"{large[0].label}: {large[0].refused}"
        raise InputError(
            f"no algorithm has room for its routes; {why}", key=MEMORY, code="too-large"
        )
