"""Results of striping runs, as numbers and as Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham.result import AnyResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gingham.stripe._scenario import StripeScenario


@dataclass(frozen=True, eq=False)
class StripeResult(AnyResult):
    """Results of a striping run, new from `run` or loaded from its folder by `load_result`.

    `summary` holds the results of the pipe, `channels` and `sources` those of each;
    `docs/reference/stripe-results.md` explains every number and every column.
    """

    scenario: StripeScenario

    kind = "stripe"

    @property
    def pictures(self) -> Mapping[str, Callable[[], bytes]]:
        """The rate of each channel over the time of the run."""
        from gingham import plots

        return {"channels.png": lambda: plots.picture(plots.channels(self), "png")}

    @property
    def parts(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of the channels and of the sources."""
        return {"channel": self.channels, "source": self.sources}

    @property
    def channels(self) -> Sequence[Mapping[str, Any]]:
        """One row of results per channel."""
        rows: Sequence[Mapping[str, Any]] = self.summary["channels"]
        return rows

    @property
    def sources(self) -> Sequence[Mapping[str, Any]]:
        """One row of results per source."""
        rows: Sequence[Mapping[str, Any]] = self.summary["sources"]
        return rows
