"""The scenario argument of a command: a TOML file, the name of an example, or a run's folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gingham import examples, kinds
from gingham._rundir import MANIFEST
from gingham.cli._mistaken import refuse_mistaken
from gingham.cli._output import warn
from gingham.errors import counted
from gingham.loading import load_result
from gingham.scenario import AnyScenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gingham.scenario import Scenario
    from gingham.stripe import StripeScenario

S = TypeVar("S", bound=AnyScenario)


def fabric_scenario(name: str) -> Scenario:
    """Return the fabric scenario of a file, an example or a run folder."""
    # An example's name takes precedence over a folder of the same name.
    if (Path(name) / MANIFEST).is_file() and not examples.path(name):
        return load_result(name).scenario
    return kinds.FABRIC.load(found(name, kinds.FABRIC, examples.names()))


def stripe_scenario(name: str) -> StripeScenario:
    """Return the striping scenario in a file or of an example."""
    return kinds.STRIPE.load(found(name, kinds.STRIPE, examples.stripes()))


def found(name: str, wanted: kinds.Kind, known: list[str]) -> Path:
    """Return the file of a scenario; raise `InputError` if it is missing or of another kind."""
    file = examples.chosen(name, known)
    refuse_mistaken(file, wanted.name, name)
    return file


def with_options(scenario: S, **options: Any) -> S:
    """Return the scenario with the settings and other options of a command.

    Warns if a setting adds a table to a list, as `traffic.1.load=0.2` does beside one class.
    """
    changed = scenario.with_(**options)
    for key, entries in added(scenario.resolved(), changed.resolved()).items():
        warn(
            f"--set adds {key}.{entries}: the scenario has {counted(entries, 'table')} "
            f"[[{key}]], counted from 0, the last is {key}.{entries - 1}"
        )
    return changed


def added(before: Mapping[str, object], changed: Mapping[str, object]) -> dict[str, int]:
    """Return the lists that grew, with their former number of entries.

    >>> added({"traffic": [{}], "stop": {}}, {"traffic": [{}, {}], "stop": {}})
    {'traffic': 1}
    """
    return {
        key: len(entries)
        for key, entries in before.items()
        if isinstance(entries, list) and entries and len(entries) < length(changed.get(key))
    }


def length(value: object) -> int:
    """Return the length of a list, and 0 for any other value."""
    return len(value) if isinstance(value, list) else 0
