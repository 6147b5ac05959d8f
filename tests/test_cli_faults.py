"""Faults of the system and of the program, as reported by the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gingham.cli import _main
from gingham.cli._main import run
from gingham.errors import CODES
from tests.conftest import TIMEOUT_S, Finished

PROGRAM = str(Path(sys.executable).parent / "gingham")


def test_a_panic_of_the_core_is_a_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from gingham._native import panic

    monkeypatch.setattr(_main.gingham, "main", lambda *_, **__: panic("the books do not balance"))
    assert run([]) == 1
    err = capfd.readouterr().err
    assert "this is a fault of gingham itself" in err
    assert "the books do not balance" in err
    assert "Please report it" in err
    assert "Traceback" not in err


def test_the_traceback_of_a_fault_is_there_for_those_who_ask(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(_main.gingham, "main", broken)
    monkeypatch.setenv("GINGHAM_TRACEBACK", "1")
    assert run([]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_drama() -> None:
    made = subprocess.run(
        f"{PROGRAM} fabric make torus --dimensions 20,20 | head -1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert made.stdout == "#\n"
    assert made.stderr == ""


def test_a_full_disk_behind_the_standard_output_exits_with_6() -> None:
    with Path("/dev/full").open("w") as full:
        made = subprocess.run(
            [PROGRAM, "fabric", "make", "star", "--hosts", "3"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert made.returncode == 6
    assert made.stderr == "gingham: output: the disk is full\n"


def test_ctrl_c_exits_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_main.gingham, "main", interrupted)
    assert run([]) == 130
    assert capsys.readouterr().err == "gingham: interrupted\n"


def test_for_programs_an_error_is_one_object_whatever_went_wrong(
    gingham: Callable[..., Finished], tmp_path: Path
) -> None:
    (tmp_path / "laod.toml").write_text("laod = 1\n")
    (tmp_path / "ring.toml").touch()
    cases: list[tuple[list[str], int, dict[str, object]]] = [
        (
            ["run", "laod.toml"],
            2,
            {"code": "unknown-key", "file": "laod.toml", "line": 1, "key": "laod"},
        ),
        (["run", "tours"], 2, {"code": "unknown-name", "nearest": "torus", "line": None}),
        (["run", "ring-deadlock"], 3, {"code": "deadlock", "key": None}),
        (
            ["run", "torus", "--sede", "3"],
            2,
            {"code": "bad-option", "key": "--sede", "nearest": "--seed"},
        ),
        (["run", "torus", "--seed", "x"], 2, {"key": "--seed"}),
        (["run", "torus", "-o", "ring.toml/x"], 6, {"code": "system", "file": "ring.toml/x"}),
        (["explain", "laod"], 2, {"key": "laod", "nearest": "load"}),
        (["fabric", "info", "rign.toml"], 2, {"file": "rign.toml"}),
        (["fabric", "info", "ring.toml"], 2, {"file": "ring.toml"}),
        (["route", "ring.toml", "--algorithm", "up-dwn"], 2, {"key": "--algorithm"}),
    ]
    for arguments, code, fields in cases:
        refused = gingham(*arguments, "--json")
        assert refused.code == code, arguments
        assert refused.out == ""
        said = json.loads(refused.err)
        assert said["exit_code"] == code
        assert said["message"]
        assert said.keys() >= {"message", "file", "line", "key", "expected", "nearest"}
        assert {name: said[name] for name in fields} == fields, arguments
        assert said["code"] in CODES or said["code"].startswith("file-"), arguments


def test_for_programs_a_deadlock_names_its_channels(gingham: Callable[..., Finished]) -> None:
    refused = json.loads(gingham("run", "ring-deadlock", "--json").err)
    assert len(refused["cycle"]) == 5


def test_for_programs_a_deadlock_of_answers_names_their_key(
    gingham: Callable[..., Finished],
) -> None:
    changes = {
        "network": '{ preset = "yum-1600", lanes = { count = 4 } }',
        "routing": '{ algorithm = "dimension-order" }',
        "traffic.0.lanes": "[0, 2]",
        "traffic.0.window": "{ packets = 2, ack = { lanes = [1] } }",
    }
    settings = [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]
    refused = gingham("run", "ring-deadlock", *settings, "--json")
    assert refused.code == 3
    assert json.loads(refused.err)["key"] == "traffic[0].window.ack.lanes"
