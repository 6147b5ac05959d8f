"""`gingham schema` and `gingham explain`: what a scenario may say."""

from __future__ import annotations

from dataclasses import asdict

import click

from gingham import reference
from gingham._native import scenario_schema
from gingham.cli._output import json_option, print_facts, print_json, print_table


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenarios, for editors that complete and check.

    \b
    Example:
      gingham schema > scenario.schema.json
      # first line of a scenario, for editors with taplo:
      #:schema ./scenario.schema.json
    """
    print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **scenario_schema()})


@click.command()
@click.argument("key", required=False, default="")
@json_option
def explain(key: str, as_json: bool) -> None:
    """Say what KEY of a scenario means, what may stand there, and what holds if nothing does.

    Without KEY, every key is listed.

    \b
    Examples:
      gingham explain traffic.0.load
      gingham explain network
    """
    found = reference.explain(key) if key else reference.every_key()
    if as_json:
        print_json({"keys": [asdict(one) for one in found]})
    elif len(found) == 1:
        facts = asdict(found[0])
        facts["required"] = "yes" if found[0].required else "no"
        print_facts((name, value) for name, value in facts.items() if value is not None)
    else:
        rows = [(one.path, one.meaning, one.values, reference.standing(one)) for one in found]
        print_table("", ["key", "meaning", "values", "default"], rows)
