"""What the real OpenSM decides on a fabric: run here, on a simulated one, and read back.

::

    from gingham import Fabric
    from gingham.opensm import Request, decide

    decision = decide(Fabric.load("cluster.ibnetdiscover"), Request("lash"))
    print(decision.ran, decision.routes.lanes, decision.routes.explain())

It needs the programs `opensm`, `ibsim` and `ibnetdiscover`, and no InfiniBand hardware; without
them `EnvironmentProblem` says what to install. They run in a scratch folder, and are gone with it
when a call returns, whatever happens.
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
