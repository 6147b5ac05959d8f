"""The kind of striping scenarios: several channels form a pipe; parts are channels and sources."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from gingham._native import stripe_result_schema
from gingham.kinds._kind import RUN_COLUMNS
from gingham.kinds._laboratory import LaboratoryKind, percentiles, plain_columns
from gingham.stripe import StripeResult, StripeScenario, StripeSimulation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Stripes(LaboratoryKind[StripeScenario, StripeResult]):
    """Scenarios of `gingham.stripe.StripeScenario`."""

    name = "stripe"
    scenario_class = StripeScenario
    percentiles_of = "delay"
    marks = frozenset({"channel", "stripe"})
    mean = "goodput_bits_per_s"
    parts = {"channels": "channel", "sources": "source"}  # noqa: RUF012  (never changes)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Return the columns of the tables of a result, and the JSON schema of its summary."""
        return stripe_result_schema()

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of runs, channels and sources."""
        if table in self.parts:
            return self.part_columns(table)
        fields = self.schema["summary"]["properties"]
        return {name: of for name, of in plain_columns(fields).items() if name not in RUN_COLUMNS}

    def simulation(self, scenario: StripeScenario, switches: Sequence[str]) -> StripeSimulation:
        """Return the simulation of a scenario, in virtual time."""
        assert not switches, "stripes have none"
        return StripeSimulation(scenario)

    def row(self, result: StripeResult) -> dict[str, Any]:
        """Return the results of the pipe."""
        row = {name: value for name, value in result.summary.items() if is_plain(value)}
        return row | percentiles(self.percentiles_of, result.summary["percentiles"])

    def check(self, resolved: Mapping[str, Any]) -> None:
        """Accept every scenario: the output of a run is bounded."""


def is_plain(value: object) -> bool:
    """Whether a value of a summary becomes a column."""
    return value is None or isinstance(value, int | float | str)
