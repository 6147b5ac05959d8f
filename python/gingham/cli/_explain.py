"""`gingham schema` and `gingham explain`: schemas of files, and meanings of words."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gingham import pairs, schemas
from gingham.catalogue import lookup
from gingham.cli import _completion, _explained, _pairs
from gingham.cli._output import json_option, line_width, page, print_json
from gingham.errors import InputError
from gingham.pairs.parts import PARTS

if TYPE_CHECKING:
    from gingham.catalogue.lookup import Found

stripe_option = click.option("--stripe", is_flag=True, help="For striping scenarios.")


@click.command()
@stripe_option
@click.option("--sweep", is_flag=True, help="Of sweep files.")
@click.option("--error", is_flag=True, help="Of what a command with --json says when it fails.")
def schema(stripe: bool, sweep: bool, error: bool) -> None:
    """Print the JSON Schema of scenarios, for editors that complete and check.

    \b
    Examples:
      gingham schema > scenario.schema.json
      # first line of a scenario, for editors with taplo:
      #:schema ./scenario.schema.json
      gingham schema --sweep > sweep.schema.json
    """
    asked = {"--stripe": stripe, "--sweep": sweep, "--error": error}
    names = [name for name, given in asked.items() if given]
    if len(names) > 1:
        raise click.BadOptionUsage(names[-1], f"one schema at a time: {' or '.join(names)}")
    makers = {"--stripe": schemas.stripe, "--sweep": schemas.sweep, "--error": schemas.error}
    print_json(makers[names[0]]() if names else schemas.scenario())


@click.command()
@click.argument(
    "name", metavar="[WORD]", required=False, default="", shell_complete=_completion.words
)
@stripe_option
@click.option(
    "--depth",
    type=click.IntRange(1, 9),
    default=1,
    show_default=True,
    help="Levels of keys to show; from 2 on mechanisms, too. --json has all.",
)
@click.option(
    "--pairs",
    "of_pairs",
    is_flag=True,
    help="Which mechanisms go together; those with WORD, if given.",
)
@json_option
def explain(name: str, stripe: bool, depth: int, of_pairs: bool, as_json: bool) -> None:
    """Explain a WORD: a key of a scenario, a mechanism, or a word of pages and results.

    For a key: its values and its default. For a mechanism: its parameters, an example, and which
    switching kinds support it. Words are those of the glossary, what others call the same,
    verdicts, and columns of results. For a term that Gingham does not have, the reason and the
    nearest words are printed. Without a WORD, the top-level keys and all mechanisms are
    listed. On a terminal, output longer than the screen goes to the program that PAGER names.

    \b
    Examples:
      gingham explain traffic.0.load
      gingham explain network
      gingham explain network --depth 3
      gingham explain torus
      gingham explain "virtual channel"
      gingham explain PortXmitWait
      gingham explain accepted_load
      gingham explain --stripe stripe.markers
      gingham explain --pairs
      gingham explain --pairs admission
    """
    if of_pairs:
        tell_pairs(name, stripe, as_json)
        return
    if not name:
        tell_everything(stripe, depth, as_json)
        return
    answer = lookup.asked(name, stripe)
    if as_json:
        near = {"within": answer.is_within, "nearest": answer.nearest}
        print_json({**for_programs(answer.found), **near})
    else:
        page(_explained.answer(answer, depth, line_width()))


def tell_everything(stripe: bool, depth: int, as_json: bool) -> None:
    """Print all keys and mechanisms."""
    found = lookup.everything(stripe)
    if as_json:
        print_json(for_programs(found))
    else:
        page(_explained.everything(found, depth, line_width()))


def for_programs(found: Found) -> dict[str, list[dict[str, Any]]]:
    """Return the entries found as dicts, for JSON."""
    return {what: [asdict(one) for one in some] for what, some in found.items()}


def tell_pairs(name: str, stripe: bool, as_json: bool) -> None:
    """Print the pairs of mechanisms that can be combined: all, or those of one mechanism."""
    if stripe:
        raise InputError(
            "--pairs are of mechanisms of a fabric: leave out --stripe",
            code="bad-option",
            key="stripe",
        )
    parts = pairs.named(name) if name else list(PARTS)
    if as_json:
        known = {part.name for part in parts}
        found = [one for one in pairs.every_pair() if {one.first, one.second} & known]
        named = [{"name": part.name, "meaning": part.meaning} for part in parts]
        print_json({"mechanisms": named, "pairs": [asdict(one) for one in found]})
    elif name:
        shown = (list(_pairs.of(part, line_width())) for part in parts)
        page(_explained.apart(shown))
    else:
        page(_pairs.matrix(line_width()))
