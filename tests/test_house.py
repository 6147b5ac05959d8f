"""Import rules and lists match the code."""

from __future__ import annotations

import ast
import inspect
import json
import re
import runpy
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import gingham
from gingham import examples
from gingham.catalogue import glossary
from gingham.cli import _commands
from gingham.opensm import programs
from tests import optional_programs, wording
from tests.conftest import TIMEOUT_S

ROOT = Path(__file__).parent.parent
# Pages that `make docs` writes and git does not hold.
SITE = runpy.run_path(str(ROOT / "docs" / "make_pages.py"))["SITE"]
# Program that a test of the harness requires although it does not exist.
NOT_IN_THE_TABLE = {"tcpdump"}


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text())


def test_every_outside_crate_has_its_importers_and_its_reason() -> None:
    outside = {
        name
        for name, source in toml("Cargo.toml")["workspace"]["dependencies"].items()
        if not name.startswith("gingham-") or "path" not in source
    }
    explained = {
        entry["crate"]: entry for entry in toml("deny.toml")["bans"]["deny"] if entry["wrappers"]
    }
    assert outside <= explained.keys(), sorted(outside - explained.keys())
    for entry in explained.values():
        assert len(entry["reason"]) > 20, entry["crate"]


def test_the_demo_is_built_for_speed_and_the_tests_for_checks() -> None:
    profiles = toml("Cargo.toml")["profile"]
    demo = {**profiles["release"], **profiles["demo"]}
    for check in ("debug-assertions", "overflow-checks"):
        assert profiles["dev"][check]
        assert not demo.get(check, False)
    assert demo["opt-level"] == 3
    rules = (ROOT / "Makefile").read_text()
    assert re.search(r"^demo: \.venv/demo\.stamp", rules, re.MULTILINE)
    assert re.search(r"demo\.stamp:.*\n\t.*--profile demo\n", rules)
    assert re.search(r"^test-python: \.venv/core\.stamp", rules, re.MULTILINE)


def dependencies(manifest: dict[str, Any]) -> set[str]:
    """Return the imports of a crate, on any system."""
    systems = manifest.get("target", {}).values()
    return {name for part in (manifest, *systems) for name in part.get("dependencies", {})}


def test_every_crate_of_ours_that_others_import_has_a_wall() -> None:
    walled = {entry["crate"] for entry in toml("deny.toml")["bans"]["deny"]}
    imported = {
        name
        for path in ROOT.glob("crates/**/Cargo.toml")
        for name in dependencies(toml(str(path)))
        if name.startswith("gingham-")
    }
    # Every crate may import the kernel.
    assert imported - walled == {"gingham-kernel"}


def test_products_import_the_base_and_never_each_other() -> None:
    groups = {
        toml(str(path))["package"]["name"]: path.parent.parent.name
        for path in ROOT.glob("crates/*/*/Cargo.toml")
    }
    assert set(groups.values()) == {"base", "fabric", "stripe"}
    for path in ROOT.glob("crates/*/*/Cargo.toml"):
        group = path.parent.parent.name
        for name in dependencies(toml(str(path))) & set(groups):
            assert groups[name] in {"base", group}, f"{path} imports {name}"


def test_a_module_with_children_is_a_file_beside_their_folder() -> None:
    assert list(ROOT.glob("crates/**/src/**/mod.rs")) == []


def test_every_crate_takes_the_lints_of_the_workspace() -> None:
    for path in ROOT.glob("crates/**/Cargo.toml"):
        assert toml(str(path))["lints"] == {"workspace": True}, path


def test_every_test_of_a_crate_is_built() -> None:
    for path in ROOT.glob("crates/**/Cargo.toml"):
        manifest = toml(str(path))
        targets = [manifest.get("lib", {}), *manifest.get("bin", [])]
        if not all(target.get("test", True) for target in targets):
            sources = path.parent.glob("src/**/*.rs")
            assert not any("#[cfg(test)]" in source.read_text() for source in sources), path
    for path in ROOT.glob("crates/**/tests/*/main.rs"):
        modules = set(re.findall(r"^mod (\w+);", path.read_text(), re.MULTILINE))
        files = {file.stem for file in path.parent.glob("*.rs")}
        assert files - {"main"} <= modules, path


