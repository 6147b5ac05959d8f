"""The notebooks of the documentation give the described results; the site executes them again."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import gingham
from gingham import EnvironmentProblem, InternalError, extras, fabrics, plots
from tests.refusals import raises

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[str]:
    content = json.loads(path.read_text())
    return ["".join(one["source"]) for one in content["cells"] if one["cell_type"] == kind]


def shown(text: str, names: dict[str, Any]) -> Any:
    """Execute a cell, and return the value of its last line."""
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_does_what_it_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    values = [shown(text, names) for text in cells(path, "code")]
    assert names["gingham"] is gingham
    tables = [one._repr_html_() for one in values if hasattr(one, "_repr_html_")]
    pictures = [one._repr_png_() for one in values if hasattr(one, "_repr_png_")]
    assert all(one.startswith(b"\x89PNG") for one in pictures)
    assert any("<table" in (one or "") for one in tables)


def test_there_are_three_and_the_index_links_them() -> None:
    index = (FOLDER.parent / "index.md").read_text()
    linked = set(re.findall(r"\(notebooks/([a-z]+)\.ipynb\)", index))
    assert linked == {path.stem for path in NOTEBOOKS}
    assert len(linked) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_it_once_showed(path: Path) -> None:
    content = json.loads(path.read_text())
    code = [one for one in content["cells"] if one["cell_type"] == "code"]
    assert all(one["outputs"] == [] and one["execution_count"] is None for one in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_without_its_extras_ends_in_one_message(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    with pytest.raises(EnvironmentProblem) as refused:
        shown(cells(path, "code")[0], {})
    said = "pandas is not installed: pip install 'gingham[pandas]'"
    assert refused.value._render_traceback_() == [f"EnvironmentProblem: {said}"]


def test_several_extras_are_named_together(monkeypatch: pytest.MonkeyPatch) -> None:
    extras.require("pandas", "polars")
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    with raises(EnvironmentProblem, "extra-not-installed"):
        extras.require("pandas", "polars")


def test_a_fault_of_ours_shows_where_it_came_from() -> None:
    def break_() -> None:
        raise InternalError("it broke")

    with pytest.raises(InternalError) as broken:
        break_()
    told = "".join(broken.value._render_traceback_())
    assert "test_a_fault_of_ours" in told
    assert "it broke" in told


def test_a_picture_shows_itself_in_a_notebook() -> None:
    figure = plots.fabric(fabrics.ring(switches=3))
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
