"""Studies: repetitions of the experiments of papers, with verdicts on their claims.

::

    kwan1996/  README.md       claims of the paper, and our assumptions where it is silent
               study.toml      its figures, each with its sweeps and their changes under --quick
               figure-8.toml   a sweep; study.toml may have variants of one, each a sweep of its own
               expected.toml   every claim: value, tolerance, null, section, and how it is measured;
                               many claims are in several files, expected-tables.toml
               measures.py     functions that measure a claim's value from the sweeps
               pictures.py     our curves, with the paper's claims marked
               real.toml       claims that are measured on real links, by real/measures.py

    sweeps ──run_sweep──► folders ──► Evidence ──measure──► Measurement ──judge──► verdict

A study is a package of any distribution with an entry point of the group `gingham.studies`, which
has its key and its package. Those of the project are in `gingham-studies`.

A figure whose runs take hours has `on_request = true`: it is only made if it is named.

A claim that cannot be met is not tuned away: it has a table `differs`, with the reason and a band
that holds instead, and is counted separately. Claims of ours are counted separately, too.

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
