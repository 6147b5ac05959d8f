"""One typed function for each generator, and messages in terms of Python or of the command line."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import gingham
from gingham import Fabric, InputError, examples, fabrics
from gingham._native import catalogue
from gingham.cli._words import OPTIONS, in_options
from tests.refusals import raises

PACKAGE = Path(gingham.__file__).parent
LINES = [line for line in catalogue() if line["concept"] == "generator"]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["name"])
def test_a_generator_has_a_function_with_its_parameters_and_their_units(
    line: dict[str, dict[str, dict[str, dict[str, str]]]],
) -> None:
    made = getattr(fabrics, str(line["name"]).replace("-", "_"))
    parameters = inspect.signature(made).parameters
    known = line["parameters"]["properties"]
    assert set(parameters) == {*known, "seed", "speed"}
    told = " ".join((made.__doc__ or "").split())
    for name, schema in known.items():
        assert f":param {name}: {' '.join(schema['description'].split())}" in told
        required = name in line["parameters"].get("required", [])
        assert (parameters[name].default is inspect.Parameter.empty) == required
        if "default" in schema:
            assert parameters[name].default == schema["default"]


def test_no_function_is_of_a_generator_that_is_no_more() -> None:
    assert {name.replace("_", "-") for name in fabrics.__all__} == {one["name"] for one in LINES}


def test_a_function_makes_what_the_generator_makes() -> None:
    made = fabrics.folded_clos(leaves=3, spines=2, hosts_per_leaf=2, speed="4xNDR")
    same = Fabric.make("folded-clos", leaves=3, spines=2, hosts_per_leaf=2, speed="4xNDR")
    assert (made.devices, made.cables) == (same.devices, same.cables)
    assert fabrics.mesh(dimensions=(2, 3)).cables == Fabric.make("mesh", dimensions=[2, 3]).cables
    # Parameters that are not given have the generator's defaults.
    groups = fabrics.dragonfly(switches_per_group=2, hosts_per_switch=1, global_cables_per_switch=1)
    assert len([node for node in groups.devices if node.kind == "switch"]) == 2 * 3
    other = fabrics.irregular(switches=8, ports=6, hosts_per_switch=2, seed=2)
    assert other.cables != fabrics.irregular(switches=8, ports=6, hosts_per_switch=2).cables


def test_errors_raised_in_a_program_name_what_a_program_can_write(tmp_path: Path) -> None:
    ring = fabrics.ring(switches=4)
    ring.save(tmp_path / "ring.toml")
    with raises(InputError, "exists", file=tmp_path / "ring.toml") as kept:
        ring.save(tmp_path / "ring.toml")
    assert "overwrite=True" in str(kept.value)
    ring.save(tmp_path / "ring.toml", overwrite=True)
    torus = gingham.Scenario.example("torus").with_({"stop.time": "20 us"})
    result = gingham.run(torus, output=tmp_path / "run")
    with raises(InputError, "exists", file=tmp_path / "run") as kept:
        result.save(tmp_path / "run")
    assert "overwrite=True" in str(kept.value)
    result.save(tmp_path / "run", overwrite=True)
    with raises(gingham.DeadlockError, "deadlock") as cyclic:
        gingham.run("ring-deadlock")
    assert "allow_deadlock=True" in str(cyclic.value)
    assert examples.path("ring-deadlock") is not None
    with raises(InputError, "refused", key="measure.messages") as homeless:
        gingham.run(torus.with_({"measure.messages": "all"}))
    assert "output=..." in str(homeless.value)


def test_no_message_of_the_package_names_an_option_of_the_command_line() -> None:
    """Messages are the texts of errors; docstrings and pages may mention options."""
    option = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    raised = ("Error", "Problem", "refuse", "damaged")
    for path in PACKAGE.rglob("*.py"):
        if {"cli", "opensm", "studies"} & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            if not name.endswith(raised):
                continue
            # Pictures may mention the command line, which runs their scenario again.
            found = option.findall(ast.unparse(node))
            assert found == [] or path.parts[-2] == "plots", (path.name, node.lineno, found)


def test_the_command_line_has_an_option_for_each_parameter_that_messages_name() -> None:
    assert in_options("x: exists already; overwrite=True replaces it").endswith(
        "--force replaces it"
    )
    sources = [path.read_text() for path in (PACKAGE / "cli").glob("*.py")]
    for option in {one.split()[-1].strip("`()") for one in OPTIONS.values()}:
        assert any(f'"{option}"' in source for source in sources), option


@pytest.mark.parametrize(
    ("names", "cables"),
    [
        # In a ring of four a switch has two neighbours and its host.
        (["s1"], 5),
        (["0x0000500000000001"], 5),
        (["0000500000000001", "s1"], 5),
        (["s1[3]"], 7),
        (["s1[3] - s2[2]"], 7),
        (["s2[2] -> s1[3]", "s1[3]"], 7),
        (["h1-0"], 7),
        ([], 8),
    ],
)
def test_what_failed_is_gone_with_its_cables(names: list[str], cables: int) -> None:
    ring = fabrics.ring(switches=4)
    less = ring.without(*names)
    assert (len(ring.cables), len(less.cables)) == (8, cables)
    lost = {cable.ends for cable in ring.cables} - {cable.ends for cable in less.cables}
    assert len(lost) == 8 - cables
    assert len(ring.devices) - len(less.devices) == (1 if cables == 5 or "h1-0" in names else 0)


@pytest.mark.parametrize("name", ["s7", "s1[9]", "s1[3] - s2[3]", "0x99", ""])
def test_what_is_not_there_cannot_fail(name: str) -> None:
    with raises(InputError, "unknown-node", key=name):
        fabrics.ring(switches=4).without("s0", name)


def test_names_may_hold_what_stands_between_two_ends(tmp_path: Path) -> None:
    text, _ = fabrics.ring(switches=4).text("toml")
    (tmp_path / "ring.toml").write_text(text.replace('"s1', '"rack - 36 ports'))
    ring = Fabric.load(tmp_path / "ring.toml")
    assert len(ring.without("rack - 36 ports[3]").cables) == 7
    assert len(ring.without("rack - 36 ports[3] - s2[2]").cables) == 7