def test_every_story_of_lanes_is_told_of_the_engine() -> None:
    """Engine and oracle run the same files, which the engine's tests name one by one."""
    stories = ROOT / "crates/fabric/oracle/tests/lanes"
    main = ROOT / "crates/fabric/lab/tests/lane_stories/main.rs"
    named = re.findall(r'^#\[path = "(.+)"\]\nmod (\w+);', main.read_text(), re.MULTILINE)
    told = {(main.parent / path).resolve(): module for path, module in named}
    # Random plans are not hand-traced; the engine's are in `crates/fabric/lab/tests/differential`.
    files = {path for path in stories.glob("*.rs") if path.stem not in {"main", "random"}}
    assert len(files) > 10
    missing = {path.stem for path in files if told.get(path.resolve()) != path.stem}
    assert not missing, sorted(missing)


def test_the_version_is_the_same_everywhere() -> None:
    version = toml("Cargo.toml")["workspace"]["package"]["version"]
    assert gingham.__version__ == version
    studies = toml("studies/pyproject.toml")["project"]
    assert studies["version"] == version
    assert f"gingham=={version}" in studies["dependencies"]


def test_every_paper_is_a_package_of_the_studies_with_an_entry_point() -> None:
    sources = ROOT / "studies/src/gingham_studies"
    papers = {path.parent.name for path in sources.glob("*/study.toml")}
    points = toml("studies/pyproject.toml")["project"]["entry-points"]["gingham.studies"]
    assert points == {paper: f"gingham_studies.{paper}" for paper in papers}
    assert not [*ROOT.glob("python/gingham/studies/*/*.*")], "the package ships no paper"
    for paper in papers:
        assert f"src/gingham_studies/{paper}/README.md" in (ROOT / "studies/README.md").read_text()


def test_both_distributions_have_one_text_of_each_licence() -> None:
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        assert (ROOT / "studies" / name).read_text() == (ROOT / name).read_text()


def test_the_tools_that_make_installs_are_pinned() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text().splitlines()
    named = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z-]+==[0-9.]+", line) for line in named), named
    pinned = {line.partition("==")[0] for line in named}
    needed = {
        re.split("[<>=]", line)[0] for line in toml("pyproject.toml")["project"]["dependencies"]
    }
    assert needed <= pinned
    studies = toml("studies/pyproject.toml")
    built_with = {re.split("[<>=]", line)[0] for line in studies["build-system"]["requires"]}
    assert built_with <= pinned


