"""Schemas match the accepted input and the printed output."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import gingham
from gingham import InputError, kinds, schemas
from gingham.sweeps import Sweep
from tests.conftest import Finished

Gingham = Callable[..., Finished]
ROOT = Path(__file__).parent.parent


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def sweep_texts() -> list[str]:
    """Return every sweep file of the pages and of the studies."""
    blocks = [
        block
        for page in ROOT.glob("docs/**/*.md")
        for block in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
    ]
    files = [path.read_text() for path in ROOT.glob("studies/src/gingham_studies/*/*.toml")]
    return [text for text in (*blocks, *files) if re.search(r"^\[\[axis\]\]", text, re.MULTILINE)]


def test_every_sweep_file_of_pages_and_studies_is_one_by_the_schema() -> None:
    texts = sweep_texts()
    assert len(texts) > 20
    valid = validator(schemas.sweep())
    for text in texts:
        values = tomllib.loads(text)
        if "base" in values or "scenario" in values:
            assert list(valid.iter_errors(values)) == [], text


def test_the_keys_of_the_schema_are_those_that_are_read() -> None:
    with pytest.raises(InputError) as refused:
        Sweep.make({"base": "torus", "nothing": 1})
    known = set(schemas.sweep()["properties"])
    assert known == set(re.findall(r"[a-z_]+", str(refused.value).partition("known are ")[2]))
    with pytest.raises(InputError) as refused:
        Sweep.make({"base": "torus", "axis": [{"key": "seed", "values": [1], "nothing": 1}]})
    assert set(schemas.AXIS["properties"]) == set(refused.value.expected)
    assert {name for kind in kinds.KINDS for name in kind.switches} == set(schemas.SWITCHES)


LOADS = {"key": "traffic.0.load", "values": [0.1, 0.2]}


@pytest.mark.parametrize(
    "changed",
    [
        {"base": None},
        {"replications": 0},
        {"format": 0},
        {"format": 2},
        {"seed": -1},
        {"seed": 2**63},
        {"keep": "links"},
        {"allow_deadlock": 1},
        {"axis": [{"values": [1]}]},
        {"axis": [{**LOADS, "range": {"from": 0.1, "to": 0.2, "count": 2}}, {"key": 1}]},
        {"axis": [{**LOADS, "keys": {"seed": 1}}]},
        {"axis": [{"keys": {"traffic.0.load": 1}, "values": [0.1]}]},
        {"axis": [{"choices": {"a": {}}}]},
        {"axis": [{"key": "traffic.0.load", "range": {"from": 0.1, "to": 0.2}}]},
        {"axis": [{"key": "traffic.0.load", "range": {"from": 1, "to": 2, "count": 2, "x": 1}}]},
        {"axis": [{"key": "traffic.0.load", "values": []}]},
        {"axis": [{"zip": {}}]},
    ],
)
def test_what_is_refused_is_none_by_the_schema(changed: dict[str, Any]) -> None:
    values = {"base": "torus", "axis": [LOADS], **changed}
    given = {name: value for name, value in values.items() if value is not None}
    assert list(validator(schemas.sweep()).iter_errors(given))
    with pytest.raises(InputError):
        Sweep.make(given)


def test_what_is_read_is_one_by_the_schema() -> None:
    ring = tomllib.loads(gingham.examples.require("torus").read_text())
    for values in (
        {"base": "torus"},
        {"base": "torus", "format": 1},
        {"base": "torus", "axis": [LOADS], "seed": 2**63 - 1, "set": {"stop.time": "1 ms"}},
        {
            "scenario": ring,
            "axis": [{"zip": {"stop.time": ["1 ms", "2 ms"], "traffic.0.load": [0.1, 0.2]}}],
        },
        {"base": "torus", "axis": [{"name": "x", "keys": {"traffic.0.load": 1}, "values": [0.1]}]},
        {"base": "torus", "axis": [{"name": "x", "choices": {"a": {"traffic.0.load": 0.1}}}]},
    ):
        assert list(validator(schemas.sweep()).iter_errors(values)) == []
        Sweep.make(values)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fabric", "info", "nothing.toml"],
        ["run", "toruss"],
        ["run", "torus", "--set", "traffic.0.laod=0.1"],  # typos: on purpose
        ["run", "ring-deadlock"],
        ["run", "torus", "--nothing"],
        ["nothing"],
        ["sweep", "nothing.toml"],
        ["query", "nothing"],
        ["diff", "nothing", "nothing"],
        ["plot", "nothing"],
        ["fabric", "make", "ring", "--switches", "3", "-o", "none/x.toml"],
    ],
)
def test_an_error_for_programs_is_as_the_schema_says(
    gingham: Gingham, arguments: list[str]
) -> None:
    done = gingham(*arguments, "--json")
    assert done.code != 0
    told = [json.loads(line) for line in done.err.splitlines()]
    [error] = [line for line in told if "exit_code" in line]
    assert error["exit_code"] == done.code
    schema = schemas.error()
    assert list(validator(schema).iter_errors(error)) == []
    assert set(error) <= set(schema["properties"])


def test_each_schema_is_printed(gingham: Gingham) -> None:
    for option, schema in (
        ([], schemas.scenario()),
        (["--stripe"], schemas.stripe()),
        (["--sweep"], schemas.sweep()),
        (["--error"], schemas.error()),
    ):
        assert json.loads(gingham("schema", *option).out) == schema
    assert gingham("schema", "--sweep", "--error").code == 2
