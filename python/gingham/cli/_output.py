"""What commands print: JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import click

from gingham.errors import EXIT_CODES, GinghamError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

# Where the output is no terminal, lines are as long as they need to be.
UNBOUNDED_WIDTH = 10_000
# A column of sentences is folded to this, so that numbers beside it stay in sight.
FOLDED_WIDTH = 48

# Whether `--json` was given: then the standard error, too, is for programs.
for_programs: ContextVar[bool] = ContextVar("for_programs", default=False)
# The command that was given, without the program, so that a message can say how to go on.
command_given: ContextVar[tuple[str, ...]] = ContextVar("command_given", default=())

# How a command ends to which somebody pressed Ctrl-C.
INTERRUPTED = 130

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class Interrupted(GinghamError):  # noqa: N818  (it is no error of anybody)
    """Somebody pressed Ctrl-C; for programs with numbers of what was done until then."""

    exit_code = INTERRUPTED

    def __init__(self, message: str, counted: Mapping[str, Any] | None = None) -> None:
        """Keep the numbers as attributes, as errors keep their details."""
        super().__init__(message)
        vars(self).update(counted or {})


def exit_code_help(*codes: int) -> str:
    """Return the lines of a help text that explain these exit codes."""
    lines = [f"  {code:>3}  {EXIT_CODES[code]}" for code in codes]
    return "\n".join(["\b", "Exit codes:", *lines])


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_text(text: str) -> None:
    """Print a long text as it stands, all of it or an error.

    An output without a buffer may take a part of what it is given and say so only in what it
    returns.
    """
    rest = memoryview(text.encode())
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]


def warn(message: str) -> None:
    """Say something beside the result."""
    say(message, note=message)


def say(message: str, /, **fields: object) -> None:
    """Say something on the standard error: `message` to people, `fields` in a line to programs."""
    line = json.dumps(fields, ensure_ascii=False) if for_programs.get() else f"gingham: {message}"
    click.echo(line, err=True)


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values in two columns."""
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in facts:
        table.add_row(text(name, "bold"), text(value))
    show(table)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: str | Sequence[str] = "",
    tight: bool = False,
    below: str = "",
    folded: str = "",
    whole: str = "",
) -> None:
    """Print a table; columns named in `numbers` are set to the right, `tight` ones stand close.

    `numbers` is a text where no name of a column holds a space. `below` stands under the title.
    The column `folded` holds sentences: it alone gives way where a line would be too long. The
    column `whole` holds names, of which nothing may be cut.
    """
    from rich import box
    from rich.table import Table

    show(text(title, "bold"))
    if below:
        show(text(below, "dim"))
    padding = (0, 1, 0, 0) if tight else (0, 1)
    table = Table(box=box.SIMPLE_HEAD, padding=padding, pad_edge=not tight)
    right = numbers.split() if isinstance(numbers, str) else numbers
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        if column == folded:
            table.add_column(column, justify=justify, max_width=FOLDED_WIDTH)
        else:
            table.add_column(column, justify=justify, no_wrap=bool(folded) or column == whole)
    for row in rows:
        table.add_row(*map(text, row))
    show(table)


def text(value: object, style: str = "") -> RenderableType:
    """Return a cell as it stands: names may hold what rich would read as markup."""
    from rich.text import Text

    return Text("" if value is None else str(value), style=style)


def terminal_width() -> int | None:
    """Return how many characters a line of the terminal takes; `None` where there is none."""
    from rich.console import Console

    return Console().width if sys.stdout.isatty() else None


def show(part: RenderableType) -> None:
    """Print to the standard output, without wrapping where that is no terminal."""
    from rich.console import Console

    width = terminal_width() or UNBOUNDED_WIDTH
    console = Console(highlight=False, markup=False, width=width)
    with console.capture() as capture:
        console.print(part)
    for line in capture.get().splitlines():
        click.echo(line.rstrip())
