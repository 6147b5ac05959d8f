"""A run folder is there and complete, or not there."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gingham._rundir import RunFolder
from gingham.errors import EnvironmentProblem, InputError
from tests.conftest import TIMEOUT_S
from tests.refusals import raises


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def write_run(target: Path, seed: int, *, overwrite: bool = False) -> None:
    with RunFolder(target, overwrite=overwrite) as folder:
        folder.write("table.csv", lambda handle: handle.write(b"1,2\n"))
        folder.complete({"seed": seed})


def test_a_finished_run_holds_its_files_and_nothing_stands_beside_it(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "demo", seed=3)
    assert names(tmp_path / "runs") == ["demo"]
    assert names(tmp_path / "runs" / "demo") == ["manifest.json", "table.csv"]
    manifest = json.loads((tmp_path / "runs" / "demo" / "manifest.json").read_text())
    assert manifest["seed"] == 3
    assert list(manifest["files"]) == ["table.csv"]


def test_nothing_is_visible_before_the_manifest_is_written(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "demo") as folder:
        folder.write("table.csv", lambda handle: handle.write(b"1,2\n"))
        assert not (tmp_path / "demo").exists()
        folder.complete({})
        assert not (tmp_path / "demo").exists()
    assert (tmp_path / "demo" / "manifest.json").exists()


def test_every_file_is_on_the_disk_before_the_folder_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, sync, rename = set(), os.fsync, Path.rename

    def note(descriptor: int) -> None:
        sync(descriptor)
        synced.add(os.fstat(descriptor).st_ino)

    def appear(self: Path, target: Path) -> Path:
        left = [entry.name for entry in self.iterdir() if entry.stat().st_ino not in synced]
        assert left == []
        assert self.stat().st_ino in synced, "and their names are"
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(Path, "rename", appear)
    with RunFolder(tmp_path / "demo") as folder:
        for number in range(40):
            folder.write(f"{number}.csv", lambda handle: handle.write(b"1,2\n"))
        with folder.stream("streamed.csv") as handle:
            handle.write(b"3,4\n")
        folder.complete({})
    assert len(names(tmp_path / "demo")) == 42


def test_a_disk_that_does_not_take_a_file_is_told_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with raises(EnvironmentProblem, "system"):
        write_run(tmp_path / "demo", seed=1)
    assert names(tmp_path) == []


def test_a_run_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with RunFolder(tmp_path / "demo") as folder:
            folder.complete({})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with RunFolder(tmp_path / "demo"):
        pass  # and one without a manifest does not appear
    assert names(tmp_path) == []


def test_a_killed_run_leaves_nothing_that_looks_complete(tmp_path: Path) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from gingham._rundir import RunFolder
with RunFolder(Path(sys.argv[1])) as folder:
    folder.write("table.csv", lambda handle: handle.write(b"1,2"))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "demo")]
    finished = subprocess.run(command, check=False, timeout=TIMEOUT_S)
    assert finished.returncode == -signal.SIGKILL
    assert not (tmp_path / "demo").exists()
    assert not list(tmp_path.glob("**/manifest.json"))


def test_an_existing_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    write_run(tmp_path / "demo", seed=1)
    with raises(InputError, "exists"):
        write_run(tmp_path / "demo", seed=2)
    assert json.loads((tmp_path / "demo" / "manifest.json").read_text())["seed"] == 1
    assert names(tmp_path) == ["demo"]


def test_overwriting_replaces_the_folder_of_a_run(tmp_path: Path) -> None:
    write_run(tmp_path / "demo", seed=1)
    (tmp_path / "demo" / "old").touch()
    write_run(tmp_path / "demo", seed=2, overwrite=True)
    assert names(tmp_path / "demo") == ["manifest.json", "table.csv"]
    assert json.loads((tmp_path / "demo" / "manifest.json").read_text())["seed"] == 2
    assert names(tmp_path) == ["demo"]


def test_overwriting_does_not_replace_what_no_run_wrote(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").touch()
    with raises(InputError, "no-run"):
        write_run(tmp_path / "thesis", seed=1, overwrite=True)
    assert names(tmp_path / "thesis") == ["chapter1.tex"]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    def fill(_handle: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with (
        raises(EnvironmentProblem, "system"),
        RunFolder(tmp_path / "demo") as folder,
    ):
        folder.write("table.csv", fill)
    assert names(tmp_path) == []


def test_a_place_under_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with raises(EnvironmentProblem, "system"):
        write_run(tmp_path / "file" / "demo", seed=1)
