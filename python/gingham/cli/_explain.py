"""`gingham schema` and `gingham explain`: what a scenario may say."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gingham import mechanisms, reference
from gingham._native import scenario_schema, stripe_schema
from gingham.cli._output import json_option, print_facts, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence


stripe_option = click.option("--stripe", is_flag=True, help="Of striping scenarios.")


@click.command()
@stripe_option
def schema(stripe: bool) -> None:
    """Print the JSON Schema of scenarios, for editors that complete and check.

    \b
    Example:
      gingham schema > scenario.schema.json
      # first line of a scenario, for editors with taplo:
      #:schema ./scenario.schema.json
    """
    found = stripe_schema() if stripe else scenario_schema()
    print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **found})


@click.command()
@click.argument("name", metavar="[KEY | NAME]", required=False, default="")
@stripe_option
@json_option
def explain(name: str, stripe: bool, as_json: bool) -> None:
    """Say what a KEY of a scenario means, or what the mechanism called NAME does.

    Of a key: what may stand there, and what holds if nothing does. Of a mechanism: its parameters,
    an example, and whether it works under each switching kind. Without either, all are listed.

    \b
    Examples:
      gingham explain traffic.0.load
      gingham explain network
      gingham explain torus
      gingham explain --stripe stripe.markers
    """
    known: list[mechanisms.Mechanism] = []
    stripe = stripe or is_of_stripes(name)
    if stripe:
        found = find_of_stripes(name)
    elif name:
        found, known = find(name)
    else:
        found, known = reference.every_key(), mechanisms.every_mechanism()
    if as_json:
        print_json(
            {"keys": [asdict(one) for one in found], "mechanisms": [asdict(one) for one in known]}
        )
    elif name:
        print_found(found, known)
    else:
        print_keys(found)
        if known:
            print_matrix(known)


def is_of_stripes(name: str) -> bool:
    """Return whether only striping scenarios have a key."""
    first = name.split(".", maxsplit=1)[0]
    at_top = {key.path for key in reference.every_stripe_key() if "." not in key.path}
    return first in at_top - {key.path for key in reference.every_key()}


def find_of_stripes(name: str) -> list[reference.Key]:
    """Return the keys of a striping scenario that a name means; all where there is none."""
    known = reference.every_stripe_key()
    if choice := reference.stripe_choice(name):
        return [choice]
    return reference.explain(name, known=known) if name else known


def find(name: str) -> tuple[list[reference.Key], list[mechanisms.Mechanism]]:
    """Return the keys, or the mechanisms, that a name means."""
    if known := mechanisms.named(name):
        return [], known
    return reference.explain(name, besides=mechanisms.names()), []


def print_found(found: Sequence[reference.Key], known: Sequence[mechanisms.Mechanism]) -> None:
    """Print what a name means: one key in full, several as a table, each mechanism in full."""
    if len(found) == 1:
        print_key(found[0])
    elif found:
        print_keys(found)
    for place, one in enumerate(known):
        if place:
            click.echo()
        print_mechanism(one)


def print_keys(keys: Sequence[reference.Key]) -> None:
    """Print one row a key."""
    rows = [(one.path, one.meaning, one.values, reference.standing(one)) for one in keys]
    print_table("", ["key", "meaning", "values", "default"], rows, whole="key")


def print_key(key: reference.Key) -> None:
    """Print all about one key."""
    facts = {**asdict(key), "required": "yes" if key.required else "no"}
    print_facts((name, value) for name, value in facts.items() if value is not None)


def print_matrix(known: Sequence[mechanisms.Mechanism]) -> None:
    """Print one row a mechanism, with its support under each switching kind."""
    kinds = [kind.name for kind in mechanisms.kinds()]
    rows = [(one.concept, one.name, one.meaning, *map(one.support.get, kinds)) for one in known]
    print_table("", ["concept", "mechanism", "meaning", *kinds], rows)


def print_mechanism(one: mechanisms.Mechanism) -> None:
    """Print all about one mechanism."""
    facts = [
        (one.concept, one.name),
        ("meaning", one.meaning),
        ("key", one.key),
        ("takes", one.takes),
        ("source", one.source),
        *((f"under {kind}", support) for kind, support in one.support.items()),
    ]
    print_facts((name, value) for name, value in facts if value is not None)
    if one.parameters:
        rows = [(each.name, each.meaning, each.values, each.default) for each in one.parameters]
        print_table("", ["parameter", "meaning", "values", "default"], rows)
    show_example(one)


def show_example(one: mechanisms.Mechanism) -> None:
    """Print the example of a mechanism, and the files that it reads."""
    click.echo("\nexample, for a scenario:\n")
    click.echo("\n".join(f"  {line}" for line in mechanisms.whole_example(one).splitlines()))
    for name, content in one.files.items():
        click.echo(f"\n{name}:\n")
        click.echo("\n".join(f"  {line}" for line in content.splitlines()))
