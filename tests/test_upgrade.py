"""Files of earlier versions are rewritten with present names, and nothing else in them changes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from gingham.errors import InputError
from gingham.upgrade import Renamed, upgrade
from tests.conftest import Finished

Command = Callable[..., Finished]

# Every form of the old key, with comments and names that must not change.
SCENARIO = """\
# The second path, by second.
title = "the second path"

[routing]
algorithm = "up-down"
second = { algorithm = "up-down", choose = "at-random" }   # second

[[traffic]]
name = "second"
"""
SWEEP = """\
base = "second.toml"
engine = "runs"

[set]
"routing.second.choose" = "at-random"

[[axis]]
key = "routing.second.choose.at-random.percent"
values = [1, 2]

[[axis]]
name = "paths"
[axis.choices]
"one" = {}
"second" = { "routing.second" = { algorithm = "up-down" } }
"""
TABLES = """\
[routing.second]
algorithm = "up-down"
[routing.second.choose]
at-random = { percent = 3 }
"""


def test_keys_are_renamed_and_all_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(SCENARIO)
    found = upgrade(path)
    assert found.changes == (Renamed(6, "key", "routing.second", "routing.alternative"),)
    assert found.text == SCENARIO.replace("\nsecond = {", "\nalternative = {")
    found.save()
    assert upgrade(path).changes == ()


def test_dotted_keys_of_sweeps_and_engines_are_renamed(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    found = upgrade(path)
    assert [(one.line, one.kind) for one in found.changes] == [
        (2, "engine"),
        (5, "key"),
        (8, "key"),
        (15, "key"),
    ]
    expected = SWEEP.replace("routing.second", "routing.alternative").replace('"runs"', '"fast"')
    assert found.text == expected


def test_tables_are_renamed_together(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    path.write_text(TABLES)
    found = upgrade(path)
    values = tomllib.loads(found.text)["routing"]
    assert values == {
        "alternative": {"algorithm": "up-down", "choose": {"at-random": {"percent": 3}}}
    }
    assert len(found.changes) == 2


CLASSES = """\
# The answer to a pace.
[[traffic]]
name = "pace"
pace = 0.5
window = { packets = 4, answer = { length = "20 B" }, answered = { every = 2 } }

[[traffic]]
pace = 0.25
[traffic.window.answer]
priority = 1
"""
OF_CLASSES = """\
[set]
"traffic.all.window" = { packets = 1, answer = { length = "1 B" } }
"network.packets.flow_control.pfc.answer" = "1 us"

[[axis]]
key = "traffic.0.pace"
values = [0.5, 1.0]

[[axis]]
key = "traffic.all.window"
values = [{ answered = { marked = "50 us" } }]

[[axis]]
key = "traffic.all.window"
[axis.values]
answer = { packets = 1, answer = { length = "1 B" } }
"""
STRIPE = """\
base = "stripe-untold"
stripe = { quanta = "told", control.by = "told" }
title = "told"

[[axis]]
key = "stripe.control.by"
values = ["bbr", "told"]
"""


def test_keys_of_list_entries_are_renamed(tmp_path: Path) -> None:
    path = tmp_path / "classes.toml"
    path.write_text(CLASSES)
    found = upgrade(path)
    assert [one.line for one in found.changes] == [4, 5, 5, 8, 9]
    first, second = tomllib.loads(found.text)["traffic"]
    window = {"packets": 4, "ack": {"length": "20 B"}, "acknowledged": {"every": 2}}
    assert first == {"name": "pace", "rate_limit": 0.5, "window": window}
    assert second == {"rate_limit": 0.25, "window": {"ack": {"priority": 1}}}
    assert found.text.startswith("# The answer to a pace.\n")


def test_values_of_axes_are_renamed_below_their_key(tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(OF_CLASSES)
    values = tomllib.loads(upgrade(path).text)
    acknowledged = {"packets": 1, "ack": {"length": "1 B"}}
    assert values["set"] == {
        "traffic.all.window": acknowledged,
        "network.packets.flow_control.pfc.response_time": "1 us",
    }
    assert values["axis"][0]["key"] == "traffic.0.rate_limit"
    assert values["axis"][1]["values"] == [{"acknowledged": {"marked": "50 us"}}]
    # The name of a value is no key.
    assert values["axis"][2]["values"] == {"answer": acknowledged}


def test_values_and_examples_of_striping_are_renamed(tmp_path: Path) -> None:
    path = tmp_path / "stripe.toml"
    path.write_text(STRIPE)
    values = tomllib.loads(upgrade(path).text)
    assert values["base"] == "stripe-rate-changes"
    assert values["stripe"] == {"quanta": "fixed", "control": {"by": "fixed"}}
    assert values["title"] == "told"
    assert values["axis"][0]["values"] == ["bbr", "fixed"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[routing]\nsecond = 1\nalternative = 2\n", "both-names"),
        ("format = 2\n[routing]\nsecond = 1\n", "other-form"),
        ("[routing\n", "bad-toml"),
        ('[routing]\n"sec\\u006Fnd" = 1\n', "cannot-upgrade"),
    ],
)
def test_files_that_cannot_be_rewritten_are_refused(text: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        upgrade(path)
    assert (refused.value.code, refused.value.file) == (code, str(path))
    assert path.read_text() == text


def test_a_folder_is_rewritten_but_for_results(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text("{}")
    for name in ("run/scenario.toml", "one.toml", "notes.txt"):
        (tmp_path / name).write_text(SCENARIO)
    checked = gingham("upgrade", "--check", tmp_path, "--json")
    assert checked.code == 5
    told = json.loads(checked.out)
    assert (told["written"], len(told["files"])) == (False, 1)
    assert (tmp_path / "one.toml").read_text() == SCENARIO
    assert gingham("upgrade", tmp_path).code == 0
    assert (tmp_path / "one.toml").read_text() != SCENARIO
    assert (tmp_path / "run/scenario.toml").read_text() == SCENARIO
    assert gingham("upgrade", "--check", tmp_path).code == 0


def test_nothing_is_written_if_one_file_is_refused(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SCENARIO)
    (tmp_path / "b.toml").write_text("[")
    refused = gingham("upgrade", tmp_path, "--json")
    assert (refused.code, json.loads(refused.err)["code"]) == (2, "bad-toml")
    assert (tmp_path / "a.toml").read_text() == SCENARIO
    nothing = gingham("upgrade", tmp_path / "none", "--json")
    assert (nothing.code, json.loads(nothing.err)["code"]) == (2, "no-file")
