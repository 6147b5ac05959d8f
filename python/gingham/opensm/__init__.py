"""Routing by the real OpenSM: run locally on a simulated fabric, and its tables read back.

::

    from gingham import Fabric
    from gingham.opensm import Request, decide

    decision = decide(Fabric.load("cluster.ibnetdiscover"), Request("lash"))
    print(decision.ran, decision.routes.lanes, decision.routes.explain())

Requires the programs `opensm`, `ibsim` and `ibnetdiscover`, but no InfiniBand hardware; if they are
missing, `EnvironmentProblem` names the packages to install. They run in a scratch folder; both are
removed when a call returns, also after an error.
"""

from gingham.opensm.comparison import EngineRow, Plan, compare
from gingham.opensm.damage import broken
from gingham.opensm.decision import Decision, decide
from gingham.opensm.failures import Failure, survey
from gingham.opensm.manager import ENGINES, Request

__all__ = [
    "ENGINES",
    "Decision",
    "EngineRow",
    "Failure",
    "Plan",
    "Request",
    "broken",
    "compare",
    "decide",
    "survey",
]
