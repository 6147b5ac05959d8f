"""Assertions of tests on English words, which make the wording of messages hard to change.

    python -m tests.wording    lists them

It counts `match=` of `pytest.raises`, and `in` with an error or the standard error of a command on
the right, if the text on the left has two successive words or is not a literal. Codes, keys and
names of files are facts and are not counted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
TWO_WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? [A-Za-z]{2,}")
MESSAGE = re.compile(r"\.(err|stderr)\b|^str\((error|caught|refused|raised|problem|failed)\b")


@dataclass(frozen=True)
class Assertion:
    """An assertion on words: its file, its line and the words."""

    file: str
    line: int
    words: str


def assertions() -> Iterator[Assertion]:
    """Yield all assertions on words, by file and line."""
    for path in sorted(FOLDER.rglob("test_*.py")):
        name = str(path.relative_to(FOLDER))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (words := worded(node)) is not None:
                yield Assertion(name, node.lineno, words)  # type: ignore[attr-defined]


def worded(node: ast.AST) -> str | None:
    """Return the words that a call or a comparison asserts, if any."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.raises":
        return next((words(one.value) for one in node.keywords if one.arg == "match"), None)
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.In | ast.NotIn):
        return None
    return words(node.left) if MESSAGE.search(ast.unparse(node.comparators[0])) else None


def words(node: ast.expr) -> str | None:
    """Return the source of a text that has words or is not a literal; `None` for a plain name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value if TWO_WORDS.search(node.value) else None
    source = ast.unparse(node)
    literal = isinstance(node, ast.JoinedStr)
    return None if literal and not TWO_WORDS.search(source) else source


def main() -> None:
    """Print every assertion on words."""
    for one in assertions():
        print(f"tests/{one.file}:{one.line}: {one.words!r}")  # noqa: T201


if __name__ == "__main__":
    main()
