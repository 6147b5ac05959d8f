"""Parts of `gingham opensm` that need none of OpenSM's programs."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from gingham import EnvironmentProblem, Fabric, InputError
from gingham.cli import _main
from gingham.opensm import first_ports, path_records, programs, sa_queries
from gingham.opensm.damage import broken
from gingham.opensm.decision import with_speeds
from gingham.opensm.manager import complaints
from gingham.opensm.parts import largest_part
from gingham.opensm.roots import read_roots
from gingham.opensm.simulator import limits, seat, with_guids
from gingham.opensm.torus import torus_configuration
from tests.fragments import SECOND_PORT
from tests.refusals import raises

DUMP = """\
switchguid=0x10(10)
Switch\t4 "S-0000000000000010"\t\t# "leaf [1]" base port 0 lid 1 lmc 0
[1]\t"H-0000000000000021"[1](22) \t\t# "a" lid 2 4xSDR
[2]\t"S-0000000000000011"[1]\t\t# "spine" lid 9 4xSDR

switchguid=0x11(11)
Switch\t4 "S-0000000000000011"\t\t# "spine" base port 0 lid 9 lmc 0
[1]\t"S-0000000000000010"[2]\t\t# "leaf [1]" lid 1 4xSDR
[2]\t"H-0000000000000023"[1](24) \t\t# "b # lid 7" lid 4 4xSDR

caguid=0x21
Ca\t1 "H-0000000000000021"\t\t# "a"
[1](22) \t"S-0000000000000010"[1]\t\t# lid 2 lmc 0 "leaf [1]" lid 1 4xSDR

caguid=0x23
Ca\t1 "H-0000000000000023"\t\t# "b # lid 7"
[1](24) \t"S-0000000000000011"[2]\t\t# lid 4 lmc 1 "spine" lid 9 4xSDR
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Fabric:
    (tmp_path / "cluster.ibnetdiscover").write_text(DUMP)
    return Fabric.load(tmp_path / "cluster.ibnetdiscover")


def test_missing_programs_are_one_message_with_the_line_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "search_path", lambda: str(tmp_path))
    with pytest.raises(EnvironmentProblem) as caught:
        programs.require("opensm", "ibsim", "ibsim-run")
    assert str(caught.value) == (
        "opensm, ibsim, ibsim-run: not installed\n  apt-get install ibsim-utils opensm"
    )
    Fabric.make("ring", switches=4).save(tmp_path / "ring.toml")
    code = _main.run(["opensm", "compare", str(tmp_path / "ring.toml")])
    said = capsys.readouterr()
    assert (code, said.out) == (6, "")
    assert said.err == (
        "gingham: opensm, ibsim, ibsim-run, ibnetdiscover: not installed\n"
        "  apt-get install ibsim-utils infiniband-diags opensm\n"
    )


def test_the_simulator_has_room_for_all(cluster: Fabric) -> None:
    # Two switches of four ports and port 0, two adapters of one port and room for a port 0.
    assert limits(cluster) == ["-N", "4", "-S", "2", "-P", "14", "-L", "49152"]


def test_the_manager_sits_on_the_first_host_of_the_largest_part() -> None:
    clos = Fabric.make("folded-clos", leaves=3, spines=2, hosts_per_leaf=2)
    assert seat(clos, None) == "H-0000400000000000"
    cut = clos.without("leaf0")
    alone = {
        host.name
        for host in cut.devices
        if host.kind == "host" and host.name not in largest_part(cut)
    }
    assert alone == {"h0-0", "h0-1"}
    assert seat(cut, None) == "H-0000400000000002"
    assert seat(clos, "h2-1") == "H-0000400000000005"
    with raises(InputError, "unknown-node", key="host"):
        seat(clos, "spine0")


