"""Striping scenarios: everything that a run depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham import examples
from gingham._native import CoreStripeScenario
from gingham.scenario import AnyScenario

if TYPE_CHECKING:
    from typing import Self


class Scenario(AnyScenario):
    """A striping scenario, with the positions of its keys; never changes.

    >>> two = Scenario.parse('''
    ... stop.time = "1 s"
    ... [[channel]]
    ... rate = "10 Mbit/s"
    ... [[channel]]
    ... rate = "20 Mbit/s"
    ... ''')
    >>> two.with_({"channel.1.loss": 0.01}).resolved()["channel"][1]["loss"]
    0.01
    """

    core_class = CoreStripeScenario

    @classmethod
    def example(cls, name: str) -> Self:
        """Read an example that ships with the package."""
        return cls.load(examples.require(name))

    def __repr__(self) -> str:
        """Return the name."""
        return f"<gingham.stripe.Scenario {self.name!r}>"
