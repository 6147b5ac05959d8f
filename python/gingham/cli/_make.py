"""`gingham fabric make`: one command per generator, with options from its JSON schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from gingham.catalogue.generators import Generator, Parameter, every_generator
from gingham.cli._options import SEED, force_option, format_option, output_option
from gingham.cli._output import json_option, print_json, print_text, warn
from gingham.fabric import Fabric

if TYPE_CHECKING:
    from pathlib import Path

# Format on the standard output if no file is given.
FORMAT_DEFAULT = "ibnetdiscover"
# A list of numbers in the syntax of scenarios.
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
    """Integers separated by commas."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """Return the list of numbers of `8,8`, or of `[8, 8]` as in scenarios."""
        if isinstance(value, list):
            return value
        try:
            return [int(part) for part in LISTED.sub(r"\1", str(value).strip()).split(",")]
        except ValueError:
            self.fail(f'"{value}" is no list of numbers such as 8,8', param, ctx)


def group() -> click.Group:
    """Return the group with one command per generator."""
    commands = {one.name: command_for(one) for one in every_generator().values()}
    return click.Group("make", commands, help=HELP, short_help="Make a fabric of a known shape.")


def command_for(generator: Generator) -> click.Command:
    """Return the command that makes the fabrics of a generator."""
    names = [parameter.name for parameter in generator.parameters]

    @click.pass_context
    def make(ctx: click.Context, /, **values: Any) -> None:
        given = {name: values[name] for name in names if values[name] is not None}
        fabric = Fabric.make(generator.name, seed=values["seed"], speed=values["speed"], **given)
        write(ctx, fabric, values["output"], values["format_name"], values["force"])
        if values["as_json"]:
            print_json({"file": str(values["output"]), **fabric.info()})

    text = f"{generator.summary}\n\nSource: {generator.source}."
    command = click.command(generator.name, help=text, short_help=generator.summary)(make)
    command.params = [*map(option_for, generator.parameters), *common_options()]
    return command


def option_for(parameter: Parameter) -> click.Option:
    """Return the option of one parameter."""
    otherwise = "" if parameter.default is None else f"  [default: {parameter.default}]"
    return click.Option(
        [f"--{parameter.name.replace('_', '-')}", parameter.name],
        type=NumberList() if parameter.is_list else click.INT,
        required=parameter.required,
        help=in_options(parameter.meaning) + otherwise,
    )


def in_options(description: str) -> str:
    """Return a parameter's description, with lists in the syntax of options.

    >>> in_options("Sizes, such as [8, 8], from 1.")
    'Sizes, such as 8,8, from 1.'
    """
    return LISTED.sub(lambda found: found[1].replace(" ", ""), description)


def common_options() -> list[click.Parameter]:
    """Return the options common to all generators."""

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
    """Write the fabric to the requested file or to the standard output."""
    if output is not None:
        notes = fabric.save(output, format=format_name, overwrite=force)
    elif ctx.params["as_json"]:
        raise click.BadOptionUsage(
            "--output", "--json describes the file that --output names; give --output"
        )
    else:
        text, notes = fabric.text(format_name or FORMAT_DEFAULT)
        print_text(text)
    for note in notes:
        warn(note)
