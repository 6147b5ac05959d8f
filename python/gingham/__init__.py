"""A laboratory for lossless cluster fabrics: load, route, prove, simulate to the flit.

>>> import gingham
>>> fabric = gingham.Fabric.make("torus", dimensions=[4, 4])
>>> routes = fabric.route("up-down")
>>> routes.is_deadlock_free
True
"""

from gingham import plots
from gingham._native import __version__
from gingham.checking import FolderCheck, check_folder
from gingham.errors import (
    DamageError,
    DeadlockError,
    EnvironmentProblem,
    GinghamError,
    InputError,
    InternalError,
)
from gingham.fabric import Cable, Fabric, Finding, Node
from gingham.loading import load_result
from gingham.result import Progress, Result
from gingham.results import Results
from gingham.routes import Routes
from gingham.running import Simulation, run
from gingham.scenario import Scenario

__all__ = [
    "Cable",
    "DamageError",
    "DeadlockError",
    "EnvironmentProblem",
    "Fabric",
    "Finding",
    "FolderCheck",
    "GinghamError",
    "InputError",
    "InternalError",
    "Node",
    "Progress",
    "Result",
    "Results",
    "Routes",
    "Scenario",
    "Simulation",
    "__version__",
    "check_folder",
    "load_result",
    "plots",
    "run",
]
