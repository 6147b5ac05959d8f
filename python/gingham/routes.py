"""Routes: what they cost, whether they arrive, and whether they can deadlock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gingham._files import write_bytes
from gingham.errors import DeadlockError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from gingham._native import CoreRoutes
    from gingham.fabric import Fabric, Finding


class Routes:
    """The routes of a fabric, computed or read from a subnet manager, proved or refuted."""

    def __init__(
        self,
        core: CoreRoutes,
        findings: tuple[Finding, ...] = (),
        fabric: Fabric | None = None,
    ) -> None:
        """Wrap the compiled routes; use `Fabric.route` or `Fabric.load_routes`."""
        self._core = core
        # The fabric that was routed.
        self.fabric = fabric
        # What was wrong with the files that the routes were read from.
        self.findings = findings

    @property
    def form(self) -> str:
        """Whether packets carry their route (`source`) or switches look it up (`table`)."""
        return self._core.form()

    @property
    def is_deadlock_free(self) -> bool:
        """Whether packets on these routes can never wait for one another in a cycle."""
        return not self._core.cycle()

    @property
    def cycle(self) -> list[str]:
        """A shortest cycle of channels that wait for one another; empty if there is none.

        Where packets travel on several lanes, each channel is followed by its lane.
        """
        return self._core.cycle()

    @property
    def cycle_without_loops(self) -> list[str]:
        """The same without the packets that go round for ever, which are faults by themselves."""
        return self._core.cycle_without_loops()

    @property
    def cycle_between_hosts(self) -> list[str]:
        """The same between hosts alone, as if aggregation nodes and routers sent nothing."""
        return self._core.cycle_between_hosts()

    @property
    def faults(self) -> list[str]:
        """A sentence for each way in which packets stray: loops, black holes, dropped lanes."""
        return self._core.faults()

    @property
    def alternatives(self) -> int:
        """How many paths a pair has at most: two to the power of the LMC."""
        return self._core.alternatives()

    @property
    def roots(self) -> list[str]:
        """The switches from which the algorithm measures which way is up, with nothing above them.

        Empty for algorithms without roots, and for tables of a subnet manager.
        """
        return self._core.roots()

    @property
    def notes(self) -> list[str]:
        """What the algorithm leaves out of account, such as lengths of cables that differ.

        Each begins with its code and a colon.
        """
        return self._core.notes()

    @property
    def lanes(self) -> list[int]:
        """The lanes on which packets travel between switches."""
        return self._core.lanes()

    @property
    def dateline_classes(self) -> int:
        """How many dateline classes packets go through: two where datelines share out the lanes."""
        return self._core.dateline_classes()

    @property
    def dateline_rule(self) -> Literal["by-hop", "by-wrap"] | None:
        """How packets take a dateline class: where they cross, or in the whole dimension."""
        return self._core.dateline_rule()

    @property
    def adaptive(self) -> dict[str, Any] | None:
        """Where packets choose at every switch: lanes, and among how many outputs they choose.

        `escape_lanes` and `adaptive_lanes` are lists; `mean_outputs` and `max_outputs` count the
        outputs of a switch to the hosts of all others. `None` where packets follow one path.
        """
        found: dict[str, Any] | None = self._core.adaptive()
        return found

    def require_deadlock_free(self) -> None:
        """Raise `DeadlockError` with the shortest cycle if there is one."""
        if not self.is_deadlock_free:
            raise DeadlockError(self._core.explain(), self.cycle)

    def explain(self) -> str:
        """Return the proof in a sentence, or the cycle with a route for each of its steps."""
        return self._core.explain()

    def statistics(self) -> dict[str, Any]:
        """Return path lengths, loads of channels, and the bound on all-to-all traffic.

        Of several alternatives a pair takes the first, here and in all that follows. Loads of
        channels are those of the algorithm's paths, also where packets choose.
        """
        return self._core.statistics()

    def lengths(self) -> tuple[list[str], list[list[int | None]]]:
        """Return the names of all endpoints, and the number of switches between each two.

        Rows are sources; `None` stands where no route leads, and on the diagonal.
        """
        return self._core.lengths()

    def bisection(self, *, samples: int = 1000, seed: int = 1) -> dict[str, Any] | None:
        """Return what random matchings of half of the hosts with the other half see.

        `bandwidth` is the mean share that a flow gets of its link (effective bisection
        bandwidth), `busiest` the mean number of flows on the busiest channel, each with the half
        width of its 95 % interval. `None` without two hosts.
        """
        return self._core.bisection(samples, seed)

    def sharing(self, channel: str | None = None, *, at_most: int = 20) -> dict[str, Any] | None:
        """Return how many pairs of hosts share a channel, and some of them.

        Without a name it is the busiest channel between switches; `None` if all are idle.
        """
        return self._core.sharing(channel, at_most)

    def deadlock_groups(self, without: Sequence[Sequence[str]] = ((),)) -> list[int]:
        """Return how many groups of channels wait for one another in cycles, for each failure.

        A failure is a list of channels that carry nothing any more; the default is none. Packets
        whose path is cut count as before on the rest of it, so a number is never too low.
        """
        return self._core.deadlock_groups([list(channels) for channels in without])

    def path(self, source: str, destination: str) -> list[str] | None:
        """Return the channels from one host to another, or `None` if no route leads there."""
        return self._core.path(source, destination)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the tables to the file at `path`, for `opensm -R file -U FILE`.

        Only routes in the form of tables are a file of tables. A fabric without LIDs gets some,
        from 1 on. An existing file is replaced only with `overwrite`.
        """
        write_bytes(Path(path), self._core.tables().encode(), overwrite=overwrite)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from gingham import _html

        return _html.of_routes(self)
