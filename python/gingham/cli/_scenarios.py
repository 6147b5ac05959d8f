"""The scenario that a command is given: a TOML file, the name of an example, or a run's folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gingham import examples, kinds
from gingham._rundir import MANIFEST
from gingham.cli._mistaken import refuse_mistaken
from gingham.loading import load_result

if TYPE_CHECKING:
    from gingham.scenario import Scenario
    from gingham.stripe import StripeScenario


def fabric_scenario(name: str) -> Scenario:
    """Return the scenario of a fabric in a file, of an example, or of the run in a folder."""
    # The name of an example means that, whatever folder has it, too.
    if (Path(name) / MANIFEST).is_file() and not examples.path(name):
        return load_result(name).scenario
    return kinds.FABRIC.load(found(name, kinds.FABRIC, examples.names()))


def stripe_scenario(name: str) -> StripeScenario:
    """Return the striping scenario in a file or of an example."""
    return kinds.STRIPE.load(found(name, kinds.STRIPE, examples.stripes()))


def found(name: str, wanted: kinds.Kind, known: list[str]) -> Path:
    """Return the file of a scenario; `InputError` if there is none, or one of another kind."""
    file = examples.chosen(name, known)
    refuse_mistaken(file, wanted.name, name)
    return file
