"""A file is written whole or not at all, and never replaced unasked."""

from __future__ import annotations

from pathlib import Path

from gingham._files import require_file, write_bytes
from gingham.errors import EnvironmentProblem, InputError
from tests.refusals import raises


def test_a_file_appears_with_its_content_and_ordinary_rights(tmp_path: Path) -> None:
    (tmp_path / "ordinary").touch()
    write_bytes(tmp_path / "net.toml", b"content")
    assert (tmp_path / "net.toml").read_bytes() == b"content"
    assert (tmp_path / "net.toml").stat().st_mode == (tmp_path / "ordinary").stat().st_mode
    assert len(list(tmp_path.iterdir())) == 2


def test_an_existing_file_is_replaced_only_if_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    write_bytes(path, b"first")
    with raises(InputError, "exists", file=path):
        write_bytes(path, b"second")
    assert path.read_bytes() == b"first"
    write_bytes(path, b"second", overwrite=True)
    assert path.read_bytes() == b"second"


def test_overwriting_writes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"first")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_bytes(tmp_path / "link", b"second", overwrite=True)
    assert (tmp_path / "real").read_bytes() == b"second"
    assert (tmp_path / "link").is_symlink()


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with raises(InputError, "is-directory", file=tmp_path):
        write_bytes(tmp_path, b"content", overwrite=True)


def test_a_full_disk_is_an_environment_problem() -> None:
    with raises(EnvironmentProblem, "system"):
        write_bytes(Path("/dev/full"), b"content")


def test_a_missing_folder_is_an_environment_problem(tmp_path: Path) -> None:
    with raises(EnvironmentProblem, "system"):
        write_bytes(tmp_path / "missing" / "net.toml", b"content")


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").touch()
    with raises(InputError, "file-unreadable") as refused:
        require_file(tmp_path / "clutser.toml")  # typos: on purpose
    assert str(tmp_path / "cluster.toml") in str(refused.value)
    with raises(InputError, "file-unreadable", file=tmp_path / "x"):
        require_file(tmp_path / "x")
    with raises(InputError, "file-unreadable", file=tmp_path):
        require_file(tmp_path)
