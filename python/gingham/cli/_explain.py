"""`gingham schema` and `gingham explain`: what a scenario may say, and what words mean."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from gingham import glossary, meanings, mechanisms, reference
from gingham._native import scenario_schema, stripe_schema
from gingham.cli._output import json_option, print_facts, print_json, print_table
from gingham.errors import InputError, meant, nearest
from gingham.glossary import plain

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
@click.argument("name", metavar="[WORD]", required=False, default="")
@stripe_option
@json_option
def explain(name: str, stripe: bool, as_json: bool) -> None:
    """Say what a WORD means: a key of a scenario, a mechanism, or a word of pages and results.

    Of a key: what may stand there, and what holds if nothing does. Of a mechanism: its parameters,
    an example, and whether it works under each switching kind. Words are those of the glossary,
    what others call the same, verdicts, and columns of results. Without a WORD, all keys and
    mechanisms are listed.

    \b
    Examples:
      gingham explain traffic.0.load
      gingham explain network
      gingham explain torus
      gingham explain "virtual channel"
      gingham explain accepted_load
      gingham explain --stripe stripe.markers
    """
    found = find(name, stripe) if name else everything(stripe)
    if as_json:
        print_json({what: [asdict(one) for one in some] for what, some in found.items()})
    elif name:
        print_found(name, found)
    else:
        print_keys(found["keys"])
        if known := found["mechanisms"]:
            print_matrix(known)
        click.echo("words of the glossary, verdicts and columns of results: gingham explain WORD")


@cache
def everything(stripe: bool) -> dict[str, list[Any]]:
    """Return all that can be asked for, by what it is."""
    return {
        "words": glossary.every_word(),
        "keys": reference.every_stripe_key() if stripe else reference.every_key(),
        "mechanisms": [] if stripe else mechanisms.every_mechanism(),
        "numbers": list(meanings.every_number()),
    }


def find(name: str, stripe: bool = False) -> dict[str, list[Any]]:
    """Return all that a name means, by what it is; `InputError` with the nearest if nothing."""
    known = everything(stripe)
    now = glossary.name_now(name) or name
    either = {plain(name), plain(now)}
    choices = mechanisms.named(now, known["mechanisms"])
    keys = reference.named(now, known["keys"])
    if not (keys or choices):
        keys = [one for one in reference.stripe_choices() if one.path == now]
        keys = keys or reference.named(now, everything(stripe=True)["keys"])
    found = {
        "words": [one for one in known["words"] if either & set(map(plain, one.names()))],
        "keys": [] if choices else keys,
        "mechanisms": choices,
        "numbers": [one for one in known["numbers"] if plain(one.name) in either],
    }
    if any(found.values()):
        return found
    names = [each for one in known["words"] for each in one.names()]
    names += [each for key in known["keys"] for each in (reference.last(key.path), key.path)]
    names += [one.name for one in (*known["mechanisms"], *known["numbers"])]
    near = nearest(name, names)
    raise InputError(f'nothing is called "{name}"{meant(near)}', key=name, nearest=near)


def print_found(name: str, found: dict[str, list[Any]]) -> None:
    """Print what a name means: one key in full, several as a table, all else in full."""
    if now := glossary.name_now(name):
        click.echo(f"{name} is called {now}\n")
    keys = found["keys"]
    parts = [partial(print_word, one) for one in found["words"]]
    parts += [partial(print_key, one) for one in keys if len(keys) == 1]
    parts += [partial(print_mechanism, one) for one in found["mechanisms"]]
    for place, print_part in enumerate(parts):
        if place:
            click.echo()
        print_part()
    if len(keys) > 1:
        print_keys(keys)
    if numbers := found["numbers"]:
        rows = [(one.name, one.place, one.unit, one.meaning) for one in numbers]
        print_table("", ["in results", "where", "unit", "meaning"], rows, whole="in results")


def print_word(one: glossary.Word) -> None:
    """Print all about one word."""
    facts = [
        ("word", one.word),
        ("meaning", one.meaning),
        ("unit", one.unit),
        ("type", one.type),
        ("also called", ", ".join(one.also)),
        *(("source", source) for source in one.sources()),
    ]
    print_facts((name, value) for name, value in facts if value)


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
