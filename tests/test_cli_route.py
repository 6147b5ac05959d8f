"""`gingham route` and `gingham route check` as commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gingham as package
from gingham import qos
from tests.conftest import Finished
from tests.refusals import raises, require_error

Command = Callable[..., Finished]

# A ring of five with a dateline between the fifth switch and the first: pairs whose path crosses it
# send on SL 1. LIDs are those assigned to a fabric without any: switches from 1, then hosts.
CROSSING = {(4, 1), (5, 1), (5, 2), (2, 5), (1, 5), (1, 4)}
LEVELS = "source_lid,destination_lid,sl\n" + "".join(
    f"{source},{destination},{int((source, destination) in CROSSING)}\n"
    for source in range(1, 6)
    for destination in range(1, 6)
    if source != destination
)
TWO_LANES = "qos TRUE\nqos_max_vls 2\nqos_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\n"


@pytest.fixture
def ring(gingham: Command, tmp_path: Path) -> Path:
    """The file of a ring of five, with the tables of its shortest paths in the same folder."""
    network = tmp_path / "ring.toml"
    made = gingham("fabric", "make", "ring", "--switches", 5, "-o", network)
    assert made.code == 0, made.err
    tables = tmp_path / "ring.lfts"
    routed = routed_to(gingham, network, tables, "shortest-path")
    assert routed.code == 3, routed.err
    return network


@pytest.fixture
def clos(gingham: Command, tmp_path: Path) -> Path:
    """The file of a folded Clos network, with the tables of up*/down* in the same folder."""
    network = tmp_path / "clos.ibnetdiscover"
    sizes = ("--leaves", 3, "--spines", 2, "--hosts-per-leaf", 2)
    made = gingham("fabric", "make", "folded-clos", *sizes, "-o", network)
    assert made.code == 0, made.err
    routed = routed_to(gingham, network, tmp_path / "clos.lfts", "up-down")
    assert routed.code == 0, routed.err
    return network


def routed_to(gingham: Command, network: Path, tables: Path, algorithm: str) -> Finished:
    return gingham("route", network, "--algorithm", algorithm, "--form", "table", "-o", tables)


def changed(tables: Path, switch: str, lid: int, port: str) -> Path:
    """Write a copy of the tables with another port for a LID at a switch; return its path."""
    head, mark, tail = tables.read_text().partition(f"('{switch}'):")
    assert mark, switch
    entry = f"0x{lid:04x} "
    at = tail.index(entry) + len(entry)
    other = tables.with_name("changed.lfts")
    other.write_text(f"{head}{mark}{tail[:at]}{port}{tail[at + 3 :]}")
    return other


def test_the_name_of_the_default_command_may_be_left_out(gingham: Command, clos: Path) -> None:
    short = gingham("route", clos, "--algorithm", "up-down")
    long = gingham("route", "compute", clos, "--algorithm", "up-down")
    options_first = gingham("route", "--algorithm", "up-down", clos)
    assert short == long == options_first
    assert short.code == 0
    helped = gingham("route", "--help")
    assert helped.code == 0
    assert {"check", "compute"} <= set(helped.out.split())


def test_tables_are_written_once_and_only_tables(gingham: Command, clos: Path) -> None:
    tables = clos.with_name("clos.lfts")
    up_down = ("route", clos, "--algorithm", "up-down", "--json")
    require_error(gingham(*up_down, "--form", "table", "-o", tables), "exists", file=tables)
    require_error(gingham(*up_down, "-o", "source.lfts"), "bad-option", key="--form")


def test_sound_routes_pass(gingham: Command, clos: Path) -> None:
    checked = gingham("route", "check", clos, "--lfts", clos.with_name("clos.lfts"), "--json")
    assert (checked.code, checked.err) == (0, "")
    facts = json.loads(checked.out)
    assert (facts["deadlock_free"], facts["faults"], facts["findings"]) == (True, [], [])
    assert facts["statistics"]["host_pairs"] == 30
    assert (facts["alternatives"], facts["lanes"]) == (1, [0])
    # Of six hosts three send; two of a leaf may meet on a spine, all of them never.
    assert facts["bisection"]["pairs"] == 3
    assert 0.5 < facts["bisection"]["bandwidth"] <= 1
    assert facts["sharing"]["pairs"] == facts["statistics"]["max_channel_paths"]
    shown = gingham("route", "check", clos, "--lfts", clos.with_name("clos.lfts"))
    assert (shown.code, shown.err) == (0, "")
    assert "effective bisection bandwidth" in shown.out
    assert "free of deadlock" in shown.out


def test_a_ring_can_deadlock_and_two_lanes_mend_it(gingham: Command, ring: Path) -> None:
    command = ("route", "check", ring, "--lfts", ring.with_name("ring.lfts"))
    refused = gingham(*command)
    assert (refused.code, "closes the cycle" in refused.out) == (3, True)
    # One lane, number 0, and the remedy.
    assert "lanes in use                   1: lane 0\n" in refused.out
    said = " ".join(refused.out.split("closes the cycle\n")[1].split())
    assert said.startswith("no service levels were given (--sl), so that every pair")
    assert said.endswith(f'"gingham opensm compare {ring}"')
    levels, lanes = ring.with_name("levels.csv"), ring.with_name("opensm.conf")
    levels.write_text(LEVELS)
    lanes.write_text(TWO_LANES)
    mended = gingham(*command, "--sl", levels, "--sl2vl", lanes, "--json")
    assert (mended.code, mended.err) == (0, "")
    assert json.loads(mended.out)["lanes"] == [0, 1]
    lanes.write_text(TWO_LANES.replace("max_vls 2", "max_vls 1"))
    one_lane = gingham(*command, "--sl", levels, "--sl2vl", lanes, "--json")
    assert one_lane.code == 3
    [advice] = json.loads(one_lane.out)["advice"]
    assert advice.startswith("which engines of OpenSM are free of deadlock here: ")
    lanes.write_text(TWO_LANES.replace("0,1,", "0,15,", 1))
    dropped = gingham(*command, "--sl", levels, "--sl2vl", lanes, "--json")
    assert dropped.code == 5
    assert all("lane 15" in fault for fault in json.loads(dropped.out)["faults"])


def test_a_proof_about_nobody_is_told(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "bare.toml").write_text(
        '[[switch]]\nname = "s0"\n[[switch]]\nname = "s1"\n[[cable]]\nends = ["s0[1]", "s1[1]"]\n'
    )
    shown = gingham("route", "bare.toml", "--algorithm", "up-down")
    assert shown.code == 0
    assert "the fabric has no two hosts, so that no routes are proved" in shown.err
    assert "Busiest channels" not in shown.out


def test_loops_and_black_holes_are_found(gingham: Command, clos: Path) -> None:
    tables = clos.with_name("clos.lfts")
    # h2-1 has the last LID, 11. Its leaf sends packets for it back up to the sending spine.
    loop = changed(tables, "leaf2", 11, "003")
    checked = gingham("route", "check", clos, "--lfts", loop)
    assert checked.code == 5
    assert "go round for ever" in checked.out
    assert "only packets that go round for ever close this cycle" in checked.out
    hole = changed(tables, "spine1", 11, "255")
    checked = gingham("route", "check", clos, "--lfts", hole, "--json")
    assert checked.code == 5
    [fault] = json.loads(checked.out)["faults"]
    assert fault.startswith("packets for h2-1 are lost at spine1, which has no entry for it")


def test_entries_for_nobody_are_found(gingham: Command, clos: Path) -> None:
    tables = clos.with_name("clos.lfts")
    stale = clos.with_name("stale.lfts")
    stale.write_text(tables.read_text().replace("11 lids dumped", "0x000c 001\n12 lids dumped", 1))
    checked = gingham("route", "check", clos, "--lfts", stale, "--json")
    assert checked.code == 5
    [finding] = json.loads(checked.out)["findings"]
    assert (finding["file"], finding["kind"]) == (str(stale), "unknown-lid")
    assert finding["line"] == 13


def test_what_cannot_be_is_one_message_with_file_and_line(gingham: Command, clos: Path) -> None:
    # Spines come before leaves; a table has a heading, 11 entries and a closing line.
    tables = clos.with_name("clos.lfts")
    strange = changed(tables, "leaf0", 11, "009")
    half = clos.with_name("half.lfts")
    half.write_text(tables.read_text()[:400])
    for file, line, code in [
        (strange, 38, "file-contradiction"),
        (half, 11, "file-truncated"),
        (clos, 5, "file-syntax"),
        (clos.with_name("none.lfts"), None, "file-unreadable"),
    ]:
        refused = gingham("route", "check", clos, "--lfts", file, "--json")
        require_error(refused, code, file=file, line=line)
        assert refused.out == ""


def test_two_hosts_with_one_lid_are_told_by_name(gingham: Command, clos: Path) -> None:
    twice = clos.with_name("twice.ibnetdiscover")
    twice.write_text(clos.read_text().replace('# "leaf', '# lid 7 lmc 0 "leaf'))
    refused = gingham("route", "check", twice, "--lfts", clos.with_name("clos.lfts"))
    assert refused.code == 2
    assert refused.err.startswith(f"gingham: {twice}: LID 7 belongs to h0-0 and to h0-1")


def test_the_api_reads_what_it_wrote(clos: Path, tmp_path: Path) -> None:
    fabric = package.Fabric.load(clos)
    routes = fabric.route("up-down", form="table")
    routes.save(tmp_path / "written.lfts")
    read = fabric.load_routes(tmp_path / "written.lfts")
    assert (read.findings, read.faults, read.alternatives, read.lanes) == ((), [], 1, [0])
    assert read.lengths() == routes.lengths()
    names, lengths = read.lengths()
    assert (names[0], lengths[0]) == ("h0-0", [None, 1, 3, 3, 3, 3])
    assert read.statistics() == routes.statistics()
    assert read.bisection(samples=50) == routes.bisection(samples=50)
    channel = read.path("h0-0", "h1-0")
    assert channel is not None
    sharing = read.sharing(channel[1], at_most=1)
    assert sharing is not None
    assert (sharing["channel"], len(sharing["examples"])) == (channel[1], 1)
    with raises(package.InputError, "unknown-name", key="channel"):
        read.sharing("nothing")
    with raises(package.InputError, "exists"):
        routes.save(tmp_path / "written.lfts")
    with raises(package.InputError, "unwritable"):
        fabric.route("up-down").save(tmp_path / "source.lfts")


def test_lines_for_opensm_are_refused_where_no_port_takes_them() -> None:
    with raises(package.InputError, "refused", key="lanes"):
        qos.conf_lines([0, 1])
    with raises(package.InputError, "refused", key="slots"):
        qos.conf_lines([0] * 16, low=[(15, 1)])


VLARB = """\
# VLArbitration tables: Lid 5 port 2 LowCap 8 HighCap 8
# Low priority VL Arbitration Table:
VL    : |0x0 |0x1 |
WEIGHT: |0x0 |0x4 |
# High priority VL Arbitration Table:
VL    : |0x0 |0x1 |
WEIGHT: |0xff|0x0 |
"""


def test_arbitration_is_read_from_ports_and_from_the_configuration(tmp_path: Path) -> None:
    asked = tmp_path / "vlarb.txt"
    asked.write_text(VLARB + VLARB.replace("port 2", "port 3"))
    first, second = qos.load_arbitration(asked)
    assert (first.lid, first.port, first.kind, first.high_limit) == (5, 2, None, None)
    assert (first.high, first.low) == ([(0, 255), (1, 0)], [(0, 0), (1, 4)])
    assert second.port == 3
    configured = tmp_path / "opensm.conf"
    configured.write_text("qos TRUE\nqos_high_limit 2\nqos_swe_vlarb_low 1:9\n")
    by_kind = {of.kind: of for of in qos.load_arbitration(configured)}
    assert set(by_kind) == {"ca", "sw0", "swe", "rtr"}
    assert (by_kind["swe"].low, by_kind["swe"].high_limit) == ([(1, 9)], 2)
    # OpenSM's own: lane 0 at high priority, the others at low priority with weight 4.
    assert by_kind["ca"].low == [(0, 0)] + [(lane, 4) for lane in range(1, 15)]
    asked.write_text(VLARB.replace("|0x4 |", "|4x |"))
    with raises(package.InputError, "file-syntax", line=4):
        qos.load_arbitration(asked)


def test_datelines_free_a_torus_on_two_lanes(gingham: Command, tmp_path: Path) -> None:
    network = tmp_path / "torus.toml"
    made = gingham("fabric", "make", "torus", "--dimensions", "5,5", "-o", network)
    assert made.code == 0, made.err

    def routed(*options: object) -> Finished:
        return gingham("route", network, "--algorithm", "dimension-order", *options)

    shared = routed("--lanes", 2)
    assert shared.code == 0, shared.err
    assert "0, 1; the upper half from the datelines on" in shared.out
    assert "free of deadlock: " in shared.out
    by_wrap = routed("--lanes", 2, "--by-wrap")
    assert by_wrap.code == 0, by_wrap.err
    assert "0, 1; the upper half in dimensions whose dateline a packet crosses" in by_wrap.out
    assert json.loads(routed("--lanes", 2, "--by-wrap", "--json").out)["dateline_rule"] == "by-wrap"
    assert routed("--lanes", 2, "--by-wrap", "--no-datelines").code == 2
    with raises(package.InputError, "unknown-name", key="datelines"):
        package.Fabric.load(network).route("dimension-order", lanes=2, datelines="by-turn")  # type: ignore[arg-type]
    free = routed("--lanes", 2, "--no-datelines", "--json")
    facts = json.loads(free.out)
    assert (free.code, facts["lanes"], facts["dateline_classes"]) == (3, [0, 1], 1)
    # A shortest cycle has the five channels around the ring, on the lowest lanes.
    assert len(facts["cycle"]) == 5
    assert all(channel.endswith(" lane 0") for channel in facts["cycle"])
    one = json.loads(routed("--json").out)
    assert (one["lanes"], one["dateline_classes"], len(one["cycle"])) == ([0], 1, 5)
    # One lane cannot be divided into dateline classes.
    assert routed("--datelines").code == 3


@pytest.fixture
def torus(gingham: Command, tmp_path: Path) -> Path:
    file = tmp_path / "torus.toml"
    made = gingham(
        "fabric", "make", "torus", "--dimensions", "4,4", "--hosts-per-switch", 1, "-o", file
    )
    assert made.code == 0, made.err
    return file


def test_adaptive_routes_are_proved_by_their_escape_lanes(gingham: Command, torus: Path) -> None:
    def routed(*options: object) -> Finished:
        return gingham(
            "route", torus, "--algorithm", "dimension-order", "--adaptive", "--lanes", 4, *options
        )

    free = routed()
    assert free.code == 0, free.err
    # 16 hosts and 32 cables between switches: 96 channels, of each two escape lanes.
    assert "extended dependency graph of 192 escape lanes of channels is acyclic" in free.out
    assert "virtual cut-through" in free.out
    assert 'network.lanes.reallocation = "tail-credit"' in free.out
    facts = json.loads(routed("--json").out)
    # On a ring of four both directions are shortest for two hops, otherwise only one: offsets of 0,
    # 1, 2 and 3 have 0, 1, 2 and 1 outputs. Those of both dimensions add up.
    one_ring = [0, 1, 2, 1]
    mean = sum(a + b for a in one_ring for b in one_ring) / 15
    assert facts["adaptive"] == {
        "escape_lanes": [0, 1],
        "adaptive_lanes": [2, 3],
        "mean_outputs": pytest.approx(mean),
        "max_outputs": 4,
    }
    assert (facts["form"], facts["deadlock_free"], facts["cycle"]) == ("table", True, [])
    without = routed("--escape-lanes", 0)
    assert without.code == 3
    assert "can deadlock" in without.out
    assert "need escape lanes but in trees" in " ".join(without.out.split())
    one_path = gingham("route", torus, "--algorithm", "dimension-order", "--json")
    assert json.loads(one_path.out)["adaptive"] is None


def test_a_tree_needs_no_escape_lanes(gingham: Command, clos: Path) -> None:
    free = gingham("route", clos, "--algorithm", "up-down", "--adaptive", "--json")
    facts = json.loads(free.out)
    assert (free.code, facts["adaptive"]["escape_lanes"], facts["deadlock_free"]) == (0, [], True)
    # From a leaf over either spine.
    assert facts["adaptive"]["max_outputs"] == 2
    assert facts["advice"] == []
    shown = gingham("route", clos, "--algorithm", "up-down", "--adaptive")
    assert "every way that packets may choose uses increasing numbers" in shown.out


def test_adaptive_routing_that_cannot_be_says_what_to_do(
    gingham: Command, torus: Path, clos: Path, tmp_path: Path
) -> None:
    ring = tmp_path / "ring.toml"
    assert gingham("fabric", "make", "ring", "--switches", 5, "-o", ring).code == 0
    order, adaptive = ("--algorithm", "dimension-order"), "--adaptive"
    for arguments, key in [
        ([torus, *order, adaptive, "--lanes", 2], "escape_lanes"),
        ([torus, *order, adaptive, "--lanes", 4, "--escape-lanes", 4], "escape_lanes"),
        ([torus, *order, adaptive, "--lanes", 4, "--escape-lanes", 1], "escape_lanes"),
        ([torus, *order, adaptive, "--lanes", 4, "--escape-lanes", -1], "escape_lanes"),
        ([torus, *order, "--lanes", 4, "--escape-lanes", 2], "escape_lanes"),
        ([torus, *order, adaptive, "--lanes", 4, "--by-wrap"], "datelines"),
        ([torus, *order, adaptive, "--lanes", 4, "--form", "source"], "form"),
        ([torus, *order, adaptive, "--form", "table", "-o", "t"], "--adaptive"),
        ([ring, "--algorithm", "up-down", adaptive], "algorithm"),
        ([clos, "--algorithm", "in-transit", adaptive], "algorithm"),
        ([clos, "--compare", adaptive], "--compare"),
    ]:
        code = "bad-option" if key.startswith("--") else "refused"
        require_error(gingham("route", *arguments, "--json"), code, key=key)


def test_a_fabric_without_a_choice_is_proved_all_the_same(gingham: Command, tmp_path: Path) -> None:
    ring = tmp_path / "ring.toml"
    assert gingham("fabric", "make", "ring", "--switches", 5, "-o", ring).code == 0
    routed = gingham("route", ring, "--algorithm", "shortest-path", "--adaptive")
    assert routed.code == 3, routed.err
    assert "1.000 in the mean, 1 at most, so that no packet ever chooses" in routed.out


def test_of_a_long_cycle_the_beginning_is_shown(gingham: Command, tmp_path: Path) -> None:
    file, switches = tmp_path / "ring.toml", 30
    assert gingham("fabric", "make", "ring", "--switches", switches, "-o", file).code == 0
    shown = gingham("route", file, "--algorithm", "shortest-path")
    steps = [line for line in shown.out.splitlines() if "then the next, from" in line]
    # A cycle around the ring has a channel from each switch to the next.
    assert (shown.code, len(steps)) == (3, 10)
    assert f"hold the {switches} channels of this cycle" in shown.out
    assert "... and 20 more; all of them with --json" in shown.out
    assert shown.out.rstrip().endswith("closes the cycle")
    asked = gingham("route", file, "--algorithm", "shortest-path", "--json")
    assert len(json.loads(asked.out)["cycle"]) == switches


def test_datelines_need_a_grid_and_lanes_an_algorithm(gingham: Command, clos: Path) -> None:
    route = ("route", clos, "--json", "--lanes", 2)
    lanes = gingham(*route, "--algorithm", "up-down", "--datelines")
    require_error(lanes, "refused", key="datelines")
    require_error(gingham(*route, "--compare"), "bad-option", key="--compare")
    with raises(package.InputError, "refused", key="lanes"):
        package.Fabric.load(clos).route("up-down", lanes=17)


def test_roots_are_found_named_and_told(gingham: Command, clos: Path, tmp_path: Path) -> None:
    def routed(*given: object) -> Finished:
        return gingham("route", clos, "--algorithm", "up-down", *given)

    def roots(*given: object) -> list[str]:
        return list(json.loads(routed(*given, "--json").out)["roots"])

    assert roots() == ["spine0", "spine1"]
    assert roots("--root", "lowest-id") == ["spine0"]
    assert roots("--root", "leaf2", "--root", "spine1") == ["spine1"], "spine1 lies above leaf2"
    assert roots("--root", "leaf2", "--root", "leaf0") == ["leaf0", "leaf2"]
    file = tmp_path / "roots"
    file.write_text("# tops\nspine1\n0x0000500000000000\n")
    assert roots("--roots", file) == ["spine0", "spine1"]
    assert routed().out.startswith("2 roots  "), routed().out
    assert "root   " in routed("--root", "spine1").out
    compared = gingham("route", clos, "--compare", "--root", "spine1", "--root", "spine0", "--json")
    rows = {row["label"]: row for row in json.loads(compared.out)["rows"]}
    assert rows["up-down"]["facts"]["statistics"]["max_channel_paths"] == 4
    assert "a depth-first tree has one root" in rows["up-down, depth first"]["refused"]


def test_roots_that_make_no_sense_are_refused(gingham: Command, clos: Path, tmp_path: Path) -> None:
    file = tmp_path / "roots"
    file.write_text("spine0\nspin1\n")
    cases: list[tuple[tuple[object, ...], dict[str, Any]]] = [
        (("--root", "spine0", "--roots", file), {"code": "bad-option", "key": "--roots"}),
        (("--root", "spine0", "--root", "lowest-id"), {"code": "bad-option", "key": "--root"}),
        (("--root", "spine0", "--root", "spin1"), {"code": "refused", "key": "root"}),
        (("--root", "h0-0"), {"code": "refused", "key": "root"}),
        (("--roots", file), {"code": "unknown-node", "line": 2, "nearest": "spine1"}),
        (
            ("--set", "root={ named = [] }"),
            {"code": "wrong-type", "key": "algorithm.up-down.root.named"},
        ),
    ]
    for given, facts in cases:
        refused = gingham("route", clos, "--algorithm", "up-down", *given, "--json")
        require_error(refused, **facts)