def test_hosts_are_played_with_their_first_cable_at_port_1(tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(SECOND_PORT)
    fabric = with_guids(Fabric.load(tmp_path / "net.toml"))
    guids = {node.name: node.guid for node in fabric.devices}
    hosts = first_ports.moved(fabric)
    assert hosts == {guids["h0"]: 2, guids["h1"]: 2}
    text, _ = fabric.text("ibnetdiscover")
    played = first_ports.played(text, hosts)
    (tmp_path / "played.ibnetdiscover").write_text(played)
    ends = [cable.ends for cable in Fabric.load(tmp_path / "played.ibnetdiscover").cables]
    assert {port for end in ends for name, port in end if name in {"h0", "h1", "h2"}} == {1}
    assert first_ports.discovered(played, hosts) == text


def test_ports_and_their_switches_are_read_from_a_dump() -> None:
    ports = path_records.ports(DUMP)
    assert [(port.place, port.lid, port.lmc, port.switch) for port in ports] == [
        ("H-0000000000000021", 2, 0, 1),
        ("H-0000000000000023", 4, 1, 9),
    ]


@pytest.mark.parametrize(
    ("dependence", "rows"),
    [
        ("switches", {(1, 9): (2, 4), (9, 1): (4, 2)}),
        ("switch-and-destination", {(1, 4): (2, 4), (1, 5): (2, 5), (9, 2): (4, 2)}),
        ("pair", {(2, 4): (2, 4), (2, 5): (2, 5), (4, 2): (4, 2)}),
    ],
)
def test_as_few_questions_as_the_engine_needs(
    dependence: path_records.Dependence, rows: dict[tuple[int, int], tuple[int, int]]
) -> None:
    assert path_records.questions(path_records.ports(DUMP), dependence) == rows


def test_levels_of_a_layer_are_told_by_the_lowest() -> None:
    levels: path_records.Levels = {(1, 2): 3, (1, 3): 5, (2, 3): 7, (3, 1): None}
    assert path_records.lowest_of_layers(levels, [{2, 3, 5}, {7}]) == {
        (1, 2): 2,
        (1, 3): 2,
        (2, 3): 7,
        (3, 1): None,
    }


class Subnet:
    """Stand-in for the simulator: hosts in `deaf` get no replies to their queries."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, deaf: set[str]) -> None:
        self.asked: list[list[str]] = []
        self.deaf = deaf
        monkeypatch.setattr(path_records, "ask_from", self.ask_from)

    def ask_from(
        self, _simulator: Any, seats: list[str], pairs: list[tuple[int, int]], *_rest: Any
    ) -> tuple[list[str], list[str]]:
        self.asked.append(seats)
        words = ["?"] * len(pairs)
        for index, name in enumerate(seats):
            for place in range(index, len(pairs), len(seats)):
                words[place] = "?" if name in self.deaf or pairs[place] == (9, 9) else "3"
        return words, [name for name in seats if name not in self.deaf]


def hosts(*places: str) -> list[path_records.Port]:
    return [path_records.Port(place, lid, 0, 90 + lid) for lid, place in enumerate(places, 1)]


def test_a_host_without_a_way_to_the_administrator_leaves_its_questions_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulator: Any = None
    found = hosts("H-1", "H-2", "H-3")
    pairs = [(1, 2), (2, 3), (3, 1), (9, 9)]
    subnet = Subnet(monkeypatch, deaf={"H-2", "H-3"})
    assert path_records.ask(simulator, pairs, found) == ["3", "3", "3", "?"]
    assert subnet.asked[:2] == [["H-1", "H-2", "H-3"], ["H-1"]]
    Subnet(monkeypatch, deaf={"H-1", "H-2", "H-3"})
    with pytest.raises(EnvironmentProblem):
        path_records.ask(simulator, pairs, found)


def test_pairs_without_an_answer_are_counted_and_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    simulator: Any = None
    monkeypatch.setattr(
        path_records, "ask", lambda _1, asked, *_, **_named: ["1", *["?"] * (len(asked) - 1)]
    )
    path = tmp_path / "sl.csv"
    assert path_records.write_service_levels(simulator, "lash", DUMP, path) == [(4, 2)]
    assert path.read_text().splitlines() == ["source_lid,destination_lid,sl", "1,9,1"]
    # One lane needs no service levels, and queries must not travel over the routes under test.
    monkeypatch.setattr(path_records, "ask", None)
    assert path_records.write_service_levels(simulator, "updn", DUMP, path) == []
    assert path.read_text().splitlines()[1:] == ["1,9,0", "9,1,0"]


def test_a_question_is_the_datagram_of_the_specification() -> None:
    datagram = sa_queries.question(0x1234, source=2, destination=9)
    assert len(datagram) == 256
    # Base version, subnet administration, its version 2, Get; no status.
    assert datagram[:8].hex() == "0103020100000000"
    assert datagram[8:16].hex() == "0000000000001234"
    # PathRecord, and its component mask: DLID, SLID, number of paths.
    assert datagram[16:18].hex() == "0035"
    assert datagram[48:56].hex() == "0000000000001030"
    record = datagram[56:]
    assert (record[40:42].hex(), record[42:44].hex(), record[49]) == ("0009", "0002", 1)


def test_an_answer_gives_the_level_or_says_that_there_is_no_path() -> None:
    answer = bytearray(sa_queries.question(7, source=2, destination=9))
    answer[3] = 0x81
    # 12 bits of QoS class, 4 of the level.
    struct.pack_into(">H", answer, 56 + 52, 0xFFF5)
    assert sa_queries.read_answer(bytes(answer), 2, 9) == 5
    with pytest.raises(OSError, match="got an answer for"):
        sa_queries.read_answer(bytes(answer), 2, 8)
    struct.pack_into(">H", answer, 4, 0x0300)
    assert sa_queries.read_answer(bytes(answer), 2, 9) is None


def test_speeds_of_the_original_replace_those_of_the_simulator(cluster: Fabric) -> None:
    clos = Fabric.make("two-hosts")
    assert all("?????" in line for line in with_speeds(DUMP, clos).splitlines() if line[:1] == "[")
    mixed = DUMP.replace('"spine" lid 9 4xSDR', '"spine" lid 9 4xNDR').replace(
        '[2]\t\t# "leaf [1]" lid 1 4xSDR', '[2]\t\t# "leaf [1]" lid 1 4xNDR'
    )
    assert "4xNDR" in mixed
    assert with_speeds(DUMP, cluster) == DUMP


def test_what_a_log_complains_of_is_short_and_told_once() -> None:
    log = """\
Nov 22 00:45:54 000000 [A] 0x02 -> osm_vendor_init: 1000 pending umads specified
Nov 22 00:45:54 000000 [A] 0x02 -> updn_lid_matrices: disabling UPDN algorithm, no root nodes
Nov 22 00:45:55 000000 [A] 0x01 -> parse_config: ERR 4E11: Opening /tmp/gingham-x_1/torus.conf: No
Nov 22 00:45:55 000000 [A] 0x01 -> ucast_mgr_route: torus-2QoS: cannot build fwd tables
Nov 22 00:45:56 000000 [A] 0x01 -> ucast_mgr_route: torus-2QoS: cannot build fwd tables
Nov 22 00:45:56 000000 [A] 0x01 -> osm_qos_parse: ERR AC01: Failed opening QoS policy file /tmp/x
"""
    assert complaints(log) == [
        "disabling UPDN algorithm, no root nodes",
        "ERR 4E11: Opening torus.conf: No",
        "torus-2QoS: cannot build fwd tables",
    ]


@pytest.mark.parametrize(
    ("kind", "dimensions", "shape", "links"),
    [
        ("torus", [4, 3], "4t 3t 1", {"xp": 3, "xm": 9, "yp": 1, "ym": 2}),
        ("mesh", [3, 2], "3m 2m 1", {"xp": 2, "yp": 1}),
        ("torus", [2, 3], "2m 3t 1", {"xp": 3, "yp": 1, "ym": 2}),
        ("torus", [3, 3, 3], "3t 3t 3t", {"xp": 9, "xm": 18, "yp": 3, "ym": 6, "zp": 1, "zm": 2}),
    ],
)
def test_the_shape_of_a_grid_is_told_by_its_links(
    kind: str, dimensions: list[int], shape: str, links: dict[str, int]
) -> None:
    fabric = Fabric.make(kind, dimensions=dimensions)
    guids = [node.guid for node in fabric.devices if node.kind == "switch"]
    told = [f"{axis}_link 0x{guids[0]} 0x{guids[other]}" for axis, other in links.items()]
    assert torus_configuration(fabric) == "\n".join([f"torus {shape}", *told, ""])


def test_what_is_no_grid_of_two_or_three_dimensions_has_no_shape() -> None:
    assert torus_configuration(Fabric.make("ring", switches=5)) is None
    assert torus_configuration(Fabric.make("irregular", switches=8, seed=1)) is None
    assert torus_configuration(Fabric.make("hypercube", dimensions=4)) is None


def test_the_seed_decides_on_what_breaks_and_one_more_is_one_more() -> None:
    torus = Fabric.make("torus", dimensions=[4, 4])
    after, gone = broken(torus, 3, "cables", seed=1)
    assert len(after.cables) == len(torus.cables) - 3
    assert broken(torus, 3, "cables", seed=1)[1] == gone
    assert broken(torus, 3, "cables", seed=2)[1] != gone
    assert set(gone) < set(broken(torus, 4, "cables", seed=1)[1])
    kept = {f"{one[0]}[{one[1]}] - {other[0]}[{other[1]}]" for one, other in ends(after)}
    all_of_them = {f"{one[0]}[{one[1]}] - {other[0]}[{other[1]}]" for one, other in ends(torus)}
    assert all_of_them - kept == set(gone)


def ends(fabric: Fabric) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    return [cable.ends for cable in fabric.cables]


def test_a_switch_takes_its_cables_with_it_and_leaves_its_hosts() -> None:
    torus = Fabric.make("torus", dimensions=[4, 4], hosts_per_switch=2)
    after, gone = broken(torus, 1, "switches", seed=1)
    assert len(after.devices) == len(torus.devices) - 1
    # Four cables to neighbours, two to hosts.
    assert len(after.cables) == len(torus.cables) - 6
    assert not any(gone[0] in {one[0], other[0]} for one, other in ends(after))
    assert after.info()["parts"] == 3


def test_more_than_there_is_cannot_break() -> None:
    ring = Fabric.make("ring", switches=4)
    with raises(InputError, "too-many", key="cables"):
        broken(ring, 5, "cables", seed=1)


def test_a_name_may_hold_the_sign_of_a_comment(tmp_path: Path) -> None:
    (tmp_path / "net.ibnetdiscover").write_text(DUMP.replace('"spine"', '"Voltaire # 2"'))
    fabric = Fabric.load(tmp_path / "net.ibnetdiscover")
    (tmp_path / "roots").write_text("Voltaire # 2\nleaf [1] # below it\n")
    assert read_roots(tmp_path / "roots", fabric) == ["Voltaire # 2", "leaf [1]"]


def test_roots_are_names_or_guids(cluster: Fabric, tmp_path: Path) -> None:
    (tmp_path / "roots").write_text("# by name and by GUID\nleaf [1]\n0x11  # the spine\n0x10\n\n")
    assert read_roots(tmp_path / "roots", cluster) == ["leaf [1]", "spine"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("spine\nspien\n", {"code": "unknown-node", "line": 2, "nearest": "spine"}),
        ("0x21\n", {"code": "unknown-node", "line": 1}),
        ("# nothing\n", {"code": "empty-list"}),
    ],
)
def test_a_root_that_is_none_is_told_with_its_line(
    cluster: Fabric, tmp_path: Path, text: str, facts: dict[str, Any]
) -> None:
    (tmp_path / "roots").write_text(text)
    with raises(InputError, file=tmp_path / "roots", **facts):
        read_roots(tmp_path / "roots", cluster)
