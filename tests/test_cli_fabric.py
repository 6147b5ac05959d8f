"""`gingham fabric` and `gingham route` as commands."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gingham import Fabric, fabrics
from tests.conftest import Finished
from tests.refusals import require_error

Command = Callable[..., Finished]

# A dump with a cable that one leaf lists and the other end does not.
ONE_SIDED = """\
switchguid=0x10(10)
Switch\t4 "S-0000000000000010"\t# "leaf" base port 0 lid 1 lmc 0
[1]\t"H-0000000000000021"[1](21)\t# "alpha" lid 2 4xEDR
[2]\t"H-0000000000000022"[1](22)\t# "beta" lid 3 4xEDR

caguid=0x21
Ca\t1 "H-0000000000000021"\t# "alpha"
[1](21)\t"S-0000000000000010"[1]\t# lid 2 lmc 0 "leaf" lid 1 4xEDR

caguid=0x22
Ca\t1 "H-0000000000000022"\t# "beta"
"""


@pytest.fixture
def ring(gingham: Command, tmp_path: Path) -> Path:
    made = gingham("fabric", "make", "ring", "--switches", 5, "-o", "ring.toml")
    assert made.code == 0, made.err
    return tmp_path / "ring.toml"


def test_info_counts_and_measures(gingham: Command, ring: Path) -> None:
    shown = gingham("fabric", "info", ring)
    assert (shown.code, shown.err) == (0, "")
    facts = dict(line.split("  ", 1) for line in shown.out.splitlines())
    facts = {name: value.strip() for name, value in facts.items()}
    assert facts["hosts"] == "5, with 5 ports in use and 0 free"
    assert facts["cables"] == "10, of these 5 between switches"
    # In a ring of five there are two switches at each of the distances 1 and 2.
    assert facts["largest distance"] == "2 channels, between two switches"
    mean = "1.500 channels, or 2.500 switches on a path, between two hosts"
    assert facts["mean distance"] == mean


def test_info_for_programs_is_one_object(gingham: Command, ring: Path) -> None:
    facts = json.loads(gingham("fabric", "info", ring, "--json").out)
    assert facts["nodes"] == {"aggregation": 0, "host": 5, "router": 0, "switch": 5}
    assert (facts["cables"], facts["switch_diameter"]) == (10, 2)


def test_what_failed_is_left_out(gingham: Command, ring: Path, tmp_path: Path) -> None:
    command = ("fabric", "convert", ring, "-o")
    gone = gingham(*command, "less.toml", "--without", "s1", "--without", "s3[3] -> s4[2]")
    assert gone.code == 0, gone.err
    facts = json.loads(gingham("fabric", "info", "less.toml", "--json").out)
    # Three of ten cables were at s1, one of them to its host, which is left isolated.
    assert (facts["nodes"]["switch"], facts["nodes"]["host"], facts["cables"]) == (4, 5, 6)
    refused = gingham(*command, "none.toml", "--without", "s11", "--json")
    error = require_error(refused, "unknown-node", key="s11")
    assert error["nearest"].startswith("s1")
    assert not (tmp_path / "none.toml").exists()


def test_a_sound_fabric_passes_the_check(gingham: Command, ring: Path) -> None:
    checked = gingham("fabric", "check", ring)
    assert (checked.code, checked.out) == (0, f"{ring}: nothing found\n")


def test_the_check_names_line_and_fault_and_exits_with_5(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "dump.ibnetdiscover").write_text(ONE_SIDED)
    checked = gingham("fabric", "check", "dump.ibnetdiscover", "--json")
    assert checked.code == 5
    findings = json.loads(checked.out)["findings"]
    assert [(finding["line"], finding["kind"]) for finding in findings] == [(4, "one-sided-cable")]
    shown = gingham("fabric", "check", "dump.ibnetdiscover")
    assert shown.code == 5
    assert "one-sided-cable" in shown.out
    warned = gingham("fabric", "info", "dump.ibnetdiscover")
    assert warned.code == 0
    assert '1 warning; "gingham fabric check dump.ibnetdiscover" lists them' in warned.err


def test_make_without_a_file_prints_what_ibnetdiscover_would(gingham: Command) -> None:
    made = gingham("fabric", "make", "star", "--hosts", 3)
    assert made.code == 0
    assert made.out.count("\ncaguid=") == 3
    assert made.out.count("\nswitchguid=") == 1


def test_the_seed_decides_on_an_irregular_fabric(gingham: Command) -> None:
    def made(seed: int) -> str:
        finished = gingham("fabric", "make", "irregular", "--switches", 9, "--seed", seed)
        assert finished.code == 0
        return finished.out

    assert made(1) == made(1)
    assert made(1) != made(2)


def test_conversion_there_and_back_keeps_the_fabric(gingham: Command, ring: Path) -> None:
    for source, target in [(ring, "a.ibnetdiscover"), ("a.ibnetdiscover", "b.toml")]:
        converted = gingham("fabric", "convert", source, "-o", target)
        assert converted.code == 0, converted.err
    assert (ring.parent / "b.toml").read_text() == ring.read_text()


def test_route_proves_up_down_and_shows_lengths(gingham: Command, ring: Path) -> None:
    routed = gingham("route", ring, "--algorithm", "up-down")
    assert (routed.code, routed.err) == (0, "")
    root, pairs = (line.split() for line in routed.out.splitlines()[:2])
    assert (root, pairs) == (["root", "s0"], ["pairs", "of", "hosts", "20"])
    proven = "free of deadlock: the dependency graph of 20 channels is acyclic"
    assert routed.out.splitlines()[-1].startswith(proven)


def test_people_read_large_numbers_in_groups_of_three_and_programs_as_they_are(
    gingham: Command,
) -> None:
    """Two switches with 40 hosts each: 80 x 79 pairs, 2 x 40 x 39 of them at one switch."""
    shape = ("mesh", "--dimensions", 2, "--hosts-per-switch", 40)
    made = gingham("fabric", "make", *shape, "-o", "m.toml")
    assert made.code == 0, made.err
    shown = gingham("route", "m.toml", "--algorithm", "up-down").out
    rows = [line.split() for line in shown.splitlines()]
    assert ["pairs", "of", "hosts", "6,320"] in rows
    assert [row for row in rows if row[:1] in (["1"], ["2"])] == [["1", "3,120"], ["2", "3,200"]]
    # One cable: the paths from 40 hosts to 40 others share one channel of it.
    assert ["paths", "over", "a", "channel", "1,600.0", "in", "the", "mean,", "1,600", "at"] in [
        row[:10] for row in rows
    ]
    assert sum(row[-1:] == ["1,600"] for row in rows) == 2
    told = json.loads(gingham("route", "m.toml", "--algorithm", "up-down", "--json").out)[
        "statistics"
    ]
    assert (told["host_pairs"], told["max_channel_paths"]) == (6320, 1600)


def test_route_shows_the_shortest_cycle_and_exits_with_3(gingham: Command, ring: Path) -> None:
    routed = gingham("route", ring, "--algorithm", "shortest-path", "--json")
    assert routed.code == 3
    answer = json.loads(routed.out)
    assert not answer["deadlock_free"]
    # Round the ring, one way or the other: each switch once.
    assert len(answer["cycle"]) == 5
    assert len({channel.partition("[")[0] for channel in answer["cycle"]}) == 5
    # Two switches at each distance: 10 ordered pairs of hosts over 2 and over 3 switches.
    assert answer["statistics"]["pairs_by_switches"] == [0, 0, 10, 10]
    shown = gingham("route", ring, "--algorithm", "shortest-path")
    assert shown.code == 3
    assert "can deadlock" in shown.out


def test_table_routes_and_a_named_root_are_offered(gingham: Command, ring: Path) -> None:
    arguments = ["--algorithm", "up-down", "--form", "table", "--root", "s3"]
    assert gingham("route", ring, *arguments).code == 0


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["fabric", "info", "rnig.toml"], {"code": "file-unreadable"}),
        (["fabric", "info", "."], {"code": "file-unreadable"}),
        (["fabric", "inof", "ring.toml"], {"code": "bad-option", "nearest": "info"}),
        (
            ["fabric", "convert", "ring.toml", "-o", "x.dto"],
            {"code": "unknown-ending", "nearest": "dot"},
        ),
        (["fabric", "make", "ring", "--switches", "0"], {"code": "refused", "key": "switches"}),
        (
            ["fabric", "make", "star", "--hosts", "3", "--rails", "0"],
            {"code": "refused", "key": "rails"},
        ),
        (["fabric", "make", "rail-optimised", "--units", "9"], {"code": "refused", "key": "units"}),
        (
            ["fabric", "make", "multi-plane", "--planes", "2"],
            {"code": "bad-option", "key": "--leaves"},
        ),
        (
            ["fabric", "make", "torus", "--dimensions", "4,x"],
            {"code": "bad-option", "key": "--dimensions"},
        ),
        (
            ["fabric", "make", "ring", "--switches", "9" * 30],
            {"code": "wrong-type", "key": "ring.switches"},
        ),
        (["fabric", "make", "rnig"], {"code": "bad-option", "nearest": "ring"}),
        (
            ["fabric", "make", "star", "--hosts", "3", "--json"],
            {"code": "bad-option", "key": "--output"},
        ),
        (["fabric", "convert", "ring.toml", "-o", "ring.toml"], {"code": "exists"}),
        (
            ["route", "ring.toml", "--algorithm", "up-dwn"],
            {"code": "bad-option", "key": "--algorithm"},
        ),
        (
            ["route", "ring.toml", "--algorithm", "updn"],
            {"code": "bad-option", "nearest": "up-down"},
        ),
        (
            ["route", "ring.toml", "--algorithm", "minhop"],
            {"code": "bad-option", "nearest": "shortest-path"},
        ),
        (
            ["route", "ring.toml", "--algorithm", "xy"],
            {"code": "bad-option", "nearest": "dimension-order"},
        ),
        (
            ["route", "ring.toml", "--algorithm", "up-down", "--root", "s9"],
            {"code": "refused", "key": "root"},
        ),
        (
            ["route", "ring.toml", "--algorithm", "shortest-path", "--root", "s0"],
            {"code": "unknown-key", "key": "algorithm.shortest-path.root"},
        ),
        (
            ["route", "other.toml", "--algorithm", "dimension-order"],
            {"code": "refused", "key": "algorithm"},
        ),
    ],
)
def test_bad_input_is_one_message_and_exit_2(
    gingham: Command, ring: Path, arguments: list[str], facts: dict[str, Any]
) -> None:
    assert ring.exists()
    gingham("fabric", "make", "irregular", "--switches", 8, "-o", "other.toml")
    before = sorted(ring.parent.iterdir())
    refused = gingham(*arguments, "--json")
    require_error(refused, **facts)
    assert refused.out == ""
    assert sorted(ring.parent.iterdir()) == before, "nothing was written"


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"", {"code": "file-empty"}),
        (b"\x7fELF\x02\x01\x01\x00\x00", {"code": "file-binary", "line": 1}),
        (ONE_SIDED[:120].encode(), {"code": "file-truncated", "line": 3}),
        (b"caguid=0x21\nCa\t1 nonsense\n", {"code": "file-syntax", "line": 2}),
    ],
)
def test_an_unreadable_dump_is_one_message_with_its_place(
    gingham: Command, tmp_path: Path, content: bytes, facts: dict[str, Any]
) -> None:
    (tmp_path / "dump.ibnetdiscover").write_bytes(content)
    for command in (["info"], ["check"], ["convert", "-o", "x.toml"]):
        refused = gingham("fabric", command[0], "dump.ibnetdiscover", *command[1:], "--json")
        require_error(refused, file="dump.ibnetdiscover", **facts)
    assert not (tmp_path / "x.toml").exists()


def test_a_place_that_cannot_be_written_exits_with_6(gingham: Command, ring: Path) -> None:
    full = gingham("fabric", "convert", ring, "-o", "/dev/full", "--format", "toml")
    assert (full.code, full.err) == (6, "gingham: /dev/full: cannot write: the disk is full\n")
    told = json.loads(gingham("fabric", "convert", ring, "-o", "no/ring.dot", "--json").err)
    assert (told["file"], told["exit_code"]) == ("no/ring.dot", 6)
    missing = gingham("fabric", "convert", ring, "-o", "missing/x.toml", "--json")
    require_error(missing, "system", exit_code=6, file="missing/x.toml")


def test_every_command_explains_itself_with_an_example(gingham: Command) -> None:
    for command in [
        ["fabric", "info"],
        ["fabric", "check"],
        ["fabric", "make"],
        ["fabric", "convert"],
        ["route"],
        ["run"],
    ]:
        shown = gingham(*command, "--help")
        assert shown.code == 0
        assert f"gingham {' '.join(command)} " in shown.out.partition("Example")[2], command


def test_findings_that_differ_only_in_names_are_one_row(gingham: Command, tmp_path: Path) -> None:
    lonely = (f'Ca 1 "H-{number:08x}" # "h{number}"\n' for number in range(1, 131))
    (tmp_path / "many.ibnetdiscover").write_text('Switch 4 "S-01" # "s"\n' + "".join(lonely))
    shown = gingham("fabric", "check", "many.ibnetdiscover")
    assert shown.code == 5
    assert shown.out.count("uncabled-host") == 1
    assert "129 more" in shown.out
    assert "h1 has no cable" in shown.out
    assert "h2, h3, h4, h5, ..." in " ".join(shown.out.split())
    told = json.loads(gingham("fabric", "check", "many.ibnetdiscover", "--json").out)
    kinds = [finding["kind"] for finding in told["findings"]]
    assert kinds.count("uncabled-host") == 130


def test_of_each_kind_the_first_hundred_rows_are_printed_and_the_others_counted(
    gingham: Command, tmp_path: Path
) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [one + other for one in letters for other in letters][:130]
    lonely = (f'Ca 1 "H-{number:08x}" # "{name}"\n' for number, name in enumerate(names, 1))
    (tmp_path / "many.ibnetdiscover").write_text('Switch 4 "S-01" # "s"\n' + "".join(lonely))
    shown = gingham("fabric", "check", "many.ibnetdiscover")
    assert shown.code == 5
    assert shown.out.count("uncabled-host") == 101
    assert "\nand 30 more: 30 of kind uncabled-host; --json has all\n" in shown.out


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("xz", lzma.compress)])
def test_a_compressed_dump_is_read(
    gingham: Command, tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    made = gingham("fabric", "make", "ring", "--switches", 3, "-o", "ring.toml")
    assert made.code == 0
    text = (tmp_path / "ring.toml").read_bytes()
    (tmp_path / f"ring.toml.{ending}").write_bytes(pack(text))
    (tmp_path / f"cut.{ending}").write_bytes(pack(text)[:-9])
    (whole, packed) = (gingham("fabric", "info", f"ring.toml{end}") for end in ("", f".{ending}"))
    assert (packed.code, packed.out) == (0, whole.out)
    cut = gingham("fabric", "info", f"cut.{ending}")
    assert cut.code == 2
    assert cut.err.startswith(f"gingham: cut.{ending}: the compressed file is damaged or cut short")


def test_several_faults_are_named_for_people_and_for_programs(
    gingham: Command, tmp_path: Path
) -> None:
    (tmp_path / "faults.ibnetdiscover").write_text('Switch 4 "S-01"\n' + "[1] S-02\n" * 25)
    refused = gingham("fabric", "info", "faults.ibnetdiscover")
    assert refused.code == 2
    assert refused.err.count("\nfaults.ibnetdiscover:") == 19
    assert refused.err.endswith("and 5 more in faults.ibnetdiscover\n")
    told = json.loads(gingham("fabric", "info", "faults.ibnetdiscover", "--json").err)
    assert (told["line"], told["faults"], len(told["others"])) == (2, 25, 19)


def test_a_dump_of_nothing_but_noise_is_one_message(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "noise.txt").write_text("Script started\nprompt$ exit\n-E- no fabric\n")
    refused = gingham("fabric", "check", "noise.txt")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "gingham: noise.txt:1: the file names no node; 3 lines are no part of a dump, the first "
        '"Script started", expected the output of `ibnetdiscover`, with records such as '
        '`Switch\t36 "S-0002c90200417670"`\n'
    )


@pytest.mark.parametrize("given", ["4,4", "[4, 4]", "[4,4]", " 4, 4"])
def test_dimensions_are_taken_as_options_and_as_scenarios_have_them(
    given: str, gingham: Command
) -> None:
    made = gingham("fabric", "make", "mesh", "--dimensions", given)
    assert made.code == 0, made.err
    assert made.out == gingham("fabric", "make", "mesh", "--dimensions", "4,4").out
    told = " ".join(gingham("fabric", "make", "mesh", "--help").out.split())
    assert "such as 8,8" in told


def test_a_fabric_is_drawn_without_a_run(gingham: Command, tmp_path: Path) -> None:
    made = gingham("fabric", "make", "ring", "--switches", 4, "-o", "ring.toml")
    assert made.code == 0, made.err
    done = gingham("fabric", "plot", "ring.toml")
    assert (done.code, done.out) == (0, "written: ring.png\n")
    assert (tmp_path / "ring.png").read_bytes().startswith(b"\x89PNG")
    again = gingham("fabric", "plot", "ring.toml")
    assert (again.code, again.err) == (
        2,
        "gingham: ring.png: exists already; --force replaces it\n",
    )
    told = gingham("fabric", "plot", "ring.toml", "-o", "ring.svg", "--json")
    assert json.loads(told.out) == {"file": "ring.toml", "picture": "ring.svg"}
    ending = gingham("fabric", "plot", "ring.toml", "-o", "ring.jpeg", "--json")
    require_error(ending, "unknown-ending", file="ring.jpeg")
    assert gingham("fabric", "plot", "ring.toml", "-o", "none/ring.png").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ring.png", "ring.svg", "ring.toml"]


def test_info_tells_levels_and_oversubscription_of_a_tree(
    gingham: Command, ring: Path, tmp_path: Path
) -> None:
    def told(file: Path | str) -> dict[str, str]:
        lines = gingham("fabric", "info", file).out.splitlines()
        return {name: value.strip() for name, value in (line.split("  ", 1) for line in lines)}

    sizes = ("--leaves", 4, "--spines", 2, "--hosts-per-leaf", 6)
    assert gingham("fabric", "make", "folded-clos", *sizes, "-o", "clos.toml").code == 0
    whole = told("clos.toml")
    assert whole["levels"] == "2: 2 spine, 4 leaf switches"
    # Six hosts over two cables up.
    assert whole["oversubscription"] == "leaf 3:1"
    shorn = ("fabric", "convert", "clos.toml", "--without", "leaf1[8]", "-o", "less.toml")
    assert gingham(*shorn).code == 0
    assert told("less.toml")["oversubscription"] == "leaf 3:1 to 6:1, the most at leaf1"
    assert gingham("fabric", "make", "k-ary-n-tree", "--arity", 2, "--levels", 3, "-o", "k.toml")
    assert told("k.toml")["levels"] == "3: 4 core, 4 spine, 4 leaf switches"
    assert told("k.toml")["oversubscription"] == "leaf 1:1; spine 1:1"
    assert told(ring)["tree"] == "no, the switches have no levels"
    (tmp_path / "one.toml").write_text(
        '[[switch]]\nname = "s"\nports = 2\n[[host]]\nname = "h"\n[[cable]]\nends = ["s", "h"]\n'
    )
    (tmp_path / "two.toml").write_text(
        "".join(
            f'[[switch]]\nname = "s{n}"\n[[host]]\nname = "h{n}"\n'
            f'[[cable]]\nends = ["s{n}", "h{n}"]\n'
            for n in range(2)
        )
    )
    two = told("two.toml")
    assert (two["levels of tree 1"], two["levels of tree 2"]) == ("1: 1 leaf switch",) * 2
    routed = gingham("route", "two.toml", "--algorithm", "up-down")
    assert (routed.code, "Busiest channels" in routed.out) == (0, False)
    one = told(tmp_path / "one.toml")
    assert (one["levels"], "oversubscription" in one) == ("1: 1 leaf switch", False)
    facts = json.loads(gingham("fabric", "info", "less.toml", "--json").out)
    assert facts["trees"] == [
        {
            "levels": [
                {"switches": 2, "oversubscription": None},
                {"switches": 4, "oversubscription": {"min": 3.0, "max": 6.0, "narrowest": "leaf1"}},
            ],
            "tops": ["spine0", "spine1"],
        }
    ]


@pytest.mark.parametrize("ending", ["toml", "ibnetdiscover", "topo"])
def test_adapters_of_a_node_keep_their_names_in_files(
    gingham: Command, tmp_path: Path, ending: str
) -> None:
    sizes = ("--units", 2, "--nodes-per-unit", 12, "--rails", 2, "--radix", 24)
    file = f"units.{ending}"
    assert gingham("fabric", "make", "rail-optimised", *sizes, "-o", file).code == 0
    fabric = Fabric.load(tmp_path / file)
    hosts = [node.description for node in fabric.devices if node.kind == "host"]
    assert len(hosts) == 2 * 12 * 2
    assert hosts[:3] == ["su0-n00 mlx5_0", "su0-n00 mlx5_1", "su0-n01 mlx5_0"]
    facts = json.loads(gingham("fabric", "info", file, "--json").out)
    # Four leaves with twelve cables up each, to two spines of 24 ports.
    assert [level["switches"] for level in facts["trees"][0]["levels"]] == [2, 4]
    assert facts["trees"][0]["levels"][1]["oversubscription"]["max"] == 1.0


def test_the_defaults_of_a_rail_optimised_fabric_are_a_superpod(gingham: Command) -> None:
    assert gingham("fabric", "make", "rail-optimised", "-o", "pod.toml").code == 0
    facts = json.loads(gingham("fabric", "info", "pod.toml", "--json").out)
    assert [level["switches"] for level in facts["trees"][0]["levels"]] == [16, 32]
    checked = gingham("fabric", "check", "pod.toml", "--json")
    assert checked.code == 0, checked.out
    made = fabrics.torus(dimensions=[3, 3], rails=2)
    assert {node.name for node in made.devices} >= {"r0-s0-0", "r1-s0-0", "h0-0-0 mlx5_1"}


def test_a_dump_that_was_cut_between_records_is_one_message(
    gingham: Command, tmp_path: Path
) -> None:
    assert gingham("fabric", "make", "ring", "--switches", 5, "-o", "r.ibnetdiscover").code == 0
    records = (tmp_path / "r.ibnetdiscover").read_text().split("\n\n")
    # A head, five switches and five hosts.
    (tmp_path / "cut.ibnetdiscover").write_text("\n\n".join(records[:6]) + "\n")
    found = json.loads(gingham("fabric", "check", "cut.ibnetdiscover", "--json").out)["findings"]
    assert [finding["kind"] for finding in found].count("undefined-node") == 1, found
    assert "5 ends of cables are missing: 5 nodes have no record" in found[0]["text"]
