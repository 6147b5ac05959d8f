"""Studies: papers whose experiments are repeated, and what became of their claims.

::

    kwan1996/  README.md       what the paper says, what we assume where it is silent
               study.toml      its figures, each with its sweeps and what --quick changes of them
               figure-8.toml   a sweep; study.toml may have variants of one, each a sweep of its own
               expected.toml   every claim: value, tolerance, null, section, and how it is measured;
                               where they are many, in several files, expected-tables.toml
               measures.py     what is measured of the sweeps for a claim
               pictures.py     our curves, with the paper's claims marked
               real.toml       claims that are measured on real links, by real/measures.py

    sweeps ──run_sweep──► folders ──► Evidence ──measure──► Measurement ──judge──► verdict

A study is a package of any distribution that has an entry point of the group `gingham.studies`, its
key and its package. Those of the project are `gingham-studies`.

A figure whose runs take hours says `on_request = true`: it is made only when it is named.

A claim that cannot be met is not tuned away: it says `differs`, with the reason found and a band of
what holds instead, and is counted apart. So are the claims that are ours, not the paper's.

>>> from gingham import studies
>>> studies.names()  # of gingham-studies
['adiseshu1996', 'flich2001', 'kwan1996', 'santos2002', 'virtual_lanes', 'yum2002']
>>> study = studies.load("kwan1996")
>>> study.year, study.figure("8").section
(1996, '3.2')
"""

from gingham.studies._assumptions import Alternative, Assumption
from gingham.studies._bands import Band, Measurement
from gingham.studies._checking import check, counted, measure_of
from gingham.studies._claims import Claim, ClaimOutcome, Verdict
from gingham.studies._drawing import draw, has_picture
from gingham.studies._evidence import Evidence
from gingham.studies._installed import names
from gingham.studies._moved_picture import draw_moved
from gingham.studies._moving import Moved, moved, needed, run_assumptions
from gingham.studies._real import check_real, open_bench, real_claims
from gingham.studies._running import run, sweeps_of
from gingham.studies._study import Figure, Size, Study, load

__all__ = ["Alternative", "Assumption", "Band", "Claim", "ClaimOutcome", "Evidence", "Figure"]
__all__ += ["Measurement", "Moved", "Size", "Study", "Verdict", "check", "counted", "draw"]
__all__ += ["draw_moved", "has_picture", "load", "measure_of", "moved", "names", "needed", "run"]
__all__ += ["check_real", "open_bench", "real_claims", "run_assumptions", "sweeps_of"]
