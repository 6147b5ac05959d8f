"""Studies: papers whose experiments are repeated, and what became of their claims.

::

    kwan1996/  README.md       what the paper says, what we assume where it is silent
               study.toml      its figures, each with its sweeps and what --quick changes of them
               figure-8.toml   a sweep; study.toml may have variants of one, each a sweep of its own
               expected.toml   every claim: value, tolerance, section, and how it is measured; where
                               they are many, in several files, expected-tables.toml
               measures.py     what is measured of the sweeps for a claim
               pictures.py     our curves, with the paper's claims marked

    sweeps ──run_sweep──► folders ──► Evidence ──measure──► Measurement ──judge──► verdict

A claim that cannot be met is not tuned away: it says `differs`, with the reason found, and is
counted apart.

>>> from gingham import studies
>>> studies.names()
['adiseshu1996', 'dally1992', 'flich2001', 'kwan1996']
>>> study = studies.load("kwan1996")
>>> study.year, study.figure("8").section
(1996, '3.2')
"""

from gingham.studies._checking import check, measure_of
from gingham.studies._claims import Claim, ClaimOutcome, Measurement, Verdict
from gingham.studies._drawing import draw, has_picture
from gingham.studies._evidence import Evidence
from gingham.studies._running import run, sweeps_of
from gingham.studies._study import Figure, Study, load, names

__all__ = ["Claim", "ClaimOutcome", "Evidence", "Figure", "Measurement", "Study", "Verdict"]
__all__ += ["check", "draw", "has_picture", "load", "measure_of", "names", "run", "sweeps_of"]
