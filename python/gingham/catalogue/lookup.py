"""The lookup of names in the catalogue: every entry by its own name or by that of others.

::

    name ─┬─► name of earlier versions, of another simulator, or a plural ─► the name here
          └─► words, keys, mechanisms, numbers of this name
                └─ none ─► entries with all of its parts in their own, or the nearest name

`gingham explain`, its completion and its suggestions come from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from gingham._native import other_names
from gingham.catalogue import elsewhere, glossary, meanings, mechanisms, reference
from gingham.catalogue.glossary import plain
from gingham.errors import InputError, meant, nearest

# Entries by their kind: words, keys, mechanisms, numbers and names of elsewhere.
Found = dict[str, list[Any]]


@dataclass(frozen=True)
class Answer:
    """Entries of the catalogue for a name."""

    name: str
    # The name here; empty if entries have the name as a part of theirs.
    now: str
    found: Found
    # The nearest name, if no entry has this one.
    nearest: str | None = None

    @property
    def is_within(self) -> bool:
        """Whether no entry has this name, and those found have it as a part of theirs."""
        return not self.now


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
