"""Decisions of the real OpenSM, compared with our own algorithms and our proof."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from gingham import Fabric, Routes
from gingham.opensm.comparison import root_file, torus_file
from gingham.opensm.decision import Decision, decide
from gingham.opensm.manager import ENGINES, Request
from tests.system.by_hand import is_free_of_deadlock
from tests.system.support import dumped, made, nothing_is_left, require_opensm


def irregular(seed: int) -> Fabric:
    return Fabric.make("irregular", switches=12, seed=seed)


FABRICS: dict[str, Callable[[], Fabric]] = {
    **{f"irregular-{seed}": partial(irregular, seed) for seed in range(1, 11)},
    "torus": partial(made, "torus"),
    "clos": partial(made, "clos"),
    "psmn-x5-89": partial(dumped, "psmn-x5-89"),
    "dgx-ndr-542": partial(dumped, "dgx-ndr-542"),
}


def tree(arity: int) -> Fabric:
    return Fabric.make("k-ary-n-tree", arity=arity, levels=3)


# Fabrics whose roots updn finds by itself.
TREES: dict[str, Callable[[], Fabric]] = {
    **{f"{arity}-ary 3-tree": partial(tree, arity) for arity in (2, 3, 4, 5)},
    "clos": partial(made, "clos"),
    "psmn-x5-89": partial(dumped, "psmn-x5-89"),
    "dgx-ndr-542": partial(dumped, "dgx-ndr-542"),
}

# Engine, and number of lanes that it may use.
FREE_EVERYWHERE = [("updn", 1), ("lash", 8), ("dfsssp", 8), ("nue", 1), ("nue", 8)]
FREE = [
    *(
        (name, *engine)
        for name in ("torus", "ring", "irregular", "clos")
        for engine in FREE_EVERYWHERE
    ),
    ("torus", "torus-2QoS", 8),
]


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Folder for the runs of a test; afterwards it must be empty, and no program may run."""
    require_opensm()
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    nothing_is_left(folder)


def first_switch(fabric: Fabric) -> str:
    return next(node.name for node in fabric.devices if node.kind == "switch")


@pytest.mark.parametrize("name", FABRICS)
def test_updn_and_our_up_down_agree_on_every_distance(name: str, tmp_path: Path) -> None:
    fabric = FABRICS[name]()
    root = first_switch(fabric)
    decision = decide(fabric, Request("updn", roots=root_file(fabric, [root], tmp_path)))
    assert decision.ran == "updn"
    ours = decision.fabric.route("up-down", form="table", root={"named": root})
    names, theirs = decision.routes.lengths()
    assert (names, theirs) == ours.lengths()
    hosts = [node.name for node in fabric.devices if node.kind in {"host", "aggregation"}]
    assert len(names) == len(hosts)
    assert all(
        (length is None) == (row == column)
        for row, lengths in enumerate(theirs)
        for column, length in enumerate(lengths)
    )


@pytest.mark.parametrize("name", TREES)
def test_no_link_carries_more_pairs_than_the_busiest_under_updn(name: str) -> None:
    decision = decide(TREES[name](), Request("updn"))
    assert decision.ran == "updn"
    theirs = decision.routes.statistics()
    for form in ("source", "table"):
        routes = decision.fabric.route("up-down", form=form)
        ours = routes.statistics()
        assert routes.is_deadlock_free
        assert ours["unreachable_pairs"] == 0
        assert ours["mean_switches"] <= theirs["mean_switches"]
        assert ours["max_channel_paths"] <= theirs["max_channel_paths"]


@pytest.mark.parametrize(("name", "engine", "lanes"), FREE)
def test_what_is_known_to_be_free_of_deadlock_is_proved(
    name: str, engine: str, lanes: int, tmp_path: Path
) -> None:
    fabric = made(name)
    request = Request(
        engine,
        roots=root_file(fabric, [first_switch(fabric)], tmp_path) if engine == "updn" else None,
        torus=torus_file(fabric, tmp_path),
        settings={"nue_max_num_vls": str(lanes)},
    )
    decision = decide(fabric, request)
    assert decision.ran == engine
    routes = decision.routes
    assert (routes.faults, routes.cycle) == ([], [])
    assert [str(finding) for finding in routes.findings] == []
    statistics = routes.statistics()
    assert statistics["unreachable_pairs"] == 0
    assert set(routes.lanes) <= set(range(lanes))
    if (engine, lanes) == ("nue", 8):
        # Nue divides the destinations into as many parts as lanes, with a lane for each.
        assert len(routes.lanes) == min(8, fabric.info()["nodes"]["host"])
    if engine == "lash" and name in {"torus", "ring"}:
        # Shortest paths there have cyclic dependencies, so one lane cannot be enough.
        assert statistics["minimal_share"] == 1
        assert len(routes.lanes) == 2


