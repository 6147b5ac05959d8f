"""Output of commands: JSON for programs, tables for people.

All output passes through `echo` here or `text` of `_layout`, which escape the control characters
that a terminal would interpret.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import click

from gingham.cli import _layout
from gingham.cli._printable import printable, printable_json
from gingham.cli._words import in_options
from gingham.errors import EXIT_CODES, GinghamError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

# Largest width of a table if the output is not a terminal.
PIPE_WIDTH = 100

# Whether `--json` was given: the standard error is then JSON, too.
for_programs: ContextVar[bool] = ContextVar("for_programs", default=False)
# Arguments of the command, without the program name, for hints on how to continue.
command_given: ContextVar[tuple[str, ...]] = ContextVar("command_given", default=())

# Exit code after Ctrl-C.
INTERRUPTED = 130

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class Interrupted(GinghamError):  # noqa: N818  (not an error)
    """The user pressed Ctrl-C; for programs with numbers of the work done until then."""

    exit_code = INTERRUPTED

    def __init__(self, message: str, counted: Mapping[str, Any] | None = None) -> None:
        """Store the numbers as attributes, like details of errors."""
        super().__init__(message)
        vars(self).update(counted or {})


def exit_code_help(*codes: int) -> str:
    """Return the lines of a help text that explain these exit codes."""
    lines = [f"  {code:>3}  {EXIT_CODES[code]}" for code in codes]
    return "\n".join(["\b", "Exit codes:", *lines])


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json_text(value, indent=2))  # noqa: TID251


def json_text(value: Mapping[str, Any], indent: int | None = None) -> str:
    """Return JSON with terminal control characters escaped."""
    import json

    return printable_json(json.dumps(value, indent=indent, ensure_ascii=False))


def echo(message: str = "", *, err: bool = False) -> None:
    """Print lines, with terminal control characters escaped."""
    click.echo(printable(message), err=err)  # noqa: TID251


def print_text(text: str) -> None:
    """Print a long text unchanged; fail if it cannot be written completely.

    An unbuffered output may write only a part, and reports this only in its return value.
    """
    rest = memoryview(text.encode())
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]


def warn(message: str) -> None:
    """Print a warning on the standard error."""
    say(message, note=message)


def say(message: str, /, **fields: object) -> None:
    """Print a message on the standard error: `message` to people, `fields` as a line to programs.

    Names of the package's parameters are replaced by those of options.
    """
    if for_programs.get():
        told = {
            name: in_options(one) if isinstance(one, str) else one for name, one in fields.items()
        }
        click.echo(json_text(told), err=True)  # noqa: TID251
    else:
        words = f"gingham: {in_options(message)}"
        echo(folded(words) if sys.stderr.isatty() else words, err=True)


def folded(message: str) -> str:
    """Return a message wrapped at the terminal width of the standard error."""
    lines = _layout.paragraph(message, error_width(), hanging=_layout.INDENT)
    return "\n".join(line.plain for line in lines)


def error_width() -> int:
    """Return the width of the terminal of the standard error; `COLUMNS` takes precedence.

    The standard output may be redirected, so its width is not used.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or PIPE_WIDTH
    except (OSError, ValueError):
        return PIPE_WIDTH


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values in two columns."""
    show(*_layout.facts(facts, line_width()))


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: str | Sequence[str] = (),
    tight: bool = False,
    below: str = "",
    prose: str = "",
    heading: str = "",
) -> None:
    """Print a table, or records if it would be too wide.

    Columns named in `numbers` are right-aligned; a string may name columns without spaces. `below`
    is printed under the title. The column `prose` holds sentences, and may be folded. Records are
    headed by the column `heading`, or else the first. With `tight`, columns have narrow gaps.
    """
    right = numbers.split() if isinstance(numbers, str) else numbers
    grid = _layout.Grid(columns, list(rows), right, prose, heading, tight)
    width = line_width()
    show(*_layout.paragraph(title, width, style="bold"))
    show(*_layout.paragraph(below, width, style="dim"))
    show(*_layout.table(grid, width))


def print_prose(sentences: str, indent: int = 0) -> None:
    """Print sentences, wrapped to the width of a line."""
    hanging = 0 if indent else _layout.INDENT
    show(*_layout.paragraph(sentences, line_width(), indent=indent, hanging=hanging))


def line_width() -> int:
    """Return the line width in characters: that of the terminal, at most 100 in a pipe."""
    columns = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    return columns if sys.stdout.isatty() else min(columns, PIPE_WIDTH)


def show(*parts: RenderableType) -> None:
    """Print laid-out parts to the standard output."""
    for line in lines_of(parts):
        # Keeps the styles of rich and no other control sequences.
        click.echo(line)  # noqa: TID251


def page(parts: Iterable[RenderableType]) -> None:
    """Print parts, in the user's pager if they do not fit on the terminal."""
    lines = list(lines_of(parts))
    if len(lines) < shutil.get_terminal_size().lines or not sys.stdout.isatty():
        for line in lines:
            click.echo(line)  # noqa: TID251
    else:
        click.echo_via_pager(f"{line}\n" for line in lines)


def lines_of(parts: Iterable[RenderableType]) -> Iterator[str]:
    """Yield the lines of parts, with their styles if the standard output shows any."""
    console = _layout.console()
    for part in parts:
        with console.capture() as capture:
            console.print(part)
        yield from (line.rstrip() for line in capture.get().splitlines())
