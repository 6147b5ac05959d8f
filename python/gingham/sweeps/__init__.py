"""Sweeps: many runs of one scenario, varied along axes.

::

    sweep.toml ──► Sweep ──► points ──► tasks ──► executor ──► outcomes ──► folder ──► Results

`Sweep.load` reads a file, `run_sweep` makes its runs into a folder, which `gingham.results` reads.
"""

from gingham.sweeps._axes import units_of
from gingham.sweeps._cluster import Workers, workers_on
from gingham.sweeps._estimate import Estimate, estimate
from gingham.sweeps._planning import keys_of
from gingham.sweeps._running import SweepProgress, execute, run_sweep, runs_of
from gingham.sweeps._sweep import Point, Sweep
from gingham.sweeps._work import Outcome, Task, work

__all__ = [
    "Estimate",
    "Outcome",
    "Point",
    "Sweep",
    "SweepProgress",
    "Task",
    "Workers",
    "estimate",
    "execute",
    "keys_of",
    "run_sweep",
    "runs_of",
    "units_of",
    "work",
    "workers_on",
]
