"""The public interface of the package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gingham
from gingham import Cable, DeadlockError, Device, Fabric, InputError, Scenario
from tests.conftest import TIMEOUT_S
from tests.folders import flip
from tests.refusals import raises

SCENARIO = """
stop.time = "1 ms"
topology.generate.torus = { dimensions = [3, 3], hosts_per_switch = 1 }
[[traffic]]
load = 0.1
length = { fixed = "512 B" }
"""


@pytest.fixture
def ring() -> Fabric:
    return Fabric.make("ring", switches=5)


def test_what_the_package_offers_is_there_and_imported_when_it_is_asked_for() -> None:
    offered = {name for names in gingham._NAMES.values() for name in names}
    assert offered | {"__version__", "plots"} == set(gingham.__all__)
    for name in [*gingham.__all__, *gingham._MODULES]:
        assert name in dir(gingham)
        assert getattr(gingham, name) is not None
    with pytest.raises(AttributeError):
        gingham.nothing  # noqa: B018
    script = "import gingham, sys; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    ours = {name for name in told.stdout.split() if name.startswith("gingham")}
    assert ours == {"gingham", "gingham._core", "gingham._native"}


def test_a_picture_in_a_run_folder_is_checked_as_its_tables_are(tmp_path: Path) -> None:
    result = gingham.run(Scenario.parse(SCENARIO))
    result.save(tmp_path / "plain")
    assert not list((tmp_path / "plain").glob("*.png"))
    result.save(tmp_path / "drawn", pictures=True)
    assert (tmp_path / "drawn" / "latency.png").read_bytes().startswith(b"\x89PNG")
    plain, drawn = (gingham.check_folder(tmp_path / name) for name in ("plain", "drawn"))
    assert (drawn.whole, drawn.damaged) == (plain.whole + 1, [])
    flip(tmp_path / "drawn" / "latency.png", 30)
    assert len(gingham.check_folder(tmp_path / "drawn").damaged) == 1
    # Pictures added later by the user are not part of the folder's contents.
    gingham.plots.save(gingham.plots.links(result), tmp_path / "plain" / "links.png")
    assert gingham.check_folder(tmp_path / "plain") == plain


def test_nodes_and_cables_stand_in_canonical_order() -> None:
    fabric = Fabric.make("two-hosts")
    switch, *hosts = fabric.devices
    assert isinstance(switch, Device)
    assert (switch.kind, switch.name, switch.ports) == ("switch", "s0", 2)
    assert [host.name for host in hosts] == ["h0", "h1"]
    # Switches come first, and ports count from 1.
    assert fabric.cables == [
        Cable((("s0", 1), ("h0", 1)), None, None),
        Cable((("s0", 2), ("h1", 1)), None, None),
    ]


def test_routes_are_paths_of_channels_with_names(ring: Fabric) -> None:
    routes = ring.route("up-down")
    assert routes.is_deadlock_free
    assert routes.cycle == []
    path = routes.path("h0-0", "h1-0")
    assert path is not None
    assert [channel.partition("[")[0] for channel in path] == ["h0-0", "s0", "s1"]
    assert path[-1].endswith("-> h1-0[1]")
    with raises(InputError, "unknown-name", key="destination"):
        routes.path("h0-0", "h9")
    with raises(InputError, "unknown-name", key="destination", nearest="h1-0") as caught:
        routes.path("h0-0", "h1_0")
    assert (caught.value.key, caught.value.nearest) == ("destination", "h1-0")
    with raises(InputError, "unknown-name", key="channel", nearest="s0[3] -> s1[2]") as caught:
        routes.sharing(path[1].replace(" ->", "->"))
    assert (caught.value.key, caught.value.nearest) == ("channel", path[1])


def test_a_cycle_can_be_required_away(ring: Fabric) -> None:
    with raises(DeadlockError, "deadlock") as caught:
        ring.route("shortest-path").require_deadlock_free()
    assert len(caught.value.cycle) == 5
    assert caught.value.exit_code == 3


def test_an_error_says_again_for_programs_what_it_says_for_people(ring: Fabric) -> None:
    with pytest.raises(InputError) as caught:
        ring.route("up-dwn")
    assert caught.value.nearest == "up-down"
    assert caught.value.key == "algorithm"
    known = ["dimension-order", "in-transit", "shortest-path"]
    known += ["simple-routes", "smart", "up-down"]
    assert caught.value.expected == known
    with pytest.raises(InputError) as caught:
        Scenario.parse(SCENARIO.replace("load", "laod"), name="x.toml")
    assert (caught.value.file, caught.value.line, caught.value.column) == ("x.toml", 5, 1)
    assert caught.value.nearest == "load"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused_and_not_left_out(value: float) -> None:
    scenario = Scenario.example("in-transit")
    choose = {"at-random": {"percent": value}}
    with raises(InputError, "wrong-type", key="routing.alternative.choose.at-random.percent"):
        scenario.with_({"routing.alternative": {"algorithm": "up-down", "choose": choose}})


def test_a_value_that_json_cannot_hold_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        Fabric.make("ring", switches=object())
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(TypeError):
        Fabric.make("torus", dimensions=endless)


def test_saving_refuses_to_replace(ring: Fabric, tmp_path: Path) -> None:
    ring.save(tmp_path / "ring.toml")
    with raises(InputError, "exists"):
        ring.save(tmp_path / "ring.toml")
    ring.save(tmp_path / "ring.toml", overwrite=True)
    assert Fabric.load(tmp_path / "ring.toml").cables == ring.cables


def test_what_a_format_cannot_hold_is_said(ring: Fabric, tmp_path: Path) -> None:
    assert ring.save(tmp_path / "ring.toml") == []
    notes = ring.save(tmp_path / "ring.anynet")
    assert notes
    assert all(note.strip() for note in notes)


def test_a_scenario_changes_without_changing() -> None:
    scenario = Scenario.parse(SCENARIO)
    changed = scenario.with_({"traffic.0.load": 0.2}, settings=["stop.time=2 ms"], seed=9)
    resolved = changed.resolved()
    assert (resolved["seed"], resolved["stop"]["time"]) == (9, "2 ms")
    assert resolved["traffic"][0]["load"] == 0.2
    assert scenario.resolved()["traffic"][0]["load"] == 0.1


def test_a_class_goes_by_its_name_wherever_its_place_is_taken() -> None:
    scenario = Scenario.parse(SCENARIO).with_({"traffic.0.name": "bulk"})
    for changed in (
        scenario.with_({"traffic.bulk.load": 0.2}),
        scenario.with_(settings=["traffic.bulk.load=0.2"]),
        # A class without a name.
        Scenario.parse(SCENARIO).with_({"traffic.all.load": 0.2}),
    ):
        assert changed.resolved()["traffic"][0]["load"] == 0.2
    assert scenario.placed("traffic.bulk.load") == "traffic.0.load"
    with raises(InputError, "unknown-name", key="traffic.bilk.load", nearest="bulk"):
        scenario.with_({"traffic.bilk.load": 0.2})


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("traffic.0.length", "512 B", '{ fixed = "512 B" }'),
        ("routing.algorithm", "dor", "dimension-order"),
        ("routing.algorithm", "MINHOP", "shortest-path"),
        ("routing.algorithm", "dim_order_torus", "dimension-order"),
        ("traffic.0.destinations", "bitcomp", "bit-complement"),
        ("topology.generate", "leaf_spine", "folded-clos"),
    ],
)
def test_what_others_call_or_write_otherwise_is_told_as_it_is_here(
    key: str, value: str, meant: str
) -> None:
    with pytest.raises(InputError) as refused:
        Scenario.parse(SCENARIO).with_({key: value})
    assert refused.value.nearest == meant


@pytest.mark.parametrize(
    ("shape", "safe"),
    [
        ({"mesh": {"dimensions": [4, 4]}}, "dimension-order"),
        ({"torus": {"dimensions": [3, 3, 3]}}, "dimension-order"),
        ({"torus": {"dimensions": [5]}}, "up-down"),
        # simple-routes and smart have one bound, .554; up-down has .484.
        ({"irregular": {"switches": 8}}, "simple-routes"),
        # Its bound is .563, that of up-down .211.
        (
            {
                "dragonfly": {
                    "switches_per_group": 4,
                    "hosts_per_switch": 2,
                    "global_cables_per_switch": 2,
                }
            },
            "smart",
        ),
    ],
)
def test_routes_that_can_deadlock_are_told_an_algorithm_that_cannot(
    shape: dict[str, object], safe: str
) -> None:
    scenario = Scenario.parse(SCENARIO).with_(
        {"topology.generate": shape, "routing.algorithm": "shortest-path"}
    )
    with raises(DeadlockError, "deadlock") as raised:
        gingham.Simulation(scenario)
    told = float(str(raised.value).split("all-to-all load by ")[1].split(", or allow")[0])
    [(kind, numbers)] = shape.items()
    fabric = Fabric.make(kind, **numbers)  # type: ignore[arg-type]
    proved = [fabric.route(name) for name in (safe, "up-down", "simple-routes")]
    bounds = [routes.statistics()["all_to_all"]["load"] for routes in proved]
    assert all(routes.is_deadlock_free for routes in proved)
    assert told == pytest.approx(max(bounds), abs=5e-4)
    assert bounds[0] == max(bounds)
    gingham.Simulation(scenario.with_({"routing.algorithm": safe}))


def test_a_speed_of_the_fabric_names_the_keys_of_the_delays_that_are_kept() -> None:
    kinds = {"s0": "switch", "h0": "host", "h1": "host"}
    nodes = "".join(f'[[{kind}]]\nname = "{name}"\n' for name, kind in kinds.items())
    cables = [f'[[cable]]\nends = ["s0", "{end}"]\nspeed = "4xNDR"\n' for end in ("h0", "h1")]
    said = {"topology": {"inline": nodes + "".join(cables)}, "network.preset": "myrinet-1280"}
    fabric = {**said, "stop.time": "10 us"}
    notes = gingham.run(Scenario.parse(SCENARIO).with_(fabric)).notes
    kept = "the delays of its switch are kept (network.setup_delay, network.routing_delay)"
    assert any(note.endswith(kept) for note in notes), notes


def test_the_length_that_a_short_run_advises_is_enough() -> None:
    torus = Scenario.example("torus")
    for time in ("5 us", "20 us", "250 us", "370 us"):
        short = gingham.run(torus.with_({"stop.time": time}))
        advised = re.search(r"last about ([0-9.]+ [mu]s)", short.summary["verdict_reason"])
        assert advised, short.summary["verdict_reason"]
        long = gingham.run(torus.with_({"stop.time": advised[1]}))
        assert long.verdict == "ok", (time, advised[1], long.summary["verdict_reason"])


def test_a_file_of_the_command_line_stands_where_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, here = tmp_path / "beside", tmp_path / "here"
    for place, hosts in ((beside, 2), (here, 3)):
        place.mkdir()
        Fabric.make("star", hosts=hosts).save(place / "star.toml")
    (beside / "scenario.toml").write_text(
        'topology.file = "star.toml"\nstop.time = "10 us"\n'
        '[[traffic]]\nload = 0.1\nlength = { fixed = "64 B" }\n'
    )
    monkeypatch.chdir(here)
    own = Scenario.load(beside / "scenario.toml")
    counts = {
        scenario: gingham.run(scenario).summary["hosts"]
        for scenario in (
            own,
            own.with_(settings=["topology.file=star.toml"]),
            own.with_(settings=['topology={ file = "star.toml" }', "traffic.all.load=0.2"]),
            own.with_({"topology.file": "star.toml"}, settings=["traffic.0.load=0.2"]),
        )
    }
    assert list(counts.values()) == [2, 3, 3, 2]


def test_a_run_gives_numbers_and_tables() -> None:
    seen: list[gingham.Progress] = []
    result = gingham.run(Scenario.parse(SCENARIO), on_progress=seen.append)
    assert seen[-1].done
    assert seen[-1].fraction == 1.0
    table = result.messages
    assert table.num_rows == result.classes[0]["messages_followed"]
    metadata = {b"meaning": b"creation to delivery", b"unit": b"ps"}
    assert table.schema.field("latency_ps").metadata == metadata
    latencies = table["latency_ps"].to_pylist()
    mean_ns = result.classes[0]["latency_mean_ns"]
    assert sum(latencies) / len(latencies) / 1000 == pytest.approx(mean_ns)
    assert set(table["source"].to_pylist()) <= {f"h{x}-{y}-0" for x in range(3) for y in range(3)}


def test_the_size_of_a_step_never_changes_a_result() -> None:
    def table(events_max: int) -> object:
        simulation = gingham.Simulation(Scenario.parse(SCENARIO))
        while not simulation.advance(events_max).done:
            pass
        return simulation.result().messages

    assert table(1_000_000) == table(777)


def test_a_run_interrupted_in_a_program_keeps_what_it_has() -> None:
    def interrupt(_progress: gingham.Progress) -> None:
        raise KeyboardInterrupt

    scenario = Scenario.parse(SCENARIO).with_({"stop.time": "1 s"})
    assert gingham.run(scenario, on_progress=interrupt).verdict == "interrupted"


@given(content=st.binary(max_size=300))
def test_no_bytes_break_the_reader_of_fabrics(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for ending in ["ibnetdiscover", "toml", "anynet", "unknown"]:
        path = tmp_path_factory.getbasetemp() / f"monkey.{ending}"
        path.write_bytes(content)
        try:
            fabric = Fabric.load(path)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017
        else:
            assert fabric.devices


@given(text=st.text(max_size=200))
def test_no_text_breaks_the_reader_of_scenarios(text: str) -> None:
    with pytest.raises(InputError):
        Scenario.parse(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(path=st.sampled_from(["seed", "traffic.0.load", "network", "stop.time"]), value=json_values)
def test_no_value_breaks_an_override(path: str, value: object) -> None:
    scenario = Scenario.parse(SCENARIO)
    try:
        changed = scenario.with_({path: value})
    except InputError:
        return
    assert Scenario.resolved(changed)["stop"]
