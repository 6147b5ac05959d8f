"""Lookup of catalogue entries by their names, former names, and names used elsewhere.

::

    name ─┬─► name of earlier versions, of another simulator, or a plural ─► the name here
          └─► words, keys, mechanisms, numbers of this name
                └─ none ─► entries with all of its parts in their own, or the nearest name

`gingham explain`, its completion and its suggestions use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from gingham._native import other_names
from gingham.catalogue import elsewhere, glossary, meanings, mechanisms, old_names, reference
from gingham.catalogue.glossary import plain
from gingham.errors import InputError, meant, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gingham.catalogue.glossary import Word
    from gingham.catalogue.meanings import Number
    from gingham.catalogue.mechanisms import Mechanism
    from gingham.catalogue.reference import Key

# Entries by kind: words, keys, mechanisms, numbers, and names used elsewhere.
Found = dict[str, list[Any]]


@dataclass(frozen=True)
class Answer:
    """Entries of the catalogue for a name."""

    name: str
    # Name in Gingham; empty if the entries only contain the name in theirs.
    now: str
    found: Found
    # Nearest known name, if no entry has this one.
    nearest: str | None = None

    @property
    def is_within(self) -> bool:
        """Whether no entry has this name, and the entries found contain it in theirs."""
        return not self.now


@dataclass(frozen=True)
class Entry:
    """An entry of the catalogue, of any table."""

    # A key of `KINDS`.
    kind: str
    # Its names; for a key, the last part of its path.
    names: Sequence[str]
    meaning: str
    # Path of a key; empty for other kinds.
    path: str
    # Book, paper or program that the name comes from; empty if unknown.
    source: str
    # Key of a mechanism, table of a number, or type of a word.
    place: str
    # The entry in the type of its own table.
    item: Word | Key | Mechanism | Number

    @property
    def all_names(self) -> list[str]:
        """All names that find the entry."""
        return [*self.names, *([self.path] if self.path else [])]


# Tables of the catalogue, in the order of answers.
KINDS = ("words", "keys", "mechanisms", "numbers")


@cache
def entries(stripe: bool) -> list[Entry]:
    """Return all entries, grouped by kind."""
    keys = reference.every_stripe_key() if stripe else reference.every_key()
    choices = [] if stripe else mechanisms.every_mechanism()
    return [
        *map(of_word, glossary.every_word()),
        *map(of_key, keys),
        *map(of_mechanism, choices),
        *map(of_number, meanings.every_number()),
    ]


def of_word(one: Word) -> Entry:
    """Return the entry of a word."""
    return Entry("words", one.names(), one.meaning, "", "; ".join(one.sources()), one.type, one)


def of_key(one: Key) -> Entry:
    """Return the entry of a key."""
    names = [reference.last(one.path)]
    return Entry("keys", names, one.meaning, one.path, one.source or "", "", one)


def of_mechanism(one: Mechanism) -> Entry:
    """Return the entry of a mechanism."""
    return Entry("mechanisms", [one.name], one.meaning, "", one.source, one.key, one)


def of_number(one: Number) -> Entry:
    """Return the entry of a number, a verdict or a table of results."""
    return Entry("numbers", [one.name], one.meaning, "", "", one.place, one)


def by_kind(found: Iterable[Entry]) -> Found:
    """Return entries by kind, in the types of their own tables."""
    chosen = list(found)
    return {kind: [one.item for one in chosen if one.kind == kind] for kind in KINDS}


@cache
def everything(stripe: bool) -> Found:
    """Return all entries, by kind."""
    return by_kind(entries(stripe))


def find(name: str, stripe: bool = False) -> Found:
    """Return the entries for a name, by kind; raise `InputError` with the nearest name if none."""
    return asked(name, stripe).found


def asked(name: str, stripe: bool) -> Answer:
    """Return the entries for a name; raise `InputError` with the nearest name if there are none.

    The name may be a plural, a former name, or one used elsewhere. If no entry has it, the answer
    holds the entries whose names contain it.
    """
    for each in filter(plain, (name, name.removesuffix("s"))):
        there = elsewhere.named(each)
        now = name_now(each) or (there and there.key) or each
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


def name_now(name: str) -> str | None:
    """Return the present name for one of an earlier version; `None` for others."""
    return glossary.name_now(name) or old_names.name_now(name)


def every_name(stripe: bool) -> list[str]:
    """Return the names of all entries."""
    return [name for one in entries(stripe) for name in one.all_names]


def offered(stripe: bool) -> list[str]:
    """Return the names that a shell completes: paths of keys, mechanisms and words."""
    known = entries(stripe)
    order = ("keys", "mechanisms", "words")
    of_kind = (one for kind in order for one in known if one.kind == kind)
    return [name for one in of_kind for name in ([one.path] if one.path else one.names)]


def called(name: str, now: str, stripe: bool) -> Found:
    """Return the entries with a name, or with its counterpart `now`."""
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
    """Return the entries whose names contain all words of a name: `escape` finds `escape lane`.

    Single letters occur in too many names, and find nothing.
    """
    parts = words_of(name)
    if all(len(part) == 1 for part in parts):
        return {}
    has_them = (
        one for one in entries(stripe) if any(parts <= words_of(each) for each in one.names)
    )
    return by_kind(has_them)


def words_of(name: str) -> set[str]:
    """Return the words of a name, without the ending of possessives.

    >>> sorted(words_of("Duato's protocol"))
    ['duato', 'protocol']
    """
    return {word.removesuffix("'s") for word in plain(name, " ").split()}
