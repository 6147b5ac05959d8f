"""The only module that imports the compiled core."""

from gingham._core import Cluster as CoreCluster
from gingham._core import Fabric as CoreFabric
from gingham._core import Routes as CoreRoutes
from gingham._core import Scenario as CoreScenario
from gingham._core import Simulation as CoreSimulation
from gingham._core import StripeScenario as CoreStripeScenario
from gingham._core import StripeSimulation as CoreStripeSimulation
from gingham._core import SweepFile as CoreSweepFile
from gingham._core import __file__ as core_file
from gingham._core import (
    __version__,
    catalogue,
    formats,
    load_arbitration,
    max_min_rates,
    network_said,
    old_names,
    other_names,
    panic,
    qos_conf,
    result_schema,
    routes_title,
    scenario_schema,
    serve_queues,
    share_load,
    slurm_yaml,
    stripe_result_schema,
    stripe_schema,
    student_t,
    switching_kinds,
    table_algorithms,
)

__all__ = [
    "CoreCluster",
    "CoreFabric",
    "CoreRoutes",
    "CoreScenario",
    "CoreSimulation",
    "CoreStripeScenario",
    "CoreStripeSimulation",
    "CoreSweepFile",
    "__version__",
    "catalogue",
    "core_file",
    "formats",
    "load_arbitration",
    "max_min_rates",
    "network_said",
    "old_names",
    "other_names",
    "panic",
    "qos_conf",
    "result_schema",
    "routes_title",
    "scenario_schema",
    "serve_queues",
    "share_load",
    "slurm_yaml",
    "stripe_result_schema",
    "stripe_schema",
    "student_t",
    "switching_kinds",
    "table_algorithms",
]
