"""What the how-to pages say works as it stands there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import gingham as package
from tests.conftest import Finished

Command = Callable[..., Finished]
PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "scenarios.md"


def blocks(language: str) -> list[str]:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return found


def test_the_first_scenario_runs_and_takes_the_changes(gingham: Command, tmp_path: Path) -> None:
    (tmp_path / "first.toml").write_text(blocks("toml")[0])
    assert gingham("run", "first.toml", "-o", "runs/first").code == 0
    assert (tmp_path / "runs" / "first" / "manifest.json").exists()
    changes = ["--set", "traffic.0.load=0.3", "--set", "routing.algorithm=dimension-order"]
    assert gingham("run", "first.toml", *changes, "--seed", 7).code == 0
    five = ["--set", "topology.generate.torus.dimensions=[5, 5]"]
    assert gingham("run", "first.toml", *changes, *five).code == 3


def test_classes_of_the_page_fit_the_first_scenario() -> None:
    first, classes = blocks("toml")
    result = package.run(
        package.Scenario.parse(
            re.sub(r"\[\[traffic\]\].*?\n\n", "", first, flags=re.DOTALL) + classes
        )
    )
    assert [row["name"] for row in result.classes] == ["background", "hot"]


def test_the_python_of_the_page_prints_two_intervals() -> None:
    (block,) = blocks("python")
    seen: list[tuple[object, ...]] = []
    exec(block, {"print": lambda *values: seen.append(values)})  # noqa: S102
    assert [row[0] for row in seen[:2]] == [0.1, 0.2]
    assert b"meaning" in seen[2][0]  # type: ignore[operator]
