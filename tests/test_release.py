"""Release notes, and refusal of a release with contradictory versions."""

import re
import subprocess
import tomllib
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTES = ROOT / "release" / "notes"
DAEMON = '[package]\nversion = "0.3.0"\n'
WORKSPACE = '[workspace.package]\nversion = "0.2.0"\n'
CHANGELOG = """# Changelog

## Unreleased

- To come.

## 0.2.0 - 2026-10-01

### Added

- Something.

## striped 0.3.0 - 2026-09-20

- Of the daemon.

## 0.1.0 - 2026-09-01

- The first.
"""


@pytest.fixture(scope="module")
def notes() -> Callable[[str, str, str], str]:
    loader = SourceFileLoader("release_notes", str(NOTES))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    function: Callable[[str, str, str], str] = module.notes
    return function


def test_notes_are_the_section_of_the_version(notes: Callable[[str, str, str], str]) -> None:
    assert notes("v0.2.0", CHANGELOG, WORKSPACE) == "### Added\n\n- Something.\n"
    assert notes("striped-v0.3.0", CHANGELOG, DAEMON) == "- Of the daemon.\n"


@pytest.mark.parametrize(
    ("tag", "changelog", "message"),
    [
        ("v0.1.0", CHANGELOG, "Cargo.toml says 0.2.0: the tag is v0.2.0"),
        ("0.2.0", CHANGELOG, "the tag is v0.2.0"),
        ("v0.2.0", CHANGELOG.replace(" - 2026-10-01", ""), "no section '## 0.2.0 - YYYY-MM-DD'"),
        ("v0.2.0", CHANGELOG.replace("### Added\n\n- Something.\n", ""), "is empty"),
    ],
)
def test_what_does_not_agree_is_not_released(
    notes: Callable[[str, str, str], str], tag: str, changelog: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        notes(tag, changelog, WORKSPACE)


def test_a_tag_of_one_product_takes_no_version_of_the_other(
    notes: Callable[[str, str, str], str],
) -> None:
    with pytest.raises(ValueError, match=r"the tag is striped-v0\.3\.0"):
        notes("striped-v0.2.0", CHANGELOG, DAEMON)
    manifest = DAEMON.replace("0.3.0", "0.2.0")
    with pytest.raises(ValueError, match=r"no section '## striped 0\.2\.0 - YYYY-MM-DD'"):
        notes("striped-v0.2.0", CHANGELOG, manifest)


def test_each_product_has_a_section_of_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text().splitlines()
    for heading in ("## ", "## striped "):
        assert any(re.match(rf"{heading}(Unreleased|\d)", line) for line in text), heading


def test_the_command_says_what_is_missing_and_how_it_is_called() -> None:
    wrong = subprocess.run([NOTES, "v99.0.0"], capture_output=True, text=True, check=False)
    stated = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == (
        f"the tag is v99.0.0, but Cargo.toml says {stated}: the tag is v{stated}\n"
    )
    helped = subprocess.run([NOTES], capture_output=True, text=True, check=False)
    assert helped.returncode == 2
    assert "release/notes v0.2.0" in helped.stderr


def test_wheels_are_checked_in_pairs() -> None:
    check = ROOT / "release" / "check-wheel"
    wrong = [["gingham-1.whl"], [str(ROOT / "studies-1.whl"), str(ROOT / "gingham-1.whl")]]
    for files in wrong:
        refused = subprocess.run([check, *files], capture_output=True, text=True, check=False)
        assert refused.returncode == 2
        assert "gingham" in refused.stderr
