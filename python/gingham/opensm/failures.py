"""Effect of each single failure: every cable, switch or spine is removed in turn.

::

    without leaf3[7] - spine2[4]     1,084 pairs cut      bound 0.790   free
    without spine2                  34,112 pairs cut      bound 0.742   free

Two measures describe each failure: the present tables until the subnet manager sweeps again (the
pairs that they lose, and their groups of channels in cycles of waiting), and the quality of new
tables by our up*/down* (the number of lost pairs, the bound on all-to-all traffic, and whether
freedom from deadlock is proved). The worst come first: most pairs lost, no proof, most cycles, the
lowest bound, most pairs cut.

The core routes and proves a fabric in milliseconds, so every failure is tried. OpenSM then runs on
the worst only.
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

# Number of failures, the worst first, that are repeated with OpenSM's engines.
WORST = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a single cable or switch."""

    name: str
    # Pairs of hosts whose path in the present tables crosses it.
    cut_pairs: int
    # Groups of channels in cycles of waiting on the present tables without the failed part.
    cycles: int
    # Pairs of hosts of the whole fabric without a route in new tables by our up-down.
    lost_pairs: int
    # Bound on all-to-all traffic with new tables; `None` with fewer than two hosts.
    bound: float | None
    deadlock_free: bool
    deadlock_free_between_hosts: bool

    @property
    def badness(self) -> tuple[int, bool, bool, int, float, int, str]:
        """Return the sort key that ranks failures, the worst first."""
        return (
            -self.lost_pairs,
            self.deadlock_free_between_hosts,
            self.deadlock_free,
            -self.cycles,
            self.bound or 0.0,
            -self.cut_pairs,
            self.name,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the failure as a dictionary for JSON."""
        return asdict(self)


def single_failures(fabric: Fabric, each: Each) -> list[str]:
    """Return the names of all cables, switches or spines; raise `InputError` if there are none."""
    if each == "cable":
        names = candidates(fabric, "cables")
    else:
        names = candidates(fabric, "switches")
        if each == "spine":
            hosts = {node.name for node in fabric.devices if node.kind == "host"}
            ends = [{name for name, _ in cable.ends} for cable in fabric.cables]
            leaves = set[str]().union(*(pair for pair in ends if pair & hosts))
            names = [name for name in names if name not in leaves]
    if not names:
        kinds = {"cable": "cable between switches", "spine": "switch without hosts"}
        raise InputError(
            f"no {kinds.get(each, 'switch')} of this fabric can fail", code="no-data", key="each"
        )
    return names


def survey_seconds(fabric: Fabric, plan: Plan, count: int) -> float:
    """Return an estimate of the time for `count` failures, in seconds.

    It is extrapolated from the time of the whole fabric.
    """
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

    `tables` are the present tables; by default, those of our up-down on the whole fabric.
    `on_step` receives the name of the failed cable or switch.
    """
    whole = managed(fabric)
    pairs = plan.pairs if plan.pairs is not None else host_pairs(whole)
    routes = tables or own_routes(whole, "up-down", plan)
    found = []
    names = single_failures(whole, each)
    cycles = routes.deadlock_groups([channels_of(whole, name) for name in names])
    for name, groups in zip(names, cycles, strict=True):
        if on_step:
            on_step(f"without {name}", "routing")
        after = own_routes(managed(whole.without(name)), "up-down", plan)
        facts = after.statistics()
        bound = facts["all_to_all"]
        found.append(
            Failure(
                name,
                cut_pairs(whole, routes, name),
                groups,
                pairs - (facts["host_pairs"] - facts["unreachable_pairs"]),
                bound["load"] if bound else None,
                after.is_deadlock_free,
                not after.cycle_between_hosts,
            )
        )
    return sorted(found, key=lambda failure: failure.badness)


def cut_pairs(fabric: Fabric, routes: Routes, name: str) -> int:
    """Return the number of pairs of hosts whose path crosses a cable or switch.

    A path enters a switch by one channel, and crosses a cable in one direction.
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
