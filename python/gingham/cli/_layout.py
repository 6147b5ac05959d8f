"""Layout of tables, facts and sentences within the width of a line, without cutting names.

A table that is too wide is first printed with narrow gaps and headers of several lines, except for
words joined by `together`; then its column of sentences is folded; and then each row becomes a
record::

    engine   ran      switches   lost        minhop
   ──────────────────────────────────          ran       minhop
    minhop   minhop      3.524      0          switches  3.524
                                               lost      0

Lines break only between words. A name longer than a line has a line of its own, the only case that
exceeds the width.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from gingham.cli._printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

# Wider than any line: for measuring, and for lines that are already laid out.
UNBOUNDED = 1_000_000
# Narrowest readable width of a column of sentences, or of text beside a name.
READABLE = 24
# Indentation of text below a heading.
INDENT = 2
# Space between the name of a fact and its value.
GAP = 2
# Joins the words of a header; printed as a space.
NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Grid:
    """A table that is not laid out yet."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    # Columns that are right-aligned.
    numbers: Sequence[str] = ()
    # The column of sentences, if any: the only one whose cells may have several lines.
    prose: str = ""
    # The column that is the heading of a record.
    heading: str = ""
    # Whether columns have narrow gaps even if the table fits.
    tight: bool = False
    # Whether each word of a header is on a line of its own.
    stacked: bool = False


def text(value: object, style: str = "") -> Text:
    """Return a cell as literal text: rich would interpret parts of names as markup."""
    from rich.text import Text

    return Text("" if value is None else printable(str(value)), style=style)


def table(grid: Grid, width: int) -> Iterator[RenderableType]:
    """Yield the table if it fits, or else its records."""
    found = fitting(grid, width)
    if found is not None:
        yield found
        return
    for row in grid.rows:
        yield from record(grid, row, width)
    # An empty line, as below a table.
    yield text("")


def fitting(grid: Grid, width: int) -> Table | None:
    """Return the widest form of a table that fits, or `None` if none does."""
    close = replace(grid, tight=True, stacked=True)
    for form in (grid, close):
        drawn = drawn_table(form)
        if natural_width(drawn) <= width:
            return drawn
    if not grid.prose:
        return None
    return folded(close, width)


def folded(grid: Grid, width: int) -> Table | None:
    """Return a table with a folded column of sentences, or `None` if it would be too narrow."""
    place = list(grid.columns).index(grid.prose)
    sentences = [str(row[place]) for row in grid.rows]
    others = natural_width(drawn_table(grid)) - max(map(cell_width, [grid.prose, *sentences]))
    room = width - others
    if room < max(READABLE, *map(longest_word, sentences)):
        return None
    rows = [
        [*row[:place], "\n".join(wrapped(sentence, room, room)), *row[place + 1 :]]
        for row, sentence in zip(grid.rows, sentences, strict=True)
    ]
    return drawn_table(replace(grid, rows=rows))


def drawn_table(grid: Grid) -> Table:
    """Return a table as wide as its cells."""
    from rich import box
    from rich.table import Table

    drawn = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0) if grid.tight else (0, 1),
        pad_edge=not grid.tight,
    )
    for column in grid.columns:
        justify: Literal["left", "right"] = "right" if column in grid.numbers else "left"
        # A column of sentences is wide in any case.
        stacked = grid.stacked and column != grid.prose
        header = column.replace(" ", "\n") if stacked else column
        header = header.replace(NO_BREAK, " ")
        drawn.add_column(text(header), justify=justify, no_wrap=True)
    for row in grid.rows:
        drawn.add_row(*map(text, row))
    return drawn


def together(name: str, width: int) -> str:
    """Return a header whose words are joined into lines of `width` if headers are stacked.

    A number and its unit stay together.

    >>> together("200 and 1000 B, 50", 12).replace(NO_BREAK, "_")
    '200_and 1000_B,_50'
    """
    held = re.sub(r"(?<=\d) (?=[A-Za-zµ%])(?!and |or |to )", NO_BREAK, name)
    return " ".join(part.replace(" ", NO_BREAK) for part in wrapped(held, width, width))


def record(grid: Grid, row: Sequence[object], width: int) -> Iterator[RenderableType]:
    """Yield a row as a heading and one line per non-empty field."""
    cells = zip(grid.columns, row, strict=False)
    named = ((name.replace(NO_BREAK, " "), value) for name, value in cells)
    fields = {name: str(value) for name, value in named if value is not None and value != ""}
    heading = grid.heading or grid.columns[0]
    if title := fields.pop(heading, ""):
        words = f"{heading} {title}" if heading in grid.numbers else title
        yield from paragraph(words, width, style="bold", hanging=INDENT)
    yield from facts(fields.items(), width, indent=INDENT)


def entry(heading: str, words: str, width: int) -> Iterator[Text]:
    """Yield a heading and a paragraph below it."""
    yield from paragraph(heading, width, hanging=INDENT, style="bold")
    yield from paragraph(words, width, indent=INDENT)


def facts(
    pairs: Iterable[tuple[str, object]], width: int, *, indent: int = 0
) -> Iterator[RenderableType]:
    """Yield names with their values beside them, or below them if those need more room."""
    known = [(name, "" if value is None else str(value)) for name, value in pairs]
    beside = indent + max((cell_width(name) for name, _ in known), default=0) + GAP
    room = width - beside
    for name, value in known:
        label = text(" " * indent + name, "bold" if not indent else "dim")
        if room < min(READABLE, cell_width(value)) or room < longest_word(value):
            yield label
            yield from paragraph(value, width, indent=indent + INDENT)
            continue
        label.pad_right(beside - label.cell_len)
        lines = list(paragraph(value, width, indent=beside))
        first, *others = lines or [text("")]
        first.plain = first.plain[beside:]
        yield label + first
        yield from others


def paragraph(
    words: str, width: int, *, indent: int = 0, hanging: int = 0, style: str = ""
) -> Iterator[Text]:
    """Yield the lines of a text, broken between words; later lines are indented by `hanging`."""
    for line in words.splitlines():
        own = indent + len(line) - len(line.lstrip(" "))
        room = width - own
        for place, part in enumerate(wrapped(line.strip(" "), room, room - hanging)):
            yield text(" " * (own + (hanging if place else 0)) + part, style)


def wrapped(line: str, first: int, others: int) -> list[str]:
    """Return a line in parts of whole words: the first at most `first` cells wide, then `others`.

    >>> wrapped("a name that is long", 6, 4)
    ['a name', 'that', 'is', 'long']
    """
    parts = [""]
    for word in line.split(" "):
        longer = f"{parts[-1]} {word}" if parts[-1] else word
        if parts[-1] and cell_width(longer) > (first if len(parts) == 1 else others):
            parts.append(word)
        else:
            parts[-1] = longer
    return parts


def cell_width(value: object) -> int:
    """Return the width of the widest line of a value, in terminal cells."""
    from rich.cells import cell_len

    return max(map(cell_len, str(value if value is not None else "").splitlines()), default=0)


def longest_word(value: object) -> int:
    """Return the width of the longest word, in terminal cells."""
    return max(map(cell_width, str(value if value is not None else "").split()), default=0)


def natural_width(part: RenderableType) -> int:
    """Return the width of a part without a limit."""
    from rich.measure import Measurement

    unbounded = console()
    return Measurement.get(unbounded, unbounded.options, part).maximum


def console() -> Console:
    """Return a console that prints laid-out parts without breaking or cutting lines."""
    from rich.console import Console

    return Console(highlight=False, markup=False, width=UNBOUNDED)