@pytest.mark.parametrize("name", ["torus", "ring"])
def test_shortest_paths_on_one_lane_are_refuted_with_a_cycle(name: str) -> None:
    routes = decide(made(name), Request("minhop")).routes
    assert not routes.is_deadlock_free
    switches = [re.split(r"\[\d+\]", step)[0] for step in routes.cycle]
    # Once around the five switches of the ring, or around a row or a column of the torus.
    assert len(switches) == len(set(switches)) == {"ring": 5, "torus": 4}[name]


@pytest.mark.parametrize("name", ["torus", "ring"])
@pytest.mark.parametrize("engine", ["lash", "dfsssp"])
def test_without_service_levels_the_lanes_are_of_no_help(
    engine: str, name: str, tmp_path: Path
) -> None:
    decision = decide(made(name), Request(engine))
    seen, files = kept(decision, tmp_path)
    assert seen.load_routes(**files).is_deadlock_free
    assert not seen.load_routes(files["tables"], sl2vl=files["sl2vl"]).is_deadlock_free
    # All service levels mapped to one lane.
    one_lane = re.sub(r"(?m)^(\d+ +\d+ +:).*", r"\1" + " 0" * 16, decision.texts["sl2vl"])
    files["sl2vl"].write_text(one_lane)
    assert not seen.load_routes(**files).is_deadlock_free


def kept(decision: Decision, folder: Path) -> tuple[Fabric, dict[str, Path]]:
    """The files of a decision in a folder, and the fabric read from them."""
    files = {
        argument: folder / f"net.{ending}"
        for argument, ending in {"tables": "lfts", "sl2vl": "sl2vl", "sl": "sl.csv"}.items()
    }
    for file in files.values():
        file.write_text(decision.texts[file.name.partition(".")[2]])
    (folder / "net.ibnetdiscover").write_text(decision.texts["ibnetdiscover"])
    return Fabric.load(folder / "net.ibnetdiscover"), files


@pytest.mark.parametrize("name", ["torus", "irregular", "clos"])
@pytest.mark.parametrize("origin", ["dfsssp", "ours"])
def test_tables_that_we_hand_back_are_loaded_as_they_are(
    origin: str, name: str, tmp_path: Path
) -> None:
    first = decide(made(name), Request("dfsssp"))
    routes: Routes = first.routes
    if origin == "ours":
        routes = first.fabric.route("up-down", form="table")
    tables = tmp_path / "tables.lfts"
    routes.save(tables)
    # With the LIDs in the tables.
    second = decide(first.fabric, Request("file", tables=tables))
    assert (second.ran, second.complaints) == ("file", ())
    assert second.texts["lfts"] == tables.read_text()
    assert second.routes.lengths() == routes.lengths()
    if origin == "dfsssp":
        assert tables.read_text() == first.texts["lfts"]


def test_the_fabric_keeps_names_cables_and_speeds(tmp_path: Path) -> None:
    made("clos").save(tmp_path / "clos.toml")
    text = (tmp_path / "clos.toml").read_text()
    assert "speed" not in text
    mixed = text.replace("[[cable]]\n", '[[cable]]\nspeed = "4xEDR"\n', 7)
    (tmp_path / "clos.toml").write_text(mixed)
    fabric = Fabric.load(tmp_path / "clos.toml")
    seen = decide(fabric, Request("minhop")).fabric
    assert [node.name for node in seen.devices] == [node.name for node in fabric.devices]
    assert seen.cables == fabric.cables
    assert sum(cable.speed == "4xEDR" for cable in seen.cables) == 7


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["torus", "ring", "irregular", "clos"])
def test_the_verdict_is_that_of_a_proof_by_hand(name: str, engine: str, tmp_path: Path) -> None:
    fabric = made(name)
    decision = decide(fabric, Request(engine, torus=torus_file(fabric, tmp_path)))
    assert decision.routes.is_deadlock_free == is_free_of_deadlock(decision.texts)


@pytest.mark.parametrize("seed", range(1, 11))
def test_updn_of_opensm_need_not_be_free_of_deadlock(seed: int, tmp_path: Path) -> None:
    # A table of OpenSM 3.3.23 may lead packets down and up again, which closes cycles on six of
    # these ten fabrics. A later OpenSM may do better; then both verdicts change.
    fabric = Fabric.make("irregular", switches=32, seed=seed)
    root = first_switch(fabric)
    decision = decide(fabric, Request("updn", roots=root_file(fabric, [root], tmp_path)))
    assert decision.ran == "updn"
    assert decision.routes.is_deadlock_free == is_free_of_deadlock(decision.texts)
    assert fabric.route("up-down", form="table", root={"named": root}).is_deadlock_free


def test_dnup_without_roots_is_minhop_by_another_name() -> None:
    minhop, dnup = (decide(made("torus"), Request(engine)) for engine in ("minhop", "dnup"))
    assert (dnup.ran, dnup.complaints) == ("dnup", ())
    assert dnup.texts["lfts"] == minhop.texts["lfts"]
