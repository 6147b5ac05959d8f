"""`gingham fabric make`: a command a generator, with options from its JSON schema."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from gingham._native import catalogue
from gingham.cli._options import SEED, force_option, format_option, output_option
from gingham.cli._output import json_option, print_json, print_text, warn
from gingham.fabric import Fabric

if TYPE_CHECKING:
    from pathlib import Path

# What goes to the standard output where no file is named.
FORMAT_DEFAULT = "ibnetdiscover"
# A list of numbers as scenarios have it.
LISTED = re.compile(r"\[([\d, ]*)\]")

HELP = """Make a fabric of a known shape.

\b
Examples:
  gingham fabric make irregular --switches 32 --ports 8 --hosts-per-switch 4 --seed 7 \\
    -o net.ibnetdiscover
  gingham fabric make torus --dimensions 8,8 -o torus.toml
  gingham fabric make folded-clos --leaves 8 --spines 4 --hosts-per-leaf 8
"""


class NumberList(click.ParamType[list[int]]):
    """Whole numbers with commas between them."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """Return `8,8` as a list of numbers, and so `[8, 8]`, as scenarios have it."""
        if isinstance(value, list):
            return value
        try:
            return [int(part) for part in LISTED.sub(r"\1", str(value).strip()).split(",")]
        except ValueError:
            self.fail(f'"{value}" is no list of numbers such as 8,8', param, ctx)


@cache
def kinds() -> dict[str, dict[str, Any]]:
    """Return the catalogue's line of each kind of fabric."""
    return {line["name"]: line for line in catalogue() if line["concept"] == "generator"}


def group() -> click.Group:
    """Return the group with a command for each kind of fabric."""
    commands = {kind: command_for(kind) for kind in kinds()}
    return click.Group("make", commands, help=HELP, short_help="Make a fabric of a known shape.")


def command_for(kind: str) -> click.Command:
    """Return the command that makes fabrics of this kind."""
    line = kinds()[kind]
    schema = line["parameters"]
    required = schema.get("required", [])
    properties = schema["properties"]
    ordered = [*required, *(name for name in properties if name not in required)]

    @click.pass_context
    def make(ctx: click.Context, /, **values: Any) -> None:
        parameters = {name: values[name] for name in ordered if values[name] is not None}
        fabric = Fabric.make(kind, seed=values["seed"], speed=values["speed"], **parameters)
        write(ctx, fabric, values["output"], values["format_name"], values["force"])
        if values["as_json"]:
            print_json({"file": str(values["output"]), **fabric.info()})

    text = f"{line['summary']}\n\nSource: {line['source']}."
    command = click.command(kind, help=text, short_help=line["summary"])(make)
    command.params = [
        *(option_for(name, properties[name], required=name in required) for name in ordered),
        *common_options(),
    ]
    return command


def option_for(name: str, schema: dict[str, Any], *, required: bool) -> click.Option:
    """Return the option of one parameter."""
    default = schema.get("default")
    otherwise = "" if default is None else f"  [default: {default}]"
    return click.Option(
        [f"--{name.replace('_', '-')}", name],
        type=NumberList() if schema["type"] == "array" else click.INT,
        required=required,
        help=in_options(schema["description"]) + otherwise,
    )


def in_options(description: str) -> str:
    """Return what a parameter means, with lists as options have them.

    >>> in_options("Sizes, such as [8, 8], from 1.")
    'Sizes, such as 8,8, from 1.'
    """
    return LISTED.sub(lambda found: found[1].replace(" ", ""), description)


def common_options() -> list[click.Parameter]:
    """Return the options that all kinds have."""

    @click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of random numbers.")
    @click.option("--speed", help="Speed of every cable, such as 4xNDR or '10 GB/s'.")
    @output_option(help="File to write; without it, the standard output.")
    @format_option
    @force_option
    @json_option
    def options() -> None: ...

    parameters: list[click.Parameter] = click.command(options).params
    return parameters


def write(
    ctx: click.Context, fabric: Fabric, output: Path | None, format_name: str | None, force: bool
) -> None:
    """Write the fabric where it was asked for."""
    if output is not None:
        notes = fabric.save(output, format=format_name, force=force)
    elif ctx.params["as_json"]:
        raise click.UsageError("--json describes the file that --output names; give --output")
    else:
        text, notes = fabric.text(format_name or FORMAT_DEFAULT)
        print_text(text)
    for note in notes:
        warn(note)
