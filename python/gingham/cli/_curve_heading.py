"""The heading of a curve: what was run, and below it what was changed for that.

The title of a scenario is written by hand, and mostly names its fabric and its routing. Once either
of them is another one, or several routings are compared, it would say what was not run; then the
heading is made from the fabric::

    4x4 torus, two hosts a switch, up*/down*      the scenario's own title
    3x3 mesh, 9 switches, 9 hosts, up-down        with another fabric
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gingham.fabric import Fabric
from gingham.loads import routing_of
from gingham.scenario import touches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gingham.scenario import Scenario

COUNTED = {"switch": "switches", "host": "hosts"}


def heading(base: Scenario, routings: Sequence[str] = ()) -> tuple[str, str]:
    """Return the title of the curves of a scenario, and what was changed for them."""
    changes = "; ".join(base.changes)
    resolved = base.resolved()
    titled = any(touches(change, "title") for change in base.changes)
    own = str(resolved["title"] or Path(base.name).stem)
    kept = not routings or list(routings) == [routing_of(base)]
    keys = ("topology", "routing")
    if titled or (kept and not any(touches(one, key) for one in base.changes for key in keys)):
        return own, changes
    names = list(routings) or [routing_of(base)]
    parts = [fabric_text(base, resolved["topology"]), *(names if len(names) == 1 else [])]
    return ", ".join(parts), changes


def fabric_text(base: Scenario, topology: dict[str, Any]) -> str:
    """Return shape or file of a fabric, and how many switches and hosts it has."""
    if "generate" in topology:
        [(kind, parameters)] = topology["generate"].items()
        name = kind
        if isinstance(parameters.get("dimensions"), list):
            name = f"{'x'.join(map(str, parameters['dimensions']))} {kind}"
        fabric = Fabric.make(kind, **parameters)
    elif "file" in topology:
        name = Path(topology["file"]).stem
        fabric = Fabric.load(Path(base.origin()["folder"]) / topology["file"])
    else:
        return Path(base.name).stem
    nodes = fabric.info()["nodes"]
    counts = [
        f"{nodes[one]:,} {one if nodes[one] == 1 else several}" for one, several in COUNTED.items()
    ]
    return ", ".join([name, *counts])
