"""What is said of a file or folder that is another than the command expects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import gingham as package
from gingham import InputError, _files, _rundir, store, stripe
from tests.conftest import Finished

Command = Callable[..., Finished]
FABRIC = """
stop.time = "1 us"
topology.generate.star = { hosts = 2 }
[[traffic]]
load = 0.1
length = { fixed = "64 B" }
"""
PIPE = """
stop.time = "1 ms"
[[channel]]
rate = "10 Mbit/s"
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(FABRIC)
    Path("pipe.toml").write_text(PIPE)
    Path("load.toml").write_text('base = "mine.toml"')
    star = package.Fabric.make("star", hosts=2)
    star.save("net.toml")
    star.save("net.ibnetdiscover")
    Path("empty").mkdir()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["sweep", "mine.toml"],
         "mine.toml: is the scenario of a fabric: `gingham run mine.toml` runs it"),
        (["sweep", "pipe.toml"],
         "pipe.toml: is a striping scenario: `gingham stripe pipe.toml` runs it"),
        (["run", "load.toml"], "load.toml: is a sweep file: `gingham sweep load.toml` runs it"),
        (["run", "pipe.toml"],
         "pipe.toml: is a striping scenario: `gingham stripe pipe.toml` runs it"),
        (["stripe", "mine.toml"],
         "mine.toml: is the scenario of a fabric: `gingham run mine.toml` runs it"),
        (["run", "net.ibnetdiscover"],
         "net.ibnetdiscover: is a fabric and no scenario: `gingham fabric info net.ibnetdiscover`"),
        (["curve", "net.toml", "--load", "0.1"], "net.toml: is a fabric and no scenario"),
        (["fabric", "info", "mine.toml"], "mine.toml: is the scenario of a fabric"),
        (["fabric", "check", "mine.toml"], "mine.toml: is the scenario of a fabric"),
        (["route", "mine.toml", "--compare"], "mine.toml: is the scenario of a fabric"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_told_with_its_command(
    gingham: Command, command: list[str], told: str
) -> None:
    refused = gingham(*command)
    assert refused.code == 2
    assert told in refused.err


def test_what_is_written_wrongly_is_told_by_whoever_reads_it(gingham: Command) -> None:
    Path("load.toml").write_text('base = "mine.toml"\ntopology = 1')
    assert '"topology" is not a key of a sweep' in gingham("sweep", "load.toml").err
    Path("mine.toml").write_text("topology = [")
    assert "mine.toml:1" in gingham("run", "mine.toml").err


def test_a_folder_is_called_what_it_is(gingham: Command) -> None:
    assert gingham("run", "mine.toml", "-o", "made").code == 0
    assert gingham("sweep", "load.toml", "-o", "swept").code == 0
    expected = {
        "made": "made: expected a file, found the folder of a run: plot it, or run it again",
        "swept": "swept: expected a file, found the folder of a sweep: query it",
        "empty": "empty: expected a file, found a directory",
    }
    for name, told in expected.items():
        for command in (["run"], ["sweep"], ["fabric", "info"]):
            if (name, command) == ("made", ["run"]):
                continue
            refused = gingham(*command, name)
            assert (refused.code, told in refused.err) == (2, True), (command, refused.err)
    assert set(_files.FOLDERS) == {_rundir.MANIFEST, store.MANIFEST}
    # An example is meant where a directory has its name.
    Path("torus").mkdir()
    assert gingham("run", "torus", "--set", "stop.time=1 us").code == 0
    Path("torus", "manifest.json").write_text("{}")
    assert gingham("run", "torus", "--set", "stop.time=1 us").code == 0


def test_a_run_is_made_again_from_its_folder(gingham: Command) -> None:
    assert gingham("run", "mine.toml", "--seed", 7, "-o", "first").code == 0
    # The file may have changed since: the folder says what was run.
    Path("mine.toml").unlink()
    assert gingham("run", "first", "-o", "again").code == 0
    assert gingham("run", "first", "--seed", 8, "-o", "other").code == 0
    first, again, other = (package.load_result(name) for name in ("first", "again", "other"))
    assert again.scenario.resolved() == first.scenario.resolved()
    assert again.messages.equals(first.messages)
    assert not other.messages.equals(first.messages)
    refused = gingham("stripe", "first")
    assert "first: expected a file, found the folder of a run" in refused.err


def test_a_configuration_of_booksim_is_told_its_page(gingham: Command) -> None:
    Path("mesh88_lat").write_text("// 8x8\ntopology = mesh;\nk = 8; // each way\n\nnum_vcs=2;\n")
    for command in (["run"], ["sweep"], ["curve", "--load", "0.1"]):
        refused = gingham(*command, "mesh88_lat")
        assert refused.code == 2
        assert "mesh88_lat: is a configuration of BookSim: docs/how-to/booksim.md" in refused.err
    # A semicolon alone does not make one.
    Path("mesh88_lat").write_text("title = mesh;\nstop.time = 1\n")
    assert "BookSim" not in gingham("run", "mesh88_lat").err


def test_check_says_what_is_not_there(gingham: Command) -> None:
    assert "nofolder: no such folder" in gingham("check", "nofolder").err
    told = "mine.toml: expected the folder of a run or of a sweep, found a file"
    assert told in gingham("check", "mine.toml").err
    assert "empty: is the folder of no run and of no sweep" in gingham("check", "empty").err


def test_python_knows_examples_by_name() -> None:
    torus = package.Scenario.example("torus")
    assert package.run("torus").summary == package.run(torus).summary
    with pytest.raises(InputError, match='did you mean "torus"'):
        package.run("toru")
    pipe = stripe.StripeScenario.example("stripe-rounds")
    assert stripe.run("stripe-rounds").summary == stripe.run(pipe).summary
