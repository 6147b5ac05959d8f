"""Output of `gingham explain --pairs`: mechanisms that can be combined.

Pairs are unordered, so half a table suffices. It has a letter for each mechanism and one for the
switching kinds that support a pair, to fit 80 columns; the reasons for refused pairs are below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gingham import pairs
from gingham.cli._layout import INDENT, entry, facts, paragraph, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from gingham.pairs.parts import Part

MORE = "gingham explain --pairs NAME: all pairs of one, under which kinds and why not"


def matrix(width: int) -> Iterator[RenderableType]:
    """Yield the pairs of all mechanisms, the legend, and the reasons for refusals."""
    for line in pairs.matrix_lines():
        yield text(line)
    yield text("")
    for letter, meaning in pairs.legend().items():
        yield text(f"{' ' * INDENT}{letter}  {meaning}")
    yield text("")
    for reason, names in pairs.refused_everywhere().items():
        yield from entry("; ".join(names), reason, width)
    yield text("")
    yield from paragraph(MORE, width, hanging=INDENT)


def of(part: Part, width: int) -> Iterator[RenderableType]:
    """Yield all pairs of a mechanism."""
    yield from paragraph(f"{part.name}: {part.meaning}", width, style="bold")
    yield text("")
    yield from facts(((name, said(pair, name)) for name, pair in pairs.of(part)), width)


def said(pair: pairs.Pair, name: str) -> str:
    """Return the kinds that support a pair, and the reasons of the others for refusal."""
    kinds = pair.kinds()
    parts = [f"works under {pairs.listed(kinds)}"] if kinds else []
    for reason, refused in pair.reasons().items():
        by = f" under {pairs.listed(refused)}" if kinds or len(refused) < len(pair.support) else ""
        parts.append(f"refused{by}: {reason}")
    alone = "alone: " if pair.first == pair.second == name else ""
    return alone + "; ".join(parts)
