"""Assumptions of a study where its paper is silent, with alternatives.

`study.toml` has a table for each, with the claims that it may affect::

    [[assumption]]
    key = "switch-delay"
    title = "delay of a switch"
    because = "Flich et al. 2001 of Myrinet"
    ours = "150 ns"
    claims = ["best-80", "crossover-250"]
    alternatives = [
      { value = "300 ns", set = { "network.routing_delay" = "300 ns" } },
      { value = "none", sweep.figure-8.set = { "network.routing_delay" = "0 ns" } },
      { value = "spread", options = { UD = "UD_spread" } },
      { value = "deeper", axis.buffer.values = [160, 320] },
    ]

An alternative changes all sweeps (`set`, and `axis` with the keys of an axis), or single ones by
name (`sweep`, with the keys of a variant), or replaces values in the options of a claim
(`options`). The sweeps are those of the claims' figures, or those that the assumption names
(`sweeps`) if its claims need fewer, in the size `coarse`: `[coarse.SWEEP]` reduces a sweep, as
`[quick.SWEEP]` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gingham.errors import InputError
from gingham.studies._claims import refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEYS = ("key", "title", "because", "ours", "claims", "alternatives")
# Optional keys of an assumption.
OTHERS = ("sweeps",)
# Keys with the changes of an alternative, in the order of the fields of `Alternative`.
CHANGES = ("set", "axis", "sweep", "options")
ALTERNATIVE_KEYS = ("value", *CHANGES)


@dataclass(frozen=True)
class Alternative:
    """An alternative value of an assumption, with its changes."""

    value: str
    # Unique among the alternatives of all assumptions, and valid as a folder name.
    name: str
    settings: Mapping[str, Any] = field(repr=False)
    axes: Mapping[str, Mapping[str, Any]] = field(repr=False)
    sweeps: Mapping[str, Mapping[str, Any]] = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)

    def changes(self, sweep: str) -> dict[str, Any]:
        """Return its changes to a sweep."""
        own = self.sweeps.get(sweep, {})
        all_ = {"set": self.settings, "axis": self.axes}
        merged = {key: {**values, **own.get(key, {})} for key, values in all_.items()}
        return {**own, **{key: values for key, values in merged.items() if values}}

    def runs_as_ours(self, sweep: str) -> bool:
        """Return whether it leaves the runs of a sweep unchanged."""
        return not self.changes(sweep)

    def options_of(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a claim with the alternative's values."""
        return {
            name: self.options.get(value, value) if isinstance(value, str) else value
            for name, value in options.items()
        }


@dataclass(frozen=True)
class Assumption:
    """An assumption of the study where the paper is silent."""

    key: str
    title: str
    because: str
    ours: str
    # Keys of the claims that it may affect.
    claims: Sequence[str]
    alternatives: Sequence[Alternative]
    # Names of the sweeps that the claims need, if not all of their figures.
    sweeps: Sequence[str] = ()


def read_assumption(table: Mapping[str, Any], file: str) -> Assumption:
    """Return the assumption that a table of a file describes."""
    where = f'{file}: the assumption "{table.get("key", "without a key")}"'
    require_keys(table, KEYS, (*KEYS, *OTHERS), where)
    alternatives = []
    for one in table["alternatives"]:
        require_keys(one, ("value",), ALTERNATIVE_KEYS, f"{where}, an alternative,")
        parts = [one.get(part, {}) for part in CHANGES]
        if not any(parts):
            raise InputError(
                f'{where}: "{one["value"]}" changes nothing; say one of {", ".join(CHANGES)}',
                key="alternatives",
            )
        name = re.sub(r"[^\w .-]", "_", f"{table['key']} {one['value']}")
        alternatives.append(Alternative(one["value"], name, *parts))
    about = {key: table[key] for key in (*KEYS, *OTHERS) if key in table and key != "alternatives"}
    return Assumption(**about, alternatives=alternatives)


def require_keys(
    table: Mapping[str, Any], needed: Sequence[str], known: Sequence[str], where: str
) -> None:
    """Raise an error for a table with a missing or unknown key."""
    for key in needed:
        if key not in table:
            raise InputError(f'{where} needs "{key}"', key=key, code="missing-key")
    refuse_unknown(table, known, where)
