"""Generator of the reference page of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from gingham.cli._main import gingham

if TYPE_CHECKING:
    from collections.abc import Iterator

# Marks a paragraph of a help text whose line breaks are kept.
VERBATIM = "\b\n"

HEAD = [
    "# The command line",
    "",
    "<!-- nothing to run: the help of the commands; the other pages run them -->",
    "",
    "Made from the commands (`make pages`): what `--help` says of each.",
    "",
]


def page() -> str:
    """Return the page, in Markdown."""
    # As at run time: a command keeps the first help option names that it resolves.
    context = click.Context(gingham, info_name="gingham", **gingham.context_settings)
    return "\n".join([*HEAD, *section(context)])


def section(context: click.Context) -> Iterator[str]:
    """Yield the section of a command, followed by those of its subcommands."""
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"## `{context.command_path}`", "", "```text", usage, "```", "")
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield from shown(paragraph)
    yield from options(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            _, below, _ = command.resolve_command(context, [name])
            assert below is not None, "a group lists what it has"
            yield from section(click.Context(below, info_name=name, parent=context))


def shown(paragraph: str) -> Iterator[str]:
    """Yield a paragraph of a help text."""
    if not paragraph.startswith(VERBATIM):
        yield from (paragraph, "")
        return
    title, *lines = paragraph.removeprefix(VERBATIM).splitlines()
    body = inspect.cleandoc("\n".join(lines))
    yield from (title, "", "```text", body, "```", "")


def options(context: click.Context) -> Iterator[str]:
    """Yield the table of the options of a command."""
    records = [
        record
        for parameter in context.command.get_params(context)
        if isinstance(parameter, click.Option)
        and parameter.name != "help"
        and (record := parameter.get_help_record(context)) is not None
    ]
    if not records:
        return
    yield from ("| option | meaning |", "|---|---|")
    for names, meaning in records:
        yield f"| `{names.replace('|', ' or ')}` | {meaning.replace('|', ' or ')} |"
    yield ""
