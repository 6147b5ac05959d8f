"""The real OpenSM on simulated fabrics: its processes, decisions and leftovers.

The abilities of engines are those of OpenSM's manual page: ftree needs a tree, torus-2QoS a torus,
updn distinguishable roots; the others accept every fabric.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gingham import EnvironmentProblem, Fabric
from gingham.opensm import path_records
from gingham.opensm.manager import ENGINES, Manager, Request, manage
from gingham.opensm.simulator import Simulator, simulated
from gingham.opensm.torus import torus_configuration
from tests.conftest import require_programs
from tests.refusals import raises
from tests.system.support import (
    FABRICS,
    made,
    nothing_is_left,
    processes,
    require_opensm,
    sockets,
)


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder for the runs of a test; afterwards it must be empty, and no program may run."""
    require_opensm()
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    nothing_is_left(folder)


def run(fabric: Fabric, engine: str, folder: Path, **settings: str) -> Manager:
    """Configure a fabric with an engine, and store its tables in `folder`."""
    with simulated(fabric) as simulator:
        manager = manage(simulator, request(fabric, engine, folder, **settings), timeout_s=60)
        for file in (manager.tables, manager.lanes):
            (folder / file.name).write_bytes(file.read_bytes())
        return manager


def request(fabric: Fabric, engine: str, folder: Path, **settings: str) -> Request:
    """Return the request for an engine, with the shape of the fabric if it is a torus."""
    shape = torus_configuration(fabric)
    (folder / "torus.conf").write_text(shape or "")
    return Request(engine, torus=folder / "torus.conf" if shape else None, settings=settings)


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_ran_is_what_the_engine_can_do(name: str, engine: str, tmp_path: Path) -> None:
    manager = run(made(name), engine, tmp_path)
    can = {
        "updn": name == "clos",
        "ftree": name == "clos",
        "torus-2QoS": name == "torus",
    }.get(engine, True)
    assert manager.ran == (engine if can else "minhop")
    assert bool(manager.complaints) == (not can), manager.complaints
    switches = sum(node.kind == "switch" for node in made(name).devices)
    tables = (tmp_path / "opensm-lfts.dump").read_text()
    assert len(re.findall(r"^Unicast lids .* of switch ", tables, re.MULTILINE)) == switches


def test_an_engine_that_gave_up_says_why_in_its_own_words(tmp_path: Path) -> None:
    torus = made("torus")
    with simulated(torus) as simulator:
        assert "no root nodes were found" in " ".join(manage(simulator, Request("updn")).complaints)
    with simulated(torus) as simulator:
        (reason, *_) = manage(simulator, Request("torus-2QoS")).complaints
        assert "torus-2QoS.conf: No such file" in reason
        assert str(tmp_path) not in reason


def test_roots_are_taken(tmp_path: Path) -> None:
    torus = made("torus")
    roots = tmp_path / "roots"
    roots.write_text("0x0000500000000005\n")
    with simulated(torus) as simulator:
        manager = manage(simulator, Request("updn", roots=roots))
    assert (manager.ran, manager.complaints) == ("updn", ())


@pytest.mark.parametrize("name", ["irregular", "torus"])
@pytest.mark.parametrize("engine", ["lash", "nue", "dfsssp", "torus-2QoS"])
def test_few_questions_tell_the_service_level_of_every_pair(
    name: str, engine: str, tmp_path: Path
) -> None:
    fabric = made(name)
    with simulated(fabric) as simulator:
        asked = request(fabric, engine, tmp_path, nue_max_num_vls="4")
        ran = manage(simulator, asked).ran
        dump = simulator.discovered()
        found = path_records.ports(dump)
        silent = path_records.write_service_levels(simulator, ran, dump, tmp_path / "sl.csv")
        every = list(path_records.questions(found, "pair"))
        words = path_records.ask(simulator, every, found)
        truth = dict(zip(every, map(path_records.level_of, words), strict=True))
        if ran == "dfsssp":
            truth = path_records.lowest_of_layers(
                truth, path_records.layers(simulator, truth, found)
            )
    if ran == "minhop":
        # Minhop, which replaces the engine, has one lane and needs no service levels.
        assert (silent, set(truth.values())) == ([], {0})
        return
    assert silent == []
    rows = read_rows(tmp_path / "sl.csv")
    switch_of = {port.lid: port.switch for port in found}
    for (source, destination), level in truth.items():
        keys = [
            (source, destination),
            (switch_of[source], destination),
            (switch_of[source], switch_of[destination]),
        ]
        assert level == next(rows[key] for key in keys if key in rows), (source, destination)
    used = set(truth.values())
    assert None not in used
    assert len(used) >= {"lash": 2, "torus-2QoS": 2, "nue": 4, "dfsssp": 2}[ran]


@pytest.mark.parametrize("engine", ["updn", "dor"])
def test_engines_of_one_lane_give_every_pair_level_0(engine: str, tmp_path: Path) -> None:
    fabric = made("irregular")
    with simulated(fabric) as simulator:
        manage(simulator, request(fabric, engine, tmp_path))
        found = path_records.ports(simulator.discovered())
        every = list(path_records.questions(found, "pair"))
        assert set(path_records.ask(simulator, every, found)) == {"0"}


