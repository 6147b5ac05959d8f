"""The reference of scenarios: complete, true, and the same on its page."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import gingham as package
from gingham import examples, reference
from tests.conftest import Finished

Command = Callable[..., Finished]


def test_every_key_says_what_it_means() -> None:
    unexplained = [key.path for key in reference.every_key() if not key.meaning]
    assert unexplained == []


def flat(value: object, path: str = "") -> list[str]:
    """Return the dotted paths of a resolved scenario, with 0 for any place in a list of tables."""
    if isinstance(value, list):
        return [
            below for item in value if isinstance(item, dict) for below in flat(item, f"{path}.0")
        ]
    if not isinstance(value, dict):
        return []
    paths = [f"{path}.{name}" if path else name for name in value]
    below = [more for name, at in zip(value, paths, strict=True) for more in flat(value[name], at)]
    return paths + below


def test_every_key_of_the_examples_is_known() -> None:
    known = {key.path for key in reference.every_key()}
    for name in examples.names():
        path = examples.path(name)
        assert path is not None
        assert set(flat(package.Scenario.load(path).resolved())) <= known


def test_defaults_are_those_of_a_scenario_that_says_nothing() -> None:
    text = """
        topology.generate.star = { hosts = 3 }
        traffic = [{ load = 0.1, length = { fixed = "64 B" } }]
        stop.time = "1 ms"
    """
    resolved = package.Scenario.parse(text).resolved()
    keys = {key.path: key for key in reference.every_key()}
    assert keys["seed"].default == str(resolved["seed"])
    assert keys["traffic.0.hosts"].default == '["*"]'
    assert resolved["traffic"][0]["hosts"] == ["*"]


def test_explain_shows_one_key_or_those_below(gingham: Command) -> None:
    one = gingham("explain", "traffic.2.load", "--json")
    assert [key["path"] for key in json.loads(one.out)["keys"]] == ["traffic.0.load"]
    below = gingham("explain", "stop")
    for key in ("stop.time", "stop.warm_up", "stop.messages"):
        assert key in below.out


def test_a_key_that_does_not_exist_is_answered_with_the_nearest() -> None:
    with pytest.raises(package.InputError, match=r'no key "laod"; did you mean "traffic.0.load"'):
        reference.explain("laod")


def test_the_schema_accepts_no_unknown_key(gingham: Command) -> None:
    schema = json.loads(gingham("schema").out)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["traffic"]["items"]["additionalProperties"] is False
