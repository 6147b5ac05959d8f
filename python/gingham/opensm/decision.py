"""One engine of OpenSM on one fabric: from the request to proved routes.

::

    fabric ─► ibsim ◄─ OpenSM ─► opensm-lfts.dump, opensm-sl2vl.dump ─┐
                │         └────► service levels, asked for ───────────┼─► Fabric.load_routes
                └─► ibnetdiscover: LIDs ─► with the real speeds ──────┘

The simulator keeps GUIDs, descriptions and cables, and OpenSM gives out LIDs; so the fabric of
the routes is what `ibnetdiscover` saw, with the speeds of the original, which ibsim does not
know. What is kept is a `Decision`; nothing runs any more, and no file is left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gingham.errors import EnvironmentProblem, InputError
from gingham.fabric import Fabric
from gingham.opensm.manager import TIMEOUT_S, manage
from gingham.opensm.path_records import DEPENDENCE, write_service_levels
from gingham.opensm.programs import require
from gingham.opensm.simulator import simulated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gingham.opensm.manager import Request
    from gingham.routes import Routes

PROGRAMS = ("opensm", "ibsim", "ibsim-run", "ibnetdiscover")

# The files of a decision, each by the end of its name.
NETWORK, TABLES, LANES, LEVELS, LOG = "ibnetdiscover", "lfts", "sl2vl", "sl.csv", "log"

NODE = re.compile(r'^(?:Switch|Ca|Rt)\t\d+ "[A-Z]-(?P<guid>[0-9a-f]{16})"')
CABLE = re.compile(r"^\[(?P<port>\d+)\](?P<middle>.*\s)(?P<speed>\S+)$")
# A speed of InfiniBand, such as 4xNDR; others have no place in a dump.
SPEED = re.compile(r"^\d+x[A-Z0-9]+$")
SPEED_UNKNOWN = "?????"


@dataclass(frozen=True, slots=True)
class Decision:
    """What OpenSM decided on, as files and as routes."""

    # The engine that was asked for, and the one whose routes these are.
    engine: str
    ran: str
    # OpenSM's own words where something went wrong.
    complaints: tuple[str, ...]
    # How long OpenSM took until the subnet was up.
    seconds: float
    # The fabric with the LIDs that OpenSM gave.
    fabric: Fabric
    routes: Routes
    # The texts that all this was read from, by the end of their names.
    texts: dict[str, str]
    # Pairs of host LIDs whose path queries the subnet administrator did not answer.
    unanswered: tuple[tuple[int, int], ...] = ()


def decide(
    fabric: Fabric,
    request: Request,
    *,
    timeout_s: float = TIMEOUT_S,
    on_progress: Callable[[str], None] | None = None,
) -> Decision:
    """Let OpenSM route `fabric`, and read what it decided.

    `on_progress` is told in a word what goes on. `EnvironmentProblem` with OpenSM's own words
    if it is missing, fails, or needs longer than `timeout_s` for its routes, or for the queries
    of service levels.
    """
    require(*PROGRAMS)
    tell = on_progress or (lambda _: None)
    tell("routing")
    with simulated(fabric) as simulator:
        manager = manage(simulator, request, timeout_s=timeout_s)
        dump = simulator.discovered()
        tell("reading its tables" if manager.ran not in DEPENDENCE else "asking for service levels")
        silent = write_service_levels(
            simulator, manager.ran, dump, simulator.folder / LEVELS, timeout_s=timeout_s
        )
        network = simulator.folder / f"seen.{NETWORK}"
        network.write_text(with_speeds(dump, fabric))
        files = {
            NETWORK: network,
            TABLES: manager.tables,
            LANES: manager.lanes,
            LEVELS: simulator.folder / LEVELS,
            LOG: manager.log,
        }
        tell("proving")
        seen, routes = read(files)
        texts = {name: file.read_text(errors="replace") for name, file in files.items()}
    return Decision(
        request.engine,
        manager.ran,
        manager.complaints,
        manager.seconds,
        seen,
        routes,
        texts,
        tuple(silent),
    )


def read(files: dict[str, Path]) -> tuple[Fabric, Routes]:
    """Return the fabric and its routes in the files of a decision."""
    try:
        seen = Fabric.load(files[NETWORK])
        return seen, seen.load_routes(files[TABLES], sl2vl=files[LANES], sl=files[LEVELS])
    except InputError as error:
        raise EnvironmentProblem(f"opensm: left files that cannot be read: {error}") from error


def with_speeds(dump: str, fabric: Fabric) -> str:
    """Return what ibnetdiscover saw with the speeds of `fabric`, by node GUID and port."""
    speeds = speeds_by_port(fabric)
    lines, guid = [], ""
    for line in dump.splitlines():
        if match := NODE.match(line):
            guid = match["guid"]
        elif match := CABLE.match(line):
            speed = speeds.get((guid, int(match["port"])), SPEED_UNKNOWN)
            line = f"[{match['port']}]{match['middle']}{speed}"  # noqa: PLW2901
        lines.append(line)
    return "\n".join([*lines, ""])


def speeds_by_port(fabric: Fabric) -> dict[tuple[str, int], str]:
    """Return the speed of the cable at each port, where a dump can tell it."""
    guids = {node.name: node.guid or "" for node in fabric.devices}
    return {
        (guids[name], port): cable.speed
        for cable in fabric.cables
        if cable.speed and SPEED.match(cable.speed)
        for name, port in cable.ends
    }
