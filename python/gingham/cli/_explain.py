"""`gingham schema` and `gingham explain`: what a scenario may say, and what words mean."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

import click

from gingham import elsewhere, glossary, meanings, mechanisms, pairs, reference, schemas
from gingham._native import other_names
from gingham.cli import _completion, _explained, _pairs
from gingham.cli._explained import Answer, Found
from gingham.cli._output import json_option, line_width, page, print_json
from gingham.errors import InputError, meant, nearest
from gingham.glossary import plain
from gingham.pairs.parts import PARTS

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
    answer = asked(name, stripe)
    if as_json:
        near = {"within": answer.is_within, "nearest": answer.nearest}
        print_json({**for_programs(answer.found), **near})
    else:
        page(_explained.answer(answer, depth, line_width()))


def tell_everything(stripe: bool, depth: int, as_json: bool) -> None:
    """List all that can be asked for."""
    found = everything(stripe)
    if as_json:
        print_json(for_programs(found))
    else:
        page(_explained.everything(found, depth, line_width()))


def for_programs(found: Found) -> dict[str, list[dict[str, Any]]]:
    """Return what was found as JSON has it."""
    return {what: [asdict(one) for one in some] for what, some in found.items()}


def tell_pairs(name: str, stripe: bool, as_json: bool) -> None:
    """Say which mechanisms go together: all, or those with one."""
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


@cache
def everything(stripe: bool) -> Found:
    """Return all that can be asked for, by what it is."""
    return {
        "words": glossary.every_word(),
        "keys": reference.every_stripe_key() if stripe else reference.every_key(),
        "mechanisms": [] if stripe else mechanisms.every_mechanism(),
        "numbers": list(meanings.every_number()),
    }


def find(name: str, stripe: bool = False) -> Found:
    """Return all that a name means, by what it is; `InputError` with the nearest if nothing."""
    return asked(name, stripe).found


def asked(name: str, stripe: bool) -> Answer:
    """Return what a name means; `InputError` with the nearest if nothing.

    It may be a plural, or what others call a thing. Where nothing is called so, the answer is
    all that has the name as a part of its own.
    """
    for each in filter(plain, (name, name.removesuffix("s"))):
        there = elsewhere.named(each)
        now = glossary.name_now(each) or (there and there.key) or each
        if any((found := called(each, now, stripe)).values()):
            return Answer(name, now, found)
        other = {name: ours for name, ours, _ in other_names()}.get(plain(each, "-"))
        if other and any((found := called(other, other, stripe)).values()):
            return Answer(name, other, found)
    near = nearest(name, every_name(stripe))
    if any((found := within(name, stripe)).values()):
        return Answer(name, "", found, near)
    raise InputError(
        f'nothing is called "{name}"{meant(near)}', code="unknown-name", key=name, nearest=near
    )


def every_name(stripe: bool) -> list[str]:
    """Return every name that can be asked for."""
    known = everything(stripe)
    names = [each for one in known["words"] for each in one.names()]
    names += [each for key in known["keys"] for each in (reference.last(key.path), key.path)]
    return names + [one.name for one in (*known["mechanisms"], *known["numbers"])]


def called(name: str, now: str, stripe: bool) -> Found:
    """Return all that is called by a name, or by what that is here."""
    known = everything(stripe)
    either = {plain(name), plain(now)}
    choices = mechanisms.named(now, known["mechanisms"])
    keys = reference.named(now, known["keys"])
    if not (keys or choices):
        keys = [one for one in reference.stripe_choices() if plain(one.path) == plain(now)]
        keys = keys or reference.named(now, everything(stripe=True)["keys"])
    found = {
        "words": [one for one in known["words"] if one.is_called(name) or one.is_called(now)],
        "keys": [] if choices else keys,
        "mechanisms": choices,
        "numbers": [one for one in known["numbers"] if plain(one.name) in either],
    }
    if there := elsewhere.named(name):
        found["elsewhere"] = [there]
    return found


def within(name: str, stripe: bool) -> Found:
    """Return what has all words of a name in its own: `escape` is in `escape lane`.

    Single letters are in too many names to mean any.
    """
    known, parts = everything(stripe), words_of(name)
    if all(len(part) == 1 for part in parts):
        return {}
    return {
        "words": [
            one for one in known["words"] if any(parts <= words_of(each) for each in one.names())
        ],
        "keys": [one for one in known["keys"] if parts <= words_of(reference.last(one.path))],
        "mechanisms": [one for one in known["mechanisms"] if parts <= words_of(one.name)],
        "numbers": [one for one in known["numbers"] if parts <= words_of(one.name)],
    }


def words_of(name: str) -> set[str]:
    """Return the words of which a name is made, of a possessive the name alone.

    >>> sorted(words_of("Duato's protocol"))
    ['duato', 'protocol']
    """
    return {word.removesuffix("'s") for word in plain(name, " ").split()}
