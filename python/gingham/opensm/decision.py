"""Routing of one fabric by one engine of OpenSM: from the request to proved routes.

::

    fabric ─► ibsim ◄─ OpenSM ─► opensm-lfts.dump, opensm-sl2vl.dump ─┐
                │         └────► queries of service levels ───────────┼─► Fabric.load_routes
                └─► ibnetdiscover: LIDs ─► with the real speeds ──────┘

The simulator keeps GUIDs, descriptions and cables, and OpenSM assigns LIDs. The fabric of the
routes is therefore the output of `ibnetdiscover`, with the speeds of the original, which ibsim does
not support. The result is a `Decision`; all processes have ended, and all files are removed.
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

# Suffixes of the names of a decision's files.
NETWORK, TABLES, LANES, LEVELS, LOG = "ibnetdiscover", "lfts", "sl2vl", "sl.csv", "log"

NODE = re.compile(r'^(?:Switch|Ca|Rt)\t\d+ "[A-Z]-(?P<guid>[0-9a-f]{16})"')
CABLE = re.compile(r"^\[(?P<port>\d+)\](?P<middle>.*\s)(?P<speed>\S+)$")
# An InfiniBand speed, such as 4xNDR; a dump cannot hold others.
SPEED = re.compile(r"^\d+x[A-Z0-9]+$")
SPEED_UNKNOWN = "?????"


@dataclass(frozen=True, slots=True)
class Decision:
    """Result of OpenSM, as files and as routes."""

    # The requested engine, and the engine that ran.
    engine: str
    ran: str
    # Error messages in OpenSM's log.
    complaints: tuple[str, ...]
    # Seconds until OpenSM reported the subnet as up.
    seconds: float
    # The fabric with the LIDs assigned by OpenSM.
    fabric: Fabric
    routes: Routes
    # Contents of the files, by name suffix.
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
    """Route `fabric` by OpenSM, and read the result.

    `on_progress` is called with the present activity. Raises `EnvironmentProblem` with OpenSM's
    messages if it is missing, fails, or exceeds `timeout_s` for its routes or for the queries of
    service levels.
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
    """Return the fabric and the routes in the files of a decision."""
    try:
        seen = Fabric.load(files[NETWORK])
        return seen, seen.load_routes(files[TABLES], sl2vl=files[LANES], sl=files[LEVELS])
    except InputError as error:
        raise EnvironmentProblem(f"opensm: left files that cannot be read: {error}") from error


def with_speeds(dump: str, fabric: Fabric) -> str:
    """Return the output of ibnetdiscover with the speeds of `fabric`, by node GUID and port."""
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
    """Return the speed of the cable at each port, if a dump can hold it."""
    guids = {node.name: node.guid or "" for node in fabric.devices}
    return {
        (guids[name], port): cable.speed
        for cable in fabric.cables
        if cable.speed and SPEED.match(cable.speed)
        for name, port in cable.ends
    }
