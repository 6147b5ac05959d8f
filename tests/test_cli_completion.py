"""Shell completion: the words offered for a beginning."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from gingham import examples
from gingham.cli._main import gingham


def offered(*arguments: str, begun: str = "") -> list[str]:
    """Return the words offered after these arguments if `begun` is typed."""
    complete = ShellComplete(gingham, {}, "gingham", "_GINGHAM_COMPLETE")
    return [item.value for item in complete.get_completions(list(arguments), begun)]


def test_a_run_is_offered_examples_of_fabrics_and_a_stripe_those_of_stripes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert offered("run") == examples.names()
    assert offered("curve", begun="tor") == ["torus"]
    assert offered("saturation", begun="tor") == ["torus"]
    assert offered("stripe") == examples.stripes()


def test_scenario_files_are_offered_beside_the_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    (here / "mine").mkdir(parents=True)
    monkeypatch.chdir(here)
    (here / "torn.toml").touch()
    (here / "torn.csv").touch()
    (here / "mine" / "first.toml").touch()
    assert offered("run", begun="tor") == ["torus", "torn.toml"]
    assert offered("run", begun="mine/") == ["mine/first.toml"]
    # No example begins like this, so the shell offers files.
    assert offered("run", begun="../") == ["../"]


def test_what_ships_is_offered_with_its_suffix_where_it_is_no_scenario() -> None:
    assert offered("example", begun="cluster") == ["cluster", "cluster-ndr.ibnetdiscover"]


def test_keys_are_those_of_the_scenarios_that_the_command_takes() -> None:
    assert offered("run", "torus", "--set", begun="traffic.0.loa") == ["traffic.0.load"]
    assert offered("stripe", "stripe", "--set", begun="traffic.0.loa") == []
    assert "stripe.scheduler" in offered("stripe", "stripe", "--set", begun="stripe.")


def test_words_that_can_be_explained_are_offered() -> None:
    assert offered("explain", begun="tornad") == ["tornado"]
    assert offered("explain", begun="stop.mess") == ["stop.messages"]
    assert "virtual channel" in offered("explain", begun="virtual c")
    assert "stripe.scheduler" in offered("explain", "--stripe", begun="stripe.sch")
