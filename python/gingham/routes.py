"""Routes: their properties, faults, and freedom from deadlock."""

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
        # Findings about the source files of the routes.
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

        If packets use several lanes, each channel is followed by its lane.
        """
        return self._core.cycle()

    @property
    def cycle_without_loops(self) -> list[str]:
        """Like `cycle`, without packets that loop for ever, which are faults by themselves."""
        return self._core.cycle_without_loops()

    @property
    def cycle_between_hosts(self) -> list[str]:
        """Like `cycle`, for packets between hosts only, without aggregation nodes and routers."""
        return self._core.cycle_between_hosts()

    @property
    def faults(self) -> list[str]:
        """Descriptions of packets that do not arrive: loops, black holes, dropped lanes."""
        return self._core.faults()

    @property
    def alternatives(self) -> int:
        """Maximum number of paths per pair: two to the power of the LMC."""
        return self._core.alternatives()

    @property
    def roots(self) -> list[str]:
        """The switches that are roots of the algorithm, with nothing above them.

        Empty for algorithms without roots, and for tables of a subnet manager.
        """
        return self._core.roots()

    @property
    def notes(self) -> list[str]:
        """Properties that the algorithm ignores, such as differing cable lengths.

        Each begins with its code and a colon.
        """
        return self._core.notes()

    @property
    def lanes(self) -> list[int]:
        """Lanes used between switches."""
        return self._core.lanes()

    @property
    def dateline_classes(self) -> int:
        """Number of dateline classes: two if datelines divide the lanes, otherwise one."""
        return self._core.dateline_classes()

    @property
    def dateline_rule(self) -> Literal["by-hop", "by-wrap"] | None:
        """Extent of the upper dateline class: from the dateline on, or the whole dimension."""
        return self._core.dateline_rule()

    @property
    def adaptive(self) -> dict[str, Any] | None:
        """Lanes and number of outputs of adaptive routing.

        `escape_lanes` and `adaptive_lanes` are lists; `mean_outputs` and `max_outputs` count the
        outputs of a switch to the hosts of all others. `None` if packets follow one path.
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

        Of several alternatives of a pair the first counts, here and in the following methods. Loads
        of channels are those of the algorithm's paths, also with adaptive routing.
        """
        return self._core.statistics()

    def lengths(self) -> tuple[list[str], list[list[int | None]]]:
        """Return the names of all endpoints, and the number of switches between each pair.

        Rows are sources; `None` means that no route exists, and fills the diagonal.
        """
        return self._core.lengths()

    def bisection(self, *, samples: int = 1000, seed: int = 1) -> dict[str, Any] | None:
        """Return the bandwidth of random matchings of one half of the hosts with the other.

        `bandwidth` is the mean share that a flow gets of its link (effective bisection bandwidth),
        `busiest` the mean number of flows on the busiest channel, each with the half-width of its
        95 % interval. `None` without two hosts.
        """
        return self._core.bisection(samples, seed)

    def sharing(self, channel: str | None = None, *, at_most: int = 20) -> dict[str, Any] | None:
        """Return the number of pairs of hosts that share a channel, with examples.

        The default is the busiest channel between switches; `None` if all are idle.
        """
        return self._core.sharing(channel, at_most)

    def deadlock_groups(self, without: Sequence[Sequence[str]] = ((),)) -> list[int]:
        """Return the number of groups of channels in cycles of waiting, for each failure.

        A failure is a list of channels that are out of service; the default is none. Packets on an
        interrupted path still count on the rest of it, so a number is never too low.
        """
        return self._core.deadlock_groups([list(channels) for channels in without])

    def path(self, source: str, destination: str) -> list[str] | None:
        """Return the channels from one host to another, or `None` without a route."""
        return self._core.path(source, destination)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the tables to the file at `path`, for `opensm -R file -U FILE`.

        Only routes in the form of tables can be written. A fabric without LIDs is numbered from 1.
        An existing file is replaced only with `overwrite`.
        """
        write_bytes(Path(path), self._core.tables().encode(), overwrite=overwrite)

    def _repr_html_(self) -> str:
        """Return the HTML view of notebooks."""
        from gingham import _html

        return _html.of_routes(self)
