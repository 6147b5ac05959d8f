"""Installed studies: found by entry points, with words for none, a broken one and one twice."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoints
from pathlib import Path
from textwrap import dedent

import pytest

from gingham import EnvironmentProblem, InputError, studies
from gingham.cli._main import run
from gingham.studies import _installed
from tests.refusals import raises

STUDY = """
title = "Something new"
authors = "A. Nobody"
year = 2027

[[figure]]
key = "1"
title = "Nothing"
section = "2"
"""
EXPECTED = """
[[claim]]
key = "half"
figure = "1"
section = "2"
claim = "it is one half"
measure = "half"
how = "by heart"
expected = 0.5
tolerance = 0
exact = true
"""
MEASURES = """
from gingham.studies import Measurement


def half(evidence):
    return Measurement(0.5)
"""


@pytest.fixture(autouse=True)
def modules_as_before() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("made_up"):
            del sys.modules[name]


def distribution(
    path: Path, name: str = "made-up", key: str = "nobody2027", value: str = "made_up.nobody"
) -> Path:
    """Make a distribution with one study, as pip leaves it, and return the folder of the study."""
    about = path / f"{name.replace('-', '_')}-1.5.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text(f"[gingham.studies]\n{key} = {value}\n")
    folder = path / "made_up" / "nobody"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "__init__.py").touch()
    files = {"study.toml": STUDY, "expected.toml": EXPECTED, "measures.py": MEASURES}
    for file, text in {"__init__.py": "", "pictures.py": "", **files}.items():
        (folder / file).write_text(dedent(text))
    return folder


def test_a_study_of_another_distribution_is_found_read_and_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = distribution(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tmp_path)
    assert {"nobody2027", "kwan1996"} <= set(studies.names())
    study = studies.load("nobody2027")
    # The key is that of the entry point, whatever the folder is called.
    assert (study.key, study.folder, study.package) == ("nobody2027", folder, "made_up.nobody")
    assert studies.measure_of("nobody2027", "half")(None).value == 0.5
    assert not studies.has_picture(study, study.figure("1"))
    assert run(["study", "check", "nobody2027", "--json"]) == 0
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert (claim["key"], claim["verdict"]) == ("half", "passed")
    assert run(["study", "list"]) == 0
    listed = capsys.readouterr().out
    assert "nobody2027/1" in listed
    assert "kwan1996/10" in listed


@pytest.fixture
def none_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_installed, "entry_points", lambda **_named: EntryPoints())


INSTALL = "no study is installed: pip install 'gingham[studies]'"


@pytest.mark.usefixtures("none_installed")
def test_with_none_installed_the_command_says_how_to_install_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert studies.names() == []
    with pytest.raises(EnvironmentProblem) as refused:
        studies.load("kwan1996")
    assert str(refused.value) == INSTALL
    assert run(["study", "list"]) == 6
    said = capsys.readouterr()
    assert (said.out, " ".join(said.err.split())) == ("", f"gingham: {INSTALL}")


@pytest.mark.usefixtures("none_installed")
@pytest.mark.parametrize("words", [["list"], ["check", "kwan1996"], ["assumptions", "kwan1996"]])
def test_with_none_installed_programs_are_told_by_a_code(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", *words, "--json"]) == 6
    said = json.loads(capsys.readouterr().err)
    assert (said["code"], said["exit_code"], said["message"]) == (
        "extra-not-installed",
        6,
        INSTALL,
    )


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("__init__.py", "import no_such_module", "ModuleNotFoundError: No module named"),
        ("__init__.py", "1 / 0", "ZeroDivisionError: division by zero"),
        ("measures.py", "import no_such_module", "ModuleNotFoundError: No module named"),
        ("measures.py", "", 'its module measures has no function "half"'),
    ],
)
def test_a_study_that_cannot_be_imported_is_named_and_leaves_the_others(
    file: str,
    text: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = distribution(tmp_path / "site")
    (folder / file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tmp_path)
    assert run(["study", "check", "nobody2027", "--json"]) == 6
    said = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (said["code"], said["exit_code"]) == ("study-broken", 6)
    assert said["message"].startswith("the study nobody2027")
    assert reason in said["message"]
    if file == "__init__.py":
        assert "made_up.nobody of made-up 1.5" in said["message"]
        assert run(["study", "list"]) == 6
        assert "nobody2027" in capsys.readouterr().err
    assert studies.load("kwan1996").key == "kwan1996"


def test_an_entry_point_that_leads_nowhere_or_to_a_module_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    distribution(tmp_path / "site", value="made_up.nobody.measures")
    distribution(tmp_path / "site", name="made-up-too", key="nowhere", value="made_up.nowhere")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with raises(EnvironmentProblem, "study-broken"):
        studies.load("nobody2027")
    with raises(EnvironmentProblem, "study-broken"):
        studies.load("nowhere")


def test_a_key_of_two_distributions_is_refused_with_both(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    distribution(tmp_path / "site", key="kwan1996")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with raises(EnvironmentProblem, "study-twice") as refused:
        studies.load("kwan1996")
    assert {"gingham-studies", "made-up"} <= set(re.findall(r"[\w-]+", str(refused.value)))
    assert len(set(studies.names())) == len(studies.names())


@pytest.mark.parametrize("missing", ["title", "figure"])
def test_a_study_without_title_or_figures_is_refused_with_its_file(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = distribution(tmp_path / "site")
    about = folder / "study.toml"
    about.write_text(STUDY.replace(missing, f"{missing}s", 1))
    monkeypatch.syspath_prepend(tmp_path / "site")
    with raises(InputError, "missing-key", key=missing, file=about):
        studies.load("nobody2027")
