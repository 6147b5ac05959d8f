"""`gingham example`: what ships with the package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from gingham import examples
from tests.conftest import Finished
from tests.refusals import require_error

Command = Callable[..., Finished]


def test_all_are_listed_with_what_they_show(gingham: Command) -> None:
    listed = json.loads(gingham("example", "--json").out)["examples"]
    meanings = {row["file"]: row["meaning"] for row in listed}
    assert meanings.keys() == {
        path.name
        for path in examples.FOLDER.iterdir()
        if path.suffix in {".toml", ".ibnetdiscover", ".txt"}
    }
    assert meanings["ring-deadlock.toml"] == "Shortest paths on a ring of five"
    # Flich et al. have 32 switches with four hosts each.
    assert meanings["irregular-32.ibnetdiscover"] == "the dump of a cluster: 32 switches, 128 hosts"
    shown = gingham("example").out
    assert all(file in shown for file in meanings)


def test_one_is_printed_or_written_as_it_stands(gingham: Command, tmp_path: Path) -> None:
    original = (examples.FOLDER / "torus.toml").read_text()
    assert gingham("example", "torus").out == original
    assert gingham("example", "torus.toml", "-o", "mine.toml").code == 0
    assert (tmp_path / "mine.toml").read_text() == original
    assert gingham("example", "torus", "-o", "mine.toml").code != 0, "it would be lost"
    assert gingham("run", "mine.toml", "--set", "stop.time=200 us").code == 0


def test_one_that_does_not_exist_is_answered_with_the_nearest(gingham: Command) -> None:
    refused = gingham("example", "irregular-33.ibnetdiscover", "--json")
    require_error(refused, "unknown-name", nearest="irregular-32.ibnetdiscover")


def test_the_help_of_a_command_lists_every_example_that_it_runs(gingham: Command) -> None:
    for command, names in (("run", examples.names()), ("stripe", examples.stripes())):
        told = gingham(command, "--help").out
        listed = told[told.index("Examples that ship") :].partition("\n\n")[0]
        assert [name for name in names if f"\n    {name} " not in listed] == [], command