def test_help_is_quick_because_nothing_heavy_is_imported() -> None:
    script = """
import json, sys
from gingham.cli._main import run
assert run(["--help"]) == 0
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
    command = [sys.executable, "-c", script]
    finished = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    imported = {name.partition(".")[0] for name in json.loads(finished.stderr)}
    assert "click" in imported
    assert not imported & {"pyarrow", "matplotlib", "numpy", "rich"}
    assert "gingham.cli._commands" in json.loads(finished.stderr)
    assert "gingham.cli._run" not in json.loads(finished.stderr), "no command was asked for"


@pytest.mark.parametrize("name", _commands.PLACES)
def test_a_command_is_listed_with_the_first_sentence_of_its_help(name: str) -> None:
    later = _commands.Later(name)
    command = later.command()
    assert command.name == name
    first = inspect.cleandoc(command.help or "").partition("\n\n")[0]
    assert later.help == " ".join(first.split())


def test_links_between_our_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    assert len(pages) >= 7
    of_the_site = {(ROOT / "docs" / "reference" / name).resolve() for name in SITE}
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target:
                place = (page.parent / target).resolve()
                assert place.exists() or place in of_the_site, f"{page.name}: {target}"


@pytest.mark.parametrize("name", examples.names())
def test_every_example_is_a_scenario_that_ships_with_its_fabric(name: str) -> None:
    path = examples.path(name)
    assert path is not None
    scenario = gingham.Scenario.load(path)
    assert scenario.title
    simulation = gingham.Simulation(scenario, allow_deadlock=True)
    assert simulation.advance(1000).now_ps > 0


def test_the_types_of_the_glossary_are_in_the_code() -> None:
    """A type is a path, whose last part is defined somewhere, or is a package or crate."""
    sources = [*ROOT.glob("crates/**/src/**/*.rs"), *ROOT.glob("python/gingham/**/*.py")]
    keyword = r"(?:struct|enum|trait|fn|type|class|def) (\w+)"
    # A field, a variant, or a column.
    member = r"^\s*(?:pub(?:\(\w+\))? )?(\w+)\s*[:,({]"
    # Types declared by a macro.
    identifier = r"id_type!\(\s*(?:///.*\n\s*)*(\w+)"
    known = {part for path in sources for part in (path.stem, *path.parts)}
    for path in sources:
        text = path.read_text()
        known |= {*re.findall(keyword, text), *re.findall(member, text, re.MULTILINE)}
        known |= {*re.findall(identifier, text)}
    named = [each for one in glossary.every_word() for each in one.type.split(", ") if each]
    assert [each for each in named if re.split(r"::|\.", each)[-1] not in known] == []


def test_every_theorem_of_fair_queueing_names_tests_that_are_there() -> None:
    page = (ROOT / "docs/concepts/fair-queueing.md").read_text()
    named = re.findall(r"((?:`\w+`(?:, )?)+) in `(crates/[\w/]+\.rs)`", page)
    assert len(named) >= 10
    for tests, path in named:
        text = (ROOT / path).read_text()
        for test in re.findall(r"\w+", tests):
            assert f"fn {test}(" in text, f"{test} is not in {path}"


def required_programs() -> set[str]:
    """Return every program that a call of `require_programs` names."""
    required = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "require_programs":
                required |= {arg.value for arg in call.args if isinstance(arg, ast.Constant)}
    return {str(name) for name in required} - NOT_IN_THE_TABLE


def test_the_table_of_optional_programs_has_what_tests_and_commands_require() -> None:
    table = optional_programs.TABLE
    parts = [
        set(table["base"]),
        *(set(table[part]) for part in ("tests", "benchmarks", "packaging")),
    ]
    assert sum(map(len, parts)) == len(set().union(*parts)), "a program is listed twice"
    # Every program of the table is required somewhere, and every required one is in the table.
    assert required_programs() == set(table["tests"])
    # Users and tests get identical packages.
    assert programs.PACKAGES.items() <= table["tests"].items()


def test_ci_installs_the_programs_of_tests_and_packaging() -> None:
    text = (ROOT / ".ci/run").read_text()
    script = re.search(r"<<'END'\n(.*?)^END$", text, re.DOTALL | re.MULTILINE)
    assert script is not None
    command = [sys.executable, "-c", script[1]]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = dict(line.split() for line in printed.splitlines())
    table = optional_programs.TABLE
    assert listed == table["tests"] | table["packaging"]
    assert "python -m tests.without_programs" in text


def test_a_fresh_root_has_the_packages_that_the_readme_names() -> None:
    """`.ci/fresh-root` reads them from the README, as this expression does."""
    script = (ROOT / ".ci/fresh-root").read_text()
    expression = re.search(r"grep -om1 '([^']+)' README\.md", script)
    assert expression is not None
    named = re.search(expression[1], (ROOT / "README.md").read_text())
    assert named is not None
    # pip's environments and the linker of Rust are in these packages.
    assert named[0].split()[2:] == ["build-essential", "python3-venv"]
    assert "apt-get install python3-venv" in (ROOT / "Makefile").read_text()


# Assertions on words that remain, by file, with the reason.
WORDED = {
    # A command that `striped` names, and the keys and numbers of a table.
    "system/test_striped_operation.py": 2,
    # The expected text comes from the catalogue, a path or the table of names.
    "test_api.py": 1,
    "test_catalogue.py": 1,
    "test_files.py": 1,
    "test_old_names.py": 2,
    "test_results.py": 1,
    # Notes and progress have no codes; the exit code is 0.
    "test_cli_fabric.py": 1,
    "test_cli_route.py": 1,
    "test_cli_run.py": 1,
    "test_curve_resumed.py": 5,
    "test_damage.py": 3,
    "test_loads.py": 4,
    "test_route_weight.py": 1,
    "test_sweep_files.py": 1,
    # The errors are those of the tools of this repository, which have no codes.
    "test_docs.py": 1,
    "test_optional_programs.py": 1,
    "test_release.py": 3,
    # An `OSError` of the protocol, and an error of the core without a code of its own.
    "test_opensm_parts.py": 1,
    "test_study_yum2002.py": 1,
}


def test_assertions_on_words_do_not_increase() -> None:
    """Tests assert codes and keys; each exception has its reason above."""
    found = Counter(one.file for one in wording.assertions())
    assert found == WORDED, "run `python -m tests.wording`"
