"""`gingham plot`: choice of pictures, output files, refusals."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gingham
from gingham import InputError, examples, plots, stripe
from tests import pictures
from tests.conftest import Finished
from tests.pictures import Tables
from tests.refusals import raises, require_error

Gingham = Callable[..., Finished]
PNG, SVG, PDF = b"\x89PNG\r\n", b"<?xml", b"%PDF-"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The run folder of a short run on a torus."""
    path = tmp_path_factory.mktemp("runs") / "short"
    example = examples.path("torus")
    assert example is not None
    scenario = gingham.Scenario.load(example).with_({"stop.time": "200 us"})
    gingham.run(scenario, output=path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    yield path
    # A run folder is complete once it is written, so no picture is added to it.
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_all_pictures_go_to_the_current_directory(
    gingham: Gingham, folder: Path, tmp_path: Path
) -> None:
    done = gingham("plot", folder)
    assert done.code == 0, done.err
    assert done.err == "", "nobody is told of pictures that are not for such a run"
    drawn = [kind for kind in plots.KINDS if kind not in {"contention", "followed", "heat", "tree"}]
    assert done.out.splitlines() == [f"written: short-{kind}.png" for kind in drawn]
    for kind in drawn:
        assert (tmp_path / f"short-{kind}.png").read_bytes().startswith(PNG)


def test_the_ending_decides_on_the_format(gingham: Gingham, folder: Path, tmp_path: Path) -> None:
    for name, start in (("a.svg", SVG), ("b.pdf", PDF), ("c.PNG", PNG)):
        done = gingham("plot", folder, "links", "-o", name)
        assert done.code == 0, done.err
        assert (tmp_path / name).read_bytes().startswith(start)


def test_several_go_to_a_directory_that_is_made(
    gingham: Gingham, folder: Path, tmp_path: Path
) -> None:
    done = gingham("plot", folder, "links", "fabric", "-o", "new/pictures", "--format", "svg")
    assert done.code == 0, done.err
    made = sorted(path.name for path in (tmp_path / "new" / "pictures").iterdir())
    assert made == ["short-fabric.svg", "short-links.svg"]


def test_a_directory_may_have_a_dot_in_its_name(
    gingham: Gingham, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "v1.2").mkdir()
    assert gingham("plot", folder, "links", "-o", "v1.2").code == 0
    assert (tmp_path / "v1.2" / "short-links.png").exists()


def test_programs_get_json(gingham: Gingham, folder: Path) -> None:
    done = gingham("plot", folder, "fabric", "-o", "f.png", "--json")
    assert json.loads(done.out) == {"pictures": [{"kind": "fabric", "file": "f.png"}]}


def test_a_picture_is_replaced_only_with_force(
    gingham: Gingham, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "f.png").write_text("mine")
    done = gingham("plot", folder, "fabric", "-o", "f.png")
    assert (done.code, done.err) == (2, "gingham: f.png: exists already; --force replaces it\n")
    assert (tmp_path / "f.png").read_text() == "mine"
    assert gingham("plot", folder, "fabric", "-o", "f.png", "--force").code == 0
    assert (tmp_path / "f.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["fabric", "-o", "f.jpeg"], {"code": "unknown-ending", "file": "f.jpeg"}),
        (["fabric", "-o", "f.pgn"], {"code": "unknown-ending", "nearest": "png"}),
        (["-o", "f.png"], {"code": "bad-option", "key": "output"}),
        (["links", "fabric", "-o", "f.png"], {"code": "bad-option", "key": "output"}),
        (["links", "-o", "f.png", "--format", "pdf"], {"code": "bad-option", "key": "format"}),
        (["lniks"], {"code": "bad-option", "key": "kinds"}),
    ],
)
def test_what_cannot_be_meant_is_refused(
    gingham: Gingham, folder: Path, tmp_path: Path, arguments: list[str], facts: dict[str, Any]
) -> None:
    require_error(gingham("plot", folder, *arguments, "--json"), **facts)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_no_run_wrote_is_refused(gingham: Gingham, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    require_error(gingham("plot", "empty", "--json"), "no-run", file="empty")
    require_error(gingham("plot", "nowhere", "--json"), "no-folder", file="nowhere")
    (tmp_path / "empty" / "manifest.json").touch()
    require_error(gingham("plot", "empty/manifest.json", "--json"), "is-file")


def test_a_damaged_table_is_no_table_without_rows(
    gingham: Gingham, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "short")
    (tmp_path / "short" / "series.parquet").unlink()
    require_error(gingham("plot", "short", "--json"), "damaged", file="short/series.parquet")


def test_the_folder_of_a_sweep_is_told_from_that_of_a_run(gingham: Gingham, tmp_path: Path) -> None:
    sweep = 'base = "torus"\nreplications = 2\n[set]\n"stop.time" = "50 us"\n[[axis]]\n'
    axes = {
        "loads": 'key = "traffic.0.load"\nvalues = [0.02, 0.05]\n',
        "sizes": 'name = "size"\nkey = "traffic.0.length.fixed"\nvalues = ["1 kB", "256 B"]\n'
        '[[axis]]\nname = "at"\nkey = "traffic.0.load"\nvalues = [0.02, 0.05, 0.08]\n',
        "nothing": 'key = "topology.generate.torus.dimensions"\nvalues = [[3, 3]]\n',
    }
    for name, axis in axes.items():
        (tmp_path / f"{name}.toml").write_text(sweep + axis)
        done = gingham("sweep", f"{name}.toml", "-o", name)
        assert done.code in {0, 5}, done.err
    done = gingham("plot", "loads", "--json")
    assert json.loads(done.out) == {"pictures": [{"kind": "curve", "file": "loads-curve.png"}]}
    assert (tmp_path / "loads-curve.png").read_bytes().startswith(PNG)
    assert gingham("plot", "loads").code == 2, "it is replaced only with --force"
    done = gingham("plot", "sizes", "-o", "sizes.svg")
    assert done.code == 0, done.err
    drawn = (tmp_path / "sizes.svg").read_text()
    assert [one in drawn for one in (">size 256 B<", ">size 1000 B<")] == [True, True]
    refused = gingham("plot", "sizes", "fabric", "--json")
    assert refused.code == 2
    assert json.loads(refused.err)["expected"] == ["axis"]
    assert gingham("plot", "nothing").code == 0


def test_a_place_that_cannot_be_written_is_the_environment(gingham: Gingham, folder: Path) -> None:
    done = gingham("plot", folder, "links", "-o", "no/such/f.png", "--json")
    require_error(done, "system", exit_code=6, file="no/such/f.png")


def test_a_table_without_rows_is_refused_by_name() -> None:
    empty = Tables({"histogram": pictures.histogram(), "links": pictures.links([])})
    with raises(InputError, "no-data", key="histogram"):
        plots.require_rows("latency", empty)
    with raises(InputError, "no-data", key="links"):
        plots.require_rows("fabric", empty)


def test_pictures_of_a_loaded_result_are_those_of_the_run(tmp_path: Path) -> None:
    example = examples.path("torus")
    assert example is not None
    scenario = gingham.Scenario.load(example).with_({"stop.time": "100 us"})
    fresh = gingham.run(scenario, output=tmp_path / "run")
    loaded = gingham.load_result(tmp_path / "run")
    for kind in plots.KINDS:
        first, second = (plots.picture(plots.draw(kind, one), "png") for one in (fresh, loaded))
        assert first == second, kind
        assert first.startswith(PNG)


def test_a_striping_run_has_pictures_of_its_own(
    gingham: Gingham, folder: Path, tmp_path: Path
) -> None:
    scenario = stripe.StripeScenario.example("stripe-rounds")
    stripe.run(scenario, output=tmp_path / "rounds")
    done = gingham("plot", "rounds")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "written: rounds-channels.png",
        "written: rounds-rounds.png",
    ]
    assert (tmp_path / "rounds-rounds.png").read_bytes().startswith(PNG)
    stripe.run(scenario.with_({"measure.events": 0}), output=tmp_path / "bare")
    assert gingham("plot", "bare").out.splitlines() == ["written: bare-channels.png"]
    require_error(gingham("plot", "bare", "rounds", "--json"), "no-data", key="events")
    require_error(gingham("plot", "bare", "links", "--json"), "unknown-picture", key="links")
    refused = gingham("plot", folder, "channels", "--json")
    require_error(refused, "unknown-picture", key="channels")
