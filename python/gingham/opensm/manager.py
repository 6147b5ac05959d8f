"""OpenSM on a simulated fabric: one engine, the engine that really ran, and its errors.

::

    ibsim-run opensm -R lash -Q ──► osm.log             "lash tables configured on all switches"
                     (runs on)      opensm-lfts.dump    tables of all switches
                                    opensm-sl2vl.dump   lanes by service level

OpenSM keeps running so that its subnet administrator can be queried. It sweeps once, because the
fabric does not change. Quality of service is on (`-Q`), because engines with lanes need their
SL-to-VL tables in the switches; multicast, which is slow and not used here, is off. Its files are
in the scratch folder; those in `/etc/opensm` are not read unless requested.

OpenSM replaces an engine that does not support a topology by `minhop` and reports success: only the
line "tables configured" of its log shows the replacement. `no_fallback` does not help, because
OpenSM then retries for ever. A timeout ends every run.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gingham.errors import EnvironmentProblem
from gingham.opensm.programs import require
from gingham.opensm.simulator import quoted

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

    from gingham.opensm.simulator import Simulator

ENGINES = (
    "minhop",
    "updn",
    "dnup",
    "ftree",
    "dor",
    "lash",
    "sssp",
    "dfsssp",
    "nue",
    "torus-2QoS",
)

CONFIGURATION = "opensm.conf"
LOG = "osm.log"
OUTPUT = "osm.out"
TIMEOUT_S = 120.0
POLL_S = 0.02

# The second log line of this name reports the configured tables; ERR marks errors.
CONFIGURED = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured on all switches")
UP = "SUBNET UP"
# Level 1 are errors; an engine's failure is sometimes reported on level 2.
COMPLAINT = re.compile(r"0x01 -> (?:[a-z0-9_]+: )?(.*)|0x02 -> [a-z0-9_]+: (disabling .*)")
SCRATCH = re.compile(r"/\S*/gingham-[^/\s]+/")
# Logged whenever quality of service is on without a policy file.
EXPECTED = "Failed opening QoS policy file"


@dataclass(frozen=True, slots=True)
class Request:
    """Request for OpenSM."""

    # A name of `ENGINES`, or "file" with `tables`.
    engine: str
    # GUIDs of root switches, one per line.
    roots: Path | None = None
    # GUIDs of the ports of compute nodes, one per line, for ftree, sssp and dfsssp.
    compute_nodes: Path | None = None
    # Shape of the torus, for torus-2QoS.
    torus: Path | None = None
    # Forwarding tables to load, for the engine "file".
    tables: Path | None = None
    # Settings of opensm.conf.
    settings: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Manager:
    """An OpenSM that has configured the fabric and is still running."""

    request: Request
    # The engine whose tables are in the switches.
    ran: str
    # Error messages in OpenSM's log.
    complaints: tuple[str, ...]
    folder: Path
    # Seconds from the start of the program until the subnet was up.
    seconds: float

    @property
    def tables(self) -> Path:
        """The forwarding tables of all switches."""
        return self.folder / "opensm-lfts.dump"

    @property
    def lanes(self) -> Path:
        """The SL-to-VL tables of all switches."""
        return self.folder / "opensm-sl2vl.dump"

    @property
    def log(self) -> Path:
        """The log of OpenSM."""
        return self.folder / LOG


def manage(simulator: Simulator, request: Request, *, timeout_s: float = TIMEOUT_S) -> Manager:
    """Let OpenSM configure the fabric; it runs on until the simulator ends.

    Raises `EnvironmentProblem` with OpenSM's messages if it is missing, fails, or exceeds the
    timeout.
    """
    require("opensm")
    start = time.monotonic()
    (simulator.folder / CONFIGURATION).write_text(configuration(simulator.folder, request))
    child = simulator.start("opensm", *arguments(request), out=OUTPUT)
    wait_until_up(simulator, child, start + timeout_s)
    log = simulator.children.read(LOG)
    return Manager(
        request=request,
        ran=CONFIGURED.findall(log)[-1],
        complaints=tuple(complaints(log)),
        folder=simulator.folder,
        seconds=time.monotonic() - start,
    )


def arguments(request: Request) -> list[str]:
    """Return the arguments of `opensm`."""
    # Log errors and events, and dump the tables.
    words = ["-F", CONFIGURATION, "-f", LOG, "-e", "-D", "0x43", "-s", "0", "-Q"]
    words += ["-R", request.engine]
    files = {
        "-a": request.roots,
        "-u": request.compute_nodes,
        "--torus_config": request.torus,
        "-U": request.tables,
    }
    for option, file in files.items():
        if file is not None:
            words += [option, str(file.resolve())]
    return words


def configuration(folder: Path, request: Request) -> str:
    """Return an opensm.conf that keeps all files in the scratch folder."""
    nothing = folder / "none"
    settings = {
        "dump_files_dir": str(folder),
        "partition_config_file": str(nothing),
        "per_module_logging_file": str(nothing),
        "qos_policy_file": str(nothing),
        "prefix_routes_file": str(nothing),
        "torus_config": str(folder / "torus-2QoS.conf"),
        "disable_multicast": "TRUE",
        "force_log_flush": "TRUE",
        **(request.settings or {}),
    }
    return "".join(f"{key} {value}\n" for key, value in settings.items())


def wait_until_up(simulator: Simulator, child: subprocess.Popen[bytes], deadline: float) -> None:
    """Wait until the log reports that the subnet is up and which tables are in the switches."""
    while True:
        over = child.poll() is not None
        log = simulator.children.read(LOG)
        if UP in log and CONFIGURED.search(log):
            return
        if over:
            simulator.require_running()
            said = quoted("\n".join(complaints(log)) or simulator.children.read(OUTPUT))
            raise EnvironmentProblem(f"opensm: ended with code {child.returncode}{said}")
        if time.monotonic() > deadline:
            said = quoted("\n".join(complaints(log)) or log)
            raise EnvironmentProblem(f"opensm: the subnet was not up in time{said}")
        time.sleep(POLL_S)


def complaints(log: str) -> list[str]:
    """Return the errors in the log, without duplicates, times, addresses and folders."""
    found = (COMPLAINT.search(line) for line in log.splitlines())
    words = ((match[1] or match[2]).strip() for match in found if match)
    kept = (SCRATCH.sub("", text) for text in words if EXPECTED not in text)
    return list(dict.fromkeys(kept))
