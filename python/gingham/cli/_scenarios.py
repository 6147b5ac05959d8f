"""The scenario that a command is given: a TOML file, or the name of an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham import examples, kinds
from gingham.cli._mistaken import refuse_mistaken

if TYPE_CHECKING:
    from pathlib import Path

    from gingham.scenario import Scenario
    from gingham.stripe import StripeScenario


def fabric_scenario(name: str) -> Scenario:
    """Return the scenario of a fabric in a file or of an example."""
    return kinds.FABRIC.load(found(name, kinds.FABRIC, examples.names()))


def stripe_scenario(name: str) -> StripeScenario:
    """Return the striping scenario in a file or of an example."""
    return kinds.STRIPE.load(found(name, kinds.STRIPE, examples.stripes()))


def found(name: str, wanted: kinds.Kind, known: list[str]) -> Path:
    """Return the file of a scenario; `InputError` if there is none, or one of another kind."""
    file = examples.chosen(name, known)
    refuse_mistaken(file, wanted.name, name)
    return file
