"""Fabrics in files of other programs, and messages for files without a fabric."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gingham
from gingham.errors import InputError
from tests.conftest import Finished

Command = Callable[..., Finished]

FIXTURES = Path(__file__).parents[1] / "crates" / "fabric" / "topology" / "tests" / "fixtures"

SCENARIO = """\
[topology]
file = "unknown-speeds.ibnetdiscover"

[network]
preset = "infiniband-{preset}"

[[traffic]]
load = 0.1

[stop]
time = "10 us"
"""


def kinds(fabric: gingham.Fabric) -> list[str]:
    return [finding.kind for finding in fabric.check()]


def test_two_adapters_back_to_back_are_read() -> None:
    fabric = gingham.Fabric.load(FIXTURES / "adapter-to-adapter.ibnetdiscover")
    assert [node.guid for node in fabric.devices] == ["a088c20300ab0000", "a088c20300bb0000"]
    assert len(fabric.cables) == 1


def test_half_a_speed_is_kept_and_counted() -> None:
    fabric = gingham.Fabric.load(FIXTURES / "unknown-speeds.ibnetdiscover")
    assert [cable.speed for cable in fabric.cables] == ["4xHDR", "2x???"]
    facts = fabric.info()
    assert facts["cables_by_speed"] == {"4xHDR": 1, "2x???": 1}
    assert facts["cables_of_unknown_speed"] == 1
    assert kinds(fabric) == ["unknown-speed"]


@pytest.mark.parametrize(("preset", "code"), [("ndr", 0), ("hdr", 0), ("edr", 0)])
def test_a_preset_may_be_that_of_an_unknown_speed(
    gingham: Command, tmp_path: Path, preset: str, code: int
) -> None:
    name = "unknown-speeds.ibnetdiscover"
    (tmp_path / name).write_text((FIXTURES / name).read_text())
    (tmp_path / "scenario.toml").write_text(SCENARIO.format(preset=preset))
    assert gingham("run", "scenario.toml").code == code


def test_links_of_opensm_are_a_fabric() -> None:
    fabric = gingham.Fabric.load(FIXTURES / "links.lst")
    assert [cable.speed for cable in fabric.cables] == ["4xQDR", "2x???"]


def test_edges_of_other_programs_are_converted(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("Source,Target\ns0,h0\ns0,h1\n")
    assert gingham("fabric", "convert", "edges.csv", "-o", "edges.toml").code == 0
    assert gingham("fabric", "check", "edges.toml").code == 0
    refused = gingham("fabric", "convert", "edges.toml", "-o", "again.csv")
    assert refused.code == 2
    assert ".toml" in refused.err


def test_a_file_of_another_program_is_named(tmp_path: Path) -> None:
    for name in ("htsim.topo", "htsim.conf", "htsim.toml", "htsim"):
        path = tmp_path / name
        path.write_text((FIXTURES / "htsim.topo").read_text())
        with pytest.raises(InputError, match="htsim") as caught:
            gingham.Fabric.load(path)
        assert caught.value.line == 1


def test_content_decides_before_the_ending_and_a_note_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text((FIXTURES / "adapter-to-adapter.ibnetdiscover").read_text())
    fabric = gingham.Fabric.load(path)
    assert "assumption" in kinds(fabric)


def test_latencies_that_differ_are_a_note() -> None:
    fabric = gingham.Fabric.load(FIXTURES / "weighted.anynet")
    assert kinds(fabric).count("assumption") == 2


@pytest.mark.parametrize(
    ("name", "text", "code", "line"),
    [
        ("cut.anynet", "router 0 node", "file-syntax", 1),
        ("empty.toml", "", "file-empty", None),
        ("net.dot", "digraph {}\n", "file-write-only", None),
        ("torus-2QoS.conf", "# ours\ntorus 4 4 5\n", "foreign-opensm-torus", 2),
        (
            "links.txt",
            "x\n 1 1[ ] ==( 4X 5.0 Gbps Active/ LinkUp)==> 2 1[ ]\n",
            "foreign-iblinkinfo",
            2,
        ),
        ("cables.csv", "#Fields:StartDevice,StartPort,EndDevice,EndPort\n", "foreign-ndt", 1),
        ("booksim.conf", "topology = mesh;\nk = 8;\n", "foreign-booksim", None),
    ],
)
def test_refusals_have_a_code_with_file_and_line(
    gingham: Command, tmp_path: Path, name: str, text: str, code: str, line: int | None
) -> None:
    file = tmp_path / name
    file.write_text(text)
    refused = gingham("fabric", "info", file, "--json")
    assert refused.code == 2
    told = json.loads(refused.err.splitlines()[-1])
    assert (told["code"], told["file"], told["line"]) == (code, str(file), line or told["line"])


def test_files_that_cannot_be_opened_or_unpacked_have_a_code(tmp_path: Path) -> None:
    packed = tmp_path / "net.toml.gz"
    packed.write_bytes(b"\x1f\x8b damaged")
    for file, code in ((packed, "file-packed"), (tmp_path / "missing.toml", "file-unreadable")):
        with pytest.raises(InputError) as refused:
            gingham.Fabric.load(file)
        assert refused.value.code == code
