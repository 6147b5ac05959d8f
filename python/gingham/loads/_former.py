"""An existing curve in a folder, extended by another call.

::

    folder: loads 0.05, 0.1      requested: 0.15      one curve: 0.05, 0.1, 0.15

Loads, routings and replications are merged if scenario, seed and axes are equal. Otherwise the
folder's points belong to another curve and are not used.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gingham.errors import DamageError
from gingham.store import is_sweep, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gingham.sweeps import Sweep

# Keys of a sweep's manifest that may differ when a curve is extended.
GROWING = {"axis", "replications", "title", "file", "base"}


def former_curve(sweep: Sweep, folder: Path) -> Mapping[str, Any] | None:
    """Return the manifest of the folder's sweep if it is the same curve as `sweep`."""
    if not is_sweep(folder):
        return None
    # A damaged manifest is written again, for the present sweep.
    with suppress(DamageError):
        former: dict[str, Any] = read_manifest(folder)["sweep"]
        if fixed(former) == fixed(json.loads(json.dumps(sweep.manifest()))):
            return former
    return None


def fixed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings common to all points of a curve."""
    axes = [{key: one for key, one in axis.items() if key != "values"} for axis in manifest["axis"]]
    rest = {key: one for key, one in manifest.items() if key not in GROWING}
    return rest | {"scenario": manifest["base"]["scenario"], "axes": axes}


def values_of(manifest: Mapping[str, Any], name: str) -> list[Any]:
    """Return the values of the axis with a name or a key; empty if the axis does not exist."""
    return next(
        (
            axis["values"]
            for axis in manifest["axis"]
            if name in (axis.get("name"), axis.get("key"))
        ),
        [],
    )


def together(former: Sequence[Any], now: Sequence[Any]) -> list[Any]:
    """Return the values of both lists, without duplicates.

    >>> together(["up-down", "smart"], ["shortest-path", "smart"])
    ['up-down', 'smart', 'shortest-path']
    """
    # Values may be tables, which are not hashable.
    both = [*former, *now]
    return [one for place, one in enumerate(both) if one not in both[:place]]
