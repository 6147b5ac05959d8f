"""Errors for a file or folder of another kind than the command expects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gingham as package
from gingham import InputError, _files, _rundir, store, stripe
from tests.conftest import Finished
from tests.refusals import raises, require_error

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
    ("command", "facts"),
    [
        (["sweep", "mine.toml"],
         {"code": "foreign-scenario"}),
        (["sweep", "pipe.toml"],
         {"code": "foreign-stripe"}),
        (["run", "load.toml"], {"code": "foreign-sweep"}),
        (["run", "pipe.toml"],
         {"code": "foreign-stripe"}),
        (["stripe", "mine.toml"],
         {"code": "foreign-scenario"}),
        (["run", "net.ibnetdiscover"],
         {"code": "foreign-network"}),
        (["curve", "net.toml", "--load", "0.1"], {"code": "foreign-network"}),
        (["fabric", "info", "mine.toml"], {"code": "foreign-scenario"}),
        (["fabric", "check", "mine.toml"], {"code": "foreign-scenario"}),
        (["route", "mine.toml", "--compare"], {"code": "foreign-scenario"}),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_told_with_its_command(
    gingham: Command, command: list[str], facts: dict[str, Any]
) -> None:
    require_error(gingham(*command, "--json"), **facts)


def test_what_is_written_wrongly_is_told_by_whoever_reads_it(gingham: Command) -> None:
    Path("load.toml").write_text('base = "mine.toml"\ntopology = 1')
    wrong = gingham("sweep", "load.toml", "--json")
    require_error(wrong, "unknown-key", key="topology", file="load.toml", line=2)
    Path("mine.toml").write_text("topology = [")
    require_error(gingham("run", "mine.toml", "--json"), "syntax", file="mine.toml", line=1)


def test_a_folder_is_called_what_it_is(gingham: Command) -> None:
    assert gingham("run", "mine.toml", "-o", "made").code == 0
    assert gingham("sweep", "load.toml", "-o", "swept").code == 0
    for name in ("made", "swept", "empty"):
        for command in (["run"], ["sweep"], ["fabric", "info"]):
            if (name, command) == ("made", ["run"]):
                continue
            require_error(gingham(*command, name, "--json"), "file-unreadable", file=name)
    assert set(_files.FOLDERS) == {_rundir.MANIFEST, store.MANIFEST}
    # A name of an example means the example, even if a directory has this name.
    Path("torus").mkdir()
    assert gingham("run", "torus", "--set", "stop.time=1 us").code == 0
    Path("torus", "manifest.json").write_text("{}")
    assert gingham("run", "torus", "--set", "stop.time=1 us").code == 0


def test_a_run_is_made_again_from_its_folder(gingham: Command) -> None:
    assert gingham("run", "mine.toml", "--seed", 7, "-o", "first").code == 0
    # The run folder has its scenario, so the file may have changed since.
    Path("mine.toml").unlink()
    assert gingham("run", "first", "-o", "again").code == 0
    assert gingham("run", "first", "--seed", 8, "-o", "other").code == 0
    first, again, other = (package.load_result(name) for name in ("first", "again", "other"))
    assert again.scenario.resolved() == first.scenario.resolved()
    assert again.messages.equals(first.messages)
    assert not other.messages.equals(first.messages)
    require_error(gingham("stripe", "first", "--json"), "file-unreadable", file="first")


def test_a_configuration_of_booksim_is_told_its_page(gingham: Command) -> None:
    Path("mesh88_lat").write_text("// 8x8\ntopology = mesh;\nk = 8; // each way\n\nnum_vcs=2;\n")
    for command in (["run"], ["sweep"], ["curve", "--load", "0.1"]):
        refused = gingham(*command, "mesh88_lat", "--json")
        require_error(refused, "foreign-booksim", file="mesh88_lat")
    # A semicolon alone does not make a file a configuration of BookSim.
    Path("mesh88_lat").write_text("title = mesh;\nstop.time = 1\n")
    require_error(gingham("run", "mesh88_lat", "--json"), "syntax", file="mesh88_lat")


def test_check_says_what_is_not_there(gingham: Command) -> None:
    for name, code in {"nofolder": "no-folder", "mine.toml": "is-file", "empty": "no-run"}.items():
        require_error(gingham("check", name, "--json"), code, file=name)


def test_python_knows_examples_by_name() -> None:
    torus = package.Scenario.example("torus")
    assert package.run("torus").summary == package.run(torus).summary
    with raises(InputError, "unknown-name", nearest="torus"):
        package.run("toru")
    pipe = stripe.StripeScenario.example("stripe-rounds")
    assert stripe.run("stripe-rounds").summary == stripe.run(pipe).summary
