"""Dumps of real clusters, if available: load, check, route, prove and run.

They are not part of the project; small fabrics of our own cover every form found in them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import gingham
from gingham import comparison

FOLDER = Path(__file__).parent.parent.parent / "shared" / "data" / "fabrics"

# Switches, hosts, aggregation nodes and cables, as counted by the publishers of the dumps.
SIZES = {
    "dgx-ndr-542": (40, 542, 40, 1114),
    "psmn-x5-89": (11, 89, 0, 159),
}

# Kinds of warnings of `fabric check`, with their numbers.
WARNINGS = {
    "dgx-ndr-542": {"missing-uplink": 12, "swapped-rails": 1},
    "psmn-x5-89": {},
}

SCENARIO = """
[topology]
file = "replaced"

[network]
preset = "myrinet-1280"

[[traffic]]
load = 0.02
length = { fixed = "512 B" }

[stop]
time = "3 us"
"""


@pytest.fixture(params=SIZES)
def dump(request: pytest.FixtureRequest) -> Path:
    path = FOLDER / f"{request.param}.ibnetdiscover"
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand; it is looked for in ../shared/data/fabrics")
    return path


def test_a_real_dump_has_the_size_that_its_owner_states(dump: Path) -> None:
    fabric = gingham.Fabric.load(dump)
    facts = fabric.info()
    kinds = facts["nodes"]
    size = (kinds["switch"], kinds["host"], kinds["aggregation"], facts["cables"])
    assert size == SIZES[dump.stem]
    assert facts["parts"] == 1
    warnings = Counter(one.kind for one in fabric.check() if one.severity == "warning")
    assert warnings == WARNINGS[dump.stem]


@pytest.mark.parametrize("form", ["source", "table"])
def test_a_real_dump_routes_and_is_proved(dump: Path, form: str) -> None:
    fabric = gingham.Fabric.load(dump)
    routes = fabric.route("up-down", form=form)  # type: ignore[arg-type]
    assert routes.is_deadlock_free
    statistics = routes.statistics()
    hosts = fabric.info()["nodes"]["host"]
    assert statistics["host_pairs"] == hosts * (hosts - 1)
    assert statistics["unreachable_pairs"] == 0


def test_in_transit_hosts_buy_nothing_on_a_clos_and_balanced_paths_cost_nothing(dump: Path) -> None:
    fabric = gingham.Fabric.load(dump)
    rows = comparison.compare(fabric, comparison.CANDIDATES, form="source")
    routed = {row.label: row.facts["statistics"] for row in rows if row.facts}
    assert all(statistics["minimal_share"] == 1 for statistics in routed.values())
    assert all(statistics["max_in_transit_hosts"] == 0 for statistics in routed.values())
    bound = {label: statistics["all_to_all"]["load"] for label, statistics in routed.items()}
    assert bound["smart"] >= bound["up-down"]
    assert bound["in-transit, any hosts"] >= bound["up-down"]
    free = [row.label for row in rows if row.facts and row.facts["deadlock_free"]]
    assert set(routed) - {"shortest-path"} <= set(free)


def test_a_real_dump_runs(dump: Path) -> None:
    result = gingham.run(gingham.Scenario.parse(SCENARIO).with_(topology=dump))
    (numbers,) = result.classes
    assert numbers["messages_followed"] > 10
    assert result.verdict in {"ok", "not-converged"}
