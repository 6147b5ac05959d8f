"""What each single failure costs: every cable, switch or spine taken away in turn.

::

    without leaf3[7] - spine2[4]     1,084 pairs cut      bound 0.790   free
    without spine2                  34,112 pairs cut      bound 0.742   free

Two questions are answered for each failure. How many pairs do the tables as they are lose, until
the subnet manager sweeps again? And what do new tables, those of our up*/down*, leave: do they
reach every pair, what do they allow of traffic from all to all, are they proved free of deadlock?
The worst come first: most pairs lost, no proof, the lowest bound, most pairs cut.

The core routes and proves a fabric in milliseconds, so that every failure is tried. OpenSM is
then asked for the worst alone.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gingham.errors import InputError
from gingham.opensm.comparison import host_pairs, own_routes
from gingham.opensm.damage import candidates
from gingham.opensm.parts import managed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gingham.fabric import Fabric
    from gingham.opensm.comparison import Plan
    from gingham.routes import Routes

Each: TypeAlias = Literal["cable", "switch", "spine"]

# Failures for which OpenSM's engines are asked.
WORST = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """One cable or switch that failed, alone."""

    name: str
    # Pairs of hosts whose path in the tables as they are takes it.
    cut_pairs: int
    # Pairs of hosts that new tables of our up-down do not join, of those of the whole fabric.
    lost_pairs: int
    # What new tables allow of traffic from all to all; `None` without two hosts.
    bound: float | None
    deadlock_free: bool
    deadlock_free_between_hosts: bool

    @property
    def badness(self) -> tuple[int, bool, bool, float, int, str]:
        """Return by what failures are ranked, the worst first."""
        return (
            -self.lost_pairs,
            self.deadlock_free_between_hosts,
            self.deadlock_free,
            self.bound or 0.0,
            -self.cut_pairs,
            self.name,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the failure for programs."""
        return asdict(self)


def single_failures(fabric: Fabric, each: Each) -> list[str]:
    """Return the names of what fails in turn; `InputError` if there is nothing of the kind."""
    if each == "cable":
        names = candidates(fabric, "cables")
    else:
        names = candidates(fabric, "switches")
        if each == "spine":
            hosts = {node.name for node in fabric.nodes if node.kind == "host"}
            ends = [{name for name, _ in cable.ends} for cable in fabric.cables]
            leaves = set[str]().union(*(pair for pair in ends if pair & hosts))
            names = [name for name in names if name not in leaves]
    if not names:
        kinds = {"cable": "cable between switches", "spine": "switch without hosts"}
        raise InputError(f"no {kinds.get(each, 'switch')} of this fabric can fail")
    return names


def survey_seconds(fabric: Fabric, plan: Plan, count: int) -> float:
    """Return about how long so many failures take, from the time of the whole fabric."""
    begin = time.perf_counter()
    own_routes(managed(fabric), "up-down", plan).statistics()
    return count * (time.perf_counter() - begin)


def survey(
    fabric: Fabric,
    each: Each,
    plan: Plan,
    tables: Routes | None = None,
    *,
    on_step: Callable[[str, str], None] | None = None,
) -> list[Failure]:
    """Return every single failure, the worst first.

    `tables` are those as they are; without them, our up-down's on the whole fabric. `on_step` is
    told the name of what is gone.
    """
    whole = managed(fabric)
    pairs = plan.pairs if plan.pairs is not None else host_pairs(whole)
    routes = tables or own_routes(whole, "up-down", plan)
    found = []
    for name in single_failures(whole, each):
        if on_step:
            on_step(f"without {name}", "routing")
        after = own_routes(managed(whole.without(name)), "up-down", plan)
        facts = after.statistics()
        bound = facts["all_to_all"]
        found.append(
            Failure(
                name,
                cut_pairs(whole, routes, name),
                pairs - (facts["host_pairs"] - facts["unreachable_pairs"]),
                bound["load"] if bound else None,
                after.is_deadlock_free,
                not after.cycle_between_hosts,
            )
        )
    return sorted(found, key=lambda failure: failure.badness)


def cut_pairs(fabric: Fabric, routes: Routes, name: str) -> int:
    """Return how many pairs of hosts have a path over a cable or switch.

    A path enters a switch by one channel, and takes a cable in one direction.
    """
    shared = (routes.sharing(channel, at_most=1) for channel in channels_of(fabric, name))
    return sum(one["pairs"] for one in shared if one)


def channels_of(fabric: Fabric, name: str) -> Sequence[str]:
    """Return the channels into a switch, or both channels of a cable."""
    channels = []
    for cable in fabric.cables:
        ends = [f"{node}[{port}]" for node, port in cable.ends]
        if name == " - ".join(ends):
            return [" -> ".join(ends), " -> ".join(reversed(ends))]
        for (node, _), order in zip(cable.ends, (reversed(ends), ends), strict=True):
            if node == name:
                channels.append(" -> ".join(order))
    return channels
