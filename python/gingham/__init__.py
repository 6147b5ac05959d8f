"""A laboratory for lossless cluster fabrics: load, route, prove, simulate to the flit.

>>> import gingham
>>> fabric = gingham.Fabric.make("torus", dimensions=[4, 4])
>>> routes = fabric.route("up-down")
>>> routes.is_deadlock_free
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gingham._native import __version__

if TYPE_CHECKING:
    from gingham import comparison as comparison
    from gingham import differences as differences
    from gingham import examples as examples
    from gingham import fabrics as fabrics
    from gingham import loads as loads
    from gingham import opensm as opensm
    from gingham import pairs as pairs
    from gingham import plots
    from gingham import qos as qos
    from gingham import slurm as slurm
    from gingham import stripe as stripe
    from gingham import studies as studies
    from gingham import sweeps as sweeps
    from gingham.checking import FolderCheck, check_folder
    from gingham.cluster import Cluster, Node
    from gingham.errors import (
        DamageError,
        DeadlockError,
        EnvironmentProblem,
        GinghamError,
        InputError,
        InternalError,
    )
    from gingham.fabric import Cable, Device, Fabric, Finding
    from gingham.jobs import Job
    from gingham.loading import load_result
    from gingham.replications import Replications, replicate
    from gingham.result import Progress, Result
    from gingham.results import Results
    from gingham.routes import Routes
    from gingham.running import Simulation, run
    from gingham.scenario import Scenario

__all__ = [
    "Cable",
    "Cluster",
    "DamageError",
    "DeadlockError",
    "Device",
    "EnvironmentProblem",
    "Fabric",
    "Finding",
    "FolderCheck",
    "GinghamError",
    "InputError",
    "InternalError",
    "Job",
    "Node",
    "Progress",
    "Replications",
    "Result",
    "Results",
    "Routes",
    "Scenario",
    "Simulation",
    "__version__",
    "check_folder",
    "load_result",
    "plots",
    "replicate",
    "run",
]

# Public names by module; a module is imported on first use of one of its names.
_NAMES = {
    "checking": ["FolderCheck", "check_folder"],
    "cluster": ["Cluster", "Node"],
    "errors": [
        "DamageError",
        "DeadlockError",
        "EnvironmentProblem",
        "GinghamError",
        "InputError",
        "InternalError",
    ],
    "fabric": ["Cable", "Device", "Fabric", "Finding"],
    "jobs": ["Job"],
    "loading": ["load_result"],
    "replications": ["Replications", "replicate"],
    "result": ["Progress", "Result"],
    "results": ["Results"],
    "routes": ["Routes"],
    "running": ["Simulation", "run"],
    "scenario": ["Scenario"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
# Modules that are attributes of the package without an explicit import.
_MODULES = {
    "catalogue",
    "comparison",
    "differences",
    "examples",
    "extras",
    "fabrics",
    "jobs",
    "kinds",
    "loads",
    "opensm",
    "pairs",
    "plots",
    "qos",
    "ranking",
    "saving",
    "schemas",
    "slurm",
    "store",
    "stripe",
    "studies",
    "sweeps",
    "tables",
    "upgrade",
}


def __getattr__(name: str) -> Any:
    """Import the requested name, and cache it."""
    if name in _HOMES:
        found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name in _MODULES or name in _NAMES:
        found = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return all public names, including those not imported yet."""
    return sorted({*globals(), *_HOMES, *_NAMES, *_MODULES})
