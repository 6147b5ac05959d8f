"""The scenario that a command is given: a TOML file, or the name of an example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gingham import examples, kinds
from gingham.errors import InputError

if TYPE_CHECKING:
    from gingham.scenario import Scenario
    from gingham.stripe import StripeScenario

# What a scenario of each kind is, and which command runs it.
RUN_BY = {
    "fabric": ("the scenario of a fabric", "gingham run"),
    "stripe": ("a striping scenario", "gingham stripe"),
}


def fabric_scenario(name: str) -> Scenario:
    """Return the scenario of a fabric in a file or of an example."""
    return kinds.FABRIC.load(found(name, kinds.FABRIC, examples.names()))


def stripe_scenario(name: str) -> StripeScenario:
    """Return the striping scenario in a file or of an example."""
    return kinds.STRIPE.load(found(name, kinds.STRIPE, examples.stripes()))


def found(name: str, wanted: kinds.Kind, known: list[str]) -> Path:
    """Return the file of a scenario; `InputError` if there is none, or one of another kind."""
    file = Path(name) if Path(name).is_file() or name.endswith(".toml") else examples.path(name)
    if file is None:
        raise examples.unknown(name, "no such file, and no example of that name", known)
    kind = kinds.kind_of_file(file, wanted)
    if kind is not wanted:
        what, command = RUN_BY[kind.name]
        raise InputError(f"{file}: is {what}: {command} {name} runs it", file=str(file))
    return file
