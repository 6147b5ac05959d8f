"""Routes: what they cost, and whether they can deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gingham.errors import DeadlockError

if TYPE_CHECKING:
    from gingham._native import CoreRoutes


class Routes:
    """The routes of a fabric, proved or refuted."""

    def __init__(self, core: CoreRoutes) -> None:
        """Wrap the compiled routes; use `Fabric.route`."""
        self._core = core

    @property
    def is_deadlock_free(self) -> bool:
        """Whether packets on these routes can never wait for one another in a circle."""
        return not self._core.cycle()

    @property
    def cycle(self) -> list[str]:
        """A shortest cycle of channels that wait for one another; empty if there is none."""
        return self._core.cycle()

    def require_deadlock_free(self) -> None:
        """Raise `DeadlockError` with the shortest cycle if there is one."""
        if not self.is_deadlock_free:
            raise DeadlockError(self._core.explain(), self.cycle)

    def explain(self) -> str:
        """Return the proof in a sentence, or the cycle with a route for each of its steps."""
        return self._core.explain()

    def statistics(self) -> dict[str, Any]:
        """Return path lengths, loads of channels, and the bound on all-to-all traffic."""
        return self._core.statistics()

    def path(self, source: str, destination: str) -> list[str] | None:
        """Return the channels from one host to another, or `None` if no route leads there."""
        return self._core.path(source, destination)