def read_rows(path: Path) -> dict[tuple[int, int], int]:
    heading, *lines = path.read_text().splitlines()
    assert heading == "source_lid,destination_lid,sl"
    numbers = ([int(cell) for cell in line.split(",")] for line in lines)
    return {(source, destination): level for source, destination, level in numbers}


def test_the_files_tell_what_is_in_the_switches(tmp_path: Path) -> None:
    require_programs("dump_fts")
    fabric = made("torus")
    with simulated(fabric) as simulator:
        manager = manage(simulator, request(fabric, "torus-2QoS", tmp_path))
        tables = simulator.run("dump_fts", timeout_s=60).out
        lanes = lanes_in_file(manager.lanes.read_text())
        switches = {lid for lid, _ in lanes}
        real = {
            key: row for lid in switches for key, row in lanes_in_switch(simulator, lid, 5).items()
        }
        assert entries(tables) == entries(manager.tables.read_text())
    assert len(entries(tables)) == 16 * 32
    for (lid, _), rows in lanes.items():
        for (into, out), row in rows.items():
            # Except output port 0, the switch itself, which smpquery does not query.
            assert out == 0 or real[lid, (into, out)] == row
    # Rows differ by input and output port, because lanes change at datelines.
    assert len({tuple(row) for row in real.values()}) > 2


def entries(text: str) -> set[tuple[str, int, int]]:
    """Switch, LID and port of every entry of a dump of forwarding tables."""
    found, switch = set(), ""
    for line in text.splitlines():
        if match := re.match(r"Unicast lids .* guid 0x([0-9a-f]+) ", line):
            switch = match[1]
        elif match := re.match(r"0x([0-9a-f]{4}) (\d{3}) ", line):
            found.add((switch, int(match[1], 16), int(match[2])))
    return found


def lanes_in_file(text: str) -> dict[tuple[int, str], dict[tuple[int, int], list[int]]]:
    """The rows of opensm-sl2vl.dump by switch, and in and out port."""
    found: dict[tuple[int, str], dict[tuple[int, int], list[int]]] = {}
    rows: dict[tuple[int, int], list[int]] = {}
    for line in text.splitlines():
        if match := re.match(r'Switch 0x[0-9a-f]+, base LID (\d+), "(.*)"', line):
            rows = found.setdefault((int(match[1]), match[2]), {})
        elif match := re.match(r"(\d+)\s+(\d+)\s+:(.*)", line):
            rows[int(match[1]), int(match[2])] = [int(cell) for cell in match[3].split()]
    return found


def lanes_in_switch(
    simulator: Simulator, lid: int, ports: int
) -> dict[tuple[int, tuple[int, int]], list[int]]:
    """The rows that smpquery reads from a switch."""
    found = {}
    for port in range(1, ports + 1):
        said = simulator.run("smpquery", "sl2vl", str(lid), str(port), timeout_s=60).out
        for into, out, row in re.findall(r"in\s+(\d+), out\s+(\d+): \|(.*)\|", said):
            found[lid, (int(into), int(out))] = [int(cell) for cell in row.split("|")]
    return found


def test_sockets_processes_and_files_are_there_and_gone(scratch: Path) -> None:
    with simulated(made("ring")) as simulator:
        manage(simulator, Request("minhop"))
        socket = f"@{simulator.folder.name}"
        assert socket in sockets()
        assert sorted(processes(scratch).values()) == ["ibsim", "opensm"]
        assert simulator.folder.parent == scratch
    assert socket not in sockets()
    nothing_is_left(scratch)


def test_an_exception_ends_everything(scratch: Path) -> None:
    def fail() -> None:
        with simulated(made("ring")) as simulator:
            assert sorted(processes(scratch).values()) == ["ibsim"]
            simulator.run("smpquery", "nodeinfo", "no-lid", timeout_s=60)

    with raises(EnvironmentProblem, "program-failed"):
        fail()
    nothing_is_left(scratch)


def test_a_manager_that_fails_is_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "bin", "opensm", "echo 'cannot bind to the port' >&2; exit 3", monkeypatch)
    with simulated(made("ring")) as simulator, pytest.raises(EnvironmentProblem) as caught:
        manage(simulator, Request("minhop"))
    assert str(caught.value) == "opensm: ended with code 3\n  cannot bind to the port"


def test_a_manager_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "bin", "opensm", "sleep 600", monkeypatch)
    with simulated(made("ring")) as simulator, pytest.raises(EnvironmentProblem) as caught:
        manage(simulator, Request("minhop"), timeout_s=0.5)
    assert str(caught.value).startswith("opensm: the subnet was not up in time")


def test_a_simulator_that_fails_is_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "bin", "ibsim", "echo 'no memory' >&2; exit 1", monkeypatch)
    with pytest.raises(EnvironmentProblem) as caught, simulated(made("ring")):
        pass
    assert str(caught.value) == "ibsim: ended by itself\n  no memory"


def put(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace a real program by a script, found first in the search path."""
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
