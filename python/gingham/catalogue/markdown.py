"""Tables of generated pages, in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def table(columns: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table and the empty line after it."""
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return text.replace("|", "/")


def one_line(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())
